"""The printed matrices of Nakamura and Yamane's example [NY, VII-A], with the misprints of (46) and (48) mended."""

from itertools import combinations

import numpy as np
import pytest

import varichain as vc
from varichain.mechanism import Inertia, Mechanism, Revolute

EXACT = 1e-14  # unit lengths and right angles: nothing but a few roundings

# Theirs is theta = (x, y, z, wx, wy, wz, theta_7, theta_8) and rows [linear; angular]; ours is [angular; linear].
COLUMNS = [3, 4, 5, 0, 1, 2, 6, 7]
ROWS = [3, 4, 5, 0, 1, 2]
NAMES = ("base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz", "theta_7", "theta_8")

J_C = [  # (45)
    [1, 0, 0, 0, 0, -2, -1, 0],
    [0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 1, 2, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, 1, -1],
]
# theta_G = (theta_1, theta_7)
H = [[0, 0], [0, 0], [0, 0], [0, 0], [0.5, -0.5], [0.5, 0.5]]  # (46), rows theta_2, 3, 4, 5, 6, 8
W = [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0.5, -0.5], [0, 1]]  # (47)
S = [[0, 1], [0.5, 0.5]]  # (48), theta_A = (theta_7, theta_8)


@pytest.fixture
def example():
    """Two links of unit length along y, floating, the end of the second hinged to the ground at (0, 2, 0)."""
    m = Mechanism("NY VII-A")
    rod = Inertia.rod(1.0, 1.0, axis="y", com=(0, 0.5, 0)) + Inertia.sphere(0.1, 0.1)
    m.add_link("base", parent=None, inertia=rod)
    m.add_link("link 1", "base", Revolute("z", name="theta_7"), at=(0, 1, 0), inertia=rod)
    theta_8 = Revolute("z", name="theta_8", actuated=True)
    m.connect("link 1", "ground", theta_8, at=(0, 1, 0), at_other=(0, 2, 0))
    return m, m.state()


def test_constraint_matrix(example):
    """J_C is the printed one, with rank 6 and two degrees of freedom."""
    found = vc.mobility(*example)
    assert (found.n_all, found.n_tree, found.n_actuated, found.n_loops) == (8, 7, 2, 1)
    assert (found.rank, found.n_independent, found.n_lasting) == (6, 2, 2)
    np.testing.assert_allclose(found.J_C[np.ix_(ROWS, COLUMNS)], J_C, rtol=0, atol=EXACT)


def test_printed_coordinates(example):
    """With theta_1 and theta_7 as generalized coordinates H, W and S are the printed ones, and w is zero at rest."""
    found = vc.mobility(*example, prefer=["base.vx", "theta_7"])
    assert found.independent == ("base.vx", "theta_7")
    dependent = [found.dependent.index(name) for name in NAMES if name in found.dependent]
    np.testing.assert_allclose(found.H[dependent], H, rtol=0, atol=EXACT)
    np.testing.assert_allclose(found.W[COLUMNS[:7]], W, rtol=0, atol=EXACT)
    assert found.actuated == ("theta_7", "theta_8")
    np.testing.assert_allclose(found.S, S, rtol=0, atol=EXACT)
    np.testing.assert_allclose(found.w, np.zeros(7), rtol=0, atol=EXACT)


def test_admissible_coordinates(example):
    """Any two of theta_1, 6, 7, 8 can be chosen; theta_2 to theta_5 depend on the others in every choice."""
    for pair in combinations(range(8), 2):
        names = {NAMES[k] for k in pair}
        if set(pair) <= {0, 5, 6, 7}:
            assert set(vc.mobility(*example, prefer=names, probe=False).independent) == names
        else:
            with pytest.raises(vc.PreferenceError) as caught:
                vc.mobility(*example, prefer=names, probe=False)
            assert set(caught.value.freedoms) <= names


def test_automatic_choice(example):
    """Left to itself the choice is the actuated joints; of the four freedoms at rest one moves once the base turns."""
    found = vc.mobility(*example)
    assert found.independent == ("theta_7", "theta_8")
    assert {*found.locked, *found.resting} == {*NAMES[1:5]} and found.resting == ("base.vy",)
    assert found.actuation == "fully actuated"


def test_actuated_virtual_joint(example):
    """Torques at theta_7 and at the virtual theta_8 give the accelerations that they were asked for."""
    m, s = example
    s["theta_7"].v = 0.7
    s = vc.project(m, s)
    wanted = vc.inverse_dynamics(m, s, {"theta_7": 1.5, "theta_8": -0.4})
    assert set(wanted.actuation.virtual) == {"theta_8"}
    tau = {"theta_7": wanted["theta_7"], "theta_8": wanted["theta_8"]}
    found = vc.forward_dynamics(m, s, tau)
    np.testing.assert_allclose(found.a, wanted.a, rtol=0, atol=1e-12 * np.abs(wanted.a).max())
    mobility = vc.mobility(m, s, prefer=["base.vx", "theta_7"])
    load = mobility.W.T @ vc.bias_force(m, s) + mobility.W.T @ vc.mass_matrix(m, s) @ wanted.a
    np.testing.assert_allclose(mobility.S.T @ wanted.actuation.tau_act, load, rtol=0, atol=1e-12 * np.abs(load).max())
