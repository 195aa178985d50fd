"""The solver of contacts, stops and dry friction, alone: against the laws themselves and against another solver."""

import numpy as np
import pytest
from scipy.optimize import nnls

from lane import scaled
from oracles.contact import violation
from varichain.kernels.contact_records import CONE, DRY, DRY_BALL, ITEM, STOP
from varichain.kernels.contact_solver import contact_impulses
from varichain.kernels.tables import as_records

# Velocities of the problems are about 1; ten roundings of a sum of a hundred terms.
SOLVED = 1e-9
SIZES = {CONE: 3, STOP: 1, DRY: 1, DRY_BALL: 3}


def problem(rng, kinds, n_v, friction=None):
    """Random rows K of items in a mechanism with unit masses and n_v freedoms: items, K, W and b = K v."""
    items = as_records(np.zeros(len(kinds), ITEM))
    n = 0
    for item, kind in zip(items, kinds, strict=True):
        item["kind"], item["row"], item["n_rows"] = kind, n, SIZES[kind]
        item["friction"] = rng.choice([0.0, 0.3, 1.0]) if friction is None else friction
        item["bound"] = rng.uniform(0.0, 0.5)
        n += SIZES[kind]
    K, v = rng.normal(size=(n, n_v)), rng.normal(size=n_v)
    return items, K, K @ K.T, K @ v


def solved(items, W, b, guess=None):
    """Impulses and residual."""
    n = len(b)
    x, u = np.zeros(n) if guess is None else guess.copy(), np.zeros(n)
    found, _ = contact_impulses(
        items, W, b, 1e-13, x, u, np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((max(n, 2), n + 2))
    )
    assert u == pytest.approx(W @ x + b, abs=1e-10)
    return x, found


def test_random_problems_obey_the_laws():
    """Random problems, half of them with more rows than freedoms, are solved: signs, cones, complementarity, slip."""
    rng = np.random.default_rng(0)
    for _ in range(scaled(300, 25)):
        kinds = rng.choice([CONE, CONE, CONE, STOP, DRY, DRY_BALL], size=rng.integers(1, 9))
        items, _, W, b = problem(rng, kinds, n_v=rng.integers(3, 30))
        x, found = solved(items, W, b)
        assert found < SOLVED
        assert violation(items, W, b, x) < SOLVED
        cones = [int(item["row"]) for item in items if item["kind"] == CONE]
        mu = [float(item["friction"]) for item in items if item["kind"] == CONE]
        for r, k in zip(cones, mu, strict=True):
            assert x[r] >= 0.0 and np.hypot(x[r + 1], x[r + 2]) <= k * x[r] * (1.0 + 1e-12)


def test_the_oracle_sees_violations():
    """The laws as written are violated by impulses that are changed a little: the test above can fail."""
    rng = np.random.default_rng(1)
    items, _, W, b = problem(rng, [CONE, CONE, STOP], 12, friction=0.5)
    b[[0, 3, 6]] = -1.0
    x, _ = solved(items, W, b)
    for j in np.flatnonzero(x):
        other = x.copy()
        other[j] += 1e-3
        assert violation(items, W, b, other) > 1e-5


def test_without_friction_it_is_least_squares():
    """Frictionless contacts are the nonnegative least squares that another solver finds; velocities are unique."""
    rng = np.random.default_rng(2)
    for _ in range(scaled(100, 10)):
        items, K, W, b = problem(rng, [STOP] * rng.integers(1, 20), n_v=8)
        x, _ = solved(items, W, b)
        v = np.linalg.lstsq(K, b, rcond=None)[0]
        other, _ = nnls(K.T, -v)
        assert K @ (v + K.T @ x) == pytest.approx(K @ (v + K.T @ other), abs=1e-9)


def test_the_guess_does_not_matter_for_velocities_of_sticking_contacts():
    """Hyperstatic contacts that stick, from any guess, come to rest alike."""
    rng = np.random.default_rng(3)
    items, _, W, b = problem(rng, [CONE] * 4, n_v=6, friction=50.0)
    b -= 0.0
    for guess in (np.zeros(12), rng.normal(size=12), 100.0 * rng.normal(size=12)):
        x, found = solved(items, W, b, guess)
        assert found < SOLVED and violation(items, W, b, x) < SOLVED


def test_one_contact_slips_against_a_circular_cone():
    """A point mass is stopped along the normal and slowed by mu of that, straight against its slip."""
    items = as_records(np.zeros(1, ITEM))
    items["n_rows"], items["friction"] = 3, 0.25
    x, _ = solved(items, np.eye(3), np.array([-2.0, 3.0, -4.0]))
    assert x == pytest.approx([2.0, -0.5 * 0.6, 0.5 * 0.8], abs=1e-14)


def test_contacts_that_cannot_all_stick_slip():
    """Two points of a rigid rod that would have to come closer than they are: one slips, however little it is."""
    line = np.array([1.0, 1e-4])  # the rod, nearly along the surface
    K = np.zeros((6, 3))
    K[0, 1] = K[1, 0] = K[3, 1] = K[4, 0] = 1.0
    K[3, 2], K[4, 2] = line[0], -line[1]
    items = as_records(np.zeros(2, ITEM))
    items["row"], items["n_rows"], items["friction"] = (0, 3), 3, 0.5
    items["target"] = (-1e-3, 0.0)
    W, b = K @ K.T, K @ np.array([0.0, -1.0, 0.0])
    x, found = solved(items, W, b)
    assert found < SOLVED and violation(items, W, b, x) < SOLVED


def test_what_nothing_can_move_is_reported():
    """A row without response that closes is in the residual, and gets no impulse."""
    items = as_records(np.zeros(1, ITEM))
    items["kind"], items["n_rows"] = STOP, 1
    x, found = solved(items, np.zeros((1, 1)), np.array([-0.5]))
    assert x[0] == 0.0 and found == 0.5
