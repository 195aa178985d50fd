"""Energy that goes with a joint: springs and armatures of joints that are cut, springs of new ones."""

import numpy as np
import pytest

import varichain as vc
from linkages import off_books

BAR = vc.Inertia.box(1.0, size=(1.0, 0.1, 0.1), com=(0.5, 0, 0))
ROUNDING = 1e-12  # of energies of some joules


def pendulum(**options):
    """Two rods, the upper one on a hinge with these options, turned and moving."""
    m = vc.Mechanism("pendulum")
    m.add_link("upper", "ground", vc.Revolute("y", name="shoulder", **options), inertia=BAR)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(1, 0, 0), inertia=BAR)
    s = m.state()
    s.q, s.v = (0.3, 0.2), (2.0, -1.0)
    return m, s


@pytest.mark.parametrize(
    ("options", "released"),
    [({"stiffness": 100.0}, 0.5 * 100 * 0.3**2), ({"armature": 0.5}, 0.5 * 0.5 * 2.0**2), ({"damping": 1.0}, 0.0)],
)
def test_a_cut_tells_what_went_with_the_joint(options, released):
    """The change, the log and the energies before and after agree."""
    m, s = pendulum(**options)
    before = vc.energy(m, s)
    done = vc.change(m, s, [vc.cut("shoulder")])
    assert done.energy_released == pytest.approx(released, abs=ROUNDING)
    assert done.energy_lost == m.log[-1].energy_lost == done.energy_released
    assert before.total - vc.energy(m, s).total == pytest.approx(released, abs=10 * ROUNDING)


def test_a_spring_that_is_connected_stretched_brings_its_energy():
    """A new joint's spring that is not at rest puts energy in; an impact of the same instant takes some."""
    m, s = pendulum()
    spring = vc.Revolute("y", stiffness=50.0, rest=0.4)
    before = vc.energy(m, s)
    done = vc.change(m, s, [vc.connect("lower", "ground", spring, at=(1, 0, 0), name="grip")])
    assert done.energy_released == pytest.approx(-0.5 * 50 * 0.4**2, abs=ROUNDING)
    assert before.total - vc.energy(m, s).total == pytest.approx(done.energy_lost, abs=10 * ROUNDING)


def test_the_books_of_a_run_balance_over_a_cut():
    """Energy, work and losses add up at every sample, before and after."""
    m, s = pendulum(stiffness=100.0, armature=0.5)
    trace = vc.simulate(m, s, 0.02, events=[vc.at(0.01, vc.cut("shoulder"))], step=1e-3)
    assert trace.epochs[-1].work[-1, -1] > 1.0
    assert off_books(trace)[0] < 1e-9  # Runge-Kutta 4 at 1 ms


def test_catch_and_release_at_one_instant():
    """Events of one instant that connect a joint and cut it happen one after the other, in the order given."""
    m, s = pendulum()
    grip = vc.connect("lower", "ground", vc.Spherical(), at=(1, 0, 0), name="grip")
    trace = vc.simulate(m, s, 0.02, events=[vc.at(0.01, grip), vc.at(0.01, vc.cut("grip"))], step=1e-3)
    kinds = [edit["kind"] for epoch in trace.epochs if epoch.event for edit in epoch.event["edits"]]
    assert kinds == ["connect", "cut"]
    assert off_books(trace)[0] < 1e-9
    # cut and caught again by the same name is one instant: cuts come first
    m.connect("lower", "ground", vc.Spherical(), at=(1, 0, 0), state=s, name="grip")
    again = vc.simulate(m, s, 0.02, events=[vc.at(0.01, vc.cut("grip")), vc.at(0.01, grip)], step=1e-3)
    assert sum(epoch.event is not None for epoch in again.epochs) == 1
    assert np.isfinite(again.final.q).all()
