"""Designs of a four-bar linkage: forces in all joints over a turn of the crank, beside one state after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import varichain as vc
from varichain.bench.interleave import Timings, one_core
from varichain.bench.measures import Effort, interleaved
from varichain.bench.rows import Row, row_alone, row_beside
from varichain.bench.targets import DESIGNS, DESIGNS_BESIDE
from varichain.spatial.arrays import Array

LENGTHS = np.array([1.0, 0.3, 0.9, 0.7])  # [m]: ground, crank, coupler, rocker
ANGLES = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)
_FEW, _MANY = 5, 1000


def four_bar() -> tuple[vc.Mechanism, vc.State]:
    """A crank that turns round, and a state that is nearly closed."""
    m = vc.Mechanism("four-bar")
    for name, parent in (("crank", "ground"), ("coupler", "crank"), ("rocker", "ground")):
        m.add_link(name, parent, vc.Revolute("-y", name=name))
    m.connect("coupler", "rocker", vc.Revolute("-y"), at=(0.9, 0, 0), at_other=(0.7, 0, 0), name="pin")
    redesign(m, LENGTHS)
    s = m.state()
    s.q = (0.0, 0.9, 1.9)
    return m, s


def redesign(m: vc.Mechanism, lengths: Array) -> None:
    """Lengths of the bars, and masses of rods that long."""
    ground, crank, coupler, rocker = (float(length) for length in lengths)
    m.set_place("coupler", (crank, 0, 0))
    m.set_place("rocker", (ground, 0, 0))
    m.set_place("pin", (coupler, 0, 0), (rocker, 0, 0))
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        m.set_inertia(name, vc.Inertia.rod(2.0 * length, length, axis="x", com=(0.5 * length, 0, 0)))


def one_by_one(m: vc.Mechanism, s: vc.State, values: Array) -> Array:
    """Forces of the pin, by functions for one state: closed, driven, and forces in all joints."""
    forces = np.empty((len(values), len(ANGLES), 6))
    for i, lengths in enumerate(values):
        redesign(m, lengths)
        s = s.copy()
        for j, angle in enumerate(ANGLES):
            s["crank"].q = angle
            s = vc.assemble(m, s, hold=["crank"]).state
            result = vc.inverse_dynamics(m, s, {"crank": 0.0}, weights={"coupler": 1e9, "rocker": 1e9})
            vc.joint_forces(m, s, result)
            forces[i, j] = result.loop_forces["pin"]
    return forces


def design_costs(effort: Effort) -> list[Row]:
    """Some designs beside one state after the other, and a thousand."""
    m, s = four_bar()
    values = LENGTHS * (1.0 + 0.1 * np.random.default_rng(0).uniform(-1.0, 1.0, (_MANY, 4)))
    ours, other, what = "designs", "varichain: assemble, inverse_dynamics, joint_forces", "four-bar, 36 positions"
    found = vc.designs(m, s, redesign, values[:_FEW], {"crank": ANGLES})
    alone = one_by_one(m.copy(), s, values[:_FEW])
    difference = float(np.abs(found["pin"] - alone).max() / np.abs(alone).max())
    with one_core():
        calls: dict[str, Callable[[], object]] = {
            ours: lambda: vc.designs(m, s, redesign, values[:_FEW], {"crank": ANGLES}),
            other: lambda: one_by_one(m.copy(), s, values[:_FEW]),
        }
        timings = interleaved(calls, effort)
        rows = [row_beside(f"{_FEW} designs", what, timings, ours, other, DESIGNS_BESIDE, difference)]
        if effort.is_quick:
            return rows
        calls = {ours: lambda: vc.designs(m, s, redesign, values, {"crank": ANGLES})}
        whole: Timings = interleaved(calls, Effort(rounds=3, is_quick=True))
    return [*rows, row_alone(f"{_MANY} designs", what, whole, ours, DESIGNS, "s")]
