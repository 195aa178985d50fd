"""The oracles against Pinocchio and MuJoCo: three independent programs, one answer."""

import numpy as np
import pytest

import zoo
from oracles import tree

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from oracles.mujoco_model import MujocoOracle
from oracles.pinocchio_model import PinocchioOracle

AGREEMENT = 1e-10  # relative to the largest entry; forward dynamics may lose the digits of M's condition besides
MUJOCO_KINDS = tuple(kind for kind in zoo.ALL if kind not in ("screw", "free"))


def close(found, expected, tolerance=AGREEMENT):
    """Equal within the tolerance, relative to the largest expected entry."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * (1.0 + np.abs(expected).max(initial=0.0)))


def agree(twin, m, rng, knows_passive=True):
    """Compare poses, mass matrix, inverse and forward dynamics at one random state, which is returned.

    Pinocchio's algorithms know no springs and dampers: there these are subtracted from the joint forces.
    """
    q, v, a, tau = zoo.random_q(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m), zoo.random_v(rng, m)
    passive = 0.0 if knows_passive else tree.passive_forces(m, q, v)
    M = tree.mass_matrix(m, q)
    close(twin.poses(q), tree.link_poses(m, q))
    close(twin.mass_matrix(q), M)
    close(twin.inverse_dynamics(q, v, a), tree.inverse_dynamics(m, q, v, a) - passive)
    close(twin.inverse_dynamics(q, v, 0.0 * a), tree.bias_force(m, q, v) - passive)
    lost = 10.0 * np.finfo(float).eps * np.linalg.cond(M) if m.n_v else 0.0
    close(twin.forward_dynamics(q, v, tau - passive), tree.forward_dynamics(m, q, v, tau), max(AGREEMENT, lost))
    return q, v


@pytest.mark.parametrize("kind", zoo.ALL)
@pytest.mark.parametrize("branching", [0.0, 0.8])
def test_pinocchio_agrees_on_each_joint(kind, branching):
    """Trees of one joint type, armature included, give the same dynamics in Pinocchio."""
    rng = np.random.default_rng(3)
    m = zoo.random_tree(rng, 4, kinds=(kind, "revolute"), branching=branching, passive=True)
    agree(PinocchioOracle(m), m, rng, knows_passive=False)


@pytest.mark.parametrize("seed", range(4))
def test_pinocchio_agrees_on_forests_of_all_joints(seed):
    """Branched forests of all joints, fixed and floating ones included, give the same dynamics and Jacobians."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 10, branching=0.8, n_trees=2, free_base=seed % 2 == 0, passive=True)
    twin = PinocchioOracle(m)
    q, v = agree(twin, m, rng, knows_passive=False)
    close(twin.jacobians(q), tree.link_jacobians(m, q))
    np.testing.assert_array_equal(twin.q_to(twin.q_from(q)), q)
    np.testing.assert_array_equal(twin.v_to(twin.v_from(v)), v)


@pytest.mark.parametrize("seed", range(4))
def test_mujoco_agrees_on_forests(seed):
    """Branched forests of MuJoCo's joints, with springs, dampers and armature, give the same dynamics."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 10, kinds=MUJOCO_KINDS, branching=0.8, n_trees=2, passive=True)
    agree(MujocoOracle(m), m, rng)


@pytest.mark.parametrize("passive", [False, True])
def test_mujoco_agrees_on_floating_trees(passive):
    """A floating base whose joint frame is not the world's, damped and sprung or not, gives the same dynamics."""
    rng = np.random.default_rng(7)
    m = zoo.Mechanism("floating", gravity=(1.0, 2.0, -9.0))
    extra = {"damping": 0.7, "stiffness": 3.0, "rest": zoo.random_q(rng, zoo.free_body())} if passive else {}
    joint = zoo.Free(armature=(0.1, 0.2, 0.3, 0.0, 0.0, 0.0), **extra)
    m.add_link("base", joint=joint, at=zoo.random_pose(rng), inertia=zoo.random_inertia(rng))
    for i, kind in enumerate(("universal", "planar", "spherical", "fixed")):
        joint = zoo.random_joint(rng, kind, passive=passive)
        m.add_link(f"limb {i}", "base", joint, zoo.random_pose(rng), zoo.random_inertia(rng))
    twin = MujocoOracle(m)
    q, v = agree(twin, m, rng)
    close(twin.q_to(twin.q_from(q)), q)
    close(twin.v_to(twin.v_from(v, q), q), v)


@pytest.mark.parametrize("named", zoo.NAMED, ids=lambda named: named.__name__)
def test_pinocchio_agrees_on_named_mechanisms(named):
    """Every named mechanism of the zoo gives the same dynamics in Pinocchio, massless rings and feet included."""
    m = named()
    agree(PinocchioOracle(m), m, np.random.default_rng(0))


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_both_agree_on_a_long_chain(kind):
    """Chains of thirty links give the same dynamics in both."""
    m = zoo.serial_chain(30, kind)
    agree(PinocchioOracle(m), m, np.random.default_rng(0))
    agree(MujocoOracle(m), m, np.random.default_rng(0))


def test_mujoco_refuses_what_it_cannot_express():
    """A screw, a free joint inside a tree, dry friction and moving links without mass are refused by name."""
    for m in (zoo.serial_chain(1, "screw"), zoo.serial_chain(2, "free")):
        with pytest.raises(ValueError, match="link"):
            MujocoOracle(m)
    rough = zoo.random_tree(np.random.default_rng(0), 1, kinds=("revolute",), friction=True)
    with pytest.raises(ValueError, match="friction"):
        MujocoOracle(rough)
    with pytest.raises(ValueError, match="mass"):
        MujocoOracle(zoo.gimbal())
