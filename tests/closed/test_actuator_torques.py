"""Compiled inverse dynamics of closed chains, through all doors, beside dense linear algebra."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import scaled
from oracles.actuators import actuator_torques
from varichain.errors import ActuationError, AssemblyError, InputError, PreferenceError

SAME = 1e-10  # as a part of the largest torque: the conditioning of S is within 1e3
CASES = scaled(list(closed_zoo.MECHANISMS), ["four-bar", "parallelogram", "delta", "loop closed by fixed"])


def case(name, every_joint, seed=3):
    """Mechanism, moving state and accelerations that the loops allow; optionally with an actuator in every joint."""
    m, s = closed_zoo.MECHANISMS[name]()
    if every_joint:
        for joint in (*m.joints, *(link.joint for link in m.virtual_links)):
            if joint.n_v and not joint.actuated:
                m.edit_joint(joint.name, actuated=True)
        s = s.follow(m)
    rng = np.random.default_rng(seed)
    s = closed_zoo.random_closed_state(rng, m, s)
    return m, s, vc.forward_dynamics(m, s, rng.normal(size=m.n_v)).a


@pytest.mark.parametrize("every_joint", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_all_doors_and_dense_algebra(name, every_joint):
    """`vc.inverse_dynamics`, handle and batch have the torques and loop forces of dense algebra, or refuse alike."""
    m, s, a = case(name, every_joint)
    h, batch, out, rows = m.prepare(), vc.Batch(m, threads=1), np.empty(s.layout.n_all), np.empty(s.layout.n_rows)
    expected = actuator_torques(m, s, a)
    if expected is None:
        with pytest.raises(ActuationError, match="cannot drive"):
            vc.inverse_dynamics(m, s, a)
        with pytest.raises(ActuationError, match="cannot drive"):
            h.actuator_torques(s.q, s.v, a, out)
        assert np.isnan(batch.actuator_torques([s.q], [s.v], [a])[0]).all()
        return
    tau, multipliers = expected
    size = max(1.0, np.abs(tau).max(initial=0.0))
    found = vc.inverse_dynamics(m, s, a, actuators=True)
    assert np.abs(found.actuation.tau_act - tau[_columns(s.layout)]).max(initial=0.0) < SAME * size
    largest = max(1.0, np.abs(multipliers).max(initial=0.0))
    assert np.abs(found.loop_forces.multipliers - multipliers).max(initial=0.0) < 1e-9 * largest
    h.actuator_torques(s.q, s.v, a, out)
    assert np.abs(out - tau).max(initial=0.0) < SAME * size
    assert not h.is_nearly_singular
    h.loop_multipliers(rows)
    many, forces = batch.actuator_torques([s.q, s.q], [s.v, s.v], [a, a])
    assert (many == out).all() and (forces == rows).all()
    tree = out[: s.layout.n_v]
    if not any(loop.slot.actuated for loop in s.layout.loops):  # forward dynamics are the inverse
        again = vc.forward_dynamics(m, s, tree)
        assert np.abs(again.a - a).max() < 1e-8 * (1.0 + np.abs(a).max())


def _columns(layout):
    return [k for slot in layout.all_slots if slot.actuated for k in range(slot.v.start, slot.v.stop)]


def test_weights_of_a_handle():
    """Dear actuators give less, as dense algebra says."""
    m, s, a = case("five-bar", every_joint=True)
    weights = {"left elbow": 9.0, "right crank": 0.25}
    out = np.empty(s.layout.n_all)
    m.prepare(weights).actuator_torques(s.q, s.v, a, out)
    tau, _ = actuator_torques(m, s, a, weights)
    np.testing.assert_allclose(out, tau, atol=SAME * np.abs(tau).max())
    np.testing.assert_allclose(vc.Batch(m).actuator_torques([s.q], [s.v], [a], weights)[0][0], tau, atol=1e-9)


@pytest.mark.parametrize("name", ["four-bar", "parallelogram", "stewart", "bar figure", "between floaters"])
def test_matrices_of_a_handle(name):
    """K, Kdot v, W, w and S are those of `vc.mobility`, for the same independent freedoms."""
    m, s, a = case(name, every_joint=False)
    h, layout = m.prepare(), s.layout
    names = h.choose_independent(s.q)
    expected = vc.mobility(m, s, prefer=names, probe=False)
    assert set(names) == set(expected.independent)
    order = [expected.independent.index(one) for one in names]
    W, w, S = np.empty((m.n_v, len(names))), np.empty(m.n_v), np.empty((h.n_actuated, len(names)))
    assert h.motion_basis(s.q, s.v, W, w, S) > 1e-3
    size = max(1.0, np.abs(expected.W).max())
    np.testing.assert_allclose(W, expected.W[:, order], atol=1e-10 * size)
    np.testing.assert_allclose(S, expected.S[:, order], atol=1e-10 * size)
    np.testing.assert_allclose(w, expected.w, atol=1e-9 * (1.0 + np.abs(expected.w).max()))
    K, bias = np.empty((layout.n_rows, m.n_v)), np.empty(layout.n_rows)
    h.loop_jacobian(s.q, K), h.loop_bias(s.q, s.v, bias)
    assert np.abs(K @ W).max() < 1e-10 * size
    assert np.abs(K @ a + bias).max() < 1e-9 * (1.0 + np.abs(a).max())
    assert h.actuated == expected.actuated


def test_preferred_freedoms_of_a_handle():
    """What is preferred is independent; what cannot be is refused by name."""
    m, s, _ = case("four-bar", every_joint=False)
    h = m.prepare()
    assert h.choose_independent(s.q, ["rocker"]) == ("rocker",)
    with pytest.raises(PreferenceError, match="depend on"):
        h.choose_independent(s.q, ["rocker", "crank"])
    with pytest.raises(InputError, match="close loops"):
        h.choose_independent(s.q, [m.virtual_links[0].joint.name])
    with pytest.raises(InputError, match="choose_independent"):
        m.prepare().motion_basis(s.q, s.v, np.empty((3, 1)), np.empty(3), np.empty((1, 1)))


def test_a_choice_that_has_become_singular():
    """At the dead point of a slider-crank its slider does not determine the crank: an error, no infinite numbers."""
    m, s = closed_zoo.slider_crank()
    h = m.prepare()
    slider = next(joint.name for joint in m.joints if joint.kind == "prismatic")
    crank = m.joints[0].name
    h.choose_independent(s.q, [slider])
    dead = vc.assemble(m, _at(m, s, crank, 0.0), hold=[crank]).state
    with pytest.raises(PreferenceError, match="choose_independent"):
        h.motion_basis(dead.q, dead.v, np.empty((m.n_v, 1)), np.empty(m.n_v), np.empty((h.n_actuated, 1)))


def _at(m, s, joint, angle):
    s = s.copy()
    s[joint].q = angle
    return s


def test_accelerations_that_open_loops():
    """Each door refuses them in its way."""
    m, s, a = case("four-bar", every_joint=False)
    wrong = a + np.array([1.0, 0.0, 0.0])
    with pytest.raises(AssemblyError, match="open the loops"):
        m.prepare().actuator_torques(s.q, s.v, wrong, np.empty(s.layout.n_all))
    tau, x = vc.Batch(m).actuator_torques([s.q, s.q], [s.v, s.v], [wrong, a])
    assert np.isnan(tau[0]).all() and np.isnan(x[0]).all() and np.isfinite(tau[1]).all()


def test_external_forces():
    """Wrenches on links take their part, and are gone afterwards."""
    m, s, a = case("stewart", every_joint=False)
    h, out = m.prepare(), np.empty(s.layout.n_all)
    wrenches = np.zeros((h.n_links, 6))
    link = m.links[-1].name
    wrenches[h.links[link], 3:] = 3.0, -1.0, 5.0
    pushed = vc.inverse_dynamics(m, s, a, [vc.Force(link, (3.0, -1.0, 5.0), at=(0, 0, 0))])
    h.actuator_torques(s.q, s.v, a, out, wrenches)
    np.testing.assert_allclose(out[: m.n_v], pushed.tau, atol=1e-10)
    h.actuator_torques(s.q, s.v, a, out)
    np.testing.assert_allclose(out[: m.n_v], vc.inverse_dynamics(m, s, a).tau, atol=1e-10)


def test_nearly_singular_torques_say_so():
    """Welded feet on nearly stretched legs: large torques come with a flag."""
    m, s = closed_zoo.parallelogram(angle=1e-4)
    h = m.prepare()
    h.actuator_torques(s.q, s.v, np.zeros(m.n_v), np.empty(s.layout.n_all))
    assert h.is_nearly_singular


def test_short_arrays():
    """Arrays of another shape are refused before anything is written."""
    m, s, a = case("four-bar", every_joint=False)
    h, out = m.prepare(), np.empty(s.layout.n_all)
    h.choose_independent(s.q)
    with pytest.raises(vc.ArrayError, match="shape"):
        h.actuator_torques(s.q, s.v, a, np.empty(1))
    with pytest.raises(vc.ArrayError, match="shape"):
        h.actuator_torques(s.q, s.v, a[:1], out)
    with pytest.raises(vc.ArrayError, match="shape"):
        h.motion_basis(s.q, s.v, np.empty((m.n_v, 2)), np.empty(m.n_v), np.empty((h.n_actuated, 1)))
