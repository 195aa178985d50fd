"""Controllers, conditions, actions and forces that fail: errors with a name and a time, and the trace before."""

import numpy as np
import pytest

import varichain as vc
from moving import rods, slider


def late(answer, time=0.1):
    """A function that behaves until a time."""

    def asked(m, s):
        if s.time < time - 1e-12:
            return None
        return answer(m, s)

    return asked


def broken(m, s):
    """Raise."""
    raise ZeroDivisionError("boom")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda m, s: [np.nan], r"returned torques that are not finite, for rail"),
        (lambda m, s: [np.inf], r"not finite, for rail"),
        (broken, r"ZeroDivisionError: boom"),
        (lambda m, s: [1.0, 2.0], r"must return torques of shape \(1,\)"),
        (lambda m, s: {"rial": 1.0}, r"rial"),
        (lambda m, s: {"rail": [1.0, 2.0]}, r""),
        (lambda m, s: "full", r""),
    ],
)
def test_a_controller_that_fails_ends_the_run(answer, message):
    """What a controller gets wrong is a ControllerError with the time, and the trace ends at that time."""
    m = slider()
    with pytest.raises(vc.ControllerError, match=f"at t = 0.1 s: .*{message}") as caught:
        vc.simulate(m, m.state(), 1.0, controller=late(answer), step=0.05)
    assert caught.value.time == pytest.approx(0.1)
    trace = caught.value.trace
    assert trace.outcome == "error"
    assert trace.time[-1] == pytest.approx(0.1)
    assert trace.final.v[0] == pytest.approx(-0.981, abs=1e-12)


def test_the_cause_is_kept():
    """The user's own exception is the cause of the error."""
    m = slider()
    with pytest.raises(vc.ControllerError) as caught:
        vc.simulate(m, m.state(), 1.0, controller=broken)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.time == 0.0


@pytest.mark.parametrize(
    "forces",
    [late(broken), late(lambda m, s: 3.0), late(lambda m, s: vc.Force("nobody", force=(0, 0, 1.0)))],
)
def test_forces_that_fail_end_the_run(forces):
    """A function of forces that fails is told with its time too."""
    m = slider()
    with pytest.raises(vc.ControllerError, match=r"at t = 0.1 s") as caught:
        vc.simulate(m, m.state(), 1.0, forces=forces, step=0.05)
    assert caught.value.trace.time[-1] == pytest.approx(0.1)


@pytest.mark.parametrize(
    "condition",
    [
        lambda m, s: broken(m, s) if s.time > 0.1 else 1.0,
        lambda m, s: np.nan if s.time > 0.1 else 1.0,
        lambda m, s: None if s.time > 0.1 else 1.0,
        lambda m, s: [1.0, 2.0] if s.time > 0.1 else 1.0,
    ],
)
def test_conditions_that_fail_end_the_run(condition):
    """A condition that raises, or is no number, ends the run with its time."""
    m = slider()
    with pytest.raises(vc.ControllerError, match=r"at t = 0.15 s") as caught:
        vc.simulate(m, m.state(), 1.0, events=[vc.when(condition, vc.stop())], step=0.05)
    assert caught.value.trace.time[-1] <= 0.15 + 1e-12


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (broken, "boom"),
        (lambda m, s: "cut", "vc.cut"),
        (lambda m, s: m.cut("0"), "edited the mechanism"),
    ],
)
def test_functions_of_events_that_fail_end_the_run(action, message):
    """A function that fails at an event ends the run with its time, and the trace has all before it."""
    m = rods(1)
    with pytest.raises(vc.ControllerError, match=f"(?s)at t = 0.1 s: .*({message})") as caught:
        vc.simulate(m, m.state(), 1.0, events=[vc.at(0.1, action)], step=0.05)
    assert caught.value.trace.time[-1] == 0.1
    assert caught.value.trace.outcome == "error"


@pytest.mark.parametrize(
    ("action", "cause", "message"),
    [
        (vc.cut("elbo"), vc.UnknownNameError, "no joint is called 'elbo'; joints: '0'"),
        (vc.connect("rod 0", "nobody", vc.Fixed()), vc.UnknownNameError, "nobody"),
        (vc.connect("rod 0", "ground", vc.Fixed(), at=(0, 0, -1), at_other=(5, 0, 0)), vc.GapError, "apart"),
        (vc.couple("0", "knee"), vc.UnknownNameError, "knee"),
        (vc.push("nobody", (0, 0, 1)), vc.UnknownNameError, "nobody"),
        (vc.use(controller=3.0), vc.InputError, "a controller must be"),
        (vc.use(controller=vc.PD({"knee": 0.0}, 1.0, 1.0)), vc.UnknownNameError, "knee"),
        (lambda m, s: vc.cut("elbo"), vc.UnknownNameError, "elbo"),
    ],
)
def test_impossible_actions_end_the_run(action, cause, message):
    """An impossible action is an EventError that names time, event and cause, and no fault of a controller."""
    m = rods(1)
    events = [vc.at(0.1, action, name="snap")]
    with pytest.raises(vc.EventError, match=f"(?s)^at t = 0.1 s, event snap: .*{message}") as caught:
        vc.simulate(m, m.state(), 1.0, events=events, step=0.05)
    assert not isinstance(caught.value, vc.ControllerError)
    assert isinstance(caught.value.__cause__, cause)
    assert str(caught.value).endswith(str(caught.value.__cause__))
    assert caught.value.trace.time[-1] == 0.1
    assert (caught.value.trace.outcome, caught.value.trace.message) == ("error", str(caught.value))


def test_nan_of_a_compiled_controller_is_noticed():
    """NaN from a compiled controller is a DivergenceError at its joint, even where torques are bounded."""

    @vc.Compiled
    def law(t, q, v, tau):
        if t > 0.1:
            tau[0] = np.nan

    m = slider()
    bound = vc.PD({"rail": 0.0}, 0.0, 0.0, largest=5.0)
    for controller in (law, [law, bound]):
        with pytest.raises(vc.DivergenceError, match=r"rail") as caught:
            vc.simulate(m, m.state(), 1.0, controller=controller, step=0.05)
        assert caught.value.joint == "rail"
        assert caught.value.time == pytest.approx(0.1, abs=0.05)
        assert np.isfinite(caught.value.trace.final.v).all()


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        (3.0, "a controller must be"),
        ("pd", "a controller must be"),
        ([vc.Torques({"rail": 1.0}), None], "a controller must be"),
    ],
)
def test_what_is_no_controller_is_refused(controller, message):
    """A controller that is none is refused before the run."""
    m = slider()
    with pytest.raises(vc.InputError, match=message):
        vc.simulate(m, m.state(), 1.0, controller=controller)


def test_unknown_joints_of_controllers_are_refused():
    """A joint that PD, its gains or torques name must be there."""
    m = slider()
    for controller in (vc.PD({"knee": 0.0}, 1.0, 1.0), vc.Torques({"knee": 1.0})):
        with pytest.raises(vc.UnknownNameError, match=r"knee"):
            vc.simulate(m, m.state(), 1.0, controller=controller)
    with pytest.raises(vc.InputError, match=r"stiffness of PD is given for 'knee'"):
        vc.PD({"rail": 0.0}, {"knee": 1.0}, 1.0)


def test_two_pd_controllers_of_one_joint_are_refused():
    """PD controllers have one set of gains a joint; two of a joint are an error, not a surprise."""
    m = slider()
    laws = [vc.PD({"rail": 0.0}, 1.0, 1.0), vc.PD({"rail": 1.0}, 5.0, 0.0)]
    with pytest.raises(vc.InputError, match=r"two PD controllers act on joint 'rail'"):
        vc.simulate(m, m.state(), 1.0, controller=laws)


@pytest.mark.parametrize(
    "make",
    [
        lambda: vc.PD(3.0, 1.0, 1.0),
        lambda: vc.PD({"rail": 0.0}, -1.0, 1.0),
        lambda: vc.PD({"rail": 0.0}, 1.0, float("nan")),
        lambda: vc.PD({"rail": 0.0}, 1.0, 1.0, largest=-1.0),
        lambda: vc.PD({"rail": 0.0}, 1.0, 1.0, joints=["knee"]),
        lambda: vc.ComputedTorque({"rail": 0.0}),
        lambda: vc.ComputedTorque(vc.Motion({"rail": 0.0}), stiffness=-1.0),
    ],
)
def test_impossible_controllers_are_refused_when_they_are_made(make):
    """Targets must be motions, states or coordinates, gains not negative."""
    with pytest.raises(vc.InputError):
        make()
