"""Walkers of particles, on four legs or on two, on ground that gives way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from varichain.mechanism import Sphere
from varichain.scenarios import four_legs, two_legs
from varichain.scenarios.parameters import NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario
from varichain.scenarios.two_leg_walk import FREQUENCY, Walk
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism import Mechanism
    from varichain.simulation.events import Event

RIGID = "rigid"  # no ground of particles: rigid links on a rigid floor, as hard ground is in the limit
_SHOCK_TIME = 3.0  # [s]
_RIGID_STEP = 1e-3  # [s], of rigid links


class _Feet(NamedTuple):
    """Where a walker touches the ground: links and places of balls, their radius [m], and their print [m^2, m]."""

    places: list[tuple[str, tuple[float, float, float]]]
    radius: float
    area: float
    width: float


@checked
def walker(
    *,
    legs: Literal[4, 2] = 4,
    ground: Literal["hard", "soft", "sandy", "muddy", "rigid"] = "hard",
    stride: float = 0.12,
    frequency: Positive | None = None,
    lift: NonNegative = 0.05,
    drop: NonNegative = 0.0,
    push: float = 0.0,
    shock: float = 0.0,
    stiffness: Positive = 1e6,
) -> Scenario:
    """A walker on four legs or on two, made of particles, walks for ten seconds.

    With four legs: a trunk of 8 kg and eight leg links on hinges across, led by torques that follow a trot. With two: a
    trunk of 10 kg, thighs, shanks and feet with wide soles, free to fall to all sides, which step to where they would
    fall. The engine is the one of particles: links vibrate, and the ground gives way. On "rigid" ground the same walker
    is made of rigid links, with contacts in steps.

    Args:
        legs: 4 or 2.
        ground: "hard", "soft", "sandy" or "muddy"; or "rigid".
        stride: By which a foot that bears goes back under the hip; with two legs the way from foot to foot [m].
        frequency: Of the trot, or of two steps; 2 by default with four legs, and 1.3 with two [Hz].
        lift: By which feet are lifted [m].
        drop: Height from which the walker is dropped at the start [m].
        push: Impulse to the left on the trunk at 3 s [N s].
        shock: Impulse backwards at 3 s on the foot in front on the left, or on the left foot [N s].
        stiffness: Of links and joints [N/m].
    """
    m, feet = _body(legs)
    if ground == RIGID:
        _stand_on_floor(m, feet)
    s = four_legs.stand(m, drop) if legs == 4 else two_legs.stand(m, drop)
    controller = _controller(legs, m, s, stride, frequency, lift)
    events = _shocks(push, shock, *feet.places[0])
    if ground == RIGID:
        settings = {"sample": 0.01, "contacts": "stepping", "step": _RIGID_STEP, "control_step": _RIGID_STEP}
        return Scenario("walker", m, s, 10.0, events, controller=controller, settings=settings)
    from varichain import particles

    law = {"hard": particles.Hard, "soft": particles.Soft, "sandy": particles.Sandy, "muddy": particles.Muddy}[ground]
    contacts = [particles.Contact(link, at, *feet[1:]) for link, at in feet.places]
    body = {"stiffness": stiffness, "ground": law(), "contacts": contacts}
    gait = {"stride": stride, "lift": lift, "drop": drop, "push": push, "shock": shock}
    return Scenario(
        "walker",
        m,
        s,
        10.0,
        events,
        controller=controller,
        settings={"sample": 0.01},
        particles=body,
        rigid=lambda: walker(legs=legs, ground="rigid", frequency=frequency, **gait),
    )


def _body(legs: int) -> tuple[Mechanism, _Feet]:
    """Mechanism and feet."""
    if legs == 4:
        return four_legs.four_legged(), _Feet(four_legs.feet(), four_legs.FOOT, four_legs.PRINT, 2 * four_legs.FOOT)
    return two_legs.two_legged(), _Feet(two_legs.soles(), two_legs.BALL, two_legs.PRINT, two_legs.WIDTH)


def _controller(legs: int, m: Mechanism, s: State, stride: float, frequency: float | None, lift: float) -> Any:
    """The trot of four legs, or the steps of two."""
    if legs == 4:
        return four_legs.trot(stride, four_legs.FREQUENCY if frequency is None else frequency, lift)
    return Walk(m, s, stride, FREQUENCY if frequency is None else frequency, lift)


def _stand_on_floor(m: Mechanism, feet: _Feet) -> None:
    """Give the walker a rigid floor as rough as hard ground, which its feet alone touch."""
    from varichain.particles import Hard

    for link in m.links:
        if not link.is_ground:
            balls = [Sphere(feet.radius, at=Pose(at)) for name, at in feet.places if name == link.name]
            m.set_contact_shapes(link.name, balls)
    m.add_floor(friction=Hard().friction)


def _shocks(push: float, shock: float, foot: str, at_foot: tuple[float, float, float]) -> tuple[Event, ...]:
    """Impulses on the trunk and on a foot."""
    from varichain.instants.actions import push as pushed
    from varichain.simulation.events import at

    given = [
        ("push", pushed("trunk", (0.0, push, 0.0)), push),
        ("shock", pushed(foot, (-shock, 0.0, 0.0), at=at_foot), shock),
    ]
    return tuple(at(_SHOCK_TIME, action, name=name) for name, action, size in given if size)
