"""Figure that sits down and stands up."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from scenario_checks import counts, place, worst_excess
from varichain.errors import InputError
from varichain.scenarios import chair, summary


@long_run
def test_it_sits_down_and_stands_up():
    """Thighs come to rest on the seat, soles stay in place, and the figure ends where it began, within its limits."""
    scenario = chair()
    trace = scenario.run()
    assert counts(summary(scenario, trace)) == [(46, 34), (52, 28), (46, 34)]
    down, seated, up = trace.epochs
    seat = vc.pose(seated.mechanism, seated.state(0), "chair seat").p
    for side in ("left", "right"):
        assert place(seated, 0, f"{side} seat")[2] == pytest.approx(seat[2], abs=0.01)  # the plan is kept to 5 mm
        assert place(seated, 0, f"{side} sole") == pytest.approx(place(down, 0, f"{side} sole"), abs=1e-9)
    assert np.abs(up.state(len(up) - 1).v).max() < 0.05
    assert place(up, len(up) - 1, "head top") == pytest.approx(place(down, 0, "head top"), abs=0.01)
    for epoch in trace.epochs:
        assert np.abs(epoch["u"] - epoch["wanted"]).max() < 0.02


@long_run
def test_the_feet_bear_the_figure_before_it_sits():
    """Half way down the centre of mass is above the feet, and the floor carries about the weight."""
    epoch = chair(mass=70.0).run(until=1.3).epochs[0]
    i = len(epoch) - 1
    assert place(epoch, i, "left heel")[0] < epoch["center"][i, 0] < place(epoch, i, "left toe")[0]
    weight = sum(epoch.loop(f"{side} stance")[i, 5] for side in ("left", "right"))
    assert weight == pytest.approx(70.0 * 9.81, rel=0.3)  # it is moving


@long_run
def test_it_begins_at_rest():
    """The first configuration is on the planned way: nothing jumps."""
    scenario = chair()
    trace = scenario.run(until=scaled(0.05, 0.002))
    assert np.abs(trace.final.v).max() < 0.05


@pytest.fixture(scope="module")
def by_contact():
    """The whole run with contacts: scenario, its only epoch, and the trace."""
    scenario = chair(contact=True)
    trace = scenario.run()
    (epoch,) = trace.epochs
    return scenario, epoch, trace


def borne(epoch, part, surface):
    """Force (n, 3) [N] of a surface on both feet or thighs."""
    return epoch.contact(f"left {part}", surface) + epoch.contact(f"right {part}", surface)


@long_run
def test_by_contact_the_seat_bears_it_only_while_it_sits(by_contact):
    """The floor bears all weight before and after; at rest on the chair the seat bears 70 to 80 % of it."""
    _, epoch, _ = by_contact
    weight, floor, seat = 70.0 * 9.81, borne(epoch, "foot", "floor")[:, 2], borne(epoch, "thigh", "seat")[:, 2]
    on_seat = epoch.time[seat > 0.0]
    assert 2.3 < on_seat.min() < 2.7 and 4.9 < on_seat.max() < 5.3  # [s]: it takes and gives the load within 0.4 s
    still = (epoch.time > 3.7) & (epoch.time < 4.2)
    assert np.abs(epoch.v[still]).max() < 0.02
    assert np.abs(floor + seat - weight)[still].max() < 0.01 * weight
    assert seat[still].min() > 0.7 * weight and seat[still].max() < 0.8 * weight
    assert 0.8 * weight < floor[epoch.time < 2.3].min() and floor.min() > 0.05 * weight


@long_run
def test_by_contact_nothing_slips_or_sinks(by_contact):
    """Soles stay in their places, thighs too while they bear, nothing goes into a surface, and nothing is unsolved."""
    scenario, epoch, trace = by_contact
    m, rows = scenario.mechanism, range(0, len(epoch), 4)
    for side in ("left", "right"):
        soles = np.array([place(epoch, i, f"{side} sole") for i in rows])
        assert np.ptp(soles, axis=0).max() < 1e-6  # [m]
        seat = np.array([place(epoch, i, f"{side} seat") for i in rows if 2.8 < epoch.time[i] < 4.8])
        assert np.ptp(seat, axis=0).max() < 1e-4
    assert min(min(vc.clearances(m, epoch.state(i)).values()) for i in rows) > -1e-6
    assert not trace.log and trace.energy_error < 1e-5


@long_run
def test_by_contact_it_ends_standing_as_it_began(by_contact):
    """In the end it is upright and at rest, its centre of mass above its soles, within its limits all the time."""
    _, epoch, trace = by_contact
    assert place(epoch, -1, "head top") == pytest.approx(place(epoch, 0, "head top"), abs=1e-3)
    assert np.abs(epoch.v[-1]).max() < 1e-3
    assert place(epoch, -1, "left heel")[0] < epoch.center[-1, 0] < place(epoch, -1, "left toe")[0]
    assert worst_excess(trace) < 1e-9
    assert np.abs(epoch.tau).max() < 200.0  # [N m], of a strong knee


@pytest.mark.long
@pytest.mark.parametrize("person", [{"height": 1.5, "mass": 45.0}, {"height": 2.0, "mass": 110.0}, {"duration": 1.0}])
def test_by_contact_others_sit_too(person):
    """Small and tall people, and those in a hurry, sit and stand up as well."""
    (epoch,) = chair(contact=True, **person).run().epochs
    assert place(epoch, -1, "head top") == pytest.approx(place(epoch, 0, "head top"), abs=1e-3)
    middle, weight = len(epoch) // 2, person.get("mass", 70.0) * 9.81
    assert 0.65 * weight < borne(epoch, "thigh", "seat")[middle, 2] < 0.85 * weight


@long_run
def test_by_contact_without_balance_it_falls():
    """What holds it is balance: led to a centre of mass behind its heels, it does not stay on its feet."""
    scenario = chair(contact=True)
    way = scenario.controller._way
    right = way.center
    way.center = lambda t: right(t)._replace(place=right(t).place - (0.25, 0.0, 0.0))
    (epoch,) = scenario.run(until=1.5).epochs
    assert np.ptp([place(epoch, i, "left toe")[2] for i in range(len(epoch))]) > 0.01


def test_contact_is_yes_or_no():
    """Anything else is refused."""
    with pytest.raises(InputError, match="'contact' must be True or False"):
        chair(contact="seat")
