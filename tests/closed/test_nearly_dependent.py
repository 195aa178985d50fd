"""Rows that nearly depend on each other for good: however nearly, they are solved as a QR factor of them would."""

import numpy as np
import pytest

import varichain as vc
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.layout.layout import layout_of

# Apart, the rods are two rows; pivots are (apart / 0.2 m)^2: Cholesky's factor, one refined, rows made orthogonal.
APART = [1e-2, 1e-3, 3e-4, 1e-4, 5e-5, 2e-5, 1e-5]  # [m]
ROUNDING = 1e-15


@pytest.mark.parametrize("apart", APART)
def test_a_box_on_two_rods_side_by_side(apart):
    """The accelerations of a box that hangs on two rods are those by QR, but for rounding times the rows' condition."""
    m = vc.Mechanism("box on rods")
    m.add_link("box", None, inertia=vc.Inertia.box(1.0, (0.3, 0.2, 0.1)))
    for name, x in (("left", 0.05), ("right", 0.05 + apart)):
        m.connect("box", "ground", vc.Distance(0.4), at=(x, 0.02, 0.0), at_other=(x, 0.02, 0.4), name=name)
    s = m.state()
    s.v = (0.3, -0.2, 0.5, 0.1, 0.2, -0.1)
    s.v = vc.impact(m, s, []).v
    a = vc.forward_dynamics(m, s).a

    layout = layout_of(m)
    table = layout.workspaces.of_thread.table
    K, bias = constraint_matrix(layout, table, s.q), constraint_bias(layout, table, s)
    L = np.linalg.cholesky(vc.mass_matrix(m, s))
    Y, free = np.linalg.solve(L, K.T), np.linalg.solve(L, -vc.bias_force(m, s))
    Q, R = np.linalg.qr(Y)
    exact = np.linalg.solve(L.T, free - Q @ (Q.T @ free + np.linalg.solve(R.T, bias)))
    condition = np.linalg.cond(Y)
    scale = 1.0 + np.abs(exact).max()
    assert np.abs(a - exact).max() < 10.0 * condition * ROUNDING * scale
    assert np.abs(K @ a + bias).max() < 100.0 * ROUNDING * scale
