"""How each kind of work is measured."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

import varichain as vc
from varichain.bench.contenders import INVERSE, TIME_STEP, contenders, differences
from varichain.bench.interleave import Timings, interleave, one_core
from varichain.bench.mechanisms import CLOSED, FAMILIES, GRIP, LARGE, OPEN, Question, size_of
from varichain.bench.peer_varichain import varichain_contenders
from varichain.bench.rows import Row, row_alone, row_beside, row_growth
from varichain.bench.targets import ACTUATED, CHANGES, DERIVATIVES, FRIENDLY, growth_target, ratio_target

_BUDGET = 8.0  # [s] that the rounds of one measurement may take
_CHANGES = 20  # structure changes in a row, of each kind, in a round


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds of every measurement, states of a batch, whether large mechanisms are left out."""

    rounds: int = 400
    states: int = 10_000
    is_quick: bool = False


def beside_peers(task: str, mechanism: str, effort: Effort) -> list[Row]:
    """A task beside the fastest fair call of each peer, once the answers are compared."""
    given = {**OPEN, **CLOSED}[mechanism]()
    rivals = contenders(task, given)
    found = differences(rivals)
    ours, *others = rivals
    with one_core():
        timings = interleaved({rival.name: rival.run for rival in rivals}, effort)
    if not others:
        return [row_alone(task, mechanism, timings, ours.name)]
    rows = []
    for library in dict.fromkeys(rival.library for rival in others):
        fastest = timings.fastest(*(rival.name for rival in others if rival.library == library))
        differs = next(rival.differs for rival in others if rival.name == fastest)
        target = ratio_target(task, mechanism, library)
        rows.append(row_beside(task, mechanism, timings, ours.name, fastest, target, found[fastest], differs))
    return rows


def growth(task: str, family: str, effort: Effort) -> list[Row]:
    """What the members of a family cost beside each other."""
    names = [name for name in FAMILIES[family] if not (effort.is_quick and name in LARGE)]
    builders = {**OPEN, **CLOSED}
    runs = {name: varichain_contenders(task, builders[name]())[0].run for name in names}
    with one_core():
        timings = interleaved(runs, effort)
    small, large = names[-2:]
    times = size_of(large) / size_of(small)
    return [row_growth(f"growth of {task}", large, timings, large, small, growth_target(times))]


def actuator_torques(mechanism: str, effort: Effort) -> list[Row]:
    """Inverse dynamics of a closed chain, torques of its actuators, beside forward dynamics of the same state."""
    given = CLOSED[mechanism]()
    m, q, v = given.m, given.s.q.copy(), given.s.v.copy()
    handle, a, out = m.prepare(), np.empty(m.n_v), np.empty(given.s.layout.n_all)
    tau = np.zeros(m.n_v)
    allowed = handle.forward_dynamics(q, v, tau, np.empty(m.n_v))
    ours, other = "handle.actuator_torques", "handle.forward_dynamics"
    runs: dict[str, Callable[[], object]] = {
        ours: lambda: handle.actuator_torques(q, v, allowed, out),
        other: lambda: handle.forward_dynamics(q, v, tau, a),
    }
    with one_core():
        timings = interleaved(runs, effort)
    return [row_growth("actuator torques", mechanism, timings, ours, other, ACTUATED)]


def derivative_costs(effort: Effort) -> list[Row]:
    """Derivatives of the figure's dynamics beside its own inverse dynamics."""
    questions = {what: {**OPEN, **CLOSED}[what]() for what in ("figure, open", "figure, 4 welds")}
    unit = "handle.inverse_dynamics"
    runs = {unit: varichain_contenders(INVERSE, questions["figure, open"])[0].run}
    for task, what in DERIVATIVES:
        runs[task] = varichain_contenders(task, questions[what])[0].run
    with one_core():
        timings = interleaved(runs, effort)
    return [row_growth(task, what, timings, task, unit, at_most) for (task, what), at_most in DERIVATIVES.items()]


def friendly_calls(effort: Effort) -> list[Row]:
    """Friendly functions on the figure: checks, names and new arrays included."""
    given = OPEN["figure, open"]()
    m, s, a, tau = given.m, given.s, given.a, given.tau
    calls: dict[str, Callable[[], object]] = {
        "vc.inverse_dynamics(m, s, a)": lambda: vc.inverse_dynamics(m, s, a),
        "vc.forward_dynamics(m, s, tau)": lambda: vc.forward_dynamics(m, s, tau),
        "vc.mass_matrix(m, s)": lambda: vc.mass_matrix(m, s),
        "vc.pose(m, s, link)": lambda: vc.pose(m, s, "left hand"),
        "vc.velocity(m, s, link)": lambda: vc.velocity(m, s, "left hand"),
        "vc.jacobian(m, s, link)": lambda: vc.jacobian(m, s, "left hand"),
        "vc.energy(m, s)": lambda: vc.energy(m, s),
        "vc.momentum(m, s)": lambda: vc.momentum(m, s),
        "s.integrate(step)": lambda: s.integrate(a),
    }
    with one_core():
        timings = interleaved(calls, effort)
    return [row_alone(name, "figure, open", timings, name, FRIENDLY) for name in calls]


def structure_changes(effort: Effort) -> list[Row]:
    """Connect with impact, cut of a loop, cut of a tree joint, called from Python, beside MuJoCo's recompile.

    A change cannot be repeated on the same structure: connections and cuts alternate, tree joints are cut on copies
    made ready beforehand; in each round every work is timed a few times, in turn with the peer.
    """
    given, bare = CLOSED["figure, 2 hands + 2 feet"](), OPEN["figure, open"]()
    m, s = given.m, given.s
    works: dict[str, Callable[[], object]] = {
        "a hand lets go": lambda: m.cut("left grip", state=s),
        "a hand grasps, impact included": lambda: _grasp(m, s),
    }
    tree, peer = "an elbow of the tree is cut", "MuJoCo: add or delete an equality, MjSpec.recompile"
    cold, result = "a hand grasps, the first change after other work", "a hand lets go, then vc.forward_dynamics"
    names, rounds = [*works, tree, cold, result], max(5, effort.rounds // 10)
    recompile = None
    if find_spec("mujoco"):
        from varichain.bench.peer_mujoco import mujoco_recompile

        recompile = mujoco_recompile(given)
        names.append(peer)
    seconds = {name: np.zeros(rounds) for name in names}
    with one_core():
        gc.disable()
        for i in range(rounds):
            for repeat in range(_CHANGES):
                for name, work in works.items():
                    took = _seconds(work)
                    seconds[name][i] += took / _CHANGES
                    if repeat == 0:  # the peer has just run: nothing of ours is in the processor's caches
                        seconds[cold][i] = took  # the grasp is the last of the works
            for _ in range(_CHANGES):
                seconds[result][i] += _seconds(partial(_let_go, m, s)) / _CHANGES
                _grasp(m, s)
            for copy, state in [_ready_copy(bare) for _ in range(_CHANGES)]:
                seconds[tree][i] += _seconds(partial(copy.cut, "left elbow", state=state)) / _CHANGES
            if recompile is not None:
                for _ in range(_CHANGES):
                    seconds[peer][i] += _seconds(recompile) / _CHANGES
        gc.enable()
    timings, rows = Timings(seconds), []
    for name in (*works, tree):
        rows.append(row_alone("structure change", name, timings, name, CHANGES[name]))
        if recompile:
            rows.append(row_beside("structure change", name, timings, name, peer, 10.0))
    return rows + [row_alone("structure change", name, timings, name) for name in (cold, result)]


def batches(effort: Effort) -> list[Row]:
    """Many states of the figure with 4 welds on all cores: forward dynamics, and runs of 20 Euler steps."""
    given, steps = CLOSED["figure, 4 welds"](), 20
    batch = vc.Batch(given.m)
    q, v = _many(given, batch, effort.states)
    m, n, tau, out = given.m, len(q), np.zeros((len(q), given.m.n_v)), np.empty((len(q), given.m.n_v))
    settings = {"method": "euler", "step": TIME_STEP, "sample": steps * TIME_STEP, "limits": "off"}
    ours, peer = "varichain: vc.rollout", "MuJoCo: mujoco.rollout"
    runs: dict[str, Callable[[], object]] = {
        "forward": lambda: batch.forward_dynamics(q, v, tau, out),
        ours: lambda: vc.rollout(m, (q, v), steps=steps, **settings),  # type: ignore[arg-type]
    }
    if find_spec("mujoco"):
        from varichain.bench.peer_mujoco import mujoco_rollout

        runs[peer] = mujoco_rollout(given, q, v, steps, batch.threads)
    timings = interleave(runs, max(3, min(5, effort.rounds)), batch_seconds=0.0, warm_up_seconds=0.0)
    each = {"forward": n, ours: n * steps, peer: n * steps}
    timings = Timings({name: seconds / each[name] for name, seconds in timings.seconds.items()})
    what = f"figure, 4 welds, {batch.threads} threads"
    rows = [row_alone(f"batch of {n}: forward dynamics, per state", what, timings, "forward")]
    task = f"batch of {n}: 20 Euler steps, per step"
    if peer in timings.seconds:
        return [*rows, row_beside(task, what, timings, ours, peer, ratio_target("batch", "figure, 4 welds", "MuJoCo"))]
    return [*rows, row_alone(task, what, timings, ours)]


def _many(given: Question, batch: vc.Batch, n: int) -> tuple[np.ndarray, np.ndarray]:
    """States of all kinds: the question's, at many speeds, after some milliseconds under random torques."""
    rng = np.random.default_rng(0)
    q, v = np.tile(given.s.q, (n, 1)), np.tile(given.s.v, (n, 1)) * rng.uniform(0.1, 1.0, (n, 1))
    batch.advance(q, v, rng.standard_normal((n, given.m.n_v)), TIME_STEP, 3)
    return q, v


def interleaved(runs: dict[str, Callable[[], object]], effort: Effort) -> Timings:
    """Times of all, in so many rounds as there is time for."""
    slowest = max(min(_seconds(run) for _ in range(2)) for run in runs.values())
    batch = 5e-4 if slowest < 1e-3 else 2e-3
    rounds = max(5, min(effort.rounds, int(_BUDGET / (len(runs) * max(slowest, batch)))))
    return interleave(runs, rounds, batch, warm_up_seconds=0.02 if effort.is_quick else 0.1)


def _grasp(m: vc.Mechanism, s: vc.State) -> None:
    m.connect("left hand", "ground", vc.Revolute("y"), GRIP, state=s, name="left grip")


def _let_go(m: vc.Mechanism, s: vc.State) -> None:
    m.cut("left grip", state=s)
    vc.forward_dynamics(m, s)


def _ready_copy(given: Question) -> tuple[vc.Mechanism, vc.State]:
    copy = given.m.copy()
    state = copy.state()
    state.q, state.v = given.s.q, given.s.v
    vc.energy(copy, state)
    return copy, state


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
