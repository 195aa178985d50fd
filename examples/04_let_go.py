# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "varichain"]
# ///
"""Events: a gymnast swings on a bar, lets go, flies, and grasps a pole in passing.

Three conditions do it: the hands let go when the arms have swung to an angle, they close when they pass the pole, and
the run ends when the body has swung up there. Shoulders and hips have stops that hold; each blow is in the log. Between
the events whole spans run in compiled code, and every structure change is one impact.
"""

import numpy as np

import varichain as vc

POLE = 1.6  # [m] from the bar


def gymnast() -> vc.Mechanism:
    """Arms, trunk and legs; the hands are at the arms' origin."""
    m = vc.Mechanism("gymnast")
    m.add_link("arms", parent=None, inertia=vc.Inertia.capsule(6.0, 0.05, 0.5, com=(0, 0, -0.3)))
    shoulders = vc.Revolute("y", name="shoulders", limits=(-0.5, 0.3), damping=3.0)
    trunk = vc.Inertia.capsule(35.0, 0.12, 0.4, com=(0, 0, -0.3))
    m.add_link("trunk", "arms", shoulders, at=(0, 0, -0.6), inertia=trunk)
    hips = vc.Revolute("y", name="hips", limits=(-0.2, 0.6), damping=3.0)
    m.add_link("legs", "trunk", hips, at=(0, 0, -0.6), inertia=vc.Inertia.capsule(20.0, 0.08, 0.7, com=(0, 0, -0.45)))
    return m


def hands(m: vc.Mechanism, s: vc.State) -> np.ndarray:
    """Where the hands are [m]."""
    return vc.pose(m, s, "arms").p


def angle(m: vc.Mechanism, s: vc.State) -> float:
    """Of the arms to the vertical [rad], negative in front."""
    R = vc.pose(m, s, "arms").R
    return float(np.arctan2(R[0, 2], R[2, 2]))


m = gymnast()
s = m.state()
s["arms"].pose = vc.Pose(rotation_vector=(0, 1.5, 0))  # nearly level behind the bar
m.connect("arms", "ground", vc.Revolute("y"), state=s, name="bar")
trace = vc.simulate(
    m,
    s,
    until=5.0,
    events=[
        vc.when(lambda m, s: angle(m, s) + 0.8, vc.cut("bar"), name="let go"),
        vc.when(
            lambda m, s: hands(m, s)[0] - POLE,
            vc.connect("arms", "ground", vc.Revolute("y"), name="pole"),
            name="grasp",
        ),
        vc.at(3.0, vc.stop("hangs")),
    ],
)
print(trace)
print("\nwhat happened:")
for epoch in trace.epochs[:-1]:
    state = epoch.state(-1)
    where = hands(epoch.mechanism, state)
    lost = epoch.event["energy_lost"]
    at = f"({where[0]:.2f}, {where[2]:.2f}) m"
    print(f"  {epoch.end:.3f} s  {epoch.event['names'][0]:7s} hands at {at}, {lost:.1f} J lost")
print(f"  stops struck: {sum(entry['kind'] == 'limit reached' for entry in trace.log)} times")
flight = trace.epochs[1]
fallen = flight["momentum"][-1, 5] - flight["momentum"][0, 5]
print(f"  gravity in flight     {fallen / (flight.end - flight.start) / 61.0:.6f} m/s^2")
print(f"  loops open by at most {max(epoch.closure.max() for epoch in trace.epochs):.0e} m")
