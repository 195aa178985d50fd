"""Stops and dry friction by their present mode: what is closed or sticks is a freedom less."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from derivatives import differences
from lane import scaled
from measure import deviation

# Central differences of order four with the best step; rows of stops are differenced themselves.
DIFFERENCED = 1e-7


def simulated(m, s, tau):
    """Accelerations of a simulation with stops and friction: those that it begins with."""
    h = 1e-6
    options = {"method": "euler", "step": h, "limits": "hard"}
    end = vc.simulate(m, s, s.time + h, controller=lambda m, s: tau, **options).final
    return (end.v - s.v) / h


def three_arms(**of_elbow):
    """A chain of three boxes, the middle hinge with given numbers."""
    m, box = vc.Mechanism("arms"), vc.Inertia.box(1.0, (0.5, 0.1, 0.05), com=(0.25, 0, 0))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder", damping=0.1), inertia=box)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow", **of_elbow), at=(0.5, 0, 0), inertia=box)
    m.add_link("hand", "lower", vc.Revolute("z", name="wrist"), at=(0.5, 0, 0), inertia=box)
    return m


def without_elbow(m, q):
    """The same chain with a fixed joint in place of the elbow."""
    box = m.links[0].inertia
    rigid = vc.Mechanism("rigid")
    rigid.add_link("upper", joint=m.joint("shoulder"), inertia=box)
    at = vc.Pose((0.5, 0, 0), rotation_vector=(0, q, 0))
    rigid.add_link("lower", "upper", vc.Fixed(name="stiff"), at=at, inertia=box)
    rigid.add_link("hand", "lower", m.joint("wrist"), at=(0.5, 0, 0), inertia=box)
    return rigid


@pytest.mark.parametrize(("numbers", "push"), [({"limits": (0.0, 2.0)}, -20.0), ({"friction": 30.0}, 0.0)])
def test_a_locked_freedom(numbers, push):
    """An elbow that is pressed to its stop, or sticks, is a fixed joint: forward and inverse dynamics."""
    m = three_arms(**numbers)
    s, tau = m.state(), np.array([1.0, push, 0.5])
    s.q, s.v = (0.3, 0.0, 0.4), (0.7, 0.0, -0.5)
    rigid = without_elbow(m, 0.0)
    there = rigid.state()
    there.q, there.v = s.q[[0, 2]], s.v[[0, 2]]
    found, expected = (
        vc.forward_dynamics_derivatives(m, s, tau, limits="hard"),
        vc.forward_dynamics_derivatives(rigid, there, tau[[0, 2]]),
    )
    assert found.independent == ("shoulder", "wrist")
    assert found.a.value[1] == 0.0 and deviation(found.a.value[[0, 2]], expected.a.value) < 1e-12
    for by in ("by_q", "by_v", "by_tau"):
        part = np.asarray(getattr(found, by))[[0, 2]]
        assert deviation(part[:, [0, 2]] if by == "by_tau" else part, getattr(expected, by)) < 1e-12
    assert not np.asarray(found.by_tau)[:, 1].any()
    assert found.stops.by_tau["elbow", "elbow"].item() == -1.0  # the stop bears it all
    carried = vc.joint_force_derivatives(m, s, tau, joints=["shoulder", "elbow"], limits="hard")
    stiff = vc.joint_force_derivatives(rigid, there, tau[[0, 2]], joints=["shoulder", "stiff"])
    assert deviation(carried.value, stiff.value) < 1e-12 and deviation(carried.by_q, stiff.by_q) < 1e-12
    a = found.a.value
    inverse = vc.inverse_dynamics_derivatives(m, s, a, limits="hard")
    rigid_inverse = vc.inverse_dynamics_derivatives(rigid, there, a[[0, 2]])
    assert inverse.independent == ("shoulder", "wrist") and deviation(inverse.tau_ind.by_q, rigid_inverse.by_q) < 1e-12
    assert deviation(np.asarray(inverse.by_v)[[0, 2]], rigid_inverse.by_v) < 1e-12
    assert vc.inverse_dynamics_derivatives(m, s, [0.1, 1.0, 0.0], limits="hard").by_q.shape == (3, 3)  # it leaves


def test_forces_of_stops():
    """What a stop bears changes as the torque does that would hold its joint there."""
    m = three_arms(limits=(0.0, 2.0))
    s, tau = m.state(), np.array([1.0, -20.0, 0.5])
    s.q, s.v = (0.3, 0.0, 0.4), (0.7, 0.0, -0.5)
    found = vc.forward_dynamics_derivatives(m, s, tau, limits="hard")
    driven = vc.driven_dynamics_derivatives(m, s, {"elbow": 0.0}, tau)
    assert deviation(found.stops.value, driven.drives.value) < 1e-12
    assert deviation(found.stops.by_q, np.asarray(driven.drives.by_q)[:, [0, 2]]) < 1e-12
    assert deviation(found.stops.by_v, np.asarray(driven.drives.by_v)[:, [0, 2]]) < 1e-12


def test_open_stops_change_nothing():
    """A stop that is not touched, or is about to be left, plays no part."""
    m = three_arms(limits=(0.0, 2.0))
    s = m.state()
    s.q, s.v = (0.3, 0.1, 0.4), (0.7, -0.2, -0.5)
    for at, push in ((0.1, -20.0), (0.0, 20.0)):
        s.q = (0.3, at, 0.4)
        s.v = (0.7, 0.0, -0.5)
        found = vc.forward_dynamics_derivatives(m, s, [0.0, push, 0.0], limits="hard")
        assert deviation(found.by_q, vc.forward_dynamics_derivatives(m, s, [0.0, push, 0.0]).by_q) == 0.0
        assert len(found.stops.value) == 0
    s.v = (0.7, -0.2, -0.5)
    with pytest.raises(vc.InputError, match="moves into its stop"):
        vc.forward_dynamics_derivatives(m, s, limits="hard")
    with pytest.raises(vc.InputError, match="'hard' or 'off'"):
        vc.forward_dynamics_derivatives(m, s, limits="soft")


def ball_at_its_cone():
    """A ball at rest against its cone, turning about its long axis, and torques that press it there."""
    limits = vc.SwingTwist(axis="z", swing=0.5, twist=(-2.0, 2.0))
    m = vc.Mechanism("ball")
    body = vc.Inertia.box(1.0, (0.1, 0.2, 0.5), com=(0.05, 0, -0.25))
    m.add_link("body", joint=vc.Spherical(name="ball", limits=limits, damping=0.02), inertia=body)
    s = m.state()
    s["ball"].orientation = (0.5 * np.cos(0.7), 0.5 * np.sin(0.7), 0.0)
    return m, s, np.array([3.0, 2.0, 0.4])


def hinge_at_its_stop():
    """A five-bar whose closing hinge is at its stop, and torques that press it there."""
    m, s = closed_zoo.five_bar()
    pin = m.virtual_links[0].joint.name
    angle = float(np.ravel(vc.loop_states(m, s)[pin].q)[0])
    m = m.copy()
    m.edit_joint(pin, limits=(angle - 1.0, angle))
    return m, s.copy().follow(m), np.array([20.0, 0.0, -20.0, 0.0])


@pytest.mark.parametrize("case", scaled([ball_at_its_cone, hinge_at_its_stop], [ball_at_its_cone]))
def test_stops_that_are_rows(case):
    """Stops of balls and of joints that close loops are rows: accelerations under torques are those of simulations."""
    m, s, tau = case()
    if not vc.forward_dynamics_derivatives(m, s, tau, limits="hard").stops.value.size:
        tau = -tau
    found = vc.forward_dynamics_derivatives(m, s, tau, limits="hard")
    assert len(found.stops.value) == 1
    free = vc.forward_dynamics_derivatives(m, s, tau)
    assert found.W.shape[1] == free.W.shape[1] - 1
    if s.layout.is_tree:
        assert deviation(found.a.value, simulated(m, s, tau)) < 1e-5  # of first order in the step
    by_tau = differences.by_vector(lambda x: vc.forward_dynamics_derivatives(m, s, x, limits="hard").a.value, tau)
    assert deviation(found.by_tau, by_tau) < DIFFERENCED
    M, W = vc.mass_matrix(m, s), found.W
    assert deviation(found.by_tau, W @ np.linalg.solve(W.T @ M @ W, W.T)) < 1e-9


@pytest.mark.parametrize("v_ind", [(0.0, 0.0), (0.8, -0.6)], ids=["at rest", "moving"])
def test_rows_of_a_ball_change_with_its_turn(v_ind):
    """A ball that rolls along its cone: accelerations change as those of the states there do."""
    m, s, tau = ball_at_its_cone()
    hard = lambda s: vc.forward_dynamics_derivatives(m, s, tau, limits="hard", prefer=free)  # noqa: E731
    free = ()
    if not hard(s).stops.value.size:
        tau = -tau
    free = hard(s).independent

    def rolling(s, v_ind):
        """The state with velocities that keep it on the cone."""
        near = s.copy()
        near.v = np.zeros(3)
        near.v = hard(near).W @ np.asarray(v_ind)
        return near

    s = rolling(s, v_ind)
    found = hard(s)
    assert found.stops.value.size == 1

    def on_cone(k, x):
        near = s.integrate(x * found.W[:, k])
        tilt = vc.pose(m, near, "body")
        axis = np.cross((0, 0, 1), tilt.R[:, 2])
        back = vc.Pose(rotation_vector=(0.5 - np.arccos(tilt.R[2, 2])) * axis / np.linalg.norm(axis))
        near["ball"].orientation = vc.Pose(R=back.R @ tilt.R)
        return rolling(near, v_ind)

    accelerations = lambda near: hard(near).a.value  # noqa: E731
    by_q = [differences.central(accelerations, lambda x, k=k: on_cone(k, x), 1e-3) for k in range(2)]
    units = np.eye(2)
    by_v = [differences.central(accelerations, lambda x, e=e: rolling(s, v_ind + x * e), 1e-3) for e in units]
    assert deviation(found.by_q, np.column_stack(by_q)) < 1e-6
    assert deviation(found.by_v, np.column_stack(by_v), 1.0 + np.abs(by_v).max()) < 1e-6


@pytest.mark.parametrize("k", [0, 1])
def test_a_universal_joint_with_one_axis_at_its_stop(k):
    """A loop closed by a universal joint, one axis of which is held by its stop, is one that a hinge closes."""
    m, s = closed_zoo.loop_of("universal")
    link = m.virtual_links[0]
    q, axes = np.ravel(vc.loop_states(m, s)["closing"].q), np.asarray(link.joint.axes)
    at, at_other = link.on_real, link.at
    turn = vc.Pose(rotation_vector=q[k] * axes[k])
    if k == 0:
        at_other = at_other @ turn
    else:
        at = at @ turn.inverse()
    twin = m.copy()
    twin.cut("closing")
    twin.connect(link.real.name, link.parent.name, vc.Revolute(axes[1 - k]), at, at_other, name="closing")
    there = twin.state()
    there.q, there.v = s.q, np.random.default_rng(0).normal(size=m.n_v)
    there = vc.project(twin, there)
    low, high = np.full(2, -3.0), np.full(2, 3.0)
    tau = 5.0 * np.random.default_rng(1).normal(size=m.n_v)
    for bound in (low, high):  # of the two stops one is pressed
        stopped = m.copy()
        before = bound[k]
        bound[k] = q[k]
        stopped.edit_joint("closing", limits=(tuple(low), tuple(high)))
        bound[k] = before
        here = stopped.state()
        here.q, here.v = there.q, there.v
        found = vc.forward_dynamics_derivatives(stopped, here, tau, limits="hard")
        if found.stops.value.size:
            break
    expected = vc.forward_dynamics_derivatives(twin, there, tau, prefer=found.independent)
    assert found.stops.value.size == 1 and found.W.shape == expected.W.shape
    assert deviation(found.a.value, expected.a.value) < 1e-8
    for by in ("by_q", "by_v", "by_tau"):
        assert deviation(getattr(found, by), getattr(expected, by)) < DIFFERENCED, by
