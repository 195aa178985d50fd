"""The error of a run, from its own energy books: a coarse run says so."""

import warnings

import pytest

import varichain as vc
from linkages import moving, slider_crank, turned_to


def run(**options):
    """A slider-crank at 30 rad/s; returns the warnings."""
    m = slider_crank()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trace = vc.simulate(m, moving(m, turned_to(m, 1.0), "crank", 30.0), 1.0, **options)
    return trace, [str(one.message) for one in caught if issubclass(one.category, vc.CoarseRunWarning)]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"method": "euler", "step": 1e-5, "sample": 1e-2}, "a smaller step, or method='rk45'"),
        ({"method": "rk4", "step": 1e-2}, "a smaller step, or method='rk45'"),
        ({"method": "rk45", "step": 1e-2, "tolerance": 1e-2}, "a smaller tolerance"),
    ],
)
def test_a_coarse_run_says_so(options, remedy):
    """The warning has the part of the energy that no account has, and a remedy that helps."""
    trace, found = run(**options)
    assert len(found) == 1 and trace.energy_error > 1e-4
    assert f"off by {100 * trace.energy_error:.2g} %" in found[0]
    assert found[0].startswith("the energy books of this run are off by ") and found[0].endswith(remedy)


@pytest.mark.parametrize(
    "options", [{"method": "rk4", "step": 2e-4}, {"method": "gbs"}, {"method": "rk45", "step": 1e-2}]
)
def test_a_fine_run_says_nothing(options):
    """Runs that follow the remedy are silent."""
    trace, found = run(**options)
    assert found == [] and trace.energy_error < 1e-4


def test_events_are_no_error():
    """A cut takes a spring away: that is no error of the run, nor is a continuation."""
    m = vc.Mechanism("pendulum")
    inertia = vc.Inertia.box(1.0, size=(1.0, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_link("rod", "ground", vc.Revolute("y", name="hinge", stiffness=20.0), inertia=inertia)
    s = m.state()
    s["hinge"].q = 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error", vc.CoarseRunWarning)
        cut = vc.at(0.2, vc.cut("hinge"))
        trace = vc.simulate(m, s, 0.3, events=[cut])
        vc.resume(trace, 0.4, events=[cut])


def test_energy_from_nowhere_is_an_error():
    """Euler's steps of 1 ms at 30 rad/s make energy: the error has the reason, the remedy, and the run."""
    with pytest.raises(
        vc.CoarseRunError, match=r"off by .* % .*: this is not the motion .* or method='rk45'"
    ) as caught:
        run(method="euler", step=1e-3)
    trace = caught.value.trace
    assert caught.value.time == 1.0 == trace.time[-1]
    assert trace.energy_error > 0.1 and trace.outcome == "error"


def test_a_few_steps_from_rest_are_no_error():
    """Euler's first steps from rest have no energy to speak of yet."""
    m = vc.Mechanism("ball")
    m.add_link("ball", "ground", vc.Free(), inertia=vc.Inertia.sphere(1.0, 0.1))
    trace = vc.simulate(m, m.state(), 0.005, method="euler", step=1e-3)
    assert trace.energy_error > 0.1
