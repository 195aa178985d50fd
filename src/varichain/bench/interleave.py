"""Interleaved timing: several callables measured in turn, so that whatever disturbs the machine disturbs all of them.

A clock frequency that drifts, or a neighbour who wakes up, falls on every contender of the same round; the ratio of two
of them within one round is then much steadier than either time alone.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ratio:
    """Ratio of two times over the rounds: median, and the quartiles, between which half of the rounds lie."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Timings:
    """Time per call [s] of every contender, one number a round.

    Attributes:
        seconds: Name of the contender -> (rounds,), mean over one batch of calls.
    """

    seconds: dict[str, NDArray[np.float64]]

    def best(self, name: str) -> float:
        """Shortest time per call [s]: what the work costs when nothing disturbs it."""
        return float(self.seconds[name].min())

    def median(self, name: str) -> float:
        """Median time per call [s]."""
        return float(np.median(self.seconds[name]))

    def fastest(self, *names: str) -> str:
        """The contender with the shortest median."""
        return min(names, key=self.median)

    def quartiles(self, name: str) -> tuple[float, float]:
        """Times per call [s] between which half of the rounds lie."""
        low, high = np.percentile(self.seconds[name], [25.0, 75.0])
        return float(low), float(high)

    def ratio(self, numerator: str, denominator: str) -> Ratio:
        """How many times longer the first takes than the second, compared within each round."""
        ratios = self.seconds[numerator] / self.seconds[denominator]
        return Ratio(*(float(x) for x in np.percentile(ratios, [50.0, 25.0, 75.0])))


def interleave(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int = 200,
    batch_seconds: float = 5e-4,
    warm_up_seconds: float = 0.1,
) -> Timings:
    """Time per call of every contender.

    Each contender is first called for `warm_up_seconds`; that also tells how many calls fill a batch. Then come the
    rounds. In a round each contender is timed for one batch, in an order that rotates from round to round, so that
    nobody always runs after the same neighbour. The garbage collector rests meanwhile.
    """
    names = list(contenders)
    calls = {name: _calls_per_batch(contenders[name], batch_seconds, warm_up_seconds) for name in names}
    seconds = {name: np.empty(rounds) for name in names}
    collects = gc.isenabled()
    gc.disable()
    try:
        for round_index in range(rounds):
            first = round_index % len(names)
            for name in names[first:] + names[:first]:
                seconds[name][round_index] = _batch(contenders[name], calls[name]) / calls[name]
    finally:
        if collects:
            gc.enable()
    return Timings(seconds)


@contextmanager
def one_core() -> Iterator[int | None]:
    """Keep this process, and what it starts, on one core; its number, or None where the system cannot do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    allowed = os.sched_getaffinity(0)
    core = max(allowed)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


def _calls_per_batch(function: Callable[[], object], batch_seconds: float, warm_up_seconds: float) -> int:
    """Number of calls that take about `batch_seconds` once the function is warm."""
    function()  # whatever is done only once
    calls, spent, last = 1, 0.0, 0.0
    while spent < warm_up_seconds:
        last = _batch(function, calls)
        spent += last
        if last < batch_seconds:
            calls *= 2
    return max(1, round(calls * batch_seconds / max(last, 1e-9)))


def _batch(function: Callable[[], object], calls: int) -> float:
    """Seconds that a number of calls takes."""
    start = time.perf_counter()
    for _ in repeat(None, calls):
        function()
    return time.perf_counter() - start
