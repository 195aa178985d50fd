"""Loops stay closed at every stored sample, whatever the method."""

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from movers import ball_loop, four_bar, hanging_figure
from varichain.dynamics.arguments import opened
from varichain.kernels.closure import row_velocities
from varichain.simulation.settings import METHOD_CODES

CLOSED = 1e-10
"""Promised [m or rad]; steps of all methods end with corrections down to 1e-13."""

STILL = 1e-10
"""Velocities with which loops open, relative to the fastest."""

SPANS = {hanging_figure: scaled(1.0, 0.004), four_bar: scaled(3.0, 0.02), ball_loop: scaled(3.0, 0.02)}  # [s]


@pytest.mark.parametrize("method", METHOD_CODES)
@pytest.mark.parametrize("make", SPANS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("n_between", scaled([1, 10], [2]))
def test_loops_are_closed(make, method, n_between):
    """Gaps of all loops are below 1e-10 at every sample, by the trace's column and by the loops' own frames."""
    m, s = make()
    span = SPANS[make]
    sample = max(2e-3, span / 200)
    finer = 4 if method == "euler" else 1  # with steps of 15 ms it is refused for its energy
    step = sample / (finer * n_between) if method in ("euler", "rk4") else sample
    limits = "off" if method == "implicit" else "hard"  # at hard stops its steps may chatter, see docs/simulation.md
    options = {"method": method, "step": step, "sample": sample, "tolerance": 1e-7, "limits": limits}
    epoch = vc.simulate(m, s, span, **options).epochs[0]
    assert epoch.closure.max() < CLOSED
    for i in range(0, len(epoch), max(1, len(epoch) // 20)):
        at = epoch.state(i)
        assert max(loop.gap for loop in vc.loop_states(m, at).values()) < CLOSED
        layout, table = opened(m, at)
        rates = np.empty(layout.n_rows)
        row_velocities(table, at.q, at.v, rates)
        assert np.abs(rates).max() < STILL * (1.0 + np.abs(at.v).max())
