"""Closed contacts as loops: freedoms that they leave, and forces within their cones."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import G, ball, box_on_slope

EXACT = 1e-9


def freedoms(m, s):
    """N_F with closed contacts, which are those of a copy."""
    before = s.q.tobytes(), s.v.tobytes(), m.revision, len(m.virtual_links)
    closed = vc.closed_contacts(m, s)
    assert (s.q.tobytes(), s.v.tobytes(), m.revision, len(m.virtual_links)) == before
    return vc.mobility(closed.mechanism, s).n_independent


def test_contacts_take_freedoms():
    """A ball on the floor keeps three freedoms, a box on its face none, on an edge one, on a corner three."""
    assert freedoms(*ball()) == 3
    m, s = box_on_slope()
    assert freedoms(m, s) == 0
    half = np.array([0.2, 0.1, 0.05])
    for axis, left in ((0.0, 1.0, 0.0), 1), ((1.0, 1.0, 0.3), 3):
        slope = vc.Pose(rotation_vector=(0, np.radians(20.0), 0))
        turn = vc.Pose(rotation_vector=0.4 * np.array(axis))
        lowest = np.abs(turn.R[2]) @ half
        s["box"].pose = slope @ vc.Pose(p=(0, 0, lowest), R=turn.R)
        assert freedoms(m, s) == left


def test_the_cone_decides_who_stands():
    """A box that nothing drives stands on a slope below its angle of friction, by its weight, and not beyond."""
    m, s = box_on_slope(friction=np.tan(np.radians(20.0)) + 1e-6)
    closed = vc.closed_contacts(m, s)
    found = vc.inverse_dynamics(closed.mechanism, s, loop_limits=closed.loop_limits)
    forces = np.array([found.loop_forces[name][3:] for name in closed.loop_limits])
    assert len(forces) == 4 and forces.sum(axis=0) == pytest.approx([0, 0, 3.0 * G], abs=1e-6)
    m, s = box_on_slope(friction=np.tan(np.radians(20.0)) - 1e-3)
    closed = vc.closed_contacts(m, s)
    with pytest.raises(vc.ActuationError, match="the friction cone of 'box on incline"):
        vc.inverse_dynamics(closed.mechanism, s, loop_limits=closed.loop_limits)


def standing(posture):
    """A figure that just touches the floor with its feet, and its closed contacts."""
    m = vc.figures.human16()
    s = m.state()
    vc.figures.place(m, s, posture, "sole", (0, 0, 0.1))
    other = m.copy()
    other.add_floor()
    m.add_floor(min(vc.clearances(other, s).values()), friction=0.6)
    return m, s, vc.closed_contacts(m, s)


def test_a_figure_holds_itself_up():
    """Torques of a figure that stands, with its feet's forces in their cones, hold it: nothing accelerates."""
    m, s, closed = standing("arms forward")
    found = vc.inverse_dynamics(closed.mechanism, s, loop_limits=closed.loop_limits)
    assert np.abs(found.tau[:6]).max() < EXACT  # nothing holds the torso
    forces = np.array([found.loop_forces[name][3:] for name in closed.loop_limits])
    assert forces.sum(axis=0) == pytest.approx([0, 0, G * sum(link.inertia.mass for link in m.links)], abs=1e-6)
    assert (np.linalg.norm(forces[:, :2], axis=1) <= 0.6 * forces[:, 2] + 1e-6).all()
    assert np.abs(vc.forward_dynamics(closed.mechanism, s, found.tau).a).max() < 1e-6
    assert {name.rpartition(" on ")[0] for name in closed.loop_limits} == {"left foot", "right foot"}


def test_feet_cannot_pull():
    """A figure whose centre of mass is behind its heels would need feet that pull: there are no such forces."""
    _, s, closed = standing("landing")
    with pytest.raises(vc.ActuationError, match="the friction cone of 'left foot on floor"):
        vc.inverse_dynamics(closed.mechanism, s, loop_limits=closed.loop_limits)
    assert vc.inverse_dynamics(closed.mechanism, s).tau[:6] == pytest.approx(np.zeros(6), abs=EXACT)  # but for cones


def test_what_moves_is_no_closed_contact():
    """A contact that slips, rolls or collides is refused by name; one that opens is left out."""
    m, s = ball()
    for v, what in (
        ((0, 0, 0, 1, 0, 0), "'ball on floor 1' slips at 1 m/s"),
        ((0, 10, 0, 1, 0, 0), "'ball on floor 1' rolls at 1 m/s"),
        ((0, 0, 0, 0, 0, -1), "'ball on floor 1' is about to collide at 1 m/s"),
    ):
        s["ball"].v = v
        with pytest.raises(vc.InputError, match=what):
            vc.closed_contacts(m, s)
    s["ball"].v = (0, 0, 3, 0, 0, 1)
    assert not vc.closed_contacts(m, s).loop_limits
    s["ball"].v = (0, 0, 3, 0, 0, 0)  # it spins about the normal
    assert [*vc.closed_contacts(m, s).points] == ["ball on floor 1"]
    with pytest.raises(vc.InputError, match="need a surface"):
        vc.closed_contacts(vc.Mechanism(), vc.Mechanism().state())
