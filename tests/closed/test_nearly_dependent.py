"""Rows that nearly depend on each other for good: however nearly, they are solved as by a QR factor."""

import numpy as np
import pytest

import varichain as vc
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.layout.layout import layout_of

# Apart, the rods are two rows; pivots are (apart / 0.2 m)^2: Cholesky's factor, one refined, rows made orthogonal.
APART = [1e-2, 1e-3, 3e-4, 1e-4, 5e-5, 2e-5, 1e-5]  # [m]
REFINED = 1e-6  # solutions with smaller pivots are refined once
ROUNDING = 1e-15  # up to 0.7e-16 was seen of squares, 3e-16 of conditions


@pytest.mark.parametrize("apart", APART)
def test_a_box_on_two_rods_side_by_side(apart):
    """Its accelerations are those by QR but for rounding times the rows' condition, or its square if not refined."""
    m = vc.Mechanism("box on rods")
    m.add_link("box", None, inertia=vc.Inertia.box(1.0, (0.3, 0.2, 0.1)))
    for name, x in (("left", 0.05), ("right", 0.05 + apart)):
        m.connect("box", "ground", vc.Distance(0.4), at=(x, 0.02, 0.0), at_other=(x, 0.02, 0.4), name=name)
    s = m.state()
    s.v = (0.3, -0.2, 0.5, 0.1, 0.2, -0.1)
    s.v = vc.impact(m, s, []).v
    found = vc.forward_dynamics(m, s)

    layout = layout_of(m)
    table = layout.workspaces.of_thread.table
    K, bias = constraint_matrix(layout, table, s.q), constraint_bias(layout, table, s)
    L = np.linalg.cholesky(vc.mass_matrix(m, s))
    Y, free = np.linalg.solve(L, K.T), np.linalg.solve(L, -vc.bias_force(m, s))
    Q, R = np.linalg.qr(Y)
    exact = np.linalg.solve(L.T, free - Q @ (Q.T @ free + np.linalg.solve(R.T, bias)))
    condition, scale = np.linalg.cond(Y), 1.0 + np.abs(exact).max()
    enlarged = condition if found.smallest_pivot < REFINED else condition**2
    assert np.abs(found.a - exact).max() < enlarged * ROUNDING * scale
    assert np.abs(K @ found.a + bias).max() < 100.0 * ROUNDING * scale
