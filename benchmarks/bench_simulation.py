"""Whole runs beside MuJoCo's, like for like: Euler beside Euler, Runge-Kutta 4 beside Runge-Kutta 4.

Run it with `make bench`, or `python benchmarks/bench_simulation.py [--rounds 100] [--json FILE]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import mujoco as mj
from bench_closed_chains import figure
from closed_peers import mujoco_simulation
from interleave import interleave, use_one_core
from report import Row, machine, print_table, row_alone, row_beside, write_json
from rich.console import Console

import varichain as vc
from varichain.mechanism import Fixed, Revolute
from varichain.simulation import Simulation
from varichain.simulation.controls import Controls
from varichain.simulation.settings import checked_settings

STEP, STEPS = 1e-3, 20  # [s]; steps of one timed call, a sample at its end
LONG = 0.2  # [s] after which the gaps are compared
METHODS = {"euler": mj.mjtIntegrator.mjINT_EULER, "rk4": mj.mjtIntegrator.mjINT_RK4}
AT_LEAST = {"euler": 2.0, "rk4": 2.0}


def varichain_simulation(m: vc.Mechanism, s: vc.State, method: str) -> Callable[[], None]:
    """Twenty steps from the state, in the core, with a sample at the end."""
    settings = checked_settings(method, STEP, STEPS * STEP, 1e-9, None, "off")
    simulation = Simulation(m.copy(), s.copy(), settings, [], Controls(None, None, ()))
    simulation.begin()
    start, engine = simulation.engine.snapshot(), simulation.engine

    def run() -> None:
        engine.restore(start)
        engine.run(STEPS * STEP, STEPS)

    return run


def beside_mujoco(console: Console, rounds: int) -> list[Row]:
    """Runs of the 40-DoF figure with hands and feet attached, beside MuJoCo's with soft equalities."""
    rows = []
    for what, joint in (("2 hands (hinges), 2 feet", Revolute("y")), ("4 welds", Fixed())):
        m, s = figure(joint)
        for method, integrator in METHODS.items():
            ours = varichain_simulation(m, s, method)
            theirs, gap = mujoco_simulation(m, s, integrator, STEP, STEPS)
            trace = vc.simulate(m, s, LONG, method=method, step=STEP, sample=STEPS * STEP, limits="off")
            closure = max(float(epoch.closure.max()) for epoch in trace.epochs)
            console.print(f"{what}, {method}: loops closed to {closure:.1e}; MuJoCo's gap {gap(LONG):.1e} m")
            peer = f"mujoco: mj_step, {method}"
            timings = interleave({"varichain": ours, peer: theirs}, rounds, batch_seconds=2e-3)
            rows.append(row_beside(f"{STEPS} steps of {method}, {what}", timings, "varichain", peer, AT_LEAST[method]))
    return rows


def real_time(rounds: int) -> list[Row]:
    """Time for 20 ms of the 16-DoF figure on the high bar."""
    from varichain.demo import hanging_figure

    m, s = hanging_figure()
    run = varichain_simulation(m, s, "rk4")
    timings = interleave({"varichain": run}, rounds, batch_seconds=2e-3)
    return [row_alone("20 ms of the high bar, both hands (rk4, 1 ms)", timings, "varichain", at_most=STEPS * STEP / 40)]


def main() -> None:
    """Measure, print, and write the numbers if a file is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console = Console()
    use_one_core()
    sections = {"Whole runs beside MuJoCo": beside_mujoco(console, given.rounds), "Real time": real_time(given.rounds)}
    for title, rows in sections.items():
        print_table(console, title, rows)
    console.print(machine())
    if given.json:
        write_json(given.json, sections, {"rounds": given.rounds})


if __name__ == "__main__":
    main()
