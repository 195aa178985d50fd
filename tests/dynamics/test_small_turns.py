"""Turns small enough for a short series, and those beside them that are not: both are right to rounding."""

import numpy as np
import pytest

import varichain as vc
from varichain.dynamics.loops import closure_errors
from varichain.layout.layout import layout_of

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
# Steps below 0.1 rad and errors of loops below 0.01 rad are series.
ANGLES = [0.0, 1e-300, 1e-9, 1e-4, 9.99e-3, 1.001e-2, 0.0999, 0.1001, 1.0, 3.0]  # [rad]
ROUNDING = 4e-16


def ball():
    """A ball that hangs on the ground by its centre."""
    m = vc.Mechanism("ball")
    m.add_link("ball", joint=vc.Spherical(), inertia=vc.Inertia.sphere(1.0, 0.1))
    return m


@pytest.mark.parametrize("angle", ANGLES)
def test_steps_are_those_of_the_exponential(angle):
    """A ball that moves with angular velocity w for 1 s from rest has the quaternion (cos |w|/2, sin |w|/2 w/|w|)."""
    m = ball()
    found = m.prepare().integrate(m.state().q.copy(), angle * AXIS, 1.0, np.empty(4))
    wanted = np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * AXIS)])
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(found[1:], wanted[1:], rtol=ROUNDING, atol=1e-305)


@pytest.mark.parametrize("angle", ANGLES)
def test_loops_are_open_by_the_whole_turn(angle):
    """A link that is welded to the ground and turned by an angle is open by its rotation vector."""
    m = ball()
    m.connect("ball", "ground", vc.Fixed(), at_other=(0.0, 0.0, 0.0))
    s = m.state()
    s["ball"].orientation = vc.Pose(rotation_vector=angle * AXIS).quaternion
    layout = layout_of(m)
    errors = closure_errors(layout, layout.workspaces.of_thread.table, s.q)
    turn = errors[np.abs(errors) > 0.0] if angle else errors[:3]
    np.testing.assert_allclose(turn, angle * AXIS, rtol=4.0 * ROUNDING, atol=4.0 * ROUNDING * (angle > 1.0))
