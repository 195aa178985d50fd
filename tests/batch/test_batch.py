import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import scaled

N = scaled(150, 5)  # more than threads take at once, so that several take part


def many(seed, m, s=None):
    """q and v of N states of a mechanism, around a closed one if it is given."""
    rng = np.random.default_rng(seed)
    if s is None:
        return np.array([zoo.random_q(rng, m) for _ in range(N)]), rng.standard_normal((N, m.n_v))
    states = [closed_zoo.random_closed_state(rng, m, s, reach=0.1) for _ in range(N)]
    return np.array([state.q for state in states]), np.array([state.v for state in states])


def tree():
    """Tree of all kinds of joints, and states of it."""
    m = zoo.random_tree(np.random.default_rng(3), 8, free_base=True, passive=True)
    return m, *many(0, m)


def closed_chain():
    """Four-bar linkage, and closed states of it."""
    m, s = closed_zoo.general_four_bar()
    return m, *many(0, m, s)


MECHANISMS = {"tree": tree, "closed chain": closed_chain}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_single_calls(name, threads):
    """Every row of a batch has the bits of the prepared handle's answer for that state, on any number of threads."""
    m, q, v = MECHANISMS[name]()
    given = np.random.default_rng(1).standard_normal((N, m.n_v))
    batch, handle = vc.Batch(m, threads), m.prepare()
    a, tau, M = batch.forward_dynamics(q, v, given), batch.inverse_dynamics(q, v, given), batch.mass_matrix(q)
    E, (h, center), (R, p) = batch.energy(q, v), batch.momentum(q, v), batch.poses(q)
    one, matrix, three, six = np.empty(m.n_v), np.empty((m.n_v, m.n_v)), np.empty(3), np.empty(6)
    R_one, p_one = np.empty((handle.n_links, 9)), np.empty((handle.n_links, 3))
    for i in range(N):
        assert np.array_equal(a[i], handle.forward_dynamics(q[i], v[i], given[i], one))
        assert np.array_equal(tau[i], handle.inverse_dynamics(q[i], v[i], given[i], one))
        assert np.array_equal(M[i], handle.mass_matrix(q[i], matrix))
        assert np.array_equal(E[i], handle.energy(q[i], v[i], three))
        assert np.array_equal(h[i], handle.momentum(q[i], v[i], six, three)) and np.array_equal(center[i], three)
        handle.poses(q[i], R_one, p_one)
        assert np.array_equal(R[i].reshape(-1, 9), R_one) and np.array_equal(p[i], p_one)


def test_projection_is_that_of_each_state():
    """A batch closes loops, positions and velocities, to the bits of `vc.project`, and tells what stays open."""
    m, q, v = closed_chain()
    q, v = q + 1e-4, v + 0.1
    closed_q, closed_v, left = vc.Batch(m, 2).project(q, v)
    jumps = vc.Batch(m, 2).velocity_jump(closed_q, v)
    assert left.max() < 1e-12
    for i in range(0, N, 7):
        s = m.state()
        s.q, s.v = q[i], v[i]
        one = vc.project(m, s)
        assert np.array_equal(closed_q[i], one.q) and np.array_equal(closed_v[i], one.v)
        assert np.array_equal(v[i] + jumps[i], one.v)


def test_a_tree_has_nothing_to_close():
    """Projection leaves the states of a tree as they are, and no velocity jumps."""
    m, q, v = tree()
    batch = vc.Batch(m, 2)
    closed_q, closed_v, left = batch.project(q, v)
    assert np.array_equal(closed_q, q) and np.array_equal(closed_v, v) and not left.any()
    assert not batch.velocity_jump(q, v).any()


def test_steps_are_those_of_the_handle():
    """A batch advances every state to the bits of the prepared handle's steps."""
    m, q, v = closed_chain()
    handle, tau = m.prepare(), np.full((N, m.n_v), 0.3)
    singly = [(row.copy(), speed.copy()) for row, speed in zip(q, v, strict=True)]
    vc.Batch(m, 2).advance(q, v, tau, 1e-3, 2)
    for i, (row, speed) in enumerate(singly):
        handle.advance(row, speed, tau[i], 1e-3, 2)
        assert np.array_equal(q[i], row) and np.array_equal(v[i], speed)


@pytest.mark.parametrize("value", [np.nan, 1e160, -1e300])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_row_that_is_no_state_stays_alone(name, value):
    """NaN, or a number whose square is none, makes its own answers NaN, is found, and changes no bit of the others."""
    m, q, v = MECHANISMS[name]()
    batch, others = vc.Batch(m, 1), np.arange(N) != 2
    functions = (batch.forward_dynamics, batch.inverse_dynamics, batch.energy)
    sound = [function(q, v) for function in functions]
    v[2, -1] = value
    assert batch.faults(q, v).tolist() == [0 if i != 2 else m.n_q + m.n_v for i in range(N)]
    for function, before in zip(functions, sound, strict=True):
        after = function(q, v)
        assert np.isnan(after[2]).any() and np.array_equal(after[others], before[others])
    batch.advance(q, v, None, 1e-3)
    assert np.isnan(v[2]).any() and np.isfinite(v[others]).all()


@pytest.mark.parametrize("part", [0, 1])
def test_numbers_whose_squares_are_none_are_named_by_a_rollout(part):
    """A rollout refuses a start of 1e160, and says which."""
    m, *starts = closed_chain()
    starts[part][1, 0] = 1e160
    with pytest.raises(vc.InputError, match="state 1 of"):
        vc.rollout(m, tuple(starts), until=0.01)


@pytest.mark.parametrize("much", [{"steps": 10**9}, {"steps": 10**5000}, {"until": 1e9}])
def test_a_rollout_has_an_end(much):
    """More samples than any memory holds are refused."""
    m, q, v = closed_chain()
    with pytest.raises(vc.InputError, match=r"more than 100000000|from 1 to 1000000000"):
        vc.rollout(m, (q, v), **much)


def test_results_go_where_they_are_wanted():
    """`out` is filled and returned, and one that does not fit is refused with the shape that would."""
    m, q, v = closed_chain()
    batch, out = vc.Batch(m, 2), np.empty((N, m.n_v))
    assert batch.forward_dynamics(q, v, out=out) is out
    with pytest.raises(vc.InputError, match=rf"out must be .* of shape \({N}, {m.n_v}\), not shape \({N}, 1\)"):
        batch.forward_dynamics(q, v, out=np.empty((N, 1)))
    with pytest.raises(vc.InputError, match="not list"):
        batch.energy(q, v, out=[])


def test_arrays_of_any_kind_are_taken():
    """Lists, integers, single precision, reversed and read-only arrays give what float64 arrays give."""
    m = zoo.double_pendulum()
    batch = vc.Batch(m, 2)
    q, v = np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 1]])
    expected = batch.inverse_dynamics(q.astype(float), v.astype(float))
    frozen = q.astype(float)
    frozen.setflags(write=False)
    for same in (q, q.tolist(), q.astype(np.float32), frozen, np.asfortranarray(frozen), q[::-1].copy()[::-1]):
        assert np.array_equal(batch.inverse_dynamics(same, v), expected)
    assert batch.inverse_dynamics(np.empty((0, 2)), np.empty((0, 2))).shape == (0, 2)


def test_what_does_not_fit_is_refused():
    """Wrong shapes, quaternions, numbers of threads and mechanisms are errors that say what would fit."""
    m, q, v = tree()
    batch = vc.Batch(m, 2)
    with pytest.raises(vc.InputError, match=rf"q must be numbers of shape \(n, {m.n_q}\), one state a row"):
        batch.mass_matrix(q[:, 1:])
    with pytest.raises(vc.InputError, match=rf"v must be numbers of shape \({N}, {m.n_v}\)"):
        batch.energy(q, v[1:])
    with pytest.raises(vc.InputError, match="q must be numbers"):
        batch.energy(q[0], v[0])
    with pytest.raises(vc.InputError, match="tau must be numbers"):
        batch.forward_dynamics(q, v, 1.0)
    with pytest.raises(vc.InputError, match="moved in place"):
        batch.advance(q.tolist(), v, None, 1e-3)
    q[1, :4] *= 2.0
    with pytest.raises(vc.InputError, match=r"quaternion of joint '.*' in state 1 has length 2, must be 1"):
        batch.energy(q, v)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(vc.InputError, match="threads must be a whole number from 1 to 1000"):
            vc.Batch(m, wrong)
    with pytest.raises(vc.InputError, match="expected a Mechanism, not str"):
        vc.Batch("arm")
    with pytest.raises(vc.SingularMassError):
        vc.Batch(_massless())


def _massless():
    m = vc.Mechanism("nothing")
    m.add_link("ghost", joint=vc.Revolute("y"))
    return m
