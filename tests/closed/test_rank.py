"""The one threshold of rank: settable, the same wherever rank is decided, and it travels with the mechanism."""

import pickle

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from varichain.dynamics.formulations import FORMULATIONS
from varichain.dynamics.rank import kept_rows
from varichain.errors import InputError
from varichain.mechanism.describe import description, mechanism_from

OFF = 1e-4  # [rad] from flat: independent by about as much


def near_flat(tolerance=None):
    """Parallelogram that is folded nearly flat, at rest."""
    m, s = closed_zoo.parallelogram(angle=OFF)
    if tolerance is not None:
        m.rank_tolerance = tolerance
        s.follow(m)
    s.v[:] = 0.0
    return m, s


@pytest.mark.parametrize(("tolerance", "n_freedoms"), [(None, 1), (1e-6, 1), (1e-2, 2)])
def test_one_decision(tolerance, n_freedoms):
    """Mobility, dynamics of all formulations, impact and projection see the rank that the tolerance says."""
    m, s = near_flat(tolerance)
    found = vc.mobility(m, s, probe=False)
    assert found.n_independent == n_freedoms
    n_rows = int(kept_rows(s.layout, s.layout.workspaces.of_thread.table, s.q).sum())
    assert n_rows == m.n_v - n_freedoms
    fast = vc.forward_dynamics(m, s)
    assert int(s.layout.workspaces.of_thread.array("rows")["kept"].sum()) == n_rows
    for method in FORMULATIONS:
        other = vc.forward_dynamics(m, s, method=method).a
        # which combination of nearly dependent rows is left out differs: by the tolerance
        np.testing.assert_allclose(other, fast.a, atol=max(1e-8, found.rank_tolerance) * np.abs(fast.a).max())
    # a push on the coupler, in the direction that the rows allow or not
    s.v[:] = (1.0, -1.0, 0.0)
    v = vc.project(m, s).v
    assert np.linalg.matrix_rank(np.array([vc.project(m, _moving(m, s, k)).v for k in range(m.n_v)]), tol=1e-2) == (
        n_freedoms
    )
    assert np.isfinite(v).all()


def _moving(m, s, k):
    """The state with one joint moving."""
    moving = s.copy()
    moving.v[:] = 0.0
    moving.v[k] = 1.0
    return moving


def test_tolerance_is_part_of_the_mechanism(tmp_path):
    """Copies, pickles, descriptions and files have it; a description without one has the default."""
    m, _ = near_flat(1e-4)
    assert m.copy().rank_tolerance == pickle.loads(pickle.dumps(m)).rank_tolerance == 1e-4
    plain = description(m)
    assert mechanism_from(plain).rank_tolerance == 1e-4
    del plain["rank_tolerance"]
    assert mechanism_from(plain).rank_tolerance == 3e-7
    vc.save(m, tmp_path / "m.urdf")
    assert vc.load(tmp_path / "m.urdf").rank_tolerance == 1e-4


@pytest.mark.parametrize("value", [0.0, -1.0, 1e-13, 0.5, np.nan, "1e-3", None])
def test_bad_tolerances(value):
    """A tolerance that means nothing is refused, and nothing changes."""
    m = vc.Mechanism()
    with pytest.raises(InputError, match="rank_tolerance"):
        m.rank_tolerance = value
    assert m.rank_tolerance == 3e-7


def test_setting_it_is_an_edit():
    """States of before are out of date until they follow."""
    m, s = closed_zoo.parallelogram(angle=0.5)
    before = m.revision
    m.rank_tolerance = 1e-5
    assert m.revision == before + 1
    assert vc.mobility(m, s.follow(m), probe=False).rank_tolerance == 1e-5


def test_nearly_singular_inverse_dynamics_say_so():
    """Torques of a nearly folded parallelogram are large, and come with a flag and a word."""
    m, s = near_flat()
    found = vc.inverse_dynamics(m, s, {"first crank": 1.0}, actuators=False)
    assert found.is_nearly_singular and "nearly singular" in repr(found)
    m, s = closed_zoo.parallelogram(angle=0.5)
    assert not vc.inverse_dynamics(m, s, actuators=False).is_nearly_singular
