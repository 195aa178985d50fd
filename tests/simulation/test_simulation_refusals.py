"""Runs that cannot begin, and runs that cannot go on."""

import math

import numpy as np
import pytest

import varichain as vc
from closed_zoo import four_bar
from moving import pendulum, rods, slider, started


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0.0}, "step"),
        ({"step": -1e-3}, "step"),
        ({"step": math.nan}, "step"),
        ({"step": math.inf}, "step"),
        ({"step": "fine"}, "step"),
        ({"step": True}, "step"),
        ({"sample": 0.0015}, r"sample must be a whole multiple of step \(0.001 s\), not 0.0015 s"),
        ({"sample": 0.0001}, "sample must be a whole multiple"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"control_step": -1.0}, "control_step"),
        ({"method": "rk5"}, "'euler', 'rk4', 'rk45', 'gbs', 'implicit', not 'rk5'"),
        ({"method": None}, "method must be one of"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    """Steps, samples, tolerances and methods are checked by name."""
    m = slider()
    with pytest.raises(vc.InputError, match=message):
        vc.simulate(m, m.state(), 1.0, **options)


@pytest.mark.parametrize("until", [0.5, 0.4, -1.0, math.nan, math.inf, None])
def test_a_run_must_go_forward(until):
    """The end must lie behind the state's time, and be finite."""
    m = slider()
    with pytest.raises(vc.InputError, match=r"until"):
        vc.simulate(m, started(m, time=0.5), until)


def test_open_loops_are_refused():
    """A state whose loops are open is an error that tells what to do."""
    m, s = four_bar()
    s.q[0] += 0.01
    with pytest.raises(vc.InputError, match=r"loops or couplings are open; begin with vc.project"):
        vc.simulate(m, s, 1.0)


def test_velocities_that_open_loops_are_refused():
    """Velocities that would open a loop are an error that names the loop; projected they run."""
    m, s = four_bar()
    s.v[0] = 1.0
    s.v[1:] = 0.0
    with pytest.raises(vc.InputError, match=r"velocities open loop"):
        vc.simulate(m, s, 1.0)
    vc.simulate(m, vc.project(m, s), 0.01, step=0.005)


def test_a_singular_start_is_refused():
    """A freedom that moves no mass is a SingularMassError before the run."""
    m = vc.Mechanism("massless")
    m.add_link("nothing", joint=vc.Revolute("z", name="pivot"))
    with pytest.raises(vc.SingularMassError, match=r"nothing"):
        vc.simulate(m, m.state(), 1.0)


def test_a_state_that_is_not_finite_is_refused():
    """NaN in the state is refused before the run."""
    m = slider()
    s = m.state()
    s.v[0] = math.nan
    with pytest.raises(vc.InputError):
        vc.simulate(m, s, 1.0)


def test_a_state_of_another_mechanism_is_refused():
    """The state must be one of the mechanism."""
    with pytest.raises(vc.StaleStateError):
        vc.simulate(slider(), rods(2).state(), 1.0)


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_a_spring_too_stiff_for_its_step_diverges_by_name(method):
    """A run that blows up ends with the time, the joint and the last good state in its trace."""
    m = rods(2)
    m.edit_joint("1", stiffness=1e9)
    s = started(m, {"1": 0.1})
    with pytest.raises(vc.DivergenceError, match=r"ceased to be finite after t = .* smaller step") as caught:
        vc.simulate(m, s, 10.0, method=method, step=0.01)
    error = caught.value
    assert error.joint in ("0", "1")
    assert f"{error.joint!r}" in str(error)
    assert error.trace.outcome == "diverged"
    assert error.trace.time[-1] == error.time
    assert np.isfinite(error.trace.final.q).all() and np.isfinite(error.trace.final.v).all()


def test_a_wall_is_named():
    """An adaptive method that meets a wall says what it is, and its last good state is right in front of it."""

    @vc.Compiled
    def wall(t, q, v, tau):
        if q[0] > 0.1:
            tau[0] = np.nan

    m = slider("x", gravity=(0, 0, 0))
    with pytest.raises(vc.DivergenceError, match=r"ceased to be finite after t = .* first; look at the") as caught:
        vc.simulate(m, started(m, v={"rail": 1.0}), 1.0, controller=wall, method="rk45")
    assert caught.value.joint == "rail"
    assert caught.value.trace.final.q[0] == pytest.approx(0.1, abs=1e-9)


def test_arguments_of_other_types_are_refused():
    """A mechanism and a state are asked for."""
    m = pendulum()
    with pytest.raises(vc.InputError):
        vc.simulate(m, None, 1.0)
    with pytest.raises(vc.InputError):
        vc.simulate("pendulum", m.state(), 1.0)
