"""Laws that hold whatever the mechanism: no number here comes from another program."""

import numpy as np
import pytest

import varichain as vc
import zoo
from lane import scaled
from measure import deviation, random_state, state_at
from rebuild import melted, moved, reordered

# Identities between our own functions: a few hundred rounded products, relative to the largest entry.
EXACT = 1e-11
# The same numbers computed at another place: only the rounding of the place itself may differ.
SAME_DIGITS = 1e-12
# Central differences: truncation STEP^2 and rounding eps / STEP are both near 1e-10, times derivatives up to 1000.
STEP = 1e-5
DIFFERENCED = 1e-6
CONDITION_LOSS = 10.0 * np.finfo(float).eps


def cases():
    """Trees of all joints with passive elements, floating forests, and the named mechanisms."""
    for seed in range(scaled(10, 3)):
        rng = np.random.default_rng(seed)
        yield f"tree {seed}", zoo.random_tree(rng, scaled(12, 7), branching=0.7, passive=True, friction=True)
    for seed in range(scaled(4, 1)):
        rng = np.random.default_rng(50 + seed)
        yield f"forest {seed}", zoo.random_tree(rng, scaled(12, 7), n_trees=3, free_base=True, passive=True)
    for named in zoo.NAMED:
        yield named.__name__, named()


CASES = list(cases())
every_case = pytest.mark.parametrize("m", [m for _, m in CASES], ids=[name for name, _ in CASES])


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(42)


def agree(found, expected, tolerance=EXACT, scale=None):
    """Equal to the tolerance, relative to the largest entry."""
    assert deviation(found, expected, scale) <= tolerance


def path(m, s, a, t):
    """State after a short time t with accelerations a: exact to first order in t."""
    return state_at(m, s.integrate(t * s.v).q, s.v + t * np.asarray(a))


def rate(function, m, s, a):
    """Derivative of function(state) along the motion with accelerations a."""
    return (function(path(m, s, a, STEP)) - function(path(m, s, a, -STEP))) / (2.0 * STEP)


# --- equations of motion -------------------------------------------------------------------------------------------


@every_case
def test_inverse_dynamics_is_linear_in_acceleration(m, rng):
    """tau = M a + bias."""
    s, a = random_state(rng, m), zoo.random_v(rng, m)
    agree(vc.mass_matrix(m, s) @ a + vc.bias_force(m, s), vc.inverse_dynamics(m, s, a).tau)


@every_case
def test_mass_matrix_is_symmetric_positive_definite(m, rng):
    """M equals its transpose exactly, and all its eigenvalues are positive."""
    M = vc.mass_matrix(m, random_state(rng, m))
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


@every_case
def test_kinetic_energy_is_half_v_M_v(m, rng):
    """Twice the kinetic energy is v^T M v."""
    s = random_state(rng, m)
    agree(2.0 * vc.energy(m, s).kinetic, s.v @ vc.mass_matrix(m, s) @ s.v)


@every_case
def test_inverse_of_forward_dynamics_is_identity(m, rng):
    """Inverse dynamics of the accelerations that torques and forces cause gives the torques back."""
    s, tau = random_state(rng, m), 10.0 * zoo.random_v(rng, m)
    forces = [vc.Force(link, *rng.normal(size=(2, 3))) for link in m.links[::2]]
    a = vc.forward_dynamics(m, s, tau, forces).a
    terms = np.abs(vc.mass_matrix(m, s)) @ np.abs(a)
    agree(vc.inverse_dynamics(m, s, a, forces).tau, tau, scale=max(terms.max(), np.abs(tau).max()))


@every_case
def test_forward_of_inverse_dynamics_is_identity(m, rng):
    """Forward dynamics of the torques that accelerations need gives these back, to the digits that M leaves."""
    s, a = random_state(rng, m), zoo.random_v(rng, m)
    tau = vc.inverse_dynamics(m, s, a).tau
    lost = CONDITION_LOSS * np.linalg.cond(vc.mass_matrix(m, s)) * max(1.0, np.abs(tau).max())
    agree(vc.forward_dynamics(m, s, tau).a, a, max(EXACT, lost))


# --- energy and momentum -------------------------------------------------------------------------------------------


@every_case
def test_power_balances_energy(m, rng):
    """Torques and forces on links feed exactly the rate of energy and what damping and friction take."""
    s, tau = random_state(rng, m), 10.0 * zoo.random_v(rng, m)
    wrenches = rng.normal(size=(len(m), 2, 3))
    forces = [vc.Force(link, F, moment) for link, (moment, F) in zip(m.links, wrenches, strict=True)]
    a = vc.forward_dynamics(m, s, tau, forces).a
    damping, friction = (
        np.concatenate([getattr(joint, field) for joint in m.joints]) for field in ("damping", "friction")
    )
    losses = damping @ s.v**2 + friction @ np.abs(s.v)
    power = tau @ s.v + sum(
        wrench.ravel() @ vc.velocity(m, s, link) for link, wrench in zip(m.links, wrenches, strict=True)
    )
    energy_rate = rate(lambda state: vc.energy(m, state).total, m, s, a)
    agree(energy_rate + losses, power, DIFFERENCED, scale=1.0 + abs(power) + losses + vc.energy(m, s).kinetic)


def floating_figure(rng, n_links=8):
    """Weightless floating tree with springs and dampers inside, none of which ties it to ground."""
    m = zoo.random_tree(rng, n_links, kinds=zoo.MOVING, free_base=True, passive=True, friction=True)
    m.edit_joint(m.joints[0].name, damping=0.0, friction=0.0, stiffness=0.0, armature=0.0)
    m.gravity = (0.0, 0.0, 0.0)
    return m


@pytest.mark.parametrize("seed", range(scaled(8, 2)))
def test_momentum_of_a_free_figure_does_not_change(seed):
    """Whatever its joints do, a weightless free figure keeps its momentum, linear and angular."""
    rng = np.random.default_rng(seed)
    m = floating_figure(rng)
    s, tau = random_state(rng, m), 10.0 * zoo.random_v(rng, m)
    tau[:6] = 0.0
    a = vc.forward_dynamics(m, s, tau).a

    def momentum(state):
        found = vc.momentum(m, state, about=(0.3, -0.2, 0.1))
        return np.concatenate((found.angular, found.linear))

    agree(rate(momentum, m, s, a), np.zeros(6), DIFFERENCED * (1.0 + np.abs(a).max() + np.abs(momentum(s)).max()))


def test_momentum_of_a_free_figure_is_constant_over_time():
    """After many steps a tumbling weightless figure has the momentum, linear and angular, that it began with."""
    rng = np.random.default_rng(5)
    m = floating_figure(rng, n_links=4)
    s = random_state(rng, m)
    first = vc.momentum(m, s, about=(0, 0, 0))
    n_steps, dt = scaled(500, 50), 1e-4
    for _ in range(n_steps):
        middle = path(m, s, vc.forward_dynamics(m, s).a, dt / 2.0)
        a = vc.forward_dynamics(m, middle).a
        s = state_at(m, s.integrate(dt * middle.v).q, s.v + dt * a)
    last = vc.momentum(m, s, about=(0, 0, 0))
    # The midpoint rule errs by dt^2 times third derivatives (here up to 1e4) per second.
    agree(last.linear, first.linear, 1e-5)
    agree(last.angular, first.angular, 1e-5)


def test_weight_is_the_rate_of_linear_momentum(rng):
    """The linear momentum of a falling figure changes by its weight."""
    m = zoo.random_tree(rng, 6, kinds=zoo.MOVING, free_base=True)
    s = random_state(rng, m)
    found = rate(lambda state: vc.momentum(m, state).linear, m, s, vc.forward_dynamics(m, s).a)
    agree(found, sum(link.inertia.mass for link in m.links) * m.gravity, DIFFERENCED)


@every_case
def test_momentum_is_mass_times_velocity_of_the_centre(m, rng):
    """Linear momentum is the moving mass times J_com v, which is the rate of the centre of mass."""
    s = random_state(rng, m)
    velocity = vc.center_of_mass_jacobian(m, s) @ s.v
    agree(velocity, rate(lambda state: vc.center_of_mass(m, state), m, s, 0.0 * s.v), DIFFERENCED, scale=1.0)
    welded = lambda link: link.is_ground or (link.joint.kind == "fixed" and welded(link.parent))  # noqa: E731
    mass = sum(link.inertia.mass for link in m.links if not welded(link))
    agree(vc.momentum(m, s).linear, mass * velocity)


# --- Jacobians -----------------------------------------------------------------------------------------------------


def twist(X, behind, ahead):
    """[angular; linear] in world axes of a pose X that moves from behind to ahead in time 2 STEP."""
    W = (ahead.R - behind.R) @ X.R.T / (2.0 * STEP)
    linear = (ahead.p - behind.p) / (2.0 * STEP)
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1], *(2.0 * linear)]) / 2.0


@every_case
def test_jacobians_are_derivatives_of_poses(m, rng):
    """Each column of a link's Jacobian is the rate of its pose when that freedom alone moves."""
    s = random_state(rng, m)
    link, X_LF = m.links[-1], zoo.random_pose(rng)
    X = vc.pose(m, s, link) @ X_LF
    columns = []
    for direction in np.eye(m.n_v):
        behind, ahead = (vc.pose(m, s.integrate(h * direction), link) @ X_LF for h in (-STEP, STEP))
        columns.append(twist(X, behind, ahead))
    J = vc.jacobian(m, s, link, at=X_LF)
    agree(J, np.array(columns).T, DIFFERENCED, scale=1.0 + np.abs(J).max())
    R = np.kron(np.eye(2), X.R.T)
    agree(vc.jacobian(m, s, link, at=X_LF, axes="local"), R @ J)
    agree(vc.velocity(m, s, link, at=X_LF), J @ s.v, scale=1.0)


@every_case
@pytest.mark.parametrize("axes", ["world", "local"])
def test_bias_acceleration_is_the_rate_of_the_jacobian_times_v(m, axes, rng):
    """Jdot v is the finite-difference rate of J along v, times v; and d/dt (J v) is J a + Jdot v."""
    s, a, link, X_LF = random_state(rng, m), zoo.random_v(rng, m), m.links[-1], zoo.random_pose(rng)
    where = {"link": link, "at": X_LF, "axes": axes}
    found = vc.bias_acceleration(m, s, **where)
    expected = rate(lambda state: vc.jacobian(m, state, **where), m, s, 0.0 * a) @ s.v
    agree(found, expected, DIFFERENCED, scale=1.0 + np.abs(found).max())
    acceleration = rate(lambda state: vc.velocity(m, state, **where), m, s, a)
    agree(vc.jacobian(m, s, **where) @ a + found, acceleration, DIFFERENCED, scale=1.0 + np.abs(acceleration).max())


# --- the same mechanism, told otherwise ----------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [1e3, 1e6])
@pytest.mark.parametrize("free_base", [True, False])
def test_far_from_the_origin_no_digit_is_lost(distance, free_base, rng):
    """Moved a kilometre or a thousand away, a mechanism has the same mass matrix, bias, accelerations and Jacobians."""
    m = zoo.random_tree(rng, 10, free_base=free_base, passive=True)
    m.edit_joint(m.joints[0].name, **({"stiffness": 0.0} if m.joints[0].n_v else {}))
    away = moved(m, vc.Pose(distance * zoo.random_direction(rng)))
    here, tau = random_state(rng, m), zoo.random_v(rng, m)
    there = state_at(away, here.q, here.v)
    same_dynamics(m, here, away, there, tau)
    tip = m.links[-1].name
    for function in (vc.jacobian, vc.velocity, vc.bias_acceleration):
        agree(function(away, there, tip, at=(0.1, 0.2, 0.3)), function(m, here, tip, at=(0.1, 0.2, 0.3)), SAME_DIGITS)
    agree(vc.energy(away, there).kinetic, vc.energy(m, here).kinetic, SAME_DIGITS)
    agree(vc.center_of_mass_jacobian(away, there), vc.center_of_mass_jacobian(m, here), SAME_DIGITS)
    agree(vc.momentum(away, there).linear, vc.momentum(m, here).linear, SAME_DIGITS)
    # about the centre of mass, which itself has distance * eps for its last digit
    spin, centre_rounding = vc.momentum(m, here), distance * 1e-15
    angular = vc.momentum(away, there).angular
    agree(angular, spin.angular, SAME_DIGITS + centre_rounding, scale=max(map(np.abs, (*spin.angular, *spin.linear))))


@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_a_floating_base_may_fly_far(distance, rng):
    """A floating figure whose own coordinates are far from zero has the dynamics that it has at home."""
    m = zoo.quadruped()
    here, tau = random_state(rng, m), zoo.random_v(rng, m)
    there = here.copy()
    there["trunk"].position = distance * zoo.random_direction(rng)
    same_dynamics(m, here, m, there, tau)


def same_dynamics(m, s, other, t, tau):
    """Assert equal mass matrix, bias and accelerations."""
    agree(vc.mass_matrix(other, t), vc.mass_matrix(m, s), SAME_DIGITS)
    agree(vc.bias_force(other, t), vc.bias_force(m, s), SAME_DIGITS)
    agree(vc.forward_dynamics(other, t, tau).a, vc.forward_dynamics(m, s, tau).a, SAME_DIGITS)
    force = [vc.Force(m.links[-1].name, (1, 2, 3), (4, 5, 6), at=(0.1, 0.2, 0.3), axes="local")]
    agree(vc.bias_force(other, t, force), vc.bias_force(m, s, force), SAME_DIGITS)


@pytest.mark.parametrize("seed", range(scaled(10, 3)))
def test_turning_and_moving_the_world_changes_nothing(seed):
    """In a world turned and moved as a whole, joint space looks the same and all poses are turned and moved along."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 9, passive=True, n_trees=2)
    X = zoo.random_pose(rng, reach=10.0)
    away, s = moved(m, X), random_state(rng, m)
    t, tau = state_at(away, s.q, s.v), zoo.random_v(rng, m)
    lost = max(EXACT, CONDITION_LOSS * np.linalg.cond(vc.mass_matrix(m, s)))
    agree(vc.mass_matrix(away, t), vc.mass_matrix(m, s))
    agree(vc.bias_force(away, t), vc.bias_force(m, s))
    agree(vc.forward_dynamics(away, t, tau).a, vc.forward_dynamics(m, s, tau).a, lost)
    for link in m.links:
        assert vc.pose(away, t, link.name).is_close(X @ vc.pose(m, s, link), EXACT)
        agree(vc.jacobian(away, t, link.name, axes="local"), vc.jacobian(m, s, link, axes="local"), scale=1.0)
    agree(vc.center_of_mass(away, t), X @ vc.center_of_mass(m, s))
    agree(vc.momentum(away, t).angular, X.R @ vc.momentum(m, s).angular, scale=1.0)


@pytest.mark.parametrize("seed", range(scaled(10, 3)))
def test_order_of_links_only_permutes(seed):
    """Links added in another order give the same numbers in another order."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 12, branching=0.8, passive=True, friction=True, n_trees=2)
    other, s = reordered(rng, m), random_state(rng, m)
    assert [link.name for link in other.links] != [link.name for link in m.links]
    t = other.state()
    for name in s.joints:
        t[name].q, t[name].v = s[name].q, s[name].v
    tau = zoo.random_v(rng, m)
    order = np.concatenate([np.arange(m.n_v)[s.layout.slot(name).v] for name in t.joints])
    lost = max(EXACT, CONDITION_LOSS * np.linalg.cond(vc.mass_matrix(m, s)))
    agree(vc.mass_matrix(other, t), vc.mass_matrix(m, s)[np.ix_(order, order)])
    agree(vc.bias_force(other, t), vc.bias_force(m, s)[order])
    agree(vc.forward_dynamics(other, t, tau[order]).a, vc.forward_dynamics(m, s, tau).a[order], lost)
    agree(vc.center_of_mass(other, t), vc.center_of_mass(m, s), scale=1.0)
    for link in m.links:
        agree(vc.jacobian(other, t, link.name), vc.jacobian(m, s, link)[:, order], scale=1.0)


@pytest.mark.parametrize("seed", range(scaled(10, 3)))
def test_fixed_joints_are_as_if_cast_in_one_piece(seed):
    """A mechanism with fixed joints moves as one whose fixed links' inertias were added by hand to their carriers."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(
        rng, 14, kinds=(*zoo.MOVING, *("fixed",) * 8), branching=0.6, passive=True, free_base=seed % 2 == 0
    )
    whole, s = melted(m), random_state(rng, m)
    assert len(whole) < len(m)
    t, tau = state_at(whole, s.q, s.v), zoo.random_v(rng, m)
    lost = max(EXACT, CONDITION_LOSS * np.linalg.cond(vc.mass_matrix(m, s)))
    agree(vc.mass_matrix(whole, t), vc.mass_matrix(m, s))
    agree(vc.bias_force(whole, t), vc.bias_force(m, s))
    agree(vc.forward_dynamics(whole, t, tau).a, vc.forward_dynamics(m, s, tau).a, lost)
    for link in whole.links:
        assert vc.pose(whole, t, link).is_close(vc.pose(m, s, link.name), EXACT)
