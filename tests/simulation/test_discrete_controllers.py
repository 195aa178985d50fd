"""Discrete controllers: memory, ticks, delays, noise, checkpoints, parameters and seeds of their own."""

from functools import cache

import numpy as np
import pytest

import varichain as vc
from lane import PATIENCE, compiled_only, long_run
from moving import bits, pendulum, rods, slider, started
from varichain import blocks

TICK = 0.01
ROUNDING = 1e-12


def steered(t, q, v, tau, state, parameters, stream):
    """A delayed spring, a filtered damper and noise."""
    late = blocks.delay(state.line, q[0])
    speed = blocks.low_pass(state.filter, v[0], parameters.cutoff, TICK)
    state.calls += 1.0
    tau[0] = -parameters.gain * late - 0.5 * speed + 0.1 * blocks.normal(stream)


STATE = {"line": np.zeros(blocks.delay_length(3)), "filter": np.zeros(blocks.LOW_PASS), "calls": 0.0}


@cache
def steering():
    """The controller; compiled once, by the first test that needs it."""
    return vc.Discrete(steered, TICK, STATE, {"cutoff": 5.0, "gain": 2.0}, seed=3)


def counting(t, q, v, tau, state, parameters, stream):
    """Constant torques, and the times of the calls."""
    state.times[int(state.calls)] = t
    state.calls += 1.0
    tau[0] = parameters.push * state.calls


def counter(tick, name=None, push=1.0, room=200):
    """A controller that counts its calls."""
    return vc.Discrete(counting, tick, {"times": np.zeros(room), "calls": 0}, {"push": push}, name=name)


def run(until, law=None, m=None, **options):
    """A pendulum under a controller."""
    m = pendulum() if m is None else m
    s = m.state()
    s.q[0] = 0.3
    return vc.simulate(m, s, until, controller=law or steering(), step=0.005, **options)


@pytest.mark.parametrize("method", ["euler", "rk4", "rk45", "gbs"])
def test_torques_are_held_from_tick_to_tick(method):
    """A block gets n N in its n-th tick: velocities are the sum of impulses, whatever the method."""
    m = slider(gravity=(0, 0, 0))
    trace = vc.simulate(m, m.state(), 0.1, controller=counter(0.02), step=0.005, method=method)
    assert trace.memory["counting"]["calls"] == 5
    assert trace.memory["counting"]["times"][:5] == pytest.approx(0.02 * np.arange(5), abs=ROUNDING)
    assert trace.final.v[0] == pytest.approx(0.02 * (1 + 2 + 3 + 4 + 5), abs=ROUNDING)
    assert trace.joint("rail").tau[1:5] == pytest.approx(np.ones(4))


def test_several_controllers_add_up_each_at_its_own_ticks():
    """Two discrete controllers of different ticks and a torque act together."""
    m = slider(gravity=(0, 0, 0))
    laws = [counter(0.02, "slow"), counter(0.01, "fast", push=2.0), vc.Torques({"rail": 1.0})]
    trace = vc.simulate(m, m.state(), 0.04, controller=laws, step=0.005)
    assert (trace.memory["slow"]["calls"], trace.memory["fast"]["calls"]) == (2, 4)
    assert trace.final.v[0] == pytest.approx(0.02 * 3 + 0.01 * 2 * 10 + 0.04, abs=ROUNDING)


@long_run
def test_a_resumed_run_has_the_bits_of_one_that_never_stopped(tmp_path):
    """Filters, delay lines and noise go on where they were, between grid points and through a file too."""
    whole = run(0.5)
    for stop in (0.2, 0.213):
        run(stop, out=tmp_path / f"{stop}.h5")
        again = vc.resume(tmp_path / f"{stop}.h5", 0.5, controller=steering())
        assert bits(again) == bits(whole)
        assert again.checkpoint["laws"] == whole.checkpoint["laws"]


def test_events_repeat_no_tick():
    """Steps that are taken again to find an event call the controller as often as a run without the event."""
    passes = vc.when(lambda m, s: s.q[0] - 0.1, vc.use(forces=()), once=False)
    found = run(0.5, events=[passes])
    assert len(found.epochs) > 1
    assert found.memory["steered"]["calls"] == run(0.5).memory["steered"]["calls"] == 50


def test_memory_survives_structure_changes_and_a_refused_one():
    """A cut keeps the memory and the torques of joints that stay; an impossible event changes nothing of it."""
    m = rods(2)
    law = counter(0.02)
    trace = vc.simulate(m, m.state(), 0.05, controller=law, step=0.005, events=[vc.at(0.011, vc.cut("1"))])
    assert trace.memory["counting"]["calls"] == 3
    after = trace.epochs[1]
    assert after.tau[after.time < 0.02][:, 0] == pytest.approx(1.0)
    with pytest.raises(vc.EventError) as caught:
        vc.simulate(m, m.state(), 0.05, controller=law, step=0.005, events=[vc.at(0.02, vc.cut("no such joint"))])
    assert caught.value.trace.memory["counting"]["calls"] == 1


@long_run
def test_a_rollout_has_the_bits_of_single_runs():
    """Parameters and seeds of each run give what `simulate` gives with them, on any threads, with events or not."""
    m = pendulum()
    starts = [started(m, {"pivot": 0.1 * i}) for i in range(4)]
    gains, seeds = [1.0, 2.0, 3.0, 4.0], [3, 3, 4, 5]
    singles = [
        vc.simulate(m, s, 0.3, controller=steering().varied(seed=seed, gain=gain), step=0.005)
        for s, seed, gain in zip(starts, seeds, gains, strict=True)
    ]
    for options in ({"threads": 1}, {"threads": 2}, {"events": [vc.at(0.1, vc.use(forces=()))]}):
        runs = vc.rollout(
            m, starts, 0.3, controller=steering(), parameters={"gain": gains}, seeds=seeds, step=0.005, **options
        )
        for i, single in enumerate(singles):
            assert np.array_equal(runs.q[i, -1], single.final.q)
            for name, value in single.memory["steered"].items():
                assert np.array_equal(runs.memory["steered"][name][i], value)


@long_run
def test_seeds_make_the_noise_and_names_keep_it_apart():
    """The same seed is the same noise, another seed or another name is other noise."""
    one, same, other = run(0.1), run(0.1), run(0.1, steering().varied(seed=4))
    named = run(0.1, vc.Discrete(steered, TICK, STATE, steering().parameters, seed=3, name="other"))
    assert bits(one) == bits(same)
    assert len({bits(one), bits(other), bits(named)}) == 3


def test_a_live_run_keeps_and_resets_the_memory():
    """Steps of a live run give the motion of a simulation with the same controller, after a reset too."""
    m = pendulum()
    s = started(m, {"pivot": 0.3})
    with vc.LiveRun(m, s, controller=steering(), step=0.005, is_paused=True) as live:
        for _ in range(2):
            for _ in range(4):
                live.step().result(timeout=PATIENCE)
            frame = live.frame
            assert np.array_equal(frame.q, run(frame.time).final.q)
            live.reset().result(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tick": 0.0}, "tick of Discrete"),
        ({"state": {"1x": 0.0}}, "names that Python attributes can have"),
        ({"state": {"fill": 0.0}}, "names that Python attributes can have"),
        ({"parameters": {"x": float("nan")}}, "finite number"),
        ({"parameters": {"x": [[1.0]]}}, "finite number"),
        ({"parameters": {"x": []}}, "1 to"),
        ({"seed": -1}, "seed"),
        ({"function": 5}, "must be a function of t, q, v, tau, state, parameters and stream"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    """Ticks, names, numbers and seeds that cannot be are refused with what would be valid."""
    good = {
        "function": counting,
        "tick": 0.01,
        "state": {"times": np.zeros(9), "calls": 0},
        "parameters": {"push": 1.0},
    }
    with pytest.raises(vc.InputError, match=message):
        vc.Discrete(**(good | change))


def test_runs_refuse_what_does_not_fit():
    """Ticks off the grid, equal names, unknown parameters, other controllers at a resumption: all by name."""
    m = pendulum()
    with pytest.raises(vc.InputError, match="whole multiple of the run's step"):
        run(0.1, counter(0.007))
    with pytest.raises(vc.DuplicateNameError):
        run(0.1, [counter(0.01), counter(0.02)])
    with pytest.raises(vc.UnknownNameError):
        vc.rollout(m, [m.state()], 0.1, controller=steering(), parameters={"gian": [1.0]})
    with pytest.raises(vc.InputError, match="each of the 1 runs"):
        vc.rollout(m, [m.state()], 0.1, controller=steering(), parameters={"gain": [1.0, 2.0]})
    with pytest.raises(vc.InputError, match="runs with discrete controllers"):
        vc.rollout(m, [m.state()], 0.1, seeds=[1])
    with pytest.raises(vc.InputError, match=r"had the discrete controllers steered.*not none"):
        vc.resume(run(0.1), 0.2)
    with pytest.raises(vc.UnknownNameError):
        steering().varied(gian=1.0)
    with pytest.raises(vc.InputError, match="shape"):
        steering().varied(gain=[1.0, 2.0])


@compiled_only
def test_a_function_that_does_not_compile_is_refused_by_name():
    """A function that Numba cannot compile is an error when the controller is made, with the compiler's reason."""

    def wrong(t, q, v, tau, state, parameters, stream):
        tau[0] = state.no_such_field

    with pytest.raises(vc.InputError, match=r"Numba cannot compile 'wrong'.*no_such_field"):
        vc.Discrete(wrong, 0.01)
