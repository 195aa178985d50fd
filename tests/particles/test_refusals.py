"""Mechanisms that particles cannot be made of are refused by name."""

import pytest

import varichain as vc
import zoo


def test_a_moving_link_without_mass():
    """Rings without mass are refused; feet without mass that are fixed to their shanks are carried by these."""
    m = zoo.gimbal()
    with pytest.raises(vc.StructureError, match="has no mass"):
        vc.particles.from_mechanism(m, m.state())
    m = zoo.quadruped()
    p = vc.particles.from_mechanism(m, m.state())
    massless = [link.name for link in m.links if link.inertia.mass == 0.0]
    assert massless and all(vc.pose(m, m.state(), name).is_close(p.pose(name), 1e-12) for name in massless)


def test_something_else_than_a_mechanism():
    """Arguments are checked."""
    m = zoo.pendulum()
    for arguments in ((None, m.state()), (m, None)):
        with pytest.raises(vc.InputError, match="expected a Mechanism and a State"):
            vc.particles.from_mechanism(*arguments)
    for options in ({"stiffness": 0.0}, {"damping": -1.0}, {"limits": "stiff"}):
        with pytest.raises(vc.InputError, match=next(iter(options))):
            vc.particles.from_mechanism(m, m.state(), **options)
