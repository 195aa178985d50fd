"""An inchworm that walks to a goal, and three that race [PFB]."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge, Le

import varichain as vc
from varichain import figures
from varichain.mechanism import Fixed, Inertia, Mechanism
from varichain.scenarios.parameters import Duration, NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario
from varichain.scenarios.worm_gait import Worm
from varichain.scenarios.worm_walk import Walk, Walkers

if TYPE_CHECKING:
    from varichain.layout.state import State

_SPAN, _LIFT = 0.6, 0.08  # of the arch before a stride, and of the front end, over the whole length
_STRIDES = (0.12, 0.18, 0.24)  # likewise
_SHAPE = (0.3, 0.7)  # places of the two joints whose pitch is kept, along the worm
_MOST_STRIDES = 200
# Racers: segments, length [m] and mass [kg] of a segment, stride over the whole length, lane [m], colour.
_RACERS = {
    "red ": (10, 0.005, 0.001, 0.24, 0.03, "#c0392b"),
    "green ": (8, 0.005, 0.001, 0.26, 0.0, "#2a9d5a"),
    "blue ": (12, 0.004, 0.002, 0.18, -0.03, "#2f6db0"),
}


@checked
def inchworm(
    *,
    goal_x: float = 0.09,
    goal_y: float = 0.0,
    strides: Annotated[int, Ge(1), Le(_MOST_STRIDES)] = 10,
    segments: Annotated[int, Ge(4), Le(100)] = 10,
    length: Positive = 0.005,
    mass: Positive = 0.001,
    duration: Duration = 0.5,
    heavier: NonNegative = 0.0,
    push: float = 0.0,
    obstacle_x: float = 0.06,
    obstacle_y: float = 0.0,
    obstacle: NonNegative = 0.0,
) -> Scenario:
    """A worm of ten segments walks to a goal: the front goes ahead while the rear holds on, then the rear follows.

    At each stride a planner tries nine headings and three lengths, and takes the best. Phases are planned in animation
    space, torques are functions of time by inverse dynamics, with springs of the joints about the plan. Ends hold on by
    fixed loops: a connection and a cut at each change. N_J = 24 and N_F = 18.

    Args:
        goal_x: Of the goal of the front end [m].
        goal_y: Likewise [m].
        strides: Most strides.
        segments: Number of segments, 4 to 100.
        length: Of a segment [m].
        mass: Of a segment [kg].
        duration: Of a phase, half a stride [s].
        heavier: Part by which the worm is heavier than the plan believes.
        push: Force on the middle of the worm, sideways, over its weight, of which the plan does not know.
        obstacle_x: Of a disc that it goes around [m].
        obstacle_y: Likewise [m].
        obstacle: Radius of the disc [m]; 0 for none.
    """
    model = figures.inchworm(segments, length, mass)
    m = figures.inchworm(segments, length, mass)
    for link in [link for link in m.links if link.name.startswith("segment ")] if heavier else []:
        m.set_inertia(link.name, _heavier(link.inertia, 1.0 + heavier))
    s = m.state()
    worm = _worm(model, "", duration)
    figures.arch_up(m, s, worm.span)
    m.connect(worm.link("rear"), "ground", Fixed(), state=s, name="rear hold")
    whole = segments * length
    discs = [(obstacle_x, obstacle_y, obstacle)] if obstacle else []
    walk = Walk(worm, [(goal_x, goal_y)], [part * whole for part in _STRIDES], discs, tolerance=0.01 * whole)
    forces = []
    if push:
        weight = segments * mass * 9.81
        forces = [vc.Force(f"segment {segments // 2}", (0, push * weight, 0))]
    return _scenario("inchworm", m, s, [walk], strides, duration, forces)


@checked
def race(
    *, finish: Positive = 0.11, strides: Annotated[int, Ge(1), Le(_MOST_STRIDES)] = 12, duration: Duration = 0.5
) -> Scenario:
    """Three inchworms race along parallel lanes: one with long strides, a short one, and a heavy one.

    They hold on and let go at the same instants, so that strides decide. `varichain plot` with the panel `functions`
    shows their places over time.

    Args:
        finish: Of the line that fronts shall reach [m].
        strides: Most strides.
        duration: Of a phase, half a stride [s].
    """
    m = Mechanism("race")
    for prefix, (n, length, mass, _, _, color) in _RACERS.items():
        figures.inchworm(n, length, mass, mechanism=m, prefix=prefix, color=color)
    s, walks = m.state(), []
    for prefix, (n, length, mass, stride, lane, _) in _RACERS.items():
        worm = _worm(figures.inchworm(n, length, mass, prefix=prefix), prefix, duration)
        figures.arch_up(m, s, worm.span, (-worm.span, lane), prefix=prefix)
        m.connect(worm.link("rear"), "ground", Fixed(), state=s, name=f"{prefix}rear hold")
        walks.append(Walk(worm, [(finish, lane)], [stride * n * length], tolerance=0.02 * n * length))
    return _scenario("race", m, s, walks, strides, duration)


def _scenario(
    name: str, m: Mechanism, s: State, walks: list[Walk], strides: int, duration: float, forces: Any = ()
) -> Scenario:
    an = vc.animation
    fronts: dict[str, Any] = {f"{walk.worm.prefix}front": an.point(f"{walk.worm.prefix}front")[:2] for walk in walks}
    goals = {name: walk.goals[-1] for name, walk in zip(fronts, walks, strict=True)}
    walkers = Walkers(walks, an.Watch(vc.AnimationSpace(m, fronts), goals))
    events = []
    for k in range(2 * strides):
        moving = "rear" if k % 2 else "front"
        happens = partial(_happens, walkers, moving, k == 0)
        events.append(
            vc.at(k * duration, happens, name=f"the {moving} goes ahead" if moving == "front" else "the rear follows")
        )
    settings = {"method": "implicit", "step": 1e-4, "sample": 5e-3}
    return Scenario(name, m, s, 2 * strides * duration, tuple(events), forces=forces, settings=settings)


def _happens(walkers: Walkers, moving: str, is_first: bool, m: Mechanism, s: State) -> list[Any]:
    return walkers.change(s, moving, is_first)


def _worm(model: Mechanism, prefix: str, duration: float) -> Worm:
    """Gait of a worm, in proportion to its length."""
    names = [link.name for link in model.links if link.name.startswith(f"{prefix}segment ")]
    n = len(names)
    whole = n * float(model.link(names[1]).at.p[0])
    shape = tuple(dict.fromkeys(max(1, min(n - 1, round(part * n))) for part in _SHAPE))
    return Worm(model, prefix, _SPAN * whole, _LIFT * whole, shape, duration)


def _heavier(inertia: Inertia, factor: float) -> Inertia:
    return Inertia(factor * inertia.mass, inertia.com, factor * inertia.about_com)
