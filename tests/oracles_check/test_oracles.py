"""The oracles against definitions: finite differences of poses and energies, and Lagrange's equations."""

import numpy as np
import pytest

import zoo
from oracles import tree
from oracles.joints import joint_difference, joint_integrate, joint_subspace, joint_subspace_rate
from oracles.rotations import cross_matrix, quaternion_exp, rotation, rotation_of_quaternion

STEP = 1e-5  # central differences: truncation STEP^2 and rounding 1e-16 / STEP are both near 1e-10
DIFFERENCED = 1e-7  # what a central difference of numbers of size 1 to 100 can promise
EXACT = 1e-11  # sums of a few hundred rounded products


def cases():
    """Every joint in turn, trees of all joints, a forest of floating ones, and the named mechanisms."""
    rng = np.random.default_rng(1)
    for kind in zoo.MOVING:
        yield f"two {kind}", zoo.random_tree(rng, 2, kinds=(kind,), passive=True)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        yield f"tree {seed}", zoo.random_tree(rng, 8, passive=True, branching=0.7)
    yield "forest", zoo.random_tree(np.random.default_rng(5), 8, n_trees=3, free_base=True)
    for named in (zoo.gimbal, zoo.every_joint, zoo.cart_pole):
        yield named.__name__, named()


CASES = list(cases())
every_case = pytest.mark.parametrize("m", [m for _, m in CASES], ids=[name for name, _ in CASES])


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(42)


def slope(function, m, q, direction):
    """Derivative of function(q) when q moves with velocity `direction`."""
    ahead, behind = tree.integrate(m, q, STEP * direction), tree.integrate(m, q, -STEP * direction)
    return (function(ahead) - function(behind)) / (2.0 * STEP)


def twist(X, dX):
    """[angular; linear] in world axes of a pose X moving at the rate dX."""
    W = dX[:3, :3] @ X[:3, :3].T
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1], *(2.0 * dX[:3, 3])]) / 2.0


@every_case
def test_velocities_are_the_rates_of_poses(m, rng):
    """Link velocities and Jacobians times v are both the finite-difference rate of the poses."""
    q, v = zoo.random_q(rng, m), zoo.random_v(rng, m)
    X, dX = tree.link_poses(m, q), slope(lambda x: tree.link_poses(m, x), m, q, v)
    V = tree.link_velocities(m, q, v)
    np.testing.assert_allclose(V, [twist(*pair) for pair in zip(X, dX, strict=True)], atol=DIFFERENCED)
    np.testing.assert_allclose(tree.link_jacobians(m, q) @ v, V, atol=EXACT)


@every_case
def test_accelerations_are_the_rates_of_velocities(m, rng):
    """Jdot v + J a is the finite-difference rate of the link velocities."""
    q, v, a = zoo.random_q(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m)

    def velocities(t):
        return tree.link_velocities(m, tree.integrate(m, q, t * v), v + t * a)

    rate = (velocities(STEP) - velocities(-STEP)) / (2.0 * STEP)
    A = tree.link_accelerations(m, q, v, a)
    np.testing.assert_allclose(A, rate, atol=10 * DIFFERENCED)
    np.testing.assert_allclose(A, tree.jacobian_rates_times_v(m, q, v) + tree.link_jacobians(m, q) @ a, atol=EXACT)


@pytest.mark.parametrize("kind", zoo.MOVING)
def test_subspace_rates_are_the_rates_of_subspaces(kind, rng):
    """The analytic rate of each joint's subspace is its finite-difference rate."""
    m = zoo.random_tree(rng, 1, kinds=(kind,))
    joint, q, v = m.joints[0], zoo.random_q(rng, m), zoo.random_v(rng, m)
    expected = slope(lambda x: joint_subspace(joint, x), m, q, v)
    np.testing.assert_allclose(joint_subspace_rate(joint, q, v), expected, atol=DIFFERENCED)


@every_case
def test_kinetic_energy_matches_the_mass_matrix(m, rng):
    """Energy link by link equals 1/2 v^T M v, and M a + bias equals inverse dynamics."""
    q, v, a = zoo.random_q(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m)
    M = tree.mass_matrix(m, q)
    np.testing.assert_allclose(tree.kinetic_energy(m, q, v), 0.5 * v @ M @ v, rtol=EXACT)
    tau = tree.inverse_dynamics(m, q, v, a)
    np.testing.assert_allclose(tau, M @ a + tree.bias_force(m, q, v), atol=100 * EXACT)
    np.testing.assert_allclose(tree.forward_dynamics(m, q, v, tau), a, atol=1e-7)  # condition of M up to 1e5


@every_case
def test_inverse_dynamics_obeys_lagrange(m, rng):
    """d/dt dT/dv - dT/dq + dV/dq plus dissipation is inverse dynamics, in local coordinates x with q(x) = q + x.

    There v = B(x) xdot, T = 1/2 xdot^T (B^T M B) xdot, B(0) = 1 and a = xddot + Bdot xdot. Armature is by definition
    the force armature * a and no more: a rotor per freedom, without the gyroscopic force of a body that turns.
    """
    q, v, a = zoo.random_q(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m)
    a_local, rotors = a - velocity_map_rate(m, v) @ v, np.diag(tree.armature(m))

    def local_mass(x):
        B = velocity_map(m, x)
        return B.T @ (tree.mass_matrix(m, tree.integrate(m, q, x)) - rotors) @ B

    def along(x):
        return (local_mass(STEP * x) - local_mass(-STEP * x)) / (2.0 * STEP)

    unit = np.eye(m.n_v)
    lagrange = local_mass(0.0 * v) @ a_local + along(v) @ v - 0.5 * np.array([v @ along(e) @ v for e in unit])
    lagrange += [slope(lambda x: tree.potential_energy(m, x), m, q, e) for e in unit]
    lagrange += rotors @ a + tree.passive_forces(m, q, v) - tree.spring_forces(m, q)
    tau = tree.inverse_dynamics(m, q, v, a)
    np.testing.assert_allclose(tau, lagrange, atol=DIFFERENCED * (1.0 + np.abs(tau).max()))


def velocity_map(m, x):
    """B(x): the velocity at q + x of a point x moving with xdot is B(x) xdot."""
    B = np.eye(m.n_v)
    for link, where in zip(m.links, tree.v_slices(m), strict=True):
        if link.joint.kind in ("spherical", "free"):
            i = where.start
            B[i : i + 3, i : i + 3] = exponential_rate(x[i : i + 3])
        if link.joint.kind == "free":
            B[i + 3 : i + 6, i + 3 : i + 6] = rotation_of_quaternion(quaternion_exp(x[i : i + 3])).T
    return B


def exponential_rate(x):
    """Right Jacobian of exp at the rotation vector x: times xdot it is the angular velocity in link axes."""
    K = cross_matrix(x)
    return np.eye(3) - K / 2.0 + K @ K / 6.0 - K @ K @ K / 24.0  # x is a finite-difference step: the rest is rounding


def velocity_map_rate(m, v):
    """Bdot at x = 0 along v."""
    return (velocity_map(m, STEP * v) - velocity_map(m, -STEP * v)) / (2.0 * STEP)


@every_case
def test_power_balances_energy(m, rng):
    """Power of the joint forces and wrenches is the rate of energy plus what damping takes."""
    q, v, a = zoo.random_q(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m)
    wrenches = rng.normal(size=(len(m.links), 6))

    def energy(t):
        q_t, v_t = tree.integrate(m, q, t * v), v + t * a
        return tree.kinetic_energy(m, q_t, v_t) + tree.potential_energy(m, q_t)

    rate = (energy(STEP) - energy(-STEP)) / (2.0 * STEP)
    lost = v @ (tree.passive_forces(m, q, v) - tree.spring_forces(m, q))
    power = v @ tree.inverse_dynamics(m, q, v, a, wrenches) + np.sum(wrenches * tree.link_velocities(m, q, v))
    np.testing.assert_allclose(power, rate + lost, atol=DIFFERENCED * (1.0 + abs(rate)))


@every_case
def test_momentum_is_the_rate_of_mass_moments(m, rng):
    """Linear momentum is mass times the centre's rate, and angular momentum moves from point to point as it should."""
    q, v = zoo.random_q(rng, m), zoo.random_v(rng, m)
    P = tree.linear_momentum(m, q, v)
    rate = slope(lambda x: tree.center_of_mass(m, x), m, q, v)
    np.testing.assert_allclose(P, tree.total_mass(m) * rate, atol=10 * DIFFERENCED)
    np.testing.assert_allclose(P, tree.total_mass(m) * tree.center_of_mass_jacobian(m, q) @ v, atol=EXACT)
    point = rng.normal(size=3)
    moved = tree.angular_momentum(m, q, v) - np.cross(point, P)
    np.testing.assert_allclose(tree.angular_momentum(m, q, v, point), moved, atol=10 * EXACT)


def test_momentum_of_a_floating_tree_changes_by_external_forces_alone(rng):
    """In a floating tree the rates of momentum are weight and applied wrenches, whatever the inner joints do."""
    m = zoo.random_tree(rng, 6, kinds=zoo.MOVING, free_base=True)
    q, v, tau = zoo.random_q(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m)
    tau[:6] = 0.0
    wrenches = rng.normal(size=(len(m.links), 6))
    a = tree.forward_dynamics(m, q, v, tau, wrenches)

    def momentum(t):
        q_t, v_t = tree.integrate(m, q, t * v), v + t * a
        return np.concatenate((tree.angular_momentum(m, q_t, v_t), tree.linear_momentum(m, q_t, v_t)))

    rate = (momentum(STEP) - momentum(-STEP)) / (2.0 * STEP)
    weight = tree.total_mass(m) * m.gravity
    p = tree.link_poses(m, q)[:, :3, 3]
    moments = wrenches[:, :3] + np.cross(p, wrenches[:, 3:])
    expected = np.concatenate((np.cross(tree.center_of_mass(m, q), weight), weight))
    expected += np.concatenate((moments.sum(axis=0), wrenches[:, 3:].sum(axis=0)))
    np.testing.assert_allclose(rate, expected, atol=DIFFERENCED * (1.0 + np.abs(expected).max() + np.abs(a).max()))


@every_case
def test_difference_inverts_integrate(m, rng):
    """difference(q, integrate(q, dv)) is dv for turns below pi; integrate(q, difference(q, p)) has the poses of p."""
    q, p, dv = zoo.random_q(rng, m), zoo.random_q(rng, m), 0.5 * zoo.random_v(rng, m)
    np.testing.assert_allclose(tree.difference(m, q, tree.integrate(m, q, dv)), dv, atol=EXACT)
    reached = tree.integrate(m, q, tree.difference(m, q, p))
    np.testing.assert_allclose(tree.link_poses(m, reached), tree.link_poses(m, p), atol=10 * EXACT)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-12, 1e-4, 1.0, 3.0, np.pi - 1e-9])
def test_rotation_vectors_survive_the_quaternion(angle, rng):
    """Exponential, logarithm and Rodrigues' formula agree from the smallest turn to almost half a turn."""
    axis = zoo.random_direction(rng)
    step = angle * axis
    joint = zoo.random_joint(rng, "spherical")
    identity = joint.zero_q()
    q = joint_integrate(joint, identity, step)
    np.testing.assert_allclose(joint_difference(joint, identity, q), step, rtol=1e-12, atol=1e-14 * angle)
    np.testing.assert_allclose(rotation_of_quaternion(q), rotation(axis, angle), atol=1e-15)


def test_pendulum_by_hand():
    """The uniform rod has M = m l^2 / 3 and gravity torque m g l / 2 sin q."""
    m, q, v = zoo.pendulum(mass=2.0, length=0.6), np.array([0.3]), np.array([1.2])
    np.testing.assert_allclose(tree.mass_matrix(m, q), [[2.0 * 0.6**2 / 3.0]], rtol=1e-14)
    np.testing.assert_allclose(tree.bias_force(m, q, v), [2.0 * 9.81 * 0.3 * np.sin(0.3)], rtol=1e-14)
