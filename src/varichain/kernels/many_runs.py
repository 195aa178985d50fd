"""Whole runs from many states, one after the other in one call; see `running` for a single run."""

from varichain.kernels.jit import (
    CHANNELS,
    CONTROLS,
    CUBE,
    FORCES,
    INTEGER,
    INTEGERS,
    LAWS,
    MATRIX,
    NUMBER,
    RESTRAINTS,
    RUNS,
    TABLE,
    TRANSITIONS,
    VECTOR,
    helper,
    kernel,
)
from varichain.kernels.rows import call
from varichain.kernels.run_records import FULL, REACHED
from varichain.kernels.running import ADVANCE, SETTLE
from varichain.kernels.samples import open_sample, sample_widths

_AT_ONCE = 200  # steps between two looks at the flag of cancellation
_SAME_INSTANT = 1e-9  # [s], as for events


@helper
def _copy(source, target):
    """Copy a vector; an assignment of slices would take seconds to compile."""
    for i in range(len(source)):
        target[i] = source[i]


@helper
def _set_torque(torque, acts, controls, run):
    """Set the zero-order hold to a torque; controllers act too if `acts`."""
    is_any = False
    for k in range(len(torque)):
        controls[k].torque = torque[k]
        is_any = is_any or torque[k] != 0.0
    run.is_controlled = 1 if acts or is_any else 0
    run.is_evaluated = 0


@kernel(
    INTEGER,
    TABLE,
    RESTRAINTS,
    FORCES,
    CHANNELS,
    VECTOR,
    CONTROLS,
    LAWS,
    VECTOR,
    RUNS,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    MATRIX,
    TRANSITIONS,
    RESTRAINTS,
    LAWS,
    RUNS,
    MATRIX,
    MATRIX,
    NUMBER,
    CUBE,
    VECTOR,
    MATRIX,
    INTEGERS,
    CUBE,
    CUBE,
    RUNS,
    INTEGER,
    INTEGER,
)
def run_rows(
    # in: address of `run`
    address,
    # layout: arguments of `run`, as there
    table,
    # in and out
    restraints,
    # in
    forces,
    channels,
    motion,
    # in and out
    controls,
    laws,
    memory,
    runs,
    q,
    v,
    # work
    node_matrix,
    work,
    samples,
    transitions,
    # in: how every run begins, where it begins, when it ends
    restraints_start,
    laws_start,
    runs_start,
    q_start,
    v_start,
    until,
    # in: torques (n, K, n_v), each a zero-order hold until the next of the ticks (K); none if K is zero
    torques,
    ticks,
    # in and out: memory (n, ...) of the discrete controllers at the start, then at the end
    memories,
    # in: not zero once the rollout is cancelled
    cancelled,
    # out: samples (n, T, n_q) and (n, T, n_v), and the records of all runs at their ends
    q_out,
    v_out,
    ends_out,
    # in
    first,
    end,
):
    """Run from every state to a time; a run that fails leaves its samples, the others go on."""
    n_q, n_v, run = len(q), len(v), runs[0]
    acts = run.n_references or run.n_tables or run.controller or len(laws) > 0
    acting = (table, restraints, forces, channels, motion, controls, laws, memory, runs)
    given = (*acting, q, v, node_matrix, work, samples, transitions)
    for i in range(first, end):
        _copy(restraints_start, restraints)
        _copy(laws_start, laws)
        _copy(memories[i], memory)
        _copy(runs_start, runs)
        _copy(q_start[i], q)
        _copy(v_start[i], v)
        tick = 0
        if len(ticks) > 0:
            _set_torque(torques[i, 0], acts, controls, run)
        call(address, None, (*given, SETTLE, 0.0, 0))
        written, last = 0, run.time
        if run.status == REACHED:
            _copy(q, q_out[i, 0])
            _copy(v, v_out[i, 0])
            written = 1
        while run.status == REACHED and run.time < until:
            if cancelled[0]:
                return
            stop = until
            if len(ticks) > 0:
                if run.time >= ticks[tick] - _SAME_INSTANT:
                    tick += 1
                    _set_torque(torques[i, tick], acts, controls, run)
                stop = min(until, ticks[tick])
            call(address, None, (*given, ADVANCE, stop, _AT_ONCE))
            if run.status == FULL:
                run.status = REACHED
            for k in range(run.n_samples):
                sample = open_sample(samples[k], sample_widths(n_q, n_v, 0, 0, 0, 0))
                last = sample.time[0]
                _copy(sample.q, q_out[i, written])
                _copy(sample.v, v_out[i, written])
                written += 1
        if run.status == REACHED and last < run.time:  # the end lies between two samples
            _copy(q, q_out[i, written])
            _copy(v, v_out[i, written])
        _copy(memory, memories[i])
        ends_out[i] = run
