"""Whole problems of inverse kinematics beside pink and mink: poses reached from a rough start, how often, how fast."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

import varichain as vc
from varichain import animation as an
from varichain.bench.aims import FIGURE, Aim
from varichain.bench.interleave import Timings, one_core
from varichain.bench.measures import Effort
from varichain.bench.rows import Row, row_alone, row_beside
from varichain.figures import human40
from varichain.spatial.arrays import Array

TASK = "reach 4 poses"
TOLERANCE = 1e-4  # [m and rad] of every pose
MOST_STEPS = 100
STARTS = 16  # of ours where it may start again; pink and mink have no such thing
_TALOS = ("gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link")
_PACKAGE, _FILE = "example-robot-data", "talos_reduced.urdf"
_AWAY = 0.8  # [rad or m] per freedom, standard deviation of goals from the start
_DAMPING = 1e-3  # of pink and mink, by Levenberg and Marquardt: with less they reach less often


class Solver(Protocol):
    """Way to solve problems."""

    def aim_at(self, aim: Aim) -> None:
        """Take a problem."""

    def solve(self, q: Array, tolerance: float, most: int) -> tuple[Array, int]:
        """Configuration that was found from a start, and the number of steps."""


def reach_problems(make: Callable[[], Aim | None], effort: Effort) -> list[Row]:
    """Random poses of four links, reached from the rest posture by every library: success and time side by side."""
    start = make()
    if start is None:
        return []
    n = 20 if effort.is_quick else 1000
    again = f"varichain, up to {STARTS} starts"
    solvers: dict[str, Solver] = {"varichain": _Ours(1), again: _Ours(STARTS), **_peers(start)}
    rng = np.random.default_rng(0)
    seconds = {name: np.zeros(n) for name in solvers}
    reached = {name: np.zeros(n, dtype=bool) for name in solvers}
    with one_core():
        for i in range(n):
            aim = _random_aim(start, rng)
            for name, solver in solvers.items():
                solver.aim_at(aim)
                begun = time.perf_counter()
                q, _ = solver.solve(aim.s.q, TOLERANCE, MOST_STEPS)
                seconds[name][i] = time.perf_counter() - begun
                reached[name][i] = _is_there(aim, q)
    share = {name: f"{100.0 * found.mean():.1f} % reached" for name, found in reached.items()}
    timings = Timings({f"{name}: steps of solve_ik, {share[name]}": x for name, x in seconds.items()})
    ours, with_starts, *others = timings.seconds
    rows = []
    for name, own in (("varichain", ours), (again, with_starts)):
        task = TASK if name == "varichain" else f"{TASK}, up to {STARTS} starts"
        what = f"{start.m.name}, {n} problems, {share[name]}"
        rows += [row_beside(task, what, timings, own, other, 1.0) for other in others] or [
            row_alone(task, what, timings, own)
        ]
    return rows


def figure_at_rest() -> Aim:
    """The figure at rest; not all libraries know ranges of balls, so none is kept."""
    m = human40(damping=False)
    m.name = "figure"
    return Aim(m, m.state(), m.state(), FIGURE[:4])


def talos_at_rest() -> Aim | None:
    """Talos on a free base, each joint a tenth of its range away from its ends; None if its file is not installed."""
    try:
        files = metadata.files(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    path = next(Path(str(file.locate())).resolve() for file in files if file.name == _FILE)
    m = vc.load(path, base="free")
    m.name = "Talos"
    for link in m.links:
        if link.inertia.mass > 0.0 and not link.inertia.about_com.any():  # MuJoCo takes no points with mass
            m.set_inertia(link, vc.Inertia.sphere(link.inertia.mass, 0.01, com=link.inertia.com))
    s = m.state()
    for name, (low, high) in ranges(m).items():
        s[name].q = float(np.clip(0.0, 0.9 * low + 0.1 * high, 0.1 * low + 0.9 * high))
    return Aim(m, s, s, _TALOS, has_ranges=True)


def ranges(m: vc.Mechanism) -> dict[str, tuple[float, float]]:
    """Ranges of all joints of one freedom that have one."""
    having = [joint for joint in m.joints if joint.limits is not None and joint.n_q == 1]
    return {str(joint.name): (joint.limits[0][0], joint.limits[1][0]) for joint in having}


class _Ours:
    """`animation.reach`; making the functions of a problem is no part of its time."""

    def __init__(self, starts: int) -> None:
        self._starts = starts

    def aim_at(self, aim: Aim) -> None:
        self._aim, self._space = aim, aim.space(has_posture=False)
        self._targets = {f"{name} position": aim.pose(name).p for name in aim.frames}
        self._targets |= {f"{name} rotation": np.zeros(3) for name in aim.frames}
        self.solve(aim.s.q, TOLERANCE, 1)  # what is made once for a space

    def solve(self, q: Array, tolerance: float, most: int) -> tuple[Array, int]:
        aim = self._aim
        options = {"limits": aim.has_ranges, "tolerance": tolerance, "most_steps": most, "tries": self._starts}
        found = an.reach(self._space, aim.s, self._targets, **options)  # type: ignore[arg-type]
        return found.state.q, found.steps


def _peers(start: Aim) -> dict[str, Solver]:
    found: dict[str, Solver] = {}
    if find_spec("mink"):
        from varichain.bench.peer_mink import Mink

        found["mink"] = Mink(start, has_posture=False, lm_damping=_DAMPING)
    if find_spec("pink"):
        from varichain.bench.peer_pink import Pink

        found["pink"] = Pink(start, has_posture=False, lm_damping=_DAMPING)
    return found


def _random_aim(start: Aim, rng: np.random.Generator) -> Aim:
    """Goal that can be reached: a random configuration, within ranges where they count."""
    goal = start.s.integrate(_AWAY * rng.standard_normal(start.m.n_v))
    if start.has_ranges:
        for name, (low, high) in ranges(start.m).items():
            goal[name].q = float(np.clip(goal[name].q, low, high))
    return replace(start, goal=goal)


def _is_there(aim: Aim, q: Array) -> bool:
    """Whether all poses are those of the goal, and ranges are kept, by one measure for all libraries."""
    if not np.isfinite(q).all():
        return False
    s = aim.m.state()
    s.q = q
    wanted = np.concatenate([*(aim.pose(name).p for name in aim.frames), np.zeros(3 * len(aim.frames))])
    is_near = float(np.abs(aim.space(has_posture=False).value(s) - wanted).max()) < 2.0 * TOLERANCE
    return is_near and (not aim.has_ranges or max(vc.limit_excess(aim.m, s).values(), default=0.0) < TOLERANCE)
