"""Whole runs from many states, one after the other in one call; see `running` for what a run is."""

from varichain.kernels.controls import CONTROLLED, CONTROLLER, HELD, REFERENCES, TABLES
from varichain.kernels.jit import (
    CHANNELS,
    FORCES,
    HOLDS,
    INTEGER,
    INTEGERS,
    MATRIX,
    NUMBER,
    TABLE,
    VECTOR,
    helper,
    kernel,
)
from varichain.kernels.rows import CUBE, call
from varichain.kernels.running import ADVANCE, FREEDOM, FULL, NODE, REACHED, SAMPLES, SETTLE, STATUS, TIME

_AT_ONCE = 200  # steps, after which somebody may have cancelled
_SAME_INSTANT = 1e-9  # [s], as for events


@helper
def _copy(source, target):
    """Copy a vector; an assignment of slices would take seconds to compile."""
    for i in range(len(source)):
        target[i] = source[i]


@helper
def _hold(torque, acts, gains, counts, tally):
    """Let a torque act from now on, beside what `acts` already."""
    is_any = False
    for k in range(len(torque)):
        gains[HELD, k] = torque[k]
        is_any = is_any or torque[k] != 0.0
    counts[CONTROLLED] = 1 if acts or is_any else 0
    tally[NODE] = 0


@kernel(
    INTEGER,
    TABLE,
    HOLDS,
    FORCES,
    CHANNELS,
    VECTOR,
    MATRIX,
    INTEGERS,
    VECTOR,
    VECTOR,
    VECTOR,
    INTEGERS,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    HOLDS,
    VECTOR,
    INTEGERS,
    MATRIX,
    MATRIX,
    NUMBER,
    CUBE,
    VECTOR,
    INTEGERS,
    CUBE,
    CUBE,
    INTEGERS,
    INTEGERS,
    VECTOR,
    INTEGER,
    INTEGER,
)
def run_rows(
    # in: address of `run`
    address,
    # arguments of `run`: layout, in, in and out, work, out
    table,
    holds,
    forces,
    channels,
    motion,
    gains,
    counts,
    q,
    v,
    memo,
    tally,
    node,
    work,
    samples,
    happenings,
    impulses,
    # in: how every run begins, where it begins, when it ends
    holds_start,
    memo_start,
    tally_start,
    q_start,
    v_start,
    until,
    # in: torques (n, K, n_v), each held until the next of the ticks (K); none if K is zero
    torques,
    ticks,
    # in: not zero once nobody waits for the rest
    cancelled,
    # out: samples (n, T, n_q) and (n, T, n_v), why and at which freedom and when each run ended
    q_out,
    v_out,
    status_out,
    freedom_out,
    time_out,
    # in
    first,
    end,
):
    """Run from every state to a time; a run that fails leaves its samples, the others go on."""
    n_q, n_v = len(q), len(v)
    acts = counts[REFERENCES] or counts[TABLES] or counts[CONTROLLER]
    for i in range(first, end):
        _copy(holds_start, holds)
        _copy(q_start[i], q)
        _copy(v_start[i], v)
        _copy(memo_start, memo)
        _copy(tally_start, tally)
        given = (table, holds, forces, channels, motion, gains, counts, q, v, memo, tally, node, work, samples)
        rest = (happenings, impulses)
        tick = 0
        if len(ticks) > 0:
            _hold(torques[i, 0], acts, gains, counts, tally)
        call(address, None, given + rest + (SETTLE, 0.0, 0))
        status = tally[STATUS]
        written, last = 0, memo[TIME]
        if status == REACHED:
            _copy(q, q_out[i, 0])
            _copy(v, v_out[i, 0])
            written = 1
        while status == REACHED and memo[TIME] < until:
            if cancelled[0]:
                return
            stop = until
            if len(ticks) > 0:
                if memo[TIME] >= ticks[tick] - _SAME_INSTANT:
                    tick += 1
                    _hold(torques[i, tick], acts, gains, counts, tally)
                stop = min(until, ticks[tick])
            call(address, None, given + rest + (ADVANCE, stop, _AT_ONCE))
            status = REACHED if tally[STATUS] == FULL else tally[STATUS]
            for k in range(tally[SAMPLES]):
                last = samples[k, 0]
                _copy(samples[k, 1 : 1 + n_q], q_out[i, written])
                _copy(samples[k, 1 + n_q : 1 + n_q + n_v], v_out[i, written])
                written += 1
        if status == REACHED and last < memo[TIME]:  # the end lies between two samples
            _copy(q, q_out[i, written])
            _copy(v, v_out[i, written])
        status_out[i] = status
        freedom_out[i] = tally[FREEDOM]
        time_out[i] = memo[TIME]
