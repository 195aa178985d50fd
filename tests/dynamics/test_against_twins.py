"""Every joint with all that may act in it and on it, against the slow twins."""

import numpy as np
import pytest

import varichain as vc
import zoo
from lane import scaled
from measure import deviation, random_state, state_at
from oracles import tree

# Relative to the largest entry; both sides sum a few hundred products of 16 digits.
AGREEMENT = 1e-11
# Accelerations lose the digits of M's condition number besides.
CONDITION_LOSS = 10.0 * np.finfo(float).eps


def cases():
    """Every joint in turn, trees and forests of all joints, and the named mechanisms."""
    for kind in zoo.ALL:
        rng = np.random.default_rng(11)
        yield f"three {kind}", zoo.random_tree(rng, 3, (kind, kind, "revolute"), passive=True, friction=True)
    for seed in range(scaled(12, 3)):
        rng = np.random.default_rng(seed)
        yield f"tree {seed}", zoo.random_tree(rng, scaled(15, 9), branching=0.7, passive=True, friction=True)
    for seed in range(scaled(6, 2)):
        rng, options = np.random.default_rng(100 + seed), {"passive": True, "n_trees": 3}
        yield f"forest {seed}", zoo.random_tree(rng, scaled(15, 9), free_base=seed % 2 == 0, **options)
    for named in zoo.NAMED:
        yield named.__name__, named()


CASES = [(name, m) for name, m in cases() if m.n_v > 0]
every_case = pytest.mark.parametrize("m", [m for _, m in CASES], ids=[name for name, _ in CASES])


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(42)


def agree(found, expected, tolerance=AGREEMENT, scale=None):
    """Equal to the tolerance, relative to the largest entry."""
    assert deviation(found, expected, scale) <= tolerance


def forces_on_all(rng, m):
    """A force at a point of every link and of ground, in world and local axes by turns."""
    names = ["ground", *(link.name for link in m.links)]
    return [
        vc.Force(name, *(5.0 * rng.normal(size=(2, 3))), at=rng.normal(size=3), axes=("world", "local")[i % 2])
        for i, name in enumerate(names)
    ]


def twin_wrenches(m, q, forces):
    """The same as [moment; force] (n_links x 6) in world axes at the links' origins; what acts on ground is gone."""
    X, wrenches = tree.link_poses(m, q), np.zeros((len(m), 6))
    index = {link.name: i for i, link in enumerate(m.links)}
    for given in forces:
        if given.link == "ground":
            continue
        i = index[given.link]
        R = X[i, :3, :3]
        turn = R if given.axes == "local" else np.eye(3)
        wrenches[i, :3] += turn @ given.moment + np.cross(R @ given.at, turn @ given.force)
        wrenches[i, 3:] += turn @ given.force
    return wrenches


def without_welded_masses(m):
    """The same mechanism, where links that cannot move weigh nothing: totals count what moves."""
    moving = m.copy()
    for link in moving.links:
        if link.joint.kind == "fixed" and all(up.is_ground or up.joint.kind == "fixed" for up in link.ancestors):
            moving.set_inertia(link, vc.Inertia.zero())
    return moving


@every_case
def test_kinematics(m, rng):
    """Poses, velocities, Jacobians and Jdot v of all links are the twin's."""
    s = random_state(rng, m)
    X, V = tree.link_poses(m, s.q), tree.link_velocities(m, s.q, s.v)
    agree([vc.pose(m, s, link).R for link in m.links], X[:, :3, :3])
    agree([vc.pose(m, s, link).p for link in m.links], X[:, :3, 3])
    agree([vc.velocity(m, s, link) for link in m.links], V)
    agree([vc.jacobian(m, s, link) for link in m.links], tree.link_jacobians(m, s.q))
    rates = tree.jacobian_rates_times_v(m, s.q, s.v)
    found = [vc.bias_acceleration(m, s, link) for link in m.links]
    agree(found, rates, scale=max(np.abs(rates).max(), np.abs(V).max() ** 2))


@every_case
def test_kinematics_of_frames(m, rng):
    """Velocity, Jacobian and Jdot v of a frame on a link follow from the link's by the laws of a rigid body."""
    s, i, X_LF = random_state(rng, m), int(rng.integers(len(m))), zoo.random_pose(rng)
    R_WL = tree.link_poses(m, s.q)[i, :3, :3]
    arm, R_WF = R_WL @ X_LF.p, R_WL @ X_LF.R
    J, w = tree.link_jacobians(m, s.q)[i], tree.link_velocities(m, s.q, s.v)[i, :3]
    A = tree.jacobian_rates_times_v(m, s.q, s.v)[i]
    J[3:] += np.cross(J[:3].T, arm).T
    A[3:] += np.cross(A[:3], arm) + np.cross(w, np.cross(w, arm))
    A_local = np.concatenate((A[:3], A[3:] - np.cross(w, J[3:] @ s.v)))
    to_local = np.kron(np.eye(2), R_WF.T)
    name, scale = m.links[i].name, max(np.abs(A).max(), np.abs(J @ s.v).max() ** 2)
    agree(vc.velocity(m, s, name, at=X_LF), J @ s.v, scale=np.abs(s.v).max())
    agree(vc.velocity(m, s, name, at=X_LF, axes="local"), to_local @ J @ s.v, scale=np.abs(s.v).max())
    agree(vc.jacobian(m, s, name, at=X_LF), J)
    agree(vc.jacobian(m, s, name, at=tuple(X_LF.p)), J)
    agree(vc.jacobian(m, s, name, at=X_LF, axes="local"), to_local @ J)
    agree(vc.bias_acceleration(m, s, name, at=X_LF), A, scale=scale)
    agree(vc.bias_acceleration(m, s, name, at=X_LF, axes="local"), to_local @ A_local, scale=scale)


@every_case
def test_dynamics_with_passive_elements_and_forces(m, rng):
    """Mass matrix, bias, inverse and forward dynamics are the twin's, with passive elements and forces on links."""
    s, a, tau = random_state(rng, m), zoo.random_v(rng, m), 10.0 * zoo.random_v(rng, m)
    forces = forces_on_all(rng, m)
    wrenches = twin_wrenches(m, s.q, forces)
    M = tree.mass_matrix(m, s.q)
    agree(vc.mass_matrix(m, s), M)
    agree(vc.bias_force(m, s), tree.bias_force(m, s.q, s.v))
    agree(vc.bias_force(m, s, forces), tree.bias_force(m, s.q, s.v, wrenches))
    agree(vc.inverse_dynamics(m, s, a, forces).tau, tree.inverse_dynamics(m, s.q, s.v, a, wrenches))
    lost = max(AGREEMENT, CONDITION_LOSS * np.linalg.cond(M))
    agree(vc.forward_dynamics(m, s, tau, forces).a, tree.forward_dynamics(m, s.q, s.v, tau, wrenches), lost)
    agree(vc.forward_dynamics(m, s, tau).a, tree.forward_dynamics(m, s.q, s.v, tau), lost)


@every_case
def test_totals(m, rng):
    """Energies, momentum, centre of mass and its Jacobian are the twin's, of all that can move."""
    s, point, twin = random_state(rng, m), rng.normal(size=3), without_welded_masses(m)
    energy, momentum = vc.energy(m, s), vc.momentum(m, s, about=point)
    weight = tree.total_mass(twin) * np.abs(m.gravity).max()
    agree(energy.kinetic, tree.kinetic_energy(twin, s.q, s.v))
    agree(energy.gravitational, tree.gravity_energy(twin, s.q), scale=weight)
    agree(energy.elastic, tree.spring_energy(m, s.q))
    agree(energy.total, energy.kinetic + energy.gravitational + energy.elastic)
    agree(vc.center_of_mass(m, s), tree.center_of_mass(twin, s.q), scale=1.0)
    agree(vc.center_of_mass_jacobian(m, s), tree.center_of_mass_jacobian(twin, s.q))
    agree(momentum.linear, tree.linear_momentum(twin, s.q, s.v))
    agree(momentum.angular, tree.angular_momentum(twin, s.q, s.v, point))
    at_center = vc.momentum(m, s)
    agree(at_center.about, vc.center_of_mass(m, s), scale=1.0)
    agree(at_center.angular, tree.angular_momentum(twin, s.q, s.v, at_center.about))


@every_case
def test_manifold(m, rng):
    """Steps on the configuration manifold, and steps between configurations, are the twin's."""
    s, other = random_state(rng, m), random_state(rng, m)
    step = zoo.random_v(rng, m)
    reached = tree.integrate(m, s.q, step)
    agree(tree.link_poses(m, s.integrate(step).q), tree.link_poses(m, reached))
    agree(s.difference(other), tree.difference(m, s.q, other.q))


@pytest.mark.parametrize("element", ["damping", "friction", "stiffness", "armature"])
@pytest.mark.parametrize("kind", zoo.MOVING)
def test_each_passive_element_alone(kind, element, rng):
    """Each passive element alone in each joint changes the joint forces as the twin says, and as its name says."""
    bare = zoo.random_tree(rng, 2, kinds=(kind,))
    m, name = bare.copy(), bare.joints[1].name
    value = np.full(m.joint(name).n_v, 2.5)
    m.edit_joint(name, **{element: value})
    q, v, a = zoo.random_q(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m)
    tau = vc.inverse_dynamics(m, state_at(m, q, v), a)
    agree(tau.tau, tree.inverse_dynamics(m, q, v, a))
    added = tau.tau - vc.inverse_dynamics(bare, state_at(bare, q, v), a).tau
    slot = m.state().layout.slot(name).v
    expected = np.zeros(m.n_v)
    expected[slot] = {
        "damping": value * v[slot],
        "friction": value * np.sign(v[slot]),
        "stiffness": tree.spring_forces(m, q)[slot],
        "armature": value * a[slot],
    }[element]
    agree(added, expected, scale=np.abs(tau.tau).max())


def test_friction_is_zero_at_rest(rng):
    """A joint at rest feels no dry friction."""
    m = zoo.random_tree(rng, 4, kinds=zoo.MOVING, friction=True)
    q, nothing = zoo.random_q(rng, m), np.zeros(m.n_v)
    agree(vc.bias_force(m, state_at(m, q, nothing)), tree.newton_euler(m, q, nothing, nothing))


def test_forces_on_what_cannot_move_do_nothing(rng):
    """Forces on ground, and on links that are fixed to it, change nothing."""
    m = zoo.random_tree(rng, 5, kinds=zoo.MOVING)
    m.add_link("post", joint=vc.Fixed(), at=zoo.random_pose(rng), inertia=zoo.random_inertia(rng))
    m.add_link("sign", parent="post", joint=vc.Fixed(), at=zoo.random_pose(rng))
    s = random_state(rng, m)
    forces = [vc.Force(name, (1e3, 2e3, 3e3), (4.0, 5.0, 6.0), at=(1, 2, 3)) for name in ("ground", "post", "sign")]
    np.testing.assert_array_equal(vc.bias_force(m, s, forces), vc.bias_force(m, s))
    np.testing.assert_array_equal(vc.forward_dynamics(m, s, None, forces).a, vc.forward_dynamics(m, s).a)


def test_forces_on_one_link_add_up(rng):
    """Several forces on one body act as their sum, and none of them outlives the call."""
    m = zoo.random_tree(rng, 5)
    s, link = random_state(rng, m), m.links[-1]
    forces = [vc.Force(link, rng.normal(size=3), at=rng.normal(size=3)) for _ in range(3)]
    before = vc.bias_force(m, s)
    parts = sum(vc.bias_force(m, s, [force]) - before for force in forces)
    agree(vc.bias_force(m, s, forces) - before, parts, scale=np.abs(before).max() + np.abs(parts).max())
    np.testing.assert_array_equal(vc.bias_force(m, s), before)


def test_mappings_mean_the_same_as_vectors(rng):
    """Accelerations and torques may be given by joint name, and results are asked by joint name."""
    m = zoo.every_joint()
    s, vector = random_state(rng, m), zoo.random_v(rng, m)
    by_name = {
        slot.name: vector[slot.v] if slot.name != "revolute" else float(vector[slot.v][0]) for slot in s.layout.slots
    }
    tau, a = vc.inverse_dynamics(m, s, vector), vc.forward_dynamics(m, s, vector)
    np.testing.assert_array_equal(vc.inverse_dynamics(m, s, by_name).tau, tau.tau)
    np.testing.assert_array_equal(vc.forward_dynamics(m, s, by_name).a, a.a)
    np.testing.assert_array_equal(np.concatenate([tau[name] for name in s.joints]), np.asarray(tau))
    np.testing.assert_array_equal(np.concatenate([a[name] for name in s.joints]), np.asarray(a))
    alone = vc.inverse_dynamics(m, s, {"planar": vector[s.layout.slot("planar").v]})
    only = np.zeros(m.n_v)
    only[s.layout.slot("planar").v] = vector[s.layout.slot("planar").v]
    np.testing.assert_array_equal(alone.tau, vc.inverse_dynamics(m, s, only).tau)
