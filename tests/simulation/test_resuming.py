"""Going on from a trace: the same bits as a run that never stopped."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import varichain as vc
from lane import scaled
from moving import bits, height, rods, slider, started, stone

METHODS = ["euler", "rk4", "rk45", "gbs"]


def eventful():
    """A chain with stops, friction, events of all kinds and a controller; and its start."""
    m = rods(3, damping=0.05)
    m.edit_joint("1", limits=(-0.4, 0.4))
    m.edit_joint("2", friction=0.3)
    s = started(m, {"0": 1.0, "1": -0.2})
    events = [
        vc.at(0.11, vc.connect("rod 2", "ground", vc.Revolute("y"), at=(0, 0, -1.0), name="grip")),
        vc.at(0.21, vc.cut("grip"), vc.push("rod 1", impulse=(0.3, 0, 0))),
        vc.when(lambda m, s: float(s["0"].q) - 0.8, vc.use(controller=swung), once=True),
        vc.when(lambda m, s: float(s["0"].v), lambda m, s: None, once=False),
        vc.at(0.33, vc.cut("2")),
    ]
    return m, s, events


def law(m, s):
    """A controller that looks at the state."""
    return {"0": -1.5 * float(s["0"].v)}


def swung(m, s):
    """Another."""
    return {"0": 2.0 * np.sin(20.0 * s.time), "1": -0.5 * float(s["1"].v)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pause", [0.05, 0.15, 0.3])
def test_a_resumed_run_has_the_bits_of_one_that_never_stopped(method, pause):
    """Whatever lies before or behind the pause, a run that goes on is the run that never stopped, to the bit."""
    m, s, events = eventful()
    options = {"method": method, "step": 0.01, "control_step": 0.02}
    end = 0.4
    whole = vc.simulate(m, s, end, events=events, controller=law, **options)
    part = vc.simulate(m, s, pause, events=events, controller=law, **options)
    gone_on = vc.resume(part, end, events=events, controller=law)
    assert bits(gone_on) == bits(whole)
    assert gone_on.log == whole.log
    assert [epoch.event for epoch in gone_on.epochs] == [epoch.event for epoch in whole.epochs]


def test_a_run_resumed_from_a_file_into_another(tmp_path):
    """A trace goes on from its file, into a new file that has all of it, or into the same one."""
    m, s, events = eventful()
    whole = vc.simulate(m, s, 0.3, events=events, controller=law, step=0.01)
    vc.simulate(m, s, 0.2, events=events, controller=law, step=0.01, out=tmp_path / "part.h5")
    vc.resume(tmp_path / "part.h5", 0.3, events=events, controller=law, out=tmp_path / "whole.h5")
    assert bits(vc.Trace.load(tmp_path / "whole.h5")) == bits(whole)
    vc.resume(tmp_path / "part.h5", 0.3, events=events, controller=law, out=tmp_path / "part.h5", overwrite=True)
    assert bits(vc.Trace.load(tmp_path / "part.h5")) == bits(whole)


def test_driven_joints_and_forces_go_on():
    """Motions and forces that functions tell go on as if nothing had been."""
    m = rods(2)
    t = np.linspace(0, 2, 50)
    motion = vc.Motion({"0": CubicSpline(t, 0.3 * np.sin(2 * t))})
    s = m.state()
    motion.set_state(m, s)
    wind = lambda m, s: vc.Force("rod 1", force=(np.sin(9 * s.time), 0, 0))  # noqa: E731
    options = {"motion": motion, "forces": wind, "events": [vc.when(lambda m, s: float(s["1"].q) - 9.0, vc.stop())]}
    settings = {"step": 0.01, "control_step": 0.04}
    whole = vc.simulate(m, s, 0.3, **options, **settings)
    part = vc.simulate(m, s, 0.15, **options, **settings)  # between two ticks
    # the rest of a tick is gone on with the force that was told at its beginning
    assert bits(vc.resume(part, 0.3, **options)) == bits(whole)


def test_a_bouncing_ball_goes_on():
    """A condition that has just passed zero when the run pauses is not passed again by going on."""
    m, s = stone(1.0)
    bounce = lambda m, s: vc.push("stone", impulse=(0, 0, -1.8 * 2.0 * s["stone"].v[5]))  # noqa: E731
    events = [vc.when(height(), bounce, once=False)]
    fall = float(np.sqrt(2 / 9.81))
    whole = vc.simulate(m, s, 1.5, events=events, step=0.05)
    for pause in (0.45, 0.5):
        part = vc.simulate(m, s, pause, events=events, step=0.05)
        assert bits(vc.resume(part, 1.5, events=events)) == bits(whole)
    assert fall < 0.5


def test_several_pauses():
    """A run in many pieces is the run in one."""
    m = rods(2, friction=0.1)
    s = started(m, {"0": 1.0})
    whole = vc.simulate(m, s, 0.5, step=0.01)
    trace = vc.simulate(m, s, 0.1, step=0.01)
    for end in (0.2, 0.3, 0.4, 0.5):
        trace = vc.resume(trace, end)
    assert bits(trace) == bits(whole)


def test_new_events_may_be_added():
    """Events that are added behind those of the run happen when it goes on."""
    m, s = stone(1.0)
    first = vc.at(0.1, vc.push("stone", impulse=(0, 0, 1.0)))
    trace = vc.simulate(m, s, 0.2, events=[first], step=0.05)
    longer = vc.resume(trace, 0.4, events=[first, vc.at(0.3, vc.stop("added"))])
    assert longer.message == "added"
    with pytest.raises(vc.InputError, match=r"before the start at 0.2 s"):
        vc.resume(trace, 0.4, events=[first, vc.at(0.15, vc.stop())])


@pytest.mark.parametrize("method", ["euler", "rk4", "rk45", "gbs"])
def test_an_end_between_grid_points_is_gone_on_from(method):
    """A run that ended between grid points has, when it goes on, the bits of one that never stopped."""
    m = rods(2)
    s = started(m, {"0": 1.0})
    event = vc.at(0.283, vc.push("rod 1", impulse=(0.1, 0, 0)))
    part = vc.simulate(m, s, 0.287, method=method, step=0.01, events=[event])
    whole = vc.simulate(m, s, 0.5, method=method, step=0.01, events=[event])
    gone_on = vc.resume(part, 0.5, events=[event])
    assert part.time[-1] == 0.287
    np.testing.assert_array_equal(gone_on.time, whole.time)
    for found, expected in zip(gone_on.epochs, whole.epochs, strict=True):
        np.testing.assert_array_equal(found.q, expected.q)
        np.testing.assert_array_equal(found.energy, expected.energy)
    with pytest.raises(vc.InputError, match="until must be later"):
        vc.resume(part, 0.285, events=[event])


def test_what_cannot_go_on_is_refused(tmp_path):
    """A stopped run, too few events, an end in the past, controls chosen by functions: each is an error by name."""
    m, s = stone(1.0)
    stopped = vc.simulate(m, s, 1.0, events=[vc.at(0.1, vc.stop("enough"))], step=0.05)
    with pytest.raises(vc.InputError, match=r"ended by an event"):
        vc.resume(stopped, 2.0, events=[vc.at(0.1, vc.stop())])
    kick = vc.at(0.5, vc.push("stone", impulse=(0, 0, 1.0)))
    part = vc.simulate(m, s, 0.2, events=[kick], step=0.05)
    with pytest.raises(vc.InputError, match=r"the run had 1 events; 0 are given now"):
        vc.resume(part, 1.0)
    with pytest.raises(vc.InputError, match=r"until must be later"):
        vc.resume(part, 0.1, events=[kick])
    chosen = vc.at(0.1, lambda m, s: vc.use(forces=[vc.Force("stone", force=(0, 0, 1.0))]))
    part = vc.simulate(m, s, 0.2, events=[chosen], step=0.05)
    with pytest.raises(vc.InputError, match=r"forces was chosen by a function"):
        vc.resume(part, 1.0, events=[chosen])
    with pytest.raises(vc.TraceFileError):
        vc.resume(tmp_path / "none.h5", 1.0)


def test_a_diverged_run_may_be_taken_up_from_its_last_checkpoint():
    """A run that failed goes on from its latest checkpoint, with a better controller."""
    m = slider()

    def law(m, s):
        return [np.nan] if s.time > 0.12 else [9.81]

    with pytest.raises(vc.ControllerError) as caught:
        vc.simulate(m, m.state(), 1.0, controller=law, step=0.05)
    trace = vc.resume(caught.value.trace, 0.5, controller=lambda m, s: [9.81])
    assert trace.outcome == "complete"
    assert trace.final.q[0] == pytest.approx(0.0, abs=1e-12)
    assert len(trace) == scaled(11, 11)
