"""The walk by contact: a gait that the floor can bear, and a figure that keeps to it on its feet alone."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from scenario_checks import place, worst_excess
from varichain import figures
from varichain.errors import InputError
from varichain.scenarios import balancing, walk
from varichain.scenarios.balanced_gait import CAREFUL, BalancedGait
from varichain.scenarios.balancing import LEAD, motion_of, pressures, samples_of
from varichain.scenarios.scenario import Scenario
from varichain.scenarios.stepper import Stepper, add_contacts, heel_points, toe_points
from varichain.scenarios.walk import add_toes

SLIP, DEEP = 1e-3, 1e-6
"""[m] that a point may slip while it bears, and be below the floor; that of ten steps stays below 5e-4 and 1e-9."""

FRICTION = 0.8
WEIGHT = 70.0 * 9.81
LENGTH, DURATION = 0.5, 0.54


def plain_gait(steps):
    """A gait that is not balanced yet, of a figure with toes."""
    m = figures.human40()
    add_toes(m)
    return BalancedGait(m, steps, LENGTH, DURATION, 0.04, CAREFUL)


def test_the_floor_presses_below_a_figure_that_stands():
    """At rest the pressure is below the centre of mass, and z / f is its height over gravity."""
    m = figures.human40()
    q = m.state().q
    motion = vc.Motion.sampled([0.0, 1.0], {"pelvis": np.array([q[:7], q[:7]])})
    center = vc.momentum(m, m.state()).about
    (pressed,), (depth,) = pressures(m, motion, np.array([0.5]))
    assert np.abs(pressed - center[:2]).max() < 1e-12 and depth == pytest.approx(center[2] / 9.81, rel=1e-12)


def test_what_is_lacking_has_a_closed_form():
    """e - depth e'' = cos(w t) is solved by cos(w t) / (1 + depth w^2), to the second order of the samples."""
    times, depth, rate = balancing._TICK * np.arange(1001), 0.1, 2.0 * np.pi
    wanted = np.cos(rate * times)[:, None]
    found = balancing._lacking(wanted, np.full(len(times), depth))
    assert np.abs(found - wanted / (1.0 + depth * rate**2))[300:-300].max() < 1e-4


def test_feet_in_the_air_clear_the_floor():
    """A foot that swings is a centimetre above the floor in the middle of its way, and never in it."""
    gait = plain_gait(6)
    swing = np.array([gait.lowest(gait.swinging(2, 3.0 + part)) for part in np.linspace(0.12, 0.88, 39)])
    assert swing.min() > -1e-9 and swing[10:-10].min() > 0.01


@pytest.fixture(scope="module")
def short():
    """A walk of three steps up to the second change of weight: scenario, epoch."""
    scenario = walk(contact=True, steps=3)
    (epoch,) = scenario.run(until=2.3).epochs
    return scenario, epoch


@long_run
def test_the_gait_is_shifted_until_the_pressure_is_under_the_feet(short):
    """The pressure of the planned motion is where the feet are to 3 cm, to 5 mm on average; unshifted it is not."""
    gait = short[0].controller._gait
    times = samples_of(gait)
    wanted = np.array([gait.pressure(gait.phase(t)) for t in times])
    off = pressures(gait.m, motion_of(gait), times)[0] - wanted
    plain = plain_gait(3)
    before = pressures(plain.m, motion_of(plain), times)[0] - wanted
    assert np.abs(off).max() < 0.03 and np.sqrt((off**2).mean()) < 5e-3
    assert np.abs(before).max() > 0.2


@long_run
def test_the_first_step(short):
    """The weight goes to the left foot, the right one swings and comes down on its heel, nothing slips or sinks."""
    scenario, epoch = short
    check_feet(epoch)
    floor = {side: borne(epoch, side)[:, 2] for side in ("left", "right")}
    alone = (epoch.time > 1.6) & (epoch.time < 1.9)
    assert not floor["right"][alone].any() and floor["left"][alone].min() > 0.6 * WEIGHT
    landed = epoch.time[(floor["right"] > 1.0) & (epoch.time > 1.7)][0]
    assert landed == pytest.approx(LEAD + scenario.controller._gait.time(1.0 - CAREFUL.half), abs=0.04)
    i = int(np.searchsorted(epoch.time, landed)) + 1
    assert place(epoch, i, "right heel")[2] < 1e-4 < 0.01 < place(epoch, i, "right toe")[2]
    assert np.abs(off_course(scenario, epoch)).max() < 0.02
    assert epoch.center[-1, 2] > 0.9


def test_what_legs_cannot_do_is_refused():
    """Steps that are too long, and what is no number or no switch, are refused by name."""
    with pytest.raises(InputError, match="'contact' must be True or False"):
        walk(contact="yes")
    with pytest.raises(InputError, match="length"):
        walk(contact=True, length=-0.5)


@long_run
def test_long_steps_are_refused():
    """A figure that has to balance cannot make the steps of one that is driven."""
    with pytest.raises(InputError, match="too long"):
        walk(contact=True, length=0.72, steps=3)


@pytest.mark.long
@pytest.mark.parametrize("person", [{}, {"height": 1.6, "mass": 55.0}, {"length": 0.4, "duration": 0.6}])
def test_six_steps_and_more(person):
    """It walks from standing to standing and does not fall; feet neither slip nor sink, joints stay in their limits."""
    scenario = walk(contact=True, steps=8, **person)
    trace = scenario.run()
    (epoch,) = trace.epochs
    gait = scenario.controller._gait
    check_feet(epoch)
    assert np.abs(off_course(scenario, epoch)).max() < 0.03
    assert worst_excess(trace) < 1e-9
    way = place(epoch, -1, "left heel") - place(epoch, 0, "left heel")
    assert way == pytest.approx([6.5 * gait.length, 0.0, 0.0], abs=0.01)
    assert np.abs(epoch.v[-1]).max() < 0.02
    for side in ("left", "right"):
        heel, toe = (place(epoch, -1, f"{side} {end}") for end in ("heel", "toe"))
        assert heel[0] < epoch.center[-1, 0] < toe[0] and abs(heel[2]) < DEEP
        loaded = np.flatnonzero(borne(epoch, side)[:, 2])
        assert np.count_nonzero(np.diff(epoch.time[loaded]) > 0.5 * gait.duration) == 4  # swings of each foot
    unsolved = [entry["residual"] for entry in trace.log if entry["kind"] == "contacts not solved"]
    assert len(unsolved) < 0.1 * 1000 * scenario.until and max(unsolved, default=0.0) < 1e-3  # [m/s]
    assert trace.energy_error < 0.01


@pytest.mark.long
def test_without_the_shift_it_falls():
    """What keeps it upright is the balance of its gait: the same torques along one that is not shifted let it fall."""
    gait = plain_gait(6)
    add_contacts(gait.m)
    stepper = Stepper(gait.m, gait)
    settings = {"contacts": "stepping", "step": 1e-3, "sample": 1e-2, "control_step": 2e-3}
    scenario = Scenario("walk", gait.m, stepper.start(gait.m), 5.0, controller=stepper, settings=settings)
    (epoch,) = scenario.run().epochs
    assert epoch.center[-1, 2] < 0.5


def borne(epoch, side):
    """Force (n, 3) [N] of the floor on a foot and its toes."""
    return epoch.contact(f"{side} foot", "floor") + epoch.contact(f"{side} toes", "floor")


def off_course(scenario, epoch):
    """How far the centre of mass is off its course (n, 3) [m]."""
    return epoch.center - scenario.controller._center(epoch.time - LEAD)


def check_feet(epoch):
    """Points that bear neither slip nor sink, and forces stay within their cones."""
    m = epoch.mechanism
    forces = epoch.contact_forces.reshape(len(epoch), -1, 3)
    assert (np.hypot(forces[:, :, 0], forces[:, :, 1]) - FRICTION * forces[:, :, 2]).max() < 1e-9
    for side in ("left", "right"):
        for link, points in ((f"{side} foot", heel_points(m, side)), (f"{side} toes", toe_points())):
            poses = [vc.pose(m, epoch.state(i), link) for i in range(len(epoch))]
            force = epoch.contact(link, "floor")[:, 2]
            for point in points:
                at = np.array([X @ point for X in poses])
                assert at[:, 2].min() > -DEEP
                bears = (at[:, 2] < DEEP) & (force > 20.0)
                for i in np.flatnonzero(bears[:-1] & ~np.r_[False, bears[:-2]]):
                    end = i + int(np.argmin(np.r_[bears[i:], False]))
                    assert np.ptp(at[i:end, :2], axis=0).max() < SLIP
