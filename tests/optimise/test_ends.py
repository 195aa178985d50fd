"""How searches end that do not find a motion: errors with evidence, interrupts, and a missing extra."""

import builtins
import os
import pickle
import signal

import numpy as np
import pytest

import lane
import varichain as vc
from optimise.problems import arm, block, floating, tip


def reach(target, **options):
    """An arm that reaches for a point in a second."""
    m = arm()
    s = m.state()
    s.q = (0.3, 0.5)
    return vc.optimise_motion(
        m, s, vc.Phase(1.0, end={"tip": target}, rest=True, intervals=4), {"tip": tip()}, **options
    )


@lane.long_run
def test_a_goal_out_of_reach_is_named_with_what_is_missing():
    """An arm of 2 m cannot reach 2.5 m: the error names the goal and the half metre, and survives a pickle."""
    with pytest.raises(vc.OptimisationError, match=r"misses 'tip\[1\]' at the end of phase 1 by 0\.5") as caught:
        reach((0.0, 2.5))
    (left,) = caught.value.missing.values()
    assert left == pytest.approx(0.5, rel=1e-3)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert twin.missing == caught.value.missing and str(twin) == str(caught.value)
    assert np.cos(twin.motion.states[-1]["elbow"].q) > 0.999  # stretched out


@lane.long_run
def test_weak_torques_are_named():
    """Where torques are too weak, the error names the goals that are missed and the joints at their limits."""
    m = block(2.0)
    phase = vc.Phase(1.0, end={"slide": 1.0}, rest=True, intervals=4)
    with pytest.raises(vc.OptimisationError, match=r"torque limits of 'slide' are reached") as caught:
        vc.optimise_motion(m, m.state(), phase, torque_limits=1.0)
    assert any("slide" in name for name in caught.value.missing)


def test_ctrl_c_keeps_the_best_so_far():
    """Ctrl-C ends the search after its iteration; the interrupt has the best motion."""

    def press(iteration, cost, off):
        if iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(vc.OptimisationInterrupted) as caught:
        reach((0.5, 1.2), progress=press)
    assert signal.getsignal(signal.SIGINT) is before
    assert not caught.value.motion.is_solved
    assert len(caught.value.motion.states) == 5


def test_without_the_extra_small_problems_are_solved_and_large_ones_say_what_to_install(monkeypatch):
    """SciPy takes small problems; of large ones the error names the extra."""
    real = builtins.__import__

    def without(name, *rest):
        if name == "casadi":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    m = block()
    assert vc.optimise_motion(m, m.state(), vc.Phase(1.0, end={"slide": 1.0}, rest=True, intervals=3)).is_solved
    with pytest.raises(vc.MissingExtraError, match=r"varichain\[optimise\]"):
        vc.optimise_motion(m, m.state(), vc.Phase(1.0, end={"slide": 1.0}, intervals=60))
    with pytest.raises(vc.MissingExtraError, match=r"varichain\[optimise\]"):
        vc.optimise_motion(m, m.state(), vc.Phase(1.0, end={"slide": 1.0}, intervals=3), solver="ipopt")


@pytest.mark.parametrize(
    ("phase", "options", "what"),
    [
        ({"end": {"tipp": 1.0}}, {}, "tipp"),
        ({"at_least": {"elbow": 1.0}}, {}, "no function is called 'elbow'"),
        ({"end": {"tip": (1.0, 2.0, 3.0)}}, {}, "2 numbers"),
        ({"change": [vc.cut("elbow")]}, {}, "it does not close a loop"),
        ({"change": [vc.cut("nothing")]}, {}, "it does not close a loop"),
        ({}, {"cost": {"beauty": 1.0}}, "cost names 'beauty'"),
        ({}, {"start": "somewhere"}, "start must be one of"),
        ({}, {"torque_limits": {"elbow": (1.0, -1.0)}}, "lower, upper"),
        ({}, {"guess": 3}, "guess must be a vc.Motion"),
        ({}, {"solver": "magic"}, "solver must be one of"),
        ({}, {"functions": {"late": vc.animation.point("lower") * vc.animation.time()}}, "not the time"),
    ],
)  # fmt: skip
def test_refusals(phase, options, what):
    """What makes no sense is refused in a sentence, before the search."""
    m = arm()
    functions = options.pop("functions", {"tip": tip()})
    with pytest.raises((vc.InputError, vc.UnknownNameError), match=what):
        vc.optimise_motion(m, m.state(), vc.Phase(1.0, intervals=2, **phase), functions, **options)


def test_orientations_are_asked_for_by_functions():
    """A ball joint has no numbers to ask for: its rotation is a function."""
    m, s = floating()
    with pytest.raises(vc.InputError, match=r"animation\.rotation"):
        vc.optimise_motion(m, s, vc.Phase(1.0, end={"ball": (1.0, 0.0, 0.0, 0.0)}, intervals=1))


def test_phases_are_checked():
    """Durations and actions of a phase."""
    for bad in (0.0, -1.0, (2.0, 1.0), (1.0, 2.0, 3.0), np.nan, "long"):
        with pytest.raises(vc.InputError, match="duration"):
            vc.Phase(bad)
    with pytest.raises(vc.InputError, match="connections, couplings and cuts"):
        vc.Phase(1.0, change=[vc.push("arm", (1, 0, 0))])
    with pytest.raises(vc.InputError, match="at least one phase"):
        vc.optimise_motion(arm(), arm().state(), [])
