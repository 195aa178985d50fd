"""An instant leaves nothing behind in the arrays that later computations of the same thread use."""

import numpy as np

import varichain as vc


def arm() -> vc.Mechanism:
    """Two links, the upper with stops, a hinge and a ball."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.box(1.0, size=(0.1, 0.12, 1.0), com=(0, 0, -0.5))
    m.add_link("upper", "ground", vc.Revolute("y", limits=(-0.5, 0.5)), inertia=rod)
    m.add_link("lower", "upper", vc.Spherical(limits=vc.SwingTwist(axis="z", swing=0.4)), at=(0, 0, -1), inertia=rod)
    return m


def at_its_stops(m: vc.Mechanism) -> vc.State:
    """Both joints at their stops, moving into them."""
    s = m.state()
    s["upper"].q, s["upper"].v = 0.5, 1.0
    s["lower"].orientation = (0.0, 0.4, 0.0)
    s["lower"].v = (0.2, 2.0, 0.3)
    return s


def test_stops_that_pushed_do_not_stay_locked():
    """The accelerations after an impact that was only tried are those of a mechanism without one."""
    m = arm()
    s = at_its_stops(m)
    expected = vc.forward_dynamics(arm(), s_of(arm(), s)).a
    found = vc.impact(m, s, [])
    assert abs(found.v[0]) < 1e-12  # the stop has pushed
    np.testing.assert_array_equal(vc.forward_dynamics(m, s).a, expected)


def test_a_grasp_at_a_stop_leaves_a_sound_mechanism():
    """Accelerations and masses are those of a mechanism that was connected at rest."""
    m, twin = arm(), arm()
    s = at_its_stops(m)
    m.connect("lower", "ground", vc.Spherical(), at=(0, 0, -1), state=s, name="grip")
    where = m.link_of_joint("grip")
    twin.connect("lower", "ground", vc.Spherical(), at=where.on_real, at_other=where.at, name="grip")
    same = s_of(twin, s)
    np.testing.assert_array_equal(vc.forward_dynamics(m, s).a, vc.forward_dynamics(twin, same).a)
    np.testing.assert_array_equal(vc.mass_matrix(m, s), vc.mass_matrix(twin, same))


def s_of(m: vc.Mechanism, s: vc.State) -> vc.State:
    """The same coordinates and velocities in a mechanism that no instant has touched."""
    twin = m.state()
    twin.q, twin.v = s.q, s.v
    return twin
