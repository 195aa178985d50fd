"""The knee in an exoskeleton."""

import pytest

import varichain as vc
from lane import long_run
from scenario_checks import counts
from varichain.scenarios import knee, summary


@long_run
def test_the_operator_swings_his_leg():
    """The leg swings between half a radian to both sides, with the moment of a trial with the same numbers."""
    scenario = knee(viscosity=2.0, seed=4)
    trace = scenario.run()
    q = trace.joint("knee").q
    assert -0.7 < q.min() < -0.4 and 0.4 < q.max() < 0.7
    state = trace.memory["operator"]
    same = vc.exo.trial(inertia=0.0, viscosity=2.0, coulomb=0.0, seed=4)
    assert state["sum_moment"] / state["ticks"] == pytest.approx(same.moment, rel=1e-12)


@long_run
def test_with_a_cuff_it_is_a_closed_chain():
    """With a cuff exoskeleton and leg move apart a little: one more degree of freedom."""
    scenario = knee(cuff=2000.0, inertia=0.15, viscosity=4.0)
    trace = scenario.run(until=2.0)
    assert set(counts(summary(scenario, trace))) == {(3, 2)}
    apart = abs(trace.joint("knee").q - trace.joint("exoskeleton").q).max()
    assert 1e-5 < apart < 0.05
