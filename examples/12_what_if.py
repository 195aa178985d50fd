# /// script
# requires-python = ">=3.11"
# dependencies = ["varichain"]
# ///
"""What if? A live run, changed by hand and undone: the second half is played twice from one and the same instant.

A double pendulum swings for half a second. Then its elbow is cut, and the forearm flies off. Undo goes back to before
the cut, to the bit, and the pendulum swings on as if nothing had happened.
"""

import varichain as vc

rod = vc.Inertia.box(1.0, size=(0.05, 0.05, 0.5), com=(0, 0, -0.25))
m = vc.Mechanism("double pendulum")
m.add_link("upper arm", joint=vc.Revolute("y", name="shoulder"), at=(0, 0, 2), inertia=rod)
m.add_link("forearm", "upper arm", vc.Revolute("y", name="elbow"), at=(0, 0, -0.5), inertia=rod)
s = m.state()
s["shoulder"].q, s["elbow"].q = 1.2, 0.4


def swing_on(run: vc.LiveRun, until: float) -> None:
    """Step until a time [s]."""
    while run.frame.time < until - 1e-9:
        run.step().result()


with vc.LiveRun(m, s, is_paused=True) as run:
    swing_on(run, 0.5)
    start = run.frame.time
    print(run.cut("elbow").result().what, f"at {start:.3f} s: freedoms {run.frame.structure.counts[2]}")
    swing_on(run, 1.0)
    x, _, z = run.frame.q[-3:]
    print(f"forearm flew to x {x:.3f} m, z {z:.3f} m")

    print(run.undo().result().what, f"at {run.frame.time:.3f} s: freedoms {run.frame.structure.counts[2]}")
    swing_on(run, 1.0)
    undisturbed = vc.simulate(m, s, until=run.frame.time).final
    print("largest difference to an undisturbed run", max(abs(run.frame.q - undisturbed.q)))
