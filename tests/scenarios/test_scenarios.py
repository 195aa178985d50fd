"""All scenarios: they begin well, keep their loops closed and account for their energy."""

import inspect

import pytest

import varichain as vc
from lane import compiled_only, long_run, scaled
from scenario_checks import CLOSED, DRIFT, OVERSHOOT, worst_excess
from varichain.errors import InputError
from varichain.scenarios import SCENARIOS, energy_drift, summary
from varichain.trace import Trace

BEGINNING = scaled(0.2, 0.003)
"""[s]"""

DRIFT_AT_FIRST = scaled(DRIFT, 1e-5)
"""A walk that begins at rest has hardly turned over any energy after 3 ms: the residual is the same."""

DRIFT_OF_CONTACT = 0.02
"""Contacts in steps are of first order; what a figure that falls has is in docs/contact.md."""

DRIFT_OF_IMPLICIT_STEPS = 1e-4
"""Vibrations that implicit steps do not resolve decay, and their energy is in no account."""

NAMES = [*SCENARIOS]
PLANNED = dict.fromkeys(("inchworm", "race"), pytest.mark.long)  # as they go, some seconds a stride
LONG = PLANNED | dict.fromkeys(("boxes", "fall"), pytest.mark.long)  # test_contact_scenarios has shorter runs
RIGID = [name for name in NAMES if name != "walker"]  # which is made of particles, and has tests of its own


def allowed(scenario, drift):
    """Drift of the energy that a scenario may have."""
    if scenario.settings.get("contacts") == "stepping":
        return DRIFT_OF_CONTACT
    return DRIFT_OF_IMPLICIT_STEPS if scenario.settings.get("method") == "implicit" else drift


@pytest.mark.parametrize("name", [pytest.param(name, marks=compiled_only if name in PLANNED else ()) for name in RIGID])
def test_beginning(name):
    """A scenario has its name, begins inside the limits, and keeps its loops closed and its energy accounted for."""
    scenario = SCENARIOS[name]()
    assert scenario.name == name == scenario.mechanism.name
    assert vc.limit_excess(scenario.mechanism, scenario.state) == {}
    told = summary(scenario, scenario.run(until=BEGINNING))
    assert told["max_closure_error"] < CLOSED
    assert told["energy_drift"] < allowed(scenario, DRIFT_AT_FIRST)


@long_run
@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in RIGID])
def test_ten_seconds(name):
    """Over ten seconds joints stay inside limits, loops closed, and the energy is accounted for to a millionth."""
    scenario = SCENARIOS[name]()
    trace = scenario.run(until=10.0)
    assert worst_excess(trace) < OVERSHOOT
    told = summary(scenario, trace)
    assert told["max_closure_error"] < CLOSED
    assert told["energy_drift"] < allowed(scenario, DRIFT)


@pytest.mark.parametrize("name", NAMES)
def test_parameters(name):
    """Every parameter is a keyword with a default and a type, and its docstring explains each."""
    builder = inspect.unwrap(SCENARIOS[name])
    described = builder.__doc__.partition("Args:")[2]
    for parameter in builder.__kwdefaults__:
        assert parameter in builder.__annotations__
        assert f"\n        {parameter}: " in described
    assert builder.__code__.co_argcount == 0
    assert set(builder.__kwdefaults__) == set(builder.__annotations__) - {"return"}


def test_summary():
    """A summary tells scenario, epochs, errors, steps and times; its counts are those of the trace."""
    scenario = SCENARIOS["chain"](links=3, pinned=0.2, released=0.22)
    trace = scenario.run(until=0.24, method="rk4", step=1e-2)
    told = summary(scenario, trace)
    keys = ["scenario", "epochs", "max_closure_error", "energy_drift", "steps", "simulated_seconds", "wall_seconds"]
    assert [*told] == keys
    assert told["scenario"] == "chain"
    assert told["steps"] == 24
    assert told["simulated_seconds"] == pytest.approx(0.24, abs=1e-15)
    assert told["wall_seconds"] > 0.0
    assert [epoch["start"] for epoch in told["epochs"]] == pytest.approx([0.0, 0.2, 0.22], abs=1e-15)
    assert [epoch["end"] for epoch in told["epochs"]] == pytest.approx([0.2, 0.22, 0.24], abs=1e-15)
    caught = "connect 'tip' to 'ground' by a spherical joint"
    assert [epoch["event"] for epoch in told["epochs"]] == [
        f"the tip is caught: {caught}",
        "the tip is let go: cut 'pin'",
        None,
    ]
    assert [epoch["rank"] for epoch in told["epochs"]] == [0, 6, 0]


def test_energy_drift_sees_what_is_missing():
    """Energy that no account explains is found, as a part of what was turned over."""
    scenario = SCENARIOS["pendulum"]()
    trace = scenario.run(until=0.1, method="rk4", step=5e-3)
    assert energy_drift(trace) < DRIFT
    epoch = trace.epochs[0]
    samples = epoch.samples.copy()
    samples[-1, epoch.columns.slice("energy").start + 1] += 1e-3  # [J] of potential energy, from nowhere
    turned_over = abs(epoch["energy"][-1, 0] - epoch["energy"][0, 0])  # all of it kinetic, and growing
    with vc.TraceWriter() as writer:
        writer.begin(trace.meta)
        writer.open_epoch(epoch.description, epoch.columns)
        writer.append(samples)
        writer.end_epoch()
    assert energy_drift(writer.trace) == pytest.approx(1e-3 / turned_over, rel=1e-6)


def test_nothing_to_sum_up():
    """A trace without samples has no summary."""
    with pytest.raises(InputError, match="no samples"):
        summary("pendulum", Trace([], {}))


def test_stopped_run_has_a_summary():
    """A run that an event ends tells its steps as well."""
    scenario = SCENARIOS["pendulum"]()
    events = [vc.at(0.02, vc.stop())]
    trace = vc.simulate(scenario.mechanism, scenario.state, 1.0, events=events, step=5e-3)
    assert trace.outcome == "stopped"
    assert summary(scenario, trace)["steps"] == 4


def test_continued_run_counts_on():
    """A continued run has the steps and the wall time of both its parts."""
    scenario = SCENARIOS["pendulum"]()
    first = scenario.run(until=0.02, method="rk4", step=5e-3)
    both = vc.resume(first, 0.05)
    told, before = summary(scenario, both), summary(scenario, first)
    assert (before["steps"], told["steps"]) == (4, 10)
    assert told["wall_seconds"] > before["wall_seconds"]
