# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "varichain"]
# ///
"""Links as particles: rods that vibrate, a joint that breaks, feet that sink.

A rod hangs on a rod, once rigid and once as four particles each; the stiffer the springs, the nearer the two. Then
the joint between gives way under its load. At last a four-legged walker tries stone and sand.
"""

import numpy as np

import varichain as vc
from varichain.scenarios import SCENARIOS


def rods(breaks: vc.Breaks | None = None) -> tuple[vc.Mechanism, vc.State]:
    """Two boxes on hinges, let go from the side."""
    m = vc.Mechanism("rods")
    box = vc.Inertia.box(1.0, (0.04, 0.06, 0.5), com=(0, 0, -0.25))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder"), inertia=box)
    elbow = vc.Revolute("y", name="elbow", breaks=breaks)
    m.add_link("lower", parent="upper", at=(0, 0, -0.5), joint=elbow, inertia=box)
    s = m.state()
    s.q = 1.5, 0.3
    return m, s


def main() -> None:
    """Compare, break, walk."""
    m, s = rods()
    rigid = vc.simulate(m, s, 0.5, tolerance=1e-11).final.q
    for stiffness in (1e5, 1e6, 1e7):
        particles = vc.particles.from_mechanism(m, s, stiffness=stiffness)
        found = vc.particles.simulate(particles, 0.5, sample=0.1).final.q
        print(f"{stiffness:.0e} N/m: {np.abs(found - rigid).max():.1e} rad from rigid rods")
    trace = vc.particles.simulate(vc.particles.from_mechanism(*rods(vc.Breaks(force=15.0))), 1.0, sample=0.01)
    print(f"the elbow breaks at {trace.epochs[0].end:.3f} s")
    for ground in ("hard", "sandy"):
        trace = SCENARIOS["walker"](ground=ground).run(3.0)
        epoch = trace.epochs[0]
        deep = epoch.sinkage[epoch.sinkage > 0.0].mean()
        print(f"walker on {ground} ground: {epoch.q[-1, 4]:.2f} m in 3 s, feet {1e3 * deep:.1f} mm deep")


if __name__ == "__main__":
    main()
