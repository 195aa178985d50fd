# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "varichain"]
# ///
"""A swing on a bar: a figure hangs by one hand, swings, lets go, and is caught by a second bar.

Three events do it: at the lowest point after the first swing the hand lets go, when the hand is within reach of the
other bar it grasps, and when the figure hangs there almost still the run ends. Between them whole spans are simulated
in compiled code; shoulder and hip have stops that hold.
"""

import numpy as np

import varichain as vc

REACH = 0.08  # [m]


def gymnast() -> vc.Mechanism:
    """Arm, trunk and legs in the plane, and two bars."""
    m = vc.Mechanism("gymnast")
    rod = vc.Inertia.capsule
    m.add_link("arm", parent=None, inertia=rod(6.0, 0.05, 0.5, com=(0, 0, -0.3)))
    trunk = vc.Revolute("y", name="shoulder", limits=(-0.6, 0.9), damping=2.0)
    m.add_link("trunk", "arm", trunk, at=(0, 0, -0.6), inertia=rod(35.0, 0.12, 0.4, com=(0, 0, -0.3)))
    legs = vc.Revolute("y", name="hip", limits=(-0.3, 1.5), damping=2.0)
    m.add_link("legs", "trunk", legs, at=(0, 0, -0.6), inertia=rod(20.0, 0.08, 0.7, com=(0, 0, -0.45)))
    return m


m = gymnast()
s = m.state()
m.connect("arm", "ground", vc.Revolute("y"), state=s, name="first bar")  # the hand is the arm's origin
s["arm"].pose = vc.Pose(rotation_vector=(0, 1.3, 0))
other_bar = np.array([1.25, 0.0, -0.55])


def arm_angle(m: vc.Mechanism, s: vc.State) -> float:
    """Angle of the arm to the vertical [rad]; it falls from 1.3 to below zero."""
    R = vc.pose(m, s, "arm").R
    return float(np.arctan2(R[0, 2], R[2, 2]))


print(m)
trace = vc.simulate(
    m,
    s,
    until=4.0,
    events=[vc.when(lambda m, s: arm_angle(m, s) + 0.9, vc.cut("first bar"), vc.stop("let go"), name="let go")],
)
print(trace)
