"""Open chains: the 40-DoF figure beside Pinocchio and MuJoCo, friendly calls, long chains, start-up.

Run it with `make bench`, or `python benchmarks/bench_open_chains.py [--rounds 200] [--json FILE]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from interleave import interleave, use_one_core
from peers import FORWARD, INVERSE, TASKS, check_agreement, contenders, question, varichain_contenders
from report import Row, machine, print_table, row_alone, row_beside, row_growth, write_json
from rich.console import Console
from startup import BARE, FRIENDLY, IMPORT, NUMBA, PREPARED, measure_start_up

import varichain as vc
import zoo

RATIOS = {
    (INVERSE, "pinocchio"): 1.6,
    (FORWARD, "pinocchio"): 1.8,
    (INVERSE, "mujoco"): 2.0,
    (FORWARD, "mujoco"): 2.0,
}
FRIENDLY_CALL = 15e-6  # [s]
GROWTH = 12.0  # 1000 links beside 100
READY, IMPORTED = 1.5, 0.3  # [s]


def beside_peers(console: Console, rounds: int) -> list[Row]:
    """The figure at a random state: every task beside the fastest fair call of each peer."""
    rows = []
    given = question(vc.figures.human40(damping=False))
    for task in TASKS:
        rivals = contenders(given, task)
        difference = check_agreement(rivals)
        console.print(f"{task}: {len(rivals)} contenders agree to {difference:.1e}")
        timings = interleave({rival.name: rival.run for rival in rivals}, rounds)
        ours = rivals[0].name
        for library in dict.fromkeys(rival.library for rival in rivals[1:]):
            names = [rival.name for rival in rivals if rival.library == library]
            fastest = timings.fastest(*names)
            rows.append(row_beside(task, timings, ours, fastest, RATIOS.get((task, library))))
            for name in names:
                if name != fastest:
                    rows.append(row_beside(f"  (slower way: {task})", timings, ours, name))
    return rows


def friendly_calls(rounds: int) -> list[Row]:
    """Every friendly function on the figure: checks, names and new arrays included."""
    m = vc.figures.human40(damping=False)
    s = m.state()
    given = question(m)
    s.q, s.v = given.q, given.v
    timings = interleave(_friendly(m, s, given.a, given.tau), rounds)
    return [row_alone(name, timings, name, FRIENDLY_CALL) for name in timings.seconds]


def _friendly(m: vc.Mechanism, s: vc.State, a: np.ndarray, tau: np.ndarray) -> dict[str, Callable[[], object]]:
    hand, point, other = "left hand", (0.0, 0.0, -0.1), s.integrate(0.1 * s.v)
    push = [vc.Force(hand, force=(0.0, 0.0, 10.0), at=point)]
    return {
        "vc.inverse_dynamics(m, s, a)": lambda: vc.inverse_dynamics(m, s, a),
        "vc.forward_dynamics(m, s, tau)": lambda: vc.forward_dynamics(m, s, tau),
        "vc.forward_dynamics(m, s, {'left knee': 1.0})": lambda: vc.forward_dynamics(m, s, {"left knee": 1.0}),
        "vc.forward_dynamics(m, s, tau, [force])": lambda: vc.forward_dynamics(m, s, tau, push),
        "vc.mass_matrix(m, s)": lambda: vc.mass_matrix(m, s),
        "vc.bias_force(m, s)": lambda: vc.bias_force(m, s),
        "vc.pose(m, s, link)": lambda: vc.pose(m, s, hand),
        "vc.velocity(m, s, link)": lambda: vc.velocity(m, s, hand),
        "vc.velocity(m, s, link, point)": lambda: vc.velocity(m, s, hand, point),
        "vc.jacobian(m, s, link)": lambda: vc.jacobian(m, s, hand),
        "vc.jacobian(m, s, link, point, 'local')": lambda: vc.jacobian(m, s, hand, point, "local"),
        "vc.bias_acceleration(m, s, link)": lambda: vc.bias_acceleration(m, s, hand),
        "vc.center_of_mass(m, s)": lambda: vc.center_of_mass(m, s),
        "vc.center_of_mass_jacobian(m, s)": lambda: vc.center_of_mass_jacobian(m, s),
        "vc.energy(m, s)": lambda: vc.energy(m, s),
        "vc.momentum(m, s)": lambda: vc.momentum(m, s),
        "vc.limit_excess(m, s)": lambda: vc.limit_excess(m, s),
        "s.integrate(step)": lambda: s.integrate(a),
        "s.difference(other)": lambda: s.difference(other),
    }


def long_chains(rounds: int) -> list[Row]:
    """Serial chains of 100 and 1000 revolute joints: what ten times the links cost."""
    rows = []
    questions = {links: question(zoo.serial_chain(links)) for links in (100, 1000)}
    for task in (INVERSE, FORWARD):
        runs = {}
        for links, given in questions.items():
            runs[f"{links} links"] = next(own.run for own in varichain_contenders(given) if own.task == task)
        timings = interleave(runs, rounds)
        rows.append(row_growth(f"{task}, 1000 links", timings, "1000 links", "100 links", GROWTH))
    return rows


def start_up(console: Console) -> list[Row]:
    """First process of all, next processes, and what of it is Python's and Numba's own."""
    measured = measure_start_up()
    cold, ready = measured.cold, measured.ready
    console.print(
        f"start-up: lines on standard error: {measured.cold_lines} from the first process (it compiles), "
        f"{measured.ready_lines} from the later ones (0 if the cache has all they need)"
    )
    return [
        Row(f"empty cache, process start to result: {FRIENDLY}", cold[FRIENDLY], cold[FRIENDLY]),
        Row(f"empty cache, process start to result: {PREPARED}", cold[PREPARED], cold[PREPARED]),
        row_alone(f"next process, start to result: {FRIENDLY}", ready, FRIENDLY, READY),
        row_alone(f"next process, start to result: {PREPARED}", ready, PREPARED, READY),
        row_alone("import varichain, inside a process", measured.imports, IMPORT, IMPORTED),
        row_alone("for comparison, process start to: import varichain", ready, IMPORT),
        row_alone("for comparison, process start to: import numba", ready, NUMBA),
        row_alone("for comparison, process start to: nothing", ready, BARE),
    ]


def main() -> None:
    """Measure all sections, print their tables, write JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="rounds of every interleaved measurement")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers, in seconds, to this file as well")
    arguments = parser.parse_args()
    console = Console()
    core = use_one_core()
    on = machine()
    versions = ", ".join(f"{name} {version}" for name, version in on["packages"].items())
    place = "on any core" if core is None else f"on core {core} alone"
    console.print(f"{on['processor']}, {on['cores']} cores, {place}; {on['system']}, Python {on['python']}, {versions}")
    sections = {}
    sections["40-DoF figure through the prepared handle"] = beside_peers(console, arguments.rounds)
    sections["friendly calls, 40-DoF figure"] = friendly_calls(arguments.rounds)
    sections["serial chains through the prepared handle"] = long_chains(arguments.rounds)
    sections["start-up, 40-DoF figure"] = start_up(console)
    for title, rows in sections.items():
        console.print()
        print_table(console, title, rows, "s" if title.startswith("start-up") else "us")
    judged = [row for rows in sections.values() for row in rows if row.met is not None]
    missed = [row for row in judged if not row.met]
    console.print(f"\ntargets: {len(judged) - len(missed)} of {len(judged)} met")
    for row in missed:
        console.print(f"  missed: {row.work} {row.peer} (target {row.target})", markup=False)
    if arguments.json:
        write_json(arguments.json, sections, {"rounds": arguments.rounds})
        console.print(f"written to {arguments.json}")


if __name__ == "__main__":
    main()
