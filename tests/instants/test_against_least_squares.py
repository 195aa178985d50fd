"""Impacts where rows nearly depend on each other, compared with least squares in the mass metric, by numpy."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import scaled
from motion import motion_of_A, random_connection, subspace

KINDS = ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical", "fixed")
CASES = (("stewart", 0), ("stewart", 14), ("delta", 8), ("delta", 10), ("delta", 19), ("delta", 22))

ROUNDING = 4e-14
"""Difference of velocities relative to the fastest, times the smallest singular value of the rows that counts.

The rows that the solver keeps of dependent ones may be some ten times nearer to each other than all rows are.
"""

WORST = 2e-10
"""The difference itself where rows depend all but for 1e-6: velocities suffer less from those than the bound says."""

DEPENDENT = 1e-10
"""Singular values below this part of the largest are rounding; those that count are above 1e-7."""


def forbidden_rows(m, s, a, b, at, joint):
    """Rows (6, n_v) of the relative velocity that a joint between coinciding frames forbids, unit velocity by unit."""
    unit, V = s.copy(), np.empty((6, m.n_v))
    for k in range(m.n_v):
        unit.v = np.eye(m.n_v)[k]
        V[:, k], X = motion_of_A(m, unit, a, b, at)
    S = subspace(joint, X.R)
    return V - S @ np.linalg.lstsq(S, V, rcond=None)[0] if S.size else V


@pytest.mark.parametrize("e", scaled((0.0, 0.4), (0.4,)))
@pytest.mark.parametrize(("name", "seed"), CASES)
def test_nearly_dependent_rows(name, seed, e):
    """A catch or a bounce whose rows nearly depend on the loops' gives the jump of least squares in the mass metric."""
    rng = np.random.default_rng([10, seed])
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    wanted = random_connection(rng, m, str(rng.choice(KINDS)), "catch")
    found = vc.impact(m, s, [wanted], restitution=e)
    assert all(link.joint.kind == "spherical" for link in m.virtual_links)  # frames need not be turned alike
    loops = [forbidden_rows(m, s, x.real.name, x.parent.name, x.on_real, x.joint) for x in m.virtual_links]
    new = forbidden_rows(m, s, wanted.a, wanted.b, wanted.at, wanted.joint)
    K = np.vstack([*loops, new])
    given = -K @ s.v
    given[-6:] *= 1.0 + e
    C = np.linalg.inv(np.linalg.cholesky(vc.mass_matrix(m, s)))  # M^-1 = C^T C
    x, _, rank, singular = np.linalg.lstsq(K @ C.T, given, rcond=DEPENDENT)
    tolerance = min(ROUNDING * singular[0] / singular[rank - 1], WORST)
    assert np.abs(found.jump - C.T @ x).max() < tolerance * np.abs(s.v).max()
