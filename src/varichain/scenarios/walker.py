"""A four-legged walker of particles that trots on ground that gives way."""

from __future__ import annotations

from collections.abc import Callable
from math import acos, atan2, cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any

from varichain.errors import InputError, quoted
from varichain.mechanism import Box, Capsule, Free, Inertia, Mechanism, Revolute, Sphere
from varichain.scenarios.scenario import Scenario
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.simulation.events import Event

GROUNDS = ("hard", "soft", "sandy", "muddy")
RIGID = "rigid"  # no ground of particles: rigid links on a rigid floor, as hard ground is in the limit
LEG = 0.25  # [m], of a thigh and of a shank
FOOT = 0.02  # [m], radius
_PAD = 3e-3  # [m^2], of a foot's print
_TRUNK, _THIGH, _SHANK = 8.0, 0.6, 0.4  # [kg]
_SIZE = (0.5, 0.2, 0.1)  # [m] of the trunk
_STAND = 0.42  # [m] from hip to the middle of a foot that bears
_LEGS = {"front left": (1, 1, 0.0), "front right": (1, -1, 0.5), "hind left": (-1, 1, 0.5), "hind right": (-1, -1, 0.0)}
_STIFFNESS, _DAMPING, _LARGEST = 120.0, 1.2, 40.0  # of the joints' control [N m/rad, N m s/rad, N m]
_BEARS = 0.6  # part of a cycle in which a foot bears
_ASIDE = 0.65 * _SIZE[1]  # [m] from the middle to a hip
_SHOCK_TIME = 3.0  # [s]
_RIGID_STEP = 1e-3  # [s], of rigid links
_EASE = 0.5  # [s] until the gait has its full stride


def walker(
    *,
    ground: str = "hard",
    stride: float = 0.12,
    frequency: float = 2.0,
    lift: float = 0.05,
    drop: float = 0.0,
    push: float = 0.0,
    shock: float = 0.0,
    stiffness: float = 1e6,
) -> Scenario:
    """A four-legged walker, made of particles, trots for ten seconds.

    A trunk of 8 kg, eight leg links on hinges across; torques that follow a trot lead hips and knees. The engine is the
    one of particles: links vibrate, and the ground gives way. On "rigid" ground the same walker is made of rigid links,
    with contacts in steps.

    Args:
        ground: "hard", "soft", "sandy" or "muddy"; or "rigid".
        stride: By which a foot that bears goes back under the hip [m].
        frequency: Of the trot [Hz].
        lift: By which feet are lifted [m].
        drop: Height from which the walker is dropped at the start [m].
        push: Impulse to the left on the trunk at 3 s [N s].
        shock: Impulse backwards on the foot in front on the left at 3 s [N s].
        stiffness: Of links and joints [N/m].
    """
    if ground not in (*GROUNDS, RIGID):
        raise InputError(f"ground must be one of {', '.join(map(repr, (*GROUNDS, RIGID)))}, not {quoted(ground)}")
    m = walker_mechanism()
    if ground == RIGID:
        _stand_on_floor(m)
    s = m.state()
    for leg in _LEGS:
        s[f"{leg} hip"].q, s[f"{leg} knee"].q = leg_angles(0.0, _STAND)
    s["trunk"].position = (0.0, 0.0, _STAND + FOOT + drop)
    controller, events = trot(stride, frequency, lift), _shocks(push, shock)
    if ground == RIGID:
        settings = {"sample": 0.01, "contacts": "stepping", "step": _RIGID_STEP, "control_step": _RIGID_STEP}
        return Scenario("walker", m, s, 10.0, events, controller=controller, settings=settings)
    from varichain import particles

    law = {"hard": particles.Hard, "soft": particles.Soft, "sandy": particles.Sandy, "muddy": particles.Muddy}[ground]
    feet = [particles.Contact(f"{leg} shank", (0, 0, -LEG), FOOT, _PAD, 2 * FOOT) for leg in _LEGS]
    body = {"stiffness": stiffness, "ground": law(), "contacts": feet}
    return Scenario("walker", m, s, 10.0, events, controller=controller, settings={"sample": 0.01}, particles=body)


def _stand_on_floor(m: Mechanism) -> None:
    """Give the walker a rigid floor as rough as hard ground, which its feet alone touch."""
    from varichain.particles import Hard

    for link in m.links:
        if not link.is_ground:
            is_foot = link.name.endswith("shank")
            m.set_contact_shapes(link.name, [Sphere(FOOT, at=Pose((0.0, 0.0, -LEG)))] if is_foot else [])
    m.add_floor(friction=Hard().friction)


def _shocks(push: float, shock: float) -> tuple[Event, ...]:
    """Impulses on the trunk and on a foot."""
    from varichain.instants.actions import push as pushed
    from varichain.simulation.events import at

    foot = (0.0, 0.0, -LEG)
    given = [
        ("push", pushed("trunk", (0.0, push, 0.0)), push),
        ("shock", pushed("front left shank", (-shock, 0.0, 0.0), at=foot), shock),
    ]
    return tuple(at(_SHOCK_TIME, action, name=name) for name, action, size in given if size)


def walker_mechanism() -> Mechanism:
    """Trunk and eight leg links; x is ahead, and hinges turn about y."""
    m = Mechanism("walker")
    m.add_link("trunk", joint=Free(name="trunk"), inertia=Inertia.box(_TRUNK, _SIZE), shapes=[Box(_SIZE)])
    middle = (0.0, 0.0, -LEG / 2)
    for leg, (ahead, aside, _) in _LEGS.items():
        hip = (0.5 * ahead * _SIZE[0], _ASIDE * aside, 0.0)
        for part, parent, at, mass, radius, joint in (
            ("thigh", "trunk", hip, _THIGH, 0.025, "hip"),
            ("shank", f"{leg} thigh", (0.0, 0.0, -LEG), _SHANK, FOOT, "knee"),
        ):
            m.add_link(
                f"{leg} {part}",
                parent=parent,
                at=at,
                joint=Revolute("y", name=f"{leg} {joint}", damping=0.05),
                inertia=Inertia.capsule(mass, radius, LEG, com=middle),
                shapes=[Capsule(radius, LEG, at=Pose(middle))],
            )
    return m


def leg_angles(x: float, height: float) -> tuple[float, float]:
    """Angles of hip and knee [rad] that put the foot at x ahead of the hip and a height below it [m]."""
    reach = min(hypot(x, height), 2.0 * LEG - 1e-6)
    bend = acos(reach / (2.0 * LEG))
    return -atan2(x, height) - bend, 2.0 * bend


def trot(stride: float, frequency: float, lift: float) -> Callable[[Mechanism, State], dict[str, Any]]:
    """Controller that leads hips and knees along a trot: diagonal feet are lifted together, in turn."""

    def torques(m: Mechanism, s: State) -> dict[str, Any]:
        found = {}
        ease = min(s.time / _EASE, 1.0)
        for leg, (_, _, shift) in _LEGS.items():
            hip, knee = foot_angles((frequency * s.time + shift) % 1.0, ease * stride, ease * lift)
            for joint, angle in ((f"{leg} hip", hip), (f"{leg} knee", knee)):
                torque = _STIFFNESS * (angle - s[joint].q) - _DAMPING * s[joint].v
                found[joint] = max(-_LARGEST, min(torque, _LARGEST))
        return found

    return torques


def foot_angles(phase: float, stride: float, lift: float) -> tuple[float, float]:
    """Angles of hip and knee at a phase of the gait, 0 to 1: the foot bears first and is lifted then."""
    if phase < _BEARS:
        return leg_angles(stride * (0.5 - phase / _BEARS), _STAND)
    swing = (phase - _BEARS) / (1.0 - _BEARS)
    return leg_angles(-0.5 * stride * cos(pi * swing), _STAND - lift * sin(pi * swing))
