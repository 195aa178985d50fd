"""Closed chains beside Pinocchio and MuJoCo, pinned chains, and what a structure change costs.

Run it with `make bench`, or `python benchmarks/bench_closed_chains.py [--rounds 100] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from closed_peers import mujoco_connection, mujoco_run, pinocchio_run, varichain_run
from interleave import Timings, interleave, use_one_core
from report import Row, machine, print_table, row_alone, row_beside, row_growth, write_json
from rich.console import Console

import closed_zoo
import varichain as vc
from varichain.mechanism import Fixed, Revolute

AGREEMENT = 1e-9
PINOCCHIO, MUJOCO = "pinocchio: constraintDynamics", "mujoco: mj_forward"
GROWTH = 12.0
CHANGE = 200e-6  # [s]
REPEATS = 20
CONNECT, CUT, CUT_TREE = "connect a hand, impact included", "cut a hand's grip", "cut an elbow of the tree"
COLD = "connect a hand, the first change after other work"
LET_GO = "cut a hand's grip, then vc.forward_dynamics"
RECOMPILE = "mujoco: add or delete an equality, MjSpec.recompile"


def figure(hands: vc.Joint) -> tuple[vc.Mechanism, vc.State]:
    """The 40-DoF figure in a crouch, in motion, feet welded to the ground and hands held by a joint."""
    m = vc.figures.human40(damping=False)
    s = m.state()
    closed_zoo.arms_up(s, 2.4, 0.5, 0.2)
    for side in ("left", "right"):
        s[f"{side} knee"].q = 0.5
    for side in ("left", "right"):
        m.connect(f"{side} hand", "ground", hands, (0, 0, -0.08), state=s, name=f"{side} grip")
        m.connect(f"{side} foot", "ground", Fixed(), state=s, name=f"{side} sole")
    s.v = np.random.default_rng(0).standard_normal(m.n_v)
    return m, vc.project(m, s)


def beside_peers(console: Console, rounds: int) -> list[Row]:
    """Constrained forward dynamics through the prepared handle beside both peers."""
    cases = {
        "2 hands (hinges), 2 feet: 22 rows": (*figure(Revolute("y")), 2.5, 2.2, 0.0, 1),
        "4 welds: 24 rows": (*figure(Fixed()), None, None, 0.0, 1),
        "ladder of 40 loops: 120 rows, rank 80": (*_moving(closed_zoo.ball_ladder(40)), 8.0, None, 1e-6, 10),
    }
    rows = []
    for work, (m, s, pin_target, mj_target, mu, steps) in cases.items():
        tau = np.random.default_rng(1).standard_normal(m.n_v)
        ours, a = varichain_run(m, s, tau)
        theirs, pin_answer = pinocchio_run(m, s, tau, mu, steps)
        soft, mj_answer = mujoco_run(m, s, tau)
        for run in (ours, theirs, soft):
            run()
        size = np.abs(a).max()
        apart = {"pin": np.abs(pin_answer() - a).max() / size, "mj": np.abs(mj_answer() - a).max() / size}
        note = "welds in place of hinges" if "hinges" in work else "the same question"
        console.print(f"{work}: Pinocchio ({note}) differs by {apart['pin']:.1e}, MuJoCo (soft) by {apart['mj']:.1e}")
        if "hinges" not in work and apart["pin"] > max(AGREEMENT, mu):
            raise SystemExit(f"{work}: Pinocchio answers another question")
        timings = interleave({"varichain": ours, PINOCCHIO: theirs, MUJOCO: soft}, rounds)
        rows.append(row_beside(work, timings, "varichain", PINOCCHIO, pin_target))
        rows.append(row_beside(work, timings, "varichain", MUJOCO, mj_target))
    return rows


def pinned_chains(rounds: int) -> list[Row]:
    """Chains whose tip is pinned: what ten times the links cost."""
    runs = {}
    for links in (100, 1000):
        m, s = closed_zoo.pinned_chain(links)
        runs[f"{links} links"] = varichain_run(m, s, np.zeros(m.n_v))[0]
    timings = interleave(runs, rounds)
    return [row_growth("tip-pinned chain, 1000 links", timings, "1000 links", "100 links", GROWTH)]


def structure_changes(rounds: int) -> list[Row]:
    """Connect with impact, cut of a loop, cut of a tree joint, called from Python, beside MuJoCo's recompile.

    A change cannot be repeated on the same structure: connections and cuts alternate, tree joints are cut on copies
    made ready beforehand; in each round every work is timed a few times, in turn with the peer.
    """
    m, s = figure(Revolute("y"))
    bare = vc.figures.human40(damping=False)
    works = {name: np.zeros(rounds) for name in (CONNECT, CUT, CUT_TREE, COLD, LET_GO, RECOMPILE)}
    recompile = mujoco_connection(m)
    gc.disable()
    for i in range(rounds):
        for repeat in range(REPEATS):
            works[CUT][i] += _seconds(lambda: m.cut("left grip", state=s)) / REPEATS
            seconds = _seconds(lambda: _grasp(m, s))
            works[CONNECT][i] += seconds / REPEATS
            if repeat == 0:  # the peer has just run: nothing of ours is in the processor's caches
                works[COLD][i] = seconds
        for _ in range(REPEATS):
            works[LET_GO][i] += _seconds(lambda: (m.cut("left grip", state=s), vc.forward_dynamics(m, s))) / REPEATS
            _grasp(m, s)
        for copy, state in [_ready_copy(bare, s) for _ in range(REPEATS)]:
            works[CUT_TREE][i] += _seconds(lambda copy=copy, state=state: copy.cut("left elbow", state=state)) / REPEATS
        for _ in range(REPEATS):
            works[RECOMPILE][i] += _seconds(recompile) / REPEATS
    gc.enable()
    timings = Timings(works)
    rows = [row_alone(work, timings, work, CHANGE) for work in (CONNECT, CUT, CUT_TREE, COLD, LET_GO)]
    return rows + [row_beside(work, timings, work, RECOMPILE, 10.0) for work in (CONNECT, CUT, CUT_TREE)]


def _grasp(m: vc.Mechanism, s: vc.State) -> None:
    m.connect("left hand", "ground", Revolute("y"), (0, 0, -0.08), state=s, name="left grip")


def _ready_copy(m: vc.Mechanism, s: vc.State) -> tuple[vc.Mechanism, vc.State]:
    copy = m.copy()
    state = copy.state()
    state.q, state.v = s.q, s.v
    vc.energy(copy, state)
    return copy, state


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _moving(given: tuple[vc.Mechanism, vc.State]) -> tuple[vc.Mechanism, vc.State]:
    m, s = given
    s.v = np.random.default_rng(0).standard_normal(m.n_v)
    return m, vc.project(m, s)


def main() -> None:
    """Measure all sections, print their tables, write JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="rounds of every interleaved measurement")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers, in seconds, to this file as well")
    arguments = parser.parse_args()
    console = Console()
    use_one_core()
    console.print(machine())
    sections = {
        "constrained forward dynamics through the prepared handle": beside_peers(console, arguments.rounds),
        "pinned chains through the prepared handle": pinned_chains(arguments.rounds),
        "structure changes, 40-DoF figure": structure_changes(arguments.rounds),
    }
    for title, rows in sections.items():
        console.print()
        print_table(console, title, rows)
    if arguments.json:
        write_json(arguments.json, sections, {"rounds": arguments.rounds})


if __name__ == "__main__":
    main()
