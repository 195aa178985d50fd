import _thread
import threading

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import IS_COMPILED, long_run, scaled

N = scaled(12, 3)
UNTIL = scaled(0.05, 0.006)


def moving(m, s, n=N):
    """States of a closed chain that move at different speeds."""
    rng = np.random.default_rng(0)
    return [closed_zoo.random_closed_state(rng, m, s, reach=0.05, speed=1.0 + i) for i in range(n)]


def two_rods():
    """Two boxes in a row, on hinges across each other."""
    m = vc.Mechanism("two")
    rod = vc.Inertia.box(1.0, size=(1.0, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_link("rod 0", joint=vc.Revolute("y"), inertia=rod)
    m.add_link("rod 1", "rod 0", vc.Revolute("z"), at=(1, 0, 0), inertia=rod)
    return m


def singly(m, states, until, **options):
    """The same runs one by one: traces, or None where a run fails."""
    traces = []
    for s in states:
        try:
            traces.append(vc.simulate(m, s, until, **options))
        except vc.SimulationError:
            traces.append(None)
    return traces


def assert_same(found, traces):
    """The samples of a rollout have the bits of the traces."""
    for i, trace in enumerate(traces):
        q, v = (np.concatenate([getattr(epoch, name) for epoch in trace.epochs]) for name in ("q", "v"))
        assert np.array_equal(found.times, trace.time)
        assert np.array_equal(found.q[i], q) and np.array_equal(found.v[i], v)


@pytest.mark.parametrize("method", ["euler", "rk4", "rk45", "gbs"])
def test_runs_are_those_of_simulate(method):
    """Every run of a rollout has the bits of `vc.simulate`, with one thread as with three."""
    m, s = closed_zoo.general_four_bar()
    states = moving(m, s)
    options = {"method": method, "step": 2e-3, "sample": 4e-3}
    traces = singly(m, states, UNTIL, **options)
    for threads in (1, 3):
        found = vc.rollout(m, states, UNTIL, threads=threads, **options)
        assert_same(found, traces)
        assert found.outcomes == ("complete",) * N and not found.faults and not found.traces


def test_an_end_between_samples_is_sampled():
    """A run that ends off its grid has its last sample there."""
    m = zoo.double_pendulum()
    states = [m.state() for _ in range(3)]
    for i, s in enumerate(states):
        s.q, s.time = [0.1 * i, 0.2], 0.5
    options = {"step": 1e-3, "sample": 2e-3}
    found = vc.rollout(m, states, 0.5053, **options)
    assert found.times[-1] == 0.5053 and len(found.times) == 4
    assert_same(found, singly(m, states, 0.5053, **options))
    assert np.array_equal(found.times, vc.rollout(m, states, until=0.5053, **options).times)


@long_run
def test_stops_and_friction_take_part():
    """Runs that hit limits and stick by friction have the bits of `vc.simulate`."""
    m = vc.Mechanism("stopped")
    rod = vc.Inertia.box(1.0, size=(1.0, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_link("rod", joint=vc.Revolute("y", name="hinge", limits=(-0.2, 0.1), friction=0.5), inertia=rod)
    states = [m.state() for _ in range(N)]
    for i, s in enumerate(states):
        s["hinge"].v = 2.0 - i
    found = vc.rollout(m, states, 0.1)
    assert_same(found, singly(m, states, 0.1))
    assert found.q.max() <= 0.1 + 1e-9


def test_controllers_act_on_all():
    """PD controllers and external forces act on every state as in `vc.simulate`."""
    m = zoo.double_pendulum()
    names = m.state().joints
    states = [m.state() for _ in range(N)]
    for i, s in enumerate(states):
        s.q = [0.1 * i, -0.1]
    options = {
        "controller": vc.PD(dict.fromkeys(names, 0.5), stiffness=50.0, damping=5.0),
        "forces": [vc.Force(m.links[-1].name, force=(1.0, 0.0, 2.0))],
    }
    assert_same(vc.rollout(m, states, UNTIL, **options), singly(m, states, UNTIL, **options))


def test_every_state_may_have_its_own_torques():
    """Torques (n, K, n_v) act like a controller that is asked every control step; (n, n_v) act throughout."""
    m = zoo.double_pendulum()
    q, v = np.zeros((N, 2)), np.zeros((N, 2))
    torques = np.random.default_rng(0).standard_normal((N, 3, 2))
    found = vc.rollout(m, (q, v), 5e-3, torques=torques, control_step=2e-3)
    constant = vc.rollout(m, (q, v), 5e-3, torques=torques[:, 0])
    for i in range(N):
        s = m.state()
        # asked once a tick; the last of them lies at 4 ms
        law = iter(torques[i])
        trace = vc.simulate(m, s, 5e-3, controller=lambda m, s, law=law: next(law), control_step=2e-3)
        assert np.array_equal(found.q[i], trace.epochs[0].q)
        trace = vc.simulate(m, s, 5e-3, controller=lambda m, s, i=i: torques[i, 0])
        assert np.array_equal(constant.q[i], trace.epochs[0].q)


def test_structure_may_change_in_every_state():
    """Events happen to each run on its own, and samples go on as long as the joints are the same."""
    m, s = closed_zoo.general_four_bar()
    loop, states = m.virtual_links[0].joint.name, moving(m, s)
    grip = vc.at(UNTIL / 2, vc.cut(loop))
    options = {"events": [grip], "step": 1e-3}
    found = vc.rollout(m, states, UNTIL, threads=2, **options)
    assert found.outcomes == ("complete",) * N and np.isfinite(found.q).all()
    for i, trace in enumerate(singly(m, states, UNTIL, **options)):
        assert len(found.traces[i].epochs) == 2
        assert np.array_equal(found.q[i, -1], trace.final.q) and np.array_equal(found.v[i, -1], trace.final.v)
        assert np.array_equal(found.state(i).q, trace.final.q)
    assert len(m.virtual_links) == 1


def test_a_cut_of_the_tree_ends_the_samples_and_not_the_trace():
    """Once a joint of the tree is cut the arrays hold NaN, and the trace holds the rest."""
    m = two_rods()
    name = m.joints[1].name
    found = vc.rollout(m, [m.state()] * 2, 4e-3, events=[vc.at(2e-3, vc.cut(name))])
    assert np.isfinite(found.q[:, :2]).all() and np.isnan(found.q[:, 3:]).all()
    assert [trace.final.time for trace in found.traces] == [4e-3, 4e-3]
    with pytest.raises(vc.InputError, match="has other joints there"):
        found.state(0)


def test_conditions_may_stop_some():
    """A condition stops those runs that meet it, and the others go on to the end."""
    m = zoo.pendulum()
    q, v = np.zeros((3, 1)), np.array([[0.0], [5.0], [0.1]])
    halt = vc.when(lambda m, s: s.q[0] - 0.01, vc.stop("far"))
    found = vc.rollout(m, (q, v), 0.01, events=[halt])
    assert found.outcomes == ("complete", "stopped", "complete")
    assert np.isnan(found.q[1, -1]).all() and np.isfinite(found.q[[0, 2], -1]).all()
    assert "2 complete, 1 stopped" in repr(found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # plain Python warns of overflow
@pytest.mark.parametrize("events", [(), [vc.at(0.5e-3, vc.push("rod 0", (0, 0, 1)))]])
def test_a_run_that_diverges_leaves_the_others_alone(events):
    """A run that diverges is told of by its number, has NaN from there on, and changes no bit of the others."""
    m = two_rods()
    q, v = np.full((3, 2), 0.3), np.ones((3, 2))
    calm = vc.rollout(m, (q, v), steps=5, events=events, limits="off")
    v[1] = 1e11
    found = vc.rollout(m, (q, v), steps=5, events=events, limits="off")
    assert found.outcomes == ("complete", "diverged", "complete")
    assert isinstance(found.faults[1], vc.DivergenceError) and np.isnan(found.q[1, -1]).all()
    assert np.array_equal(found.q[[0, 2]], calm.q[[0, 2]])
    with pytest.raises(vc.InputError, match=r"run 1 \(diverged\) did not get to"):
        found.state(1)


def test_controllers_in_python_are_asked_for_every_state():
    """A Python function is asked for each run, and the runs have the bits of `vc.simulate`."""
    m = zoo.double_pendulum()
    states = [m.state() for _ in range(3)]
    for i, s in enumerate(states):
        s.q = [0.2 * i, 0.1]
    options = {"controller": lambda m, s: -3.0 * s.q - s.v, "step": 1e-3}
    found = vc.rollout(m, states, 6e-3, threads=2, **options)
    assert_same(found, singly(m, states, 6e-3, **options))


def test_what_cannot_begin_is_refused():
    """States that do not fit, are open, not finite or beyond their limits are errors that name the state."""
    m, s = closed_zoo.general_four_bar()
    q, v = np.tile(s.q, (4, 1)), np.zeros((4, m.n_v))
    q_open = q.copy()
    q_open[2, 0] += 0.1
    with pytest.raises(vc.InputError, match=r"state 2 of 4: .*open"):
        vc.rollout(m, (q_open, v), 0.01)
    v_open = v.copy()
    v_open[3, 0] = 1.0
    with pytest.raises(vc.InputError, match=r"state 3 of 4: .*velocities open"):
        vc.rollout(m, (q, v_open), 0.01)
    v_open[1, 0] = np.nan
    with pytest.raises(vc.InputError, match=r"state 1 of 4: velocity .* must be finite"):
        vc.rollout(m, (q, v_open), 0.01)
    knee = vc.Mechanism("knee")
    knee.add_link("shank", joint=vc.Revolute("y", limits=(-1, 0)), inertia=vc.Inertia.rod(1.0, 0.4))
    with pytest.raises(vc.InputError, match=r"state 1 of 2: .*limits"):
        vc.rollout(knee, ([[-0.5], [0.5]], [[0.0], [0.0]]), 0.01)
    assert vc.rollout(knee, ([[-0.5], [0.5]], [[0.0], [0.0]]), 0.002, limits="off").outcomes == ("complete",) * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": ([[0.0]], [[0.0]])}, r"states must be q \(n, 2\) and v \(n, 2\), not arrays of shapes \(1, 1\)"),
        ({"states": "all"}, "states must be State objects or a pair of arrays"),
        ({"until": None}, "either until"),
        ({"steps": 3}, "either until"),
        ({"until": None, "steps": 0}, "steps must be a whole number from 1 to 1000000000, not 0"),
        ({"until": -1.0}, "until must be later"),
        ({"torques": [[0.0, 0.0]]}, r"torques must have the shape \(3, 2\), or \(3, K, 2\) with K at least 5"),
        ({"torques": [[np.inf, 0.0]] * 3}, "torques of state 0 are not finite"),
        ({"torques": [[1.0, 0.0]] * 3, "events": [vc.at(0.001, vc.stop())]}, "torques are for runs without events"),
        ({"threads": 0}, "threads must be"),
        ({"m": "arm"}, "expected a Mechanism, not str"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(change, message):
    """Arguments that do not fit are errors that say what would."""
    m = zoo.double_pendulum()
    given = {"m": m, "states": (np.zeros((3, 2)), np.zeros((3, 2))), "until": 0.005} | change
    with pytest.raises(vc.InputError, match=message):
        vc.rollout(given.pop("m"), given.pop("states"), given.pop("until"), **given)


def test_states_of_different_times_are_refused():
    """A rollout has one clock."""
    m = zoo.pendulum()
    early, late = m.state(), m.state()
    late.time = 1.0
    with pytest.raises(vc.InputError, match="the same time; found 0 s and 1 s"):
        vc.rollout(m, [early, late], 2.0)


def test_no_states_make_an_empty_rollout():
    """Nothing to do is done."""
    m = zoo.pendulum()
    found = vc.rollout(m, (np.empty((0, 1)), np.empty((0, 1))), 0.01)
    assert len(found) == 0 and found.q.shape == (0, 11, 1)


@pytest.mark.skipif(not IS_COMPILED, reason="plain Python hears Ctrl-C anyway")
def test_an_interrupt_ends_a_rollout():
    """Ctrl-C ends a rollout of hours."""
    m = zoo.double_pendulum()
    vc.rollout(m, [m.state()], 0.01)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        vc.rollout(m, [m.state()] * 64, 1e6, sample=1e4, threads=2)
    timer.join()
