"""Every quantity on random trees of all joints, against Pinocchio."""

from functools import lru_cache

import numpy as np
import pytest

import varichain as vc
import zoo
from lane import scaled
from measure import deviation, random_state

pytest.importorskip("pinocchio")

import pinocchio as pin

from oracles.pinocchio_model import PinocchioOracle

# Relative to the quantity's largest entry. Both sides sum some thousand products of 16 digits; what is left over is
# for cancellation in long chains.
AGREEMENT = 1e-10

N_TREES = scaled(120, 25)
LARGEST = scaled(60, 20)
_FLIP = [3, 4, 5, 0, 1, 2]  # [linear; angular] <-> [angular; linear]
# Drawn with weights: a figure has mostly revolute joints, and each kind shall be met often.
KINDS = (*zoo.ALL, "revolute", "revolute", "spherical", "fixed")
WORLD, LOCAL = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, pin.ReferenceFrame.LOCAL


class Case:
    """One random tree with a random state, its twin, and one frame somewhere on one of its links."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.seed = seed
        self.m = self._tree(rng, 1 + seed % LARGEST)
        self.s = random_state(rng, self.m)
        self.q, self.v = self.s.q, self.s.v
        self.a, self.tau = zoo.random_v(rng, self.m), 10.0 * zoo.random_v(rng, self.m)
        self.link = self.m.links[rng.integers(len(self.m))].name
        self.frame = zoo.random_pose(rng)
        self.twin = PinocchioOracle(self.m)
        self._add_frame()

    @staticmethod
    def _tree(rng, n_links):
        n_trees = int(rng.integers(1, min(3, n_links) + 1))
        options = {"branching": rng.uniform(), "n_trees": n_trees, "free_base": rng.random() < 0.4 and n_links > 1}
        m = zoo.random_tree(rng, n_links, KINDS if n_links > 1 else zoo.MOVING, **options)
        if m.n_v == 0:  # nothing but fixed joints: there is no dynamics to compare
            return Case._tree(rng, n_links)
        for joint in m.joints:  # Pinocchio knows armature alone of all passive elements
            if joint.n_v and rng.random() < 0.3:
                m.edit_joint(joint.name, armature=rng.uniform(0.01, 0.1, joint.n_v))
        return m

    def _add_frame(self):
        model = self.twin.model
        index = [link.name for link in self.m.links].index(self.link)
        link = model.frames[self.twin.frame_ids[index]]
        X_JF = link.placement * pin.SE3(np.array(self.frame.R), np.array(self.frame.p))
        frame = pin.Frame("probe", link.parentJoint, self.twin.frame_ids[index], X_JF, pin.FrameType.OP_FRAME)
        self.frame_id = model.addFrame(frame, False)
        self.twin.data = model.createData()

    @property
    def pinocchio(self):
        """Pinocchio's model, data, q and v."""
        return self.twin.model, self.twin.data, self.twin.q_from(self.q), self.twin.v_from(self.v)

    @property
    def armature(self):
        """Armature of all freedoms in the order of v."""
        return np.concatenate([np.zeros(0), *(joint.armature for joint in self.m.joints)])


@lru_cache(maxsize=1)
def cases():
    """All cases, made once."""
    return [Case(seed) for seed in range(N_TREES)]


def worst(measured):
    """Largest deviation over all cases, and the seed where it is found."""
    return max((float(measured(case)), case.seed) for case in cases())


def agree(measured, tolerance=AGREEMENT):
    """Fail with the seed of the worst case if it is beyond the tolerance."""
    found, seed = worst(measured)
    assert found <= tolerance, f"tree of seed {seed} deviates by {found:.2e}"


# --- kinematics ----------------------------------------------------------------------------------------------------


def poses(case):
    """Deviation of the poses of all links."""
    found = [vc.pose(case.m, case.s, link) for link in case.m.links]
    expected = case.twin.poses(case.q)
    R = deviation([X.R for X in found], expected[:, :3, :3])
    return max(R, deviation([X.p for X in found], expected[:, :3, 3]))


def velocities(case):
    """Deviation of the velocities of all links, and of a frame in world and local axes."""
    model, data, q, v = case.pinocchio
    pin.forwardKinematics(model, data, q, v)
    found = [vc.velocity(case.m, case.s, link) for link in case.m.links]
    expected = [pin.getFrameVelocity(model, data, i, WORLD).vector[_FLIP] for i in case.twin.frame_ids]
    at_frame = (
        deviation(
            vc.velocity(case.m, case.s, case.link, at=case.frame, axes=axes),
            pin.getFrameVelocity(model, data, case.frame_id, reference).vector[_FLIP],
        )
        for axes, reference in (("world", WORLD), ("local", LOCAL))
    )
    return max(deviation(found, expected), *at_frame)


def jacobians(case):
    """Deviation of the Jacobians of all links, and of a frame in world and local axes."""
    found = [vc.jacobian(case.m, case.s, link) for link in case.m.links]
    model, data, q, _ = case.pinocchio
    at_frame = (
        deviation(
            vc.jacobian(case.m, case.s, case.link, at=case.frame, axes=axes),
            case.twin.jacobian_to(pin.computeFrameJacobian(model, data, q, case.frame_id, reference)),
        )
        for axes, reference in (("world", WORLD), ("local", LOCAL))
    )
    return max(deviation(found, case.twin.jacobians(case.q)), *at_frame)


def bias_accelerations(case):
    """Deviation of Jdot v of all links and of a frame.

    In world axes that is the classical acceleration of the frame's origin at a = 0; in local axes the derivative of
    R^T J v is what Pinocchio calls the (spatial) acceleration of the frame. Relative to velocity squared where the
    acceleration itself vanishes, as it does in a tree of sliders.
    """
    model, data, q, v = case.pinocchio
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    found = [vc.bias_acceleration(case.m, case.s, link) for link in case.m.links]
    expected = [pin.getFrameClassicalAcceleration(model, data, i, WORLD).vector[_FLIP] for i in case.twin.frame_ids]
    speed = max(np.abs(vc.velocity(case.m, case.s, link)).max() for link in case.m.links)
    scale = max(np.abs(expected).max(), speed**2)
    world = vc.bias_acceleration(case.m, case.s, case.link, at=case.frame)
    local = vc.bias_acceleration(case.m, case.s, case.link, at=case.frame, axes="local")
    classical = pin.getFrameClassicalAcceleration(model, data, case.frame_id, WORLD).vector[_FLIP]
    spatial = pin.getFrameAcceleration(model, data, case.frame_id, LOCAL).vector[_FLIP]
    return max(deviation(found, expected, scale), deviation(world, classical, scale), deviation(local, spatial, scale))


def link_accelerations(case):
    """Deviation of J a + Jdot v of all links: classical accelerations of their origins."""
    model, data, q, v = case.pinocchio
    pin.forwardKinematics(model, data, q, v, case.twin.v_from(case.a))
    found = [vc.acceleration(case.m, case.s, case.a, link) for link in case.m.links]
    expected = [pin.getFrameClassicalAcceleration(model, data, i, WORLD).vector[_FLIP] for i in case.twin.frame_ids]
    return deviation(found, expected)


# --- dynamics ------------------------------------------------------------------------------------------------------


def mass_matrices(case):
    """Deviation of the mass matrix."""
    return deviation(vc.mass_matrix(case.m, case.s), case.twin.mass_matrix(case.q))


def biases(case):
    """Deviation of the bias forces."""
    return deviation(vc.bias_force(case.m, case.s), case.twin.inverse_dynamics(case.q, case.v, np.zeros(case.m.n_v)))


def inverse_dynamics(case):
    """Deviation of the joint forces."""
    found = vc.inverse_dynamics(case.m, case.s, case.a).tau
    return deviation(found, case.twin.inverse_dynamics(case.q, case.v, case.a))


def forward_dynamics(case):
    """Residual of our accelerations in Pinocchio's equations of motion, relative to the size of their terms."""
    a = vc.forward_dynamics(case.m, case.s, case.tau).a
    M = case.twin.mass_matrix(case.q)
    rest = case.tau - case.twin.inverse_dynamics(case.q, case.v, np.zeros(case.m.n_v))
    return deviation(M @ a, rest, max(np.abs(rest).max(), (np.abs(M) @ np.abs(a)).max()))


def accelerations(case):
    """Deviation of the accelerations, the digits that M's condition costs both programs included."""
    found = vc.forward_dynamics(case.m, case.s, case.tau).a
    return deviation(found, case.twin.forward_dynamics(case.q, case.v, case.tau))


# --- totals --------------------------------------------------------------------------------------------------------


def centers(case):
    """Deviation of the centre of mass and of its Jacobian."""
    model, data, q, _ = case.pinocchio
    center = deviation(vc.center_of_mass(case.m, case.s), pin.centerOfMass(model, data, q))
    # a matrix of one column comes out of Pinocchio as a vector
    J = case.twin.v_to(np.reshape(pin.jacobianCenterOfMass(model, data, q), (3, model.nv)))
    return max(center, deviation(vc.center_of_mass_jacobian(case.m, case.s), J))


def energies(case):
    """Deviation of kinetic and potential energy.

    Pinocchio counts the links and we add the armature: its 4.1 leaves out that of hinges on arbitrary axes.
    """
    model, data, q, v = case.pinocchio
    armature, model.armature = model.armature.copy(), np.zeros(model.nv)
    kinetic = pin.computeKineticEnergy(model, data, q, v) + 0.5 * case.armature @ case.v**2
    model.armature = armature
    potential = pin.computePotentialEnergy(model, data, q)
    found = vc.energy(case.m, case.s)
    # heights of either sign may cancel: the scale is that of the terms
    terms = sum(link.inertia.mass for link in case.m.links) * np.abs(case.m.gravity).max()
    assert found.elastic == 0.0
    return max(deviation(found.kinetic, kinetic), deviation(found.potential, potential, max(terms, abs(potential))))


def momenta(case):
    """Deviation of linear momentum and of angular momentum about the centre of mass."""
    model, data, q, v = case.pinocchio
    expected = pin.computeCentroidalMomentum(model, data, q, v)
    found = vc.momentum(case.m, case.s)
    scale = np.abs(expected.vector).max()
    return max(
        deviation(found.linear, expected.linear, scale),
        deviation(found.angular, expected.angular, scale),
    )


QUANTITIES = (
    poses,
    velocities,
    jacobians,
    bias_accelerations,
    link_accelerations,
    mass_matrices,
    biases,
    inverse_dynamics,
    forward_dynamics,
    accelerations,
    centers,
    energies,
    momenta,
)


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.__name__)
def test_quantity_agrees_with_pinocchio(quantity):
    """On every random tree the quantity is Pinocchio's to ten digits."""
    agree(quantity)


def test_cases_are_what_the_comparison_claims():
    """The random trees have every joint, every number of links from one up, branches, and several roots."""
    trees = [case.m for case in cases()]
    assert {joint.kind for m in trees for joint in m.joints} == set(zoo.ALL)
    assert {len(m) for m in trees} == set(range(1, LARGEST + 1))
    assert any(link.child is not None and link.child.brother is not None for m in trees for link in m.links)
    assert any(m.ground.child.brother is not None for m in trees)
