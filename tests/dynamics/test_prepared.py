"""The prepared handle: the friendly functions' numbers, without their checks and without allocation."""

import gc
import re
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import varichain as vc
import zoo
from closed_zoo import bennett, bricard
from lane import PATIENCE, compiled_only, long_run, scaled
from measure import random_state
from movers import falling_figure, hanging_figure
from varichain.dynamics.loops import closure_errors

CALLS = 300
# Blocks that the interpreter itself may keep meanwhile (a frame, a cached float); one leaked per call would be CALLS.
STRAY_BLOCKS = 20
# No array passes through: the smallest one has more than 100 bytes, and 300 calls would show.
STRAY_BYTES = 2000
# [m or rad] the figure on a bar is open after a step of 1 ms whose opening the next one undoes.
OPENED = 1e-4


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(42)


def tree(rng, **options):
    """Random tree of all joints with everything that may act in them."""
    return zoo.random_tree(rng, scaled(12, 7), passive=True, friction=True, **options)


def buffers(p):
    """Output arrays of every shape that a handle writes."""
    shapes = {
        "q": p.n_q, "v": p.n_v, "M": (p.n_v, p.n_v), "R": (p.n_links, 9), "p": (p.n_links, 3), "V": (p.n_links, 6),
        "D": (3, p.n_v, p.n_v), "J": (6, p.n_v), "A": 6, "c": 3, "J_c": (3, p.n_v), "E": 3, "h": 6,
    }  # fmt: skip
    return {name: np.full(shape, np.nan) for name, shape in shapes.items()}


def every_call(p, rng, s):
    """Each method of the handle by name, as a function without arguments that returns what the method returns."""
    q, v, b = s.q, s.v, buffers(p)
    x, point, other = rng.normal(size=p.n_v), rng.normal(size=3), s.integrate(0.1 * s.v).q
    wrenches, carried = rng.normal(size=(p.n_links, 6)), np.empty((3, p.n_rows, p.n_v))
    row = p.n_links - 1
    calls = {
        "inverse_dynamics": lambda: p.inverse_dynamics(q, v, x, b["v"]),
        "forward_dynamics": lambda: p.forward_dynamics(q, v, x, b["v"]),
        "inverse_dynamics, wrenches": lambda: p.inverse_dynamics(q, v, x, b["v"], wrenches),
        "forward_dynamics, wrenches": lambda: p.forward_dynamics(q, v, x, b["v"], wrenches),
        "inverse_dynamics_derivatives": lambda: p.inverse_dynamics_derivatives(q, v, x, b["D"]),
        "forward_dynamics_derivatives": lambda: p.forward_dynamics_derivatives(q, v, x, b["D"]),
        "inverse_dynamics_derivatives, wrenches": lambda: p.inverse_dynamics_derivatives(q, v, x, b["D"], wrenches),
        "forward_dynamics_derivatives, wrenches": lambda: p.forward_dynamics_derivatives(
            q, v, x, b["D"], carried, wrenches
        ),
        "bias_force": lambda: p.bias_force(q, v, b["v"]),
        "bias_force, wrenches": lambda: p.bias_force(q, v, b["v"], wrenches),
        "mass_matrix": lambda: p.mass_matrix(q, b["M"]),
        "poses": lambda: p.poses(q, b["R"], b["p"]),
        "velocities": lambda: p.velocities(q, v, b["V"]),
        "jacobian": lambda: p.jacobian(q, row, point, b["J"]),
        "jacobian, local": lambda: p.jacobian(q, row, point, b["J"], True),
        "bias_acceleration": lambda: p.bias_acceleration(q, v, row, point, b["A"]),
        "bias_acceleration, local": lambda: p.bias_acceleration(q, v, row, point, b["A"], True),
        "center_of_mass": lambda: p.center_of_mass(q, b["c"]),
        "center_of_mass_jacobian": lambda: p.center_of_mass_jacobian(q, b["J_c"]),
        "energy": lambda: p.energy(q, v, b["E"]),
        "momentum": lambda: p.momentum(q, v, b["h"], b["c"]),
        "integrate": lambda: p.integrate(q, v, 0.01, b["q"]),
        "difference": lambda: p.difference(q, other, b["v"]),
    }
    return calls, (x, point, other, wrenches, row)


def _by_motion(d):
    return np.array([d.by_q.array, d.by_v.array, d.by_a.array])


def _by_torque(d):
    return np.array([d.by_q.array, d.by_v.array, d.by_tau.array])


def friendly_answers(m, s, x, point, other, wrenches, row):
    """What the friendly functions say to the same questions."""
    names = ["ground", *(link.name for link in m.links)]
    tip = names[row]
    forces = [vc.Force(name, wrench[3:], wrench[:3]) for name, wrench in zip(names, wrenches, strict=True)]
    energy, momentum = vc.energy(m, s), vc.momentum(m, s)
    there = s.copy()
    there.q = other
    return {
        "inverse_dynamics": vc.inverse_dynamics(m, s, x).tau,
        "forward_dynamics": vc.forward_dynamics(m, s, x).a,
        "inverse_dynamics, wrenches": vc.inverse_dynamics(m, s, x, forces).tau,
        "forward_dynamics, wrenches": vc.forward_dynamics(m, s, x, forces).a,
        "inverse_dynamics_derivatives": _by_motion(vc.inverse_dynamics_derivatives(m, s, x)),
        "forward_dynamics_derivatives": _by_torque(vc.forward_dynamics_derivatives(m, s, x)),
        "inverse_dynamics_derivatives, wrenches": _by_motion(vc.inverse_dynamics_derivatives(m, s, x, forces)),
        "forward_dynamics_derivatives, wrenches": _by_torque(vc.forward_dynamics_derivatives(m, s, x, forces)),
        "bias_force": vc.bias_force(m, s),
        "bias_force, wrenches": vc.bias_force(m, s, forces),
        "mass_matrix": vc.mass_matrix(m, s),
        "poses": (
            np.array([vc.pose(m, s, name).R.ravel() for name in names]),
            np.array([vc.pose(m, s, name).p for name in names]),
        ),
        "velocities": np.array([vc.velocity(m, s, name) for name in names]),
        "jacobian": vc.jacobian(m, s, tip, point),
        "jacobian, local": vc.jacobian(m, s, tip, point, "local"),
        "bias_acceleration": vc.bias_acceleration(m, s, tip, point),
        "bias_acceleration, local": vc.bias_acceleration(m, s, tip, point, "local"),
        "center_of_mass": vc.center_of_mass(m, s),
        "center_of_mass_jacobian": vc.center_of_mass_jacobian(m, s),
        "energy": np.array([energy.kinetic, energy.gravitational, energy.elastic]),
        "momentum": np.concatenate((momentum.angular, momentum.linear)),
        "integrate": s.integrate(0.01 * s.v).q,
        "difference": s.difference(there),
    }


def test_every_method_equals_its_friendly_function(rng):
    """Each method writes what the friendly function returns, and returns the array that it has written."""
    m = tree(rng, n_trees=2)
    p, s = m.prepare(), random_state(rng, m)
    calls, asked = every_call(p, rng, s)
    expected = friendly_answers(m, s, *asked)
    assert calls.keys() == expected.keys()
    for name, call in calls.items():
        # the same kernels on the same numbers; forces alone are summed in another order on the way
        np.testing.assert_allclose(
            np.hstack(call()),
            np.hstack(expected[name]),
            rtol=1e-13,
            atol=1e-13 if "wrench" in name else 0.0,
            err_msg=name,
        )


def test_results_are_the_arrays_given(rng):
    """Results are written to the array given, and that very array is returned."""
    m = tree(rng)
    p, s = m.prepare(), random_state(rng, m)
    out, M = np.full(p.n_v, np.nan), np.full((p.n_v, p.n_v), np.nan)
    assert p.inverse_dynamics(s.q, s.v, np.zeros(p.n_v), out) is out
    assert p.forward_dynamics(s.q, s.v, np.zeros(p.n_v), out, np.zeros((p.n_links, 6))) is out
    assert p.mass_matrix(s.q, M) is M
    assert np.isfinite(out).all() and np.isfinite(M).all()


def test_integrate_may_write_in_place(rng):
    """Integrating q onto itself gives what integrating into another array gives."""
    m = zoo.every_joint()
    p, s = m.prepare(), random_state(rng, m)
    expected, q = p.integrate(s.q, s.v, 0.1, np.empty(p.n_q)), s.q.copy()
    np.testing.assert_array_equal(p.integrate(q, s.v, 0.1, q), expected)


def test_names_and_sizes(rng):
    """A handle says which joints and links it has, in the order of its arrays, and for which revision."""
    m = tree(rng)
    p = m.prepare()
    assert (p.n_q, p.n_v, p.n_links, p.revision) == (m.n_q, m.n_v, len(m) + 1, m.revision)
    assert p.joints == m.state().joints
    assert list(p.links) == ["ground", *(link.name for link in m.links)]
    assert list(p.links.values()) == list(range(p.n_links))


def test_later_edits_do_not_reach_a_handle(rng):
    """A handle keeps answering for the structure that it was prepared from."""
    m = tree(rng)
    p, s, out = m.prepare(), random_state(rng, m), np.empty(m.n_v)
    before = p.bias_force(s.q, s.v, out).copy()
    m.set_inertia(m.links[-1], vc.Inertia.sphere(50.0, 0.3))
    m.gravity = (0, 0, 100.0)
    m.add_link("more", m.links[-1], vc.Revolute(), inertia=vc.Inertia.sphere(1.0, 0.1))
    np.testing.assert_array_equal(p.bias_force(s.q, s.v, out), before)
    assert m.prepare().n_v == p.n_v + 1


def test_two_handles_are_independent(rng):
    """Handles of two mechanisms, or two of one, called by turns, do not disturb each other."""
    m, other = tree(rng), tree(rng)
    pairs = [(x, x.prepare(), random_state(rng, x)) for x in (m, m, other)]
    expected = [vc.forward_dynamics(x, s).a for x, _, s in pairs]
    for _ in range(3):
        for (_, p, s), a in zip(pairs, expected, strict=True):
            wrenches = rng.normal(size=(p.n_links, 6))
            p.inverse_dynamics(s.q, s.v, s.v, np.empty(p.n_v), wrenches)
            np.testing.assert_array_equal(p.forward_dynamics(s.q, s.v, np.zeros(p.n_v), np.empty(p.n_v)), a)


def test_massless_structures_are_refused():
    """Preparing a mechanism where something weightless can move raises SingularMassError."""
    m = vc.Mechanism()
    m.add_link("ghost", joint=vc.Revolute())
    with pytest.raises(vc.SingularMassError, match="ghost"):
        m.prepare()


@compiled_only
@pytest.mark.parametrize("wrong", ["single precision", "integers", "a stride", "a list", "read-only"])
def test_another_type_of_array_is_a_type_error_at_once(wrong, rng):
    """After prepare, an array that kernels do not take is refused instead of compiled for."""
    m = tree(rng)
    p, s = m.prepare(), random_state(rng, m)
    a = {
        "single precision": np.zeros(p.n_v, np.float32),
        "integers": np.zeros(p.n_v, np.int64),
        "a stride": np.zeros(2 * p.n_v)[::2],
        "a list": [0.0] * p.n_v,
        "read-only": np.broadcast_to(np.zeros(1), p.n_v),
    }[wrong]
    with pytest.raises(TypeError):
        p.inverse_dynamics(s.q, s.v, a, np.empty(p.n_v))
    with pytest.raises(TypeError):
        p.mass_matrix(s.q, np.empty((p.n_v, p.n_v), order="F"))


class Recorder:
    """A handle that remembers how its methods are called, instead of calling them."""

    def __init__(self, p):
        self.p, self.called = p, []

    def __getattr__(self, name):
        value = getattr(self.p, name)
        return (lambda *arguments: self.called.append((value, arguments))) if callable(value) else value


def test_no_method_writes_beyond_its_arrays(rng):
    """Every array of every method is refused in a shape that is too small, too large or of other dimensions."""
    m = tree(rng)
    p, s = m.prepare(), random_state(rng, m)
    recorder = Recorder(p)
    for call in every_call(recorder, rng, s)[0].values():
        call()
    q, v, x = s.q, s.v, np.zeros(p.n_v)
    more = [(p.project_position, (q, x)), (p.velocity_jump, (q, v, x)), (p.advance, (q, v, x, 0.01))]
    n_refused = 0
    for method, arguments in (*recorder.called, *more):
        for i, right in enumerate(arguments):
            if isinstance(right, np.ndarray):
                short, long = right[:-1].copy(), np.append(right, right, axis=-1)
                for wrong in (short, long, right[None].copy(), [0.0], 5):
                    n_refused += 1
                    with pytest.raises(vc.ArrayError, match="shape"):
                        method(*arguments[:i], wrong, *arguments[i + 1 :])
    assert n_refused > 5 * 60


@pytest.mark.parametrize("link", [-1, 10**6, 2**63, 1.0, True, None, "x"])
def test_a_link_that_is_not_there_is_refused(link, rng):
    """A row of links beyond the last one, or none at all, is an error that says which rows there are."""
    m = tree(rng)
    p, s = m.prepare(), random_state(rng, m)
    with pytest.raises(vc.InputError, match=f"0 to {p.n_links - 1}"):
        p.jacobian(s.q, link, np.zeros(3), np.empty((6, p.n_v)))
    with pytest.raises(vc.InputError, match=f"0 to {p.n_links - 1}"):
        p.bias_acceleration(s.q, s.v, link, np.zeros(3), np.empty(6))


@compiled_only
def test_a_refused_array_leaves_no_force_behind(rng):
    """A call with wrenches that is refused does not let them act in the next call."""
    m = tree(rng)
    p, s, out = m.prepare(), random_state(rng, m), np.empty(m.n_v)
    before = p.bias_force(s.q, s.v, out).copy()
    with pytest.raises(TypeError):
        p.inverse_dynamics(s.q, s.v, np.zeros(p.n_v, np.float32), out, np.ones((p.n_links, 6)))
    np.testing.assert_array_equal(p.bias_force(s.q, s.v, out), before)


@compiled_only
def test_no_method_allocates(rng):
    """Hundreds of calls of any method leave no block and, at any time, hardly a byte of memory behind."""
    m = tree(rng)
    p, s = m.prepare(), random_state(rng, m)
    calls, _ = every_call(p, rng, s)
    for name, call in calls.items():
        call()
        gc.collect()
        blocks = sys.getallocatedblocks()
        for _ in range(CALLS):
            call()
        assert sys.getallocatedblocks() - blocks <= STRAY_BLOCKS, name
        tracemalloc.start()
        try:
            call()
            start, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            for _ in range(CALLS):
                call()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak - start <= STRAY_BYTES, name


def in_threads(work, n=2):
    """Run work(i) in n threads that start together; raise what any of them raised."""
    barrier, errors = threading.Barrier(n), []

    def run(i):
        try:
            barrier.wait(timeout=PATIENCE)
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_may_share_a_mechanism(rng):
    """Two threads that compute on one mechanism at the same time both get the right numbers."""
    m = tree(rng)
    states = [[random_state(rng, m) for _ in range(scaled(300, 10))] for _ in range(2)]
    force = [vc.Force(m.links[-1], (1.0, 2.0, 3.0))]
    expected = [[vc.forward_dynamics(m, s, None, force).a for s in half] for half in states]
    found = [[], []]
    in_threads(lambda i: found[i].extend(vc.forward_dynamics(m, s, None, force).a for s in states[i]))
    np.testing.assert_array_equal(found, expected)


def test_threads_may_be_first_together(rng):
    """Two threads that are the first to compute on a new mechanism both get the right numbers."""
    for _ in range(scaled(30, 3)):
        m = zoo.random_tree(rng, 5)
        twin = m.copy()
        states = [random_state(rng, m) for _ in range(2)]
        expected = [vc.bias_force(twin, s.copy()) for s in states]
        found = [None, None]
        fresh = m.copy()

        def work(i, fresh=fresh, states=states, found=found):
            found[i] = vc.bias_force(fresh, states[i])

        in_threads(work)
        np.testing.assert_array_equal(found, expected)


@long_run
def test_advance_is_of_order_four_with_loops_and_balls():
    """Half the step leaves a sixteenth of the error, in a floating figure and in one whose loops stay closed."""
    for m, s in (falling_figure(), hanging_figure()):
        handle, ends = m.prepare(), []
        for steps in (6, 12, 24):
            q, v = s.q.copy(), s.v.copy()
            handle.advance(q, v, np.zeros(m.n_v), 0.048 / steps, steps)
            ends.append(np.concatenate([q, v]))
        order = np.log2(np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max())
        assert order > 3.5, (m.name, order)


@pytest.mark.parametrize("make", [falling_figure, hanging_figure])
def test_euler_steps_are_those_of_a_simulation(make):
    """Semi-implicit Euler steps of the handle are those of `vc.simulate`, sample by sample, loops included."""
    m, s = make()
    n = scaled(20, 2)
    run = vc.simulate(m, s, n * 1e-3, method="euler", step=1e-3, limits="off").epochs[-1]
    handle, q, v, tau = m.prepare(), s.q.copy(), s.v.copy(), np.zeros(m.n_v)
    for i in range(1, n + 1):
        handle.advance(q, v, tau, 1e-3, method="euler")
        # loops are closed to 1e-13, by either in its own order
        np.testing.assert_allclose(q, run.q[i], atol=1e-11)
        np.testing.assert_allclose(v, run.v[i], atol=1e-9)


def test_steps_that_leave_loops_open_close_those_of_the_step_before():
    """Openings of Euler's steps that leave them to the next do not add up, and shrink as the square of the step."""
    m, s = hanging_figure()
    handle, batch, tau = m.prepare(), vc.Batch(m), np.zeros(m.n_v)
    first, last = [], []
    for h in (1e-3, 5e-4):
        q, v = s.q.copy(), s.v.copy()
        open_by = []
        for _ in range(round(scaled(0.2, 2e-3) / h)):
            handle.advance(q, v, tau, h, method="euler", closed=False)
            open_by.append(np.abs(closure_errors(s.layout, s.layout.workspaces.of_thread.table, q)).max())
        several = s.q.copy(), s.v.copy()
        handle.advance(*several, tau, h, len(open_by), "euler", closed=False)
        np.testing.assert_array_equal(several[0], q)
        many = s.q[None].copy(), s.v[None].copy()
        batch.advance(*many, None, h, len(open_by), "euler", closed=False)
        np.testing.assert_array_equal(many[0][0], q)
        first.append(open_by[0])
        last.append(max(open_by))
    assert 1e-9 < last[0] < OPENED
    assert last[0] < 10.0 * first[0]  # the figure moves faster later on
    assert first[0] / first[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("first", [True, False])
def test_steps_leave_nothing_to_the_next_call(first):
    """Steps that close loops and steps that leave them open have the same bits in one handle as in a new one each."""
    m, s = hanging_figure()
    handle, q, v, tau = m.prepare(), s.q.copy(), s.v.copy(), np.zeros(m.n_v)
    others = s.q.copy(), s.v.copy()
    for closed in (first, not first, first):
        handle.advance(q, v, tau, 1e-3, 1, "euler", closed)
        m.prepare().advance(*others, tau, 1e-3, 1, "euler", closed)
        np.testing.assert_array_equal(np.concatenate([q, v]), np.concatenate(others))


@pytest.mark.parametrize("make", [falling_figure, hanging_figure])
def test_closed_and_open_steps_lead_to_the_same_motion(make):
    """Whether each step closes loops or the next differs by less, the shorter the steps; not at all without loops."""
    m, s = make()
    away = []
    for n in (scaled(50, 2), scaled(100, 4)):
        ends = []
        for closed in (True, False):
            q, v = s.q.copy(), s.v.copy()
            m.prepare().advance(q, v, np.zeros(m.n_v), 0.05 / n, n, "euler", closed)
            ends.append(np.concatenate([q, v]))
        away.append(np.abs(ends[0] - ends[1]).max())
    assert away[1] <= (0.7 * away[0] if m.virtual_links else 0.0)


def test_methods_of_steps_are_checked():
    """A method that the handle does not have is refused by its name, and one that cannot leave loops open."""
    m, s = falling_figure()
    handle = m.prepare()
    for wrong in ("rk45", None, []):
        with pytest.raises(vc.InputError, match="'rk4', 'euler'"):
            handle.advance(s.q, s.v, np.zeros(m.n_v), 1e-3, method=wrong)
    with pytest.raises(vc.InputError, match="'euler', not 'rk4'"):
        handle.advance(s.q, s.v, np.zeros(m.n_v), 1e-3, closed=False)
    for backwards in (0.0, -1e-3, np.nan):
        with pytest.raises(vc.InputError, match="steps forward in time"):
            handle.advance(s.q, s.v, np.zeros(m.n_v), backwards, method="euler", closed=False)
    for wrong in ("no", 0, None):
        with pytest.raises(vc.InputError, match="closed must be True or False"):
            handle.advance(s.q, s.v, np.zeros(m.n_v), 1e-3, method="euler", closed=wrong)


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_impossible_steps_are_refused(method):
    """Steps of no finite length, or fewer than none, move nothing and are an error; none, and steps back, are not."""
    m, s = falling_figure()
    handle, q, v, tau = m.prepare(), s.q.copy(), s.v.copy(), np.zeros(m.n_v)
    for dt, steps in ((np.nan, 1), (np.inf, 1), (-np.inf, 1), (1e200, 1), (1e-3, -1)):
        with pytest.raises(vc.InputError, match=re.escape(f"not {steps} of {dt:g} s")):
            handle.advance(q, v, tau, dt, steps, method)
    handle.advance(q, v, tau, 1e-3, 0, method)
    np.testing.assert_array_equal(np.concatenate([q, v]), np.concatenate([s.q, s.v]))
    handle.advance(q, v, tau, -1e-3, 2, method)
    assert (q != s.q).any()


@pytest.mark.parametrize(("make", "most"), [(bennett, 1e-3), (bricard, 2.5e-3)])
def test_redundant_rows_take_no_motion(make, most):
    """Rows that are redundant where loops are closed are so where a step has opened them: closing takes no energy.

    If they were not, it would be two to thirty times as much.
    """
    m, s = make()
    m.gravity = (0, 0, 0)
    s.v[0] = 10.0
    s.v = vc.impact(m, s, []).v
    before = vc.energy(m, s).kinetic
    m.prepare().advance(s.q, s.v, np.zeros(m.n_v), 1e-2, 3, "euler")
    assert vc.energy(m, s).kinetic == pytest.approx(before, rel=most)  # what steps of 0.1 rad leave, of first order
