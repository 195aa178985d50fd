"""Locating an instant within a step: tries between a time before it and a time after it, by Illinois' rule."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from varichain.kernels.jit import helper

LOCATED = 1e-11  # [s] within which an instant is found
MOST_TRIES = 400
_PATIENCE = 3  # tries in a row that do not halve the span


class Bracket(NamedTuple):
    """Lengths of a step that end before and after an instant, with their signals: not negative, and negative."""

    early: Any
    late: Any
    signal_early: Any  # NaN as long as none is known
    signal_late: Any
    side: Any  # that moved last: -1 the late one, 1 the early one
    slow: Any  # tries that did not halve the span


@helper
def open_bracket(h, signal):
    """Bracket of a step of length h at whose end the signal is negative."""
    return Bracket(0.0, h, math.nan, signal, 0, 0)


@helper
def is_located(bracket, t):
    """Whether the instant is known well enough at a time t."""
    return bracket.late - bracket.early <= max(LOCATED, 4e-16 * abs(t))


@helper
def next_try(bracket):
    """Length to try next."""
    early, late = bracket.early, bracket.late
    tried = 0.5 * (early + late)
    # where another signal that hardly changes is smallest Illinois' rule creeps, and halving goes on
    if math.isfinite(bracket.signal_early) and bracket.slow < _PATIENCE:
        s_early, s_late = bracket.signal_early, bracket.signal_late
        guess = (early * s_late - late * s_early) / (s_late - s_early)
        # half the wanted width after the guess: when it is right, both ends are close to it
        guess += 0.4 * LOCATED
        if early < guess < late:
            tried = guess
    return tried


@helper
def narrowed(bracket, tried, signal):
    """Bracket after a try with its signal."""
    early, late, s_early, s_late, side, slow = bracket
    width = late - early
    if signal < 0.0:
        late, s_late = tried, signal
        if side == -1 and math.isfinite(s_early):
            s_early *= 0.5
        side = -1
    else:
        early, s_early = tried, signal
        if side == 1:
            s_late *= 0.5
        side = 1
    slow = slow % (_PATIENCE + 1) + 1 if late - early > 0.5 * width else 0
    return Bracket(early, late, s_early, s_late, side, slow)
