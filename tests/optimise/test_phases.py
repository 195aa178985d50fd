"""Motions through changes of structure, from plans, and what comes out as a motion with torques."""

import numpy as np
import pytest

import lane
import varichain as vc
from optimise.problems import arm, block


@lane.long_run
def test_a_pendulum_takes_hold_where_it_arrives_and_lets_go():
    """Three phases: a double pendulum swings its end to a peg, holds on softly, and lets go; a run does the same."""
    m = arm()
    s = m.state()
    s.q = (0.4, 0.8)
    peg = (1.0, 0.0, -1.2)
    hold = vc.connect("lower", "ground", vc.Spherical(), at=(1, 0, 0), at_other=peg, name="hold")
    phases = [
        vc.Phase((0.3, 2.0), rest=True, intervals=12),
        vc.Phase(0.2, change=[hold], intervals=4),
        vc.Phase(0.5, change=[vc.cut("hold")], end={"shoulder": 0.4, "elbow": 0.8}, rest=True, intervals=10),
    ]
    found = vc.optimise_motion(m, s, phases, cost={"effort": 1.0, "time": 5.0})
    assert found.is_solved
    trace = found.simulate(tolerance=1e-10)
    assert [len(epoch.mechanism.virtual_links) for epoch in trace.epochs] == [0, 1, 0]
    assert np.abs(trace.final.q - (0.4, 0.8)).max() < 1e-4
    assert np.abs(trace.final.v).max() < 1e-3


@lane.long_run
def test_a_connection_out_of_reach_is_named():
    """A peg that the arm cannot reach is an error with the name of the connection."""
    m = arm()
    s = m.state()
    s.q = (0.4, 0.8)
    hold = vc.connect("lower", "ground", vc.Spherical(), at=(1, 0, 0), at_other=(0.0, 0.0, -2.4), name="hold")
    with pytest.raises(vc.OptimisationError, match=r"connection 'hold\[\d\]' at the start of phase 2 by 0\.4"):
        vc.optimise_motion(
            m, s, [vc.Phase(1.0, intervals=3), vc.Phase(0.1, change=[hold], intervals=1)], iterations=120
        )


def test_the_result_is_a_motion_with_torques():
    """Motion, torques and states agree, and inverse dynamics of the motion gives the torques."""
    m = arm()
    s = m.state()
    s.time = 3.0
    found = vc.optimise_motion(m, s, vc.Phase(0.5, end={"shoulder": 0.6, "elbow": -0.4}, rest=True, intervals=8))
    assert (found.motion.start, found.motion.end) == pytest.approx((3.0, 3.5))
    for state in found.states:
        there = m.state()
        found.motion.set_state(m, there, state.time)
        assert np.abs(there.q - state.q).max() < 1e-12
        assert np.abs(there.v - state.v).max() < 1e-9
    t, there = 3.2, m.state()
    found.motion.set_state(m, there, t)
    tau = vc.inverse_dynamics(m, there, found.motion.a(t)).tau
    given = np.array([found.torques(t)[name] for name in ("shoulder", "elbow")])
    assert np.abs(tau - given).max() < 1e-2 * max(found.peak.values())
    assert "optimal motion of 1 phase" in str(found)


def test_a_better_guess_is_a_shorter_search():
    """A result is a guess for the next search, which then begins where it ends."""
    m = block()
    phase = vc.Phase((0.5, 3.0), end={"slide": 1.0}, rest=True, intervals=6)
    cost = {"effort": 1.0, "time": 10.0}
    first = vc.optimise_motion(m, m.state(), phase, cost=cost)
    fixed = vc.Phase(first.durations[0], end={"slide": 1.0}, rest=True, intervals=12)
    again = vc.optimise_motion(m, m.state(), fixed, guess=first)
    assert again.iterations <= 2
    assert again.effort == pytest.approx(first.effort, rel=1e-5)
    listed = vc.optimise_motion(m, m.state(), fixed, guess=[first.motion])
    assert listed.cost == pytest.approx(again.cost, rel=1e-6)


@lane.long_run
def test_springs_and_feedback_hold_a_motion():
    """A replay with springs, and one with feedback, end where the plain one does."""
    m = arm()
    phase = vc.Phase(0.5, end={"shoulder": 0.6, "elbow": -0.4}, rest=True, intervals=16)
    found = vc.optimise_motion(m, m.state(), phase)
    for way, tolerance in (("plain", 1e-4), ("springs", 1e-4), ("feedback", 5e-3)):  # ticks of 1 ms, of first order
        assert np.abs(found.simulate(way).final.q - (0.6, -0.4)).max() < tolerance, way
    with pytest.raises(vc.InputError, match="way must be one of"):
        found.simulate("magic")
