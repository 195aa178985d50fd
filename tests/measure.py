"""How far two answers are apart, and states to ask at."""

import numpy as np

import zoo


def deviation(found, expected, scale=None):
    """Largest difference, relative to the largest entry of `expected` or to a given scale; absolute if that is zero."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    if scale is None:
        scale = np.abs(expected).max(initial=0.0)
    difference = np.abs(found - expected).max(initial=0.0)
    return difference / scale if scale > 0.0 else difference


def state_at(m, q, v):
    """State of the mechanism with these coordinates and velocities."""
    s = m.state()
    s.q, s.v = q, v
    return s


def random_state(rng, m):
    """State with random coordinates and velocities."""
    return state_at(m, zoo.random_q(rng, m), zoo.random_v(rng, m))
