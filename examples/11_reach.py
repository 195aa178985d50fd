# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "scipy", "varichain[qp]"]
# ///
"""Animation space: a chain of ten links reaches for a point, is led round a course, and is simulated.

The tip is led in its own coordinates. Reached is a point with the first joint held by a square, (phi - a)^2 = 0, then
another one that is too far away. The course is planned in u, inverse dynamics makes torque functions of it, and these
are replayed with a push that the plan did not know: with feedback, with springs, and plain.
"""

import numpy as np
from scipy.interpolate import CubicSpline

import varichain as vc
from varichain.animation import Resolution, Tracker, coordinate, plan, point, reach

N, LENGTH = 10, 0.1


def chain() -> vc.Mechanism:
    """Rods in the plane of x and y, each on the tip of the one before."""
    m, parent = vc.Mechanism("chain of ten", gravity=(0, -9.81, 0)), "ground"
    rod = vc.Inertia.rod(0.1, LENGTH, axis="x", com=(LENGTH / 2, 0, 0))
    for i in range(1, N + 1):
        at = (0 if i == 1 else LENGTH, 0, 0)
        m.add_link(f"rod {i}", parent, vc.Revolute("z", name=f"phi {i}", damping=1e-3), at, rod)
        parent = f"rod {i}"
    return m


def main() -> None:
    """Reach, plan, replay."""
    m = chain()
    s = m.state()
    s.q = 0.28 * np.ones(N)
    tip = point(f"rod {N}", (LENGTH, 0, 0))[:2]
    space = vc.AnimationSpace(m, {"tip": tip, "first": (coordinate("phi 1") - 0.28) ** 2})

    found = reach(space, s, {"tip": (0.3, 0.5), "first": 0.0})
    print(f"reached to {found.distance:.0e} m in {found.steps} steps, first joint at {found.state['phi 1'].q:.4f} rad")
    far = reach(space, s, {"tip": (0.9, 1.2)})
    print(f"a point 1.5 m away: {np.linalg.norm(far.errors['tip']):.4f} m are left")

    t = np.linspace(0, 1, 21)
    pull = t**3 * (10 - 15 * t + 6 * t**2)
    x0 = space.value(s)[:2]
    course = CubicSpline(t, x0 + pull[:, None] * np.array([0.15, -0.1]))
    tracker = Tracker(space, {"tip": course}, Resolution(damping=1e-3, hold=["first"]), feedback=20.0)
    made = plan(tracker, s, 1.0)
    print(f"plan: tip {np.linalg.norm(made.u[-1][:2] - course(1.0)) * 1e3:.2f} mm from its course at the end")
    print(f"errors of a plain replay grow with {made.growth_rate(0.0):.0f} 1/s")
    push = [vc.Force(f"rod {N}", (0.0, 0.02, 0.0))]
    replays = {"feedback": {"stiffness": 2500.0}, "springs": {"stiffness": 5.0, "damping": 0.5}}
    for way, gains in replays.items():
        end = made.simulate(way=way, forces=push, step=1e-3, **gains).at(1.0)
        print(f"{way}: tip {np.linalg.norm(space.value(end)[:2] - course(1.0)) * 1e3:.1f} mm from its course")


if __name__ == "__main__":
    main()
