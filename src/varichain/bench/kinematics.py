"""Functions of the figure: a step of inverse kinematics beside pink and mink, and composed functions."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import varichain as vc
from varichain import animation as an
from varichain.bench.aims import DAMPING, POSTURE, Aim, near_aim
from varichain.bench.contenders import Contender, differences
from varichain.bench.interleave import one_core
from varichain.bench.measures import Effort, interleaved
from varichain.bench.mechanisms import OPEN
from varichain.bench.rows import Row, row_alone, row_beside
from varichain.bench.targets import FUNCTIONS, ratio_target

STEP_OF_CONTROL = "inverse kinematics, 6 frames + centre of mass + posture"


def kinematics_step(effort: Effort) -> list[Row]:
    """One step of control on the figure beside each peer's fastest way, once the answers are compared."""
    aim = near_aim(OPEN["figure, open"]())
    rivals = [_ours(aim)]
    if find_spec("mink"):
        from varichain.bench.peer_mink import mink_contenders

        rivals += mink_contenders(aim)
    if find_spec("pink"):
        from varichain.bench.peer_pink import pink_contenders

        rivals += pink_contenders(aim)
    found = differences(rivals)
    ours, *others = rivals
    with one_core():
        timings = interleaved({rival.name: rival.run for rival in rivals}, effort)
    rows = [] if others else [row_alone(STEP_OF_CONTROL, "figure, open", timings, ours.name)]
    for library in dict.fromkeys(rival.library for rival in others):
        fastest = timings.fastest(*(rival.name for rival in others if rival.library == library))
        target = ratio_target("inverse kinematics", "figure, open", library)
        both = STEP_OF_CONTROL, "figure, open", timings, ours.name, fastest
        rows.append(row_beside(*both, target, found[fastest], next(r.differs for r in others if r.name == fastest)))
    return rows


def composed_functions(effort: Effort) -> list[Row]:
    """Six composed functions of the figure, with gradients and with Hessians."""
    given = OPEN["figure, open"]()
    foot = an.point("left foot") - np.array([0.2, 0.1, 0.0])
    functions = {
        "height": an.point("left hand")[2],
        "hands": an.distance("left hand", "right hand"),
        "center": an.center_of_mass()[0],
        "head": np.arccos(an.direction("head", "z")[2]),
        "elbow": np.sin(an.coordinate("left elbow")) * an.center_of_mass()[2],
        "foot": np.exp(-(foot**2).sum()),
    }
    space = vc.AnimationSpace(given.m, functions)
    s = given.s.integrate(0.1 * given.a)  # the head's axis is not upright: there the angle has no gradient
    calls: dict[str, Callable[[], object]] = {
        "values and gradients": lambda: space.at(s),
        "values, gradients and Hessians": lambda: space.hessian(s),
    }
    with one_core():
        timings = interleaved(calls, effort)
    return [row_alone(f"6 composed functions: {name}", "figure, open", timings, name, FUNCTIONS) for name in calls]


def _ours(aim: Aim) -> Contender:
    space = aim.space()
    handle = an.PreparedSpace(space, {"posture": POSTURE}, damping=DAMPING)
    for name in aim.frames:
        handle.target[space.slices[f"{name} position"]] = aim.pose(name).p
    for name in ("center", "posture"):
        handle.target[space.slices[name]] = space.value(aim.goal)[space.slices[name]]
    q = aim.s.q.copy()
    return Contender("varichain", "PreparedSpace.approach", lambda: handle.approach(q), handle.velocity.copy)
