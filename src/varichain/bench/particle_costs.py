"""Cost of a step of particles per restriction, from a hundred restrictions to a hundred thousand."""

from __future__ import annotations

import time

import numpy as np

import varichain as vc
from varichain.bench.mechanisms import chain
from varichain.bench.rows import Row
from varichain.particles.simulate import threads_of
from varichain.trace.text import count

SIZES = (9, 90, 909, 9091)
"""Links of chains on hinges, each of eleven restrictions."""

_LINEAR = 1.2  # cost per restriction over that of fewer restrictions, at most
_WORK = 1_000_000  # restrictions times steps in one measurement


def particle_costs(n_rounds: int = 15, is_quick: bool = False) -> list[Row]:
    """Time per restriction and step of chains of growing length, measured in turn, with the threads that runs have."""
    questions = [chain(n, False) for n in SIZES[: 2 if is_quick else None]]
    systems = [vc.particles.from_mechanism(given.m, given.s) for given in questions]
    times: list[list[float]] = [[] for _ in systems]
    for _ in range(n_rounds):
        for system, found in zip(systems, times, strict=True):
            n = max(1, _WORK // system.n_restrictions)
            threads = threads_of(system)
            system.advance(1, 1e-9, threads)
            begun = time.perf_counter()
            system.advance(n, 1e-9, threads)  # so short that nothing moves: every round measures the same
            found.append((time.perf_counter() - begun) / (n * system.n_restrictions))
    medians = [float(np.median(found)) for found in times]
    rows = []
    for i, (system, found, median) in enumerate(zip(systems, times, medians, strict=True)):
        low, high = np.quantile(found, [0.25, 0.75])
        target = f"<= {_LINEAR:g}x of fewer"
        name = f"{system.n_restrictions} restrictions, {len(system.x)} particles, {count(threads_of(system), 'thread')}"
        met = median <= _LINEAR * min(medians[: i + 1])
        rows.append(Row("step per restriction", name, median, float(low), float(high), target=target, met=met))
    return rows
