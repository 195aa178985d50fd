"""Controllers in runs: PD, torques over time, computed torque, functions of Python and of Numba."""

import math

import numpy as np
import pytest
from numba import njit
from scipy.interpolate import CubicSpline, PPoly

import varichain as vc
import zoo
from closed_zoo import four_bar
from lane import compiled_only, long_run
from measure import deviation, random_state
from moving import G, account, bits, pendulum, rods, slider, started

ROUNDING = 1e-12


def test_pd_of_one_freedom_is_a_damped_oscillator():
    """A block under PD control moves as the damped oscillator does."""
    m = slider(gravity=(0, 0, 0))
    trace = vc.simulate(m, m.state(), 1.0, controller=vc.PD({"rail": 0.3}, stiffness=40.0, damping=2.0), step=0.005)
    w = math.sqrt(40.0 - 1.0)
    t = trace.time
    expected = 0.3 - 0.3 * np.exp(-t) * (np.cos(w * t) + np.sin(w * t) / w)
    assert trace.joint("rail").q == pytest.approx(expected, abs=1e-7)
    assert trace.joint("rail").tau == pytest.approx(40.0 * (0.3 - trace.joint("rail").q) - 2.0 * trace.joint("rail").v)
    assert np.abs(account(trace)).max() < 1e-6


@long_run
def test_pd_holds_a_pose_of_balls_and_hinges():
    """PD towards a state brings a ball and a hinge to rest near it: the deflection is what gravity asks for."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.capsule(1.0, 0.05, 0.4, com=(0, 0, -0.2))
    m.add_link("upper", joint=vc.Spherical(name="shoulder"), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(0, 0, -0.4), inertia=rod)
    target = started(m, {"shoulder": vc.Pose(rotation_vector=(0.4, -0.8, 0.3)).quaternion, "elbow": 0.6})
    trace = vc.simulate(m, m.state(), 10.0, controller=vc.PD(target, stiffness=50.0, damping=1.0), step=0.002)
    end = trace.final
    assert np.abs(end.v).max() < 1e-3
    missing = end.difference(target)
    holding = vc.inverse_dynamics(m, end).tau
    assert 50.0 * missing == pytest.approx(holding, abs=1e-2)


def test_pd_of_a_free_body():
    """PD brings a floating body to a pose, rotation and position alike."""
    m = vc.Mechanism("drone", gravity=(0, 0, 0))
    m.add_link("drone", parent=None, inertia=vc.Inertia.sphere(1.0, 0.5))
    pose = vc.Pose(p=(0.5, -0.2, 1.0), rotation_vector=(0.3, 0.2, -0.5))
    law = vc.PD({"drone": pose}, stiffness=30.0, damping=12.0)
    trace = vc.simulate(m, m.state(), 8.0, controller=law, step=0.02)
    assert vc.pose(m, trace.final, "drone").is_close(pose, 1e-6)


def test_pd_follows_a_motion():
    """PD with the rate of its target follows a moving target without lag, but for what inertia asks."""
    m = slider(gravity=(0, 0, 0))
    ramp = vc.Motion({"rail": PPoly(np.array([[0.5], [0.0]]), np.array([0.0, 10.0]))})
    trace = vc.simulate(m, m.state(), 2.0, controller=vc.PD(ramp, 100.0, 20.0), step=0.01)
    assert trace.final.q[0] == pytest.approx(1.0, abs=1e-6)
    assert trace.final.v[0] == pytest.approx(0.5, abs=1e-6)


def test_pd_is_bounded():
    """The torque of PD does not exceed its bound."""
    m = slider(gravity=(0, 0, 0))
    trace = vc.simulate(m, m.state(), 0.5, controller=vc.PD({"rail": 10.0}, 100.0, 0.0, largest=2.0), step=0.05)
    assert trace.joint("rail").tau == pytest.approx(np.full(11, 2.0), abs=0.0)
    assert trace.final.v[0] == pytest.approx(1.0, abs=ROUNDING)


def test_torques_over_time():
    """A torque that grows with time moves a block with its integral."""
    m = slider(gravity=(0, 0, 0))
    growing = vc.Torques({"rail": PPoly(np.array([[3.0], [1.0]]), np.array([0.0, 10.0]))})
    trace = vc.simulate(m, m.state(), 1.0, controller=growing, step=0.1)
    assert trace.final.v[0] == pytest.approx(1.0 + 1.5, abs=ROUNDING)
    assert trace.final.q[0] == pytest.approx(0.5 + 0.5, abs=ROUNDING)
    assert trace.joint("rail").tau == pytest.approx(1.0 + 3.0 * trace.time, abs=ROUNDING)


def test_computed_torque_tracks_an_open_chain():
    """Computed torque keeps an arm on its path, to what a tick of 1 ms allows."""
    m = rods(2)
    t = np.linspace(0, 2, 100)
    path = vc.Motion({"0": CubicSpline(t, 0.5 * np.sin(2 * t)), "1": CubicSpline(t, 0.4 * np.sin(3 * t))})
    s = m.state()
    path.set_state(m, s)
    trace = vc.simulate(m, s, 0.5, controller=vc.ComputedTorque(path), step=0.005, control_step=0.001)
    errors = [trace.joint(name).q - path[name].q(trace.time) for name in ("0", "1")]
    assert np.abs(errors).max() < 2e-3


def test_computed_torque_tracks_a_closed_chain():
    """Computed torque drives a four-bar of one freedom along the crank's path, its loop closed."""
    m, s = four_bar()
    crank = m.joints[0].name
    t = np.linspace(0, 2, 100)
    path = vc.Motion({crank: CubicSpline(t, float(s[crank].q) + 0.3 * (1 - np.cos(2 * t)))})
    trace = vc.simulate(m, s, 0.3, controller=vc.ComputedTorque(path), step=0.005)
    assert np.abs(trace.joint(crank).q - path[crank].q(trace.time)).max() < 5e-3
    assert trace.epochs[0].closure.max() < 1e-12


def test_computed_torque_sees_all_freedoms_of_balls():
    """In a closed chain of balls, accelerations are the allowed ones nearest to those wanted in all three freedoms."""
    m = zoo.serial_chain(3, "spherical")
    s = random_state(np.random.default_rng(0), m)
    m.connect("link 2", "ground", vc.Spherical(), at=(0, 0, -0.2), state=s, name="tip")
    target = {joint.name: np.tile(s[joint.name].q, (2, 1)) for joint in m.joints}
    path = vc.Motion.sampled([0.0, 1.0], target)
    tau = vc.ComputedTorque(path, stiffness=0.0, damping=3.0)(m, s)
    found = vc.mobility(m, s, probe=False)
    nearest = found.W @ np.linalg.lstsq(found.W, -3.0 * s.v - found.w, rcond=None)[0] + found.w
    assert deviation(vc.forward_dynamics(m, s, tau).a, nearest) < 1e-8


def test_a_function_is_called_every_tick():
    """A Python controller is called at the start and then every control_step, and its torque is held in between."""
    m = slider(gravity=(0, 0, 0))
    calls = []

    def law(m, s):
        calls.append(s.time)
        return {"rail": len(calls)}

    trace = vc.simulate(m, m.state(), 0.3, controller=law, step=0.02, control_step=0.1)
    assert calls == pytest.approx([0.0, 0.1, 0.2], abs=1e-15)
    assert trace.final.v[0] == pytest.approx(0.1 * (1 + 2 + 3), abs=ROUNDING)


@long_run
def test_many_ticks_stay_on_the_grid():
    """Ten thousand ticks fall on the grid of steps to the bit: no step is taken for a rounding."""
    m = slider(gravity=(0, 0, 0))
    times = []
    trace = vc.simulate(m, m.state(), 1.0, controller=lambda m, s: times.append(s.time), step=0.001)
    assert times == [i * 0.001 for i in range(1000)]
    assert len(trace) == 1001


def test_what_is_held_at_a_tick_goes_on_through_a_change():
    """A structure change between ticks leaves the torques of other joints as they are until the next tick."""
    m = rods(2)
    m.gravity = (0, 0, 0)
    m.add_link("block", joint=vc.Prismatic("x", name="rail"), inertia=vc.Inertia.sphere(1.0, 0.1))
    push = lambda m, s: {"rail": 1.0}  # noqa: E731
    cut = [vc.at(0.15, vc.cut("1"))]
    trace = vc.simulate(m, m.state(), 1.0, controller=push, events=cut, step=0.05, control_step=0.1)
    assert trace.final["rail"].v == pytest.approx(1.0, abs=ROUNDING)
    assert trace.joint("rail").tau == pytest.approx(np.ones(len(trace)), abs=0.0)


@compiled_only
def test_a_compiled_controller_acts_at_every_stage():
    """A jitted controller makes a spring that rk4 integrates with its own order, not that of a tick."""
    m = slider(gravity=(0, 0, 0))

    @njit
    def spring(t, q, v, tau):
        tau[0] -= 25.0 * q[0]

    s = started(m, {"rail": 1.0})
    trace = vc.simulate(m, s, 1.0, controller=spring, step=0.005)
    assert trace.joint("rail").q == pytest.approx(np.cos(5.0 * trace.time), abs=1e-7)


def test_controllers_in_a_list_add_up():
    """Torques of all kinds of controllers in a list add up."""
    m = slider(gravity=(0, 0, 0))

    @vc.Compiled
    def one(t, q, v, tau):
        tau[0] += 1.0

    laws = [one, vc.Torques({"rail": 2.0}), lambda m, s: [4.0], lambda m, s: {"rail": 8.0}, lambda m, s: None]
    trace = vc.simulate(m, m.state(), 0.2, controller=laws, step=0.05)
    assert trace.joint("rail").tau == pytest.approx(np.full(5, 15.0), abs=0.0)
    assert trace.epochs[0]["work"][-1, 0] == pytest.approx(0.5 * 9.0, abs=ROUNDING)


def test_another_controller_is_used_from_an_event_on():
    """A controller that an event brings is asked at the event, and the old one never again."""
    m = slider(gravity=(0, 0, 0))
    times = {"old": [], "new": []}

    def law(name, torque):
        def asked(m, s):
            times[name].append(s.time)
            return [torque]

        return asked

    events = [vc.at(0.15, vc.use(controller=law("new", -1.0)))]
    trace = vc.simulate(m, m.state(), 0.3, controller=law("old", 1.0), events=events, step=0.05, control_step=0.1)
    assert times == {"old": [0.0, 0.1], "new": pytest.approx([0.15, 0.25], abs=1e-15)}
    assert trace.final.v[0] == pytest.approx(0.0, abs=ROUNDING)
    assert trace.epochs[1]["tau"][0, 0] == -1.0


def test_a_controller_holds_a_joint_that_would_break_without_it():
    """At the start a controller is asked before loads are looked at: what it carries does not break."""
    m = pendulum(breaks=vc.Breaks(moment=1e3, force=2 * G))
    hold = lambda m, s: vc.inverse_dynamics(m, s).tau  # noqa: E731
    s = started(m, {"pivot": math.pi / 2})
    trace = vc.simulate(m, s, 0.1, controller=hold, step=0.01)
    assert len(trace.epochs) == 1
    assert trace.final.q[0] == pytest.approx(math.pi / 2, abs=1e-9)


def test_forces_as_a_function():
    """Forces that a function tells every tick act until the next."""
    m = slider(gravity=(0, 0, 0))
    wind = lambda m, s: None if s.time < 0.1 else vc.Force("block", force=(0, 0, 2.0))  # noqa: E731
    trace = vc.simulate(m, m.state(), 0.3, forces=wind, step=0.05)
    assert trace.final.v[0] == pytest.approx(0.4, abs=ROUNDING)
    assert trace.epochs[0]["work"][-1, 2] == pytest.approx(0.5 * 0.16, abs=ROUNDING)


def test_runs_with_python_controllers_repeat_to_the_bit():
    """A run with a Python controller gives the same bits again."""
    m = rods(2)
    law = lambda m, s: -2.0 * s.v  # noqa: E731
    runs = [vc.simulate(m, started(m, {"0": 1.0}), 0.2, controller=law, step=0.01) for _ in range(2)]
    assert bits(runs[0]) == bits(runs[1])
