"""Adaptive methods: the tolerance alone says how exact a run is."""

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from movers import ball_loop, distance, four_bar, free_body, pendulum, spherical_pendulum

SPAN = scaled(1.0, 0.25)  # [s]
TOLERANCES = scaled((1e-4, 1e-6, 1e-8, 1e-10, 1e-12), (1e-4, 1e-7))

SLACK = 300.0
"""Error after the span, as a multiple of the tolerance, which is of one step: these motions spread errors tenfold, and
there are some ten to hundred steps."""


@pytest.mark.parametrize("method", ["rk45", "gbs"])
@pytest.mark.parametrize(
    "make",
    scaled((pendulum, spherical_pendulum, free_body, four_bar, ball_loop), (spherical_pendulum,)),
    ids=lambda make: make.__name__,
)
def test_error_follows_tolerance(make, method):
    """The error falls with the tolerance over eight decades, while the method chooses all its steps."""
    m, s = make()
    runs = [vc.simulate(m, s, SPAN, method=method, step=SPAN, tolerance=tol).final for tol in TOLERANCES]
    reference = vc.simulate(m, s, SPAN, method="gbs", step=SPAN, tolerance=scaled(1e-13, 1e-11)).final
    found = np.array([distance(run, reference) for run in runs])
    assert (found < SLACK * np.array(TOLERANCES)).all()
    assert found[-1] < 1e-2 * found[0] * TOLERANCES[-1] / TOLERANCES[0] + SLACK * TOLERANCES[-1]
    assert (np.diff(found) < 0).all()
