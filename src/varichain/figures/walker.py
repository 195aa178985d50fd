"""The compass walker: two legs without knees that walk down a slope by themselves [GOSWAMI].

A point mass at the hip, a point mass on each leg, no feet, no actuator. It lives in the plane of x and z, walks towards
+x, and its angles are counted from the vertical, positive with the foot ahead of the hip: they turn about -y. The
swinging foot passes through the floor, as in the paper: the walker has no knees to lift it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING, Final

from varichain.figures.parts import target_of
from varichain.mechanism import Capsule, Fixed, Inertia, Mechanism, Planar, Revolute, Sphere
from varichain.mechanism.transaction import transaction
from varichain.spatial.checks import finite_numbers, instance, positive_scalar
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State

COMPASS_SLOPE: Final = pi / 60.0
"""Slope [rad] that COMPASS_CYCLE belongs to: 3 degrees, down towards +x."""

COMPASS_CYCLE: Final = (0.218669, -0.323389, -1.092384, -0.377374)
"""Start of a step on the stable cycle of the default walker on COMPASS_SLOPE, to the digits given: angles of the
standing and of the swinging leg [rad], and their rates [rad/s]."""

_THICKNESS = 0.02  # radius of a leg as it is drawn, over its length


def compass_walker(
    hip_mass: float = 10.0,
    leg_mass: float = 5.0,
    below: float = 0.5,
    above: float = 0.5,
    name: str = "compass walker",
    mechanism: Mechanism | None = None,
    *,
    at: Pose | Sequence[float] = (0.0, 0.0, 0.0),
) -> Mechanism:
    """Passive biped of 4 freedoms; the defaults are m_H, m, a and b of [GOSWAMI].

    Links, with their origins at the hip: "left leg" on a planar joint with q = x [m], z [m], angle [rad] in the frame
    `at`; "right leg" on the revolute joint "hip"; "hip mass", fixed. Frames "left sole" and "right sole" are the ends
    of the legs. A step is a connection and a cut at one instant:

        landing = vc.connect("right sole", "ground", vc.Revolute("y"), name="right stance")
        vc.change(m, s, [vc.cut("left stance"), landing])

    Args:
        hip_mass: At the hip [kg].
        leg_mass: Of each leg [kg].
        below: From the sole to the mass of the leg [m].
        above: From there to the hip [m].
        name: Of the mechanism that is made.
        mechanism: Add the walker to this one instead of making one.
        at: Frame whose x and z span the plane.

    Raises:
        InputError: A mass or length that is not positive.
        DuplicateNameError: The mechanism has a link, joint or frame of that name; nothing has been added to it.
    """
    above, leg = positive_scalar(above, "above"), positive_scalar(below, "below") + above
    inertia = Inertia.point(positive_scalar(leg_mass, "leg_mass"), com=(0.0, 0.0, -above))
    hip = Inertia.point(positive_scalar(hip_mass, "hip_mass"))
    r, target, where = _THICKNESS * leg, target_of(name, mechanism), Pose.coerce(at, "at")
    shapes = (Capsule(r, leg, at=(0.0, 0.0, -0.5 * leg)), Sphere(2.0 * r, at=(0.0, 0.0, -above)))
    with transaction(target):
        target.add_link("left leg", "ground", Planar("-y", actuated=False), where, inertia, shapes)
        target.add_link("hip mass", "left leg", Fixed(), inertia=hip, shapes=Sphere(3.0 * r))
        target.add_link("right leg", "left leg", Revolute("-y", name="hip", actuated=False), (0, 0, 0), inertia, shapes)
        for side in ("left", "right"):
            target.add_frame(f"{side} sole", f"{side} leg", (0.0, 0.0, -leg))
    return target


def compass_start(m: Mechanism, step: Sequence[float] = COMPASS_CYCLE) -> State:
    """State of a compass walker that begins a step with its left sole at rest in the origin of its frame.

    `step` has the angles of the standing (left) and of the swinging leg [rad], and their rates [rad/s].
    """
    standing, swinging, standing_rate, swinging_rate = finite_numbers(step, 4, "step")
    leg = -float(instance(m, Mechanism, "m").frame("left sole").at.p[2])
    s = m.state()
    s["left leg"].q = (-leg * sin(standing), leg * cos(standing), standing)
    s["left leg"].v = (-leg * cos(standing) * standing_rate, -leg * sin(standing) * standing_rate, standing_rate)
    s["hip"].q, s["hip"].v = swinging - standing, swinging_rate - standing_rate
    return s
