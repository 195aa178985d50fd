"""Forward kinematics of pictures, beside the kernels'."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from varichain.scene import frame_on, link_poses, loop_places, scene_of

# Rounding of a chain of some ten turns over a metre or two.
ROUNDING = 1e-12


def assert_same_poses(m, q):
    """Compare all links with `vc.pose`, sample by sample."""
    poses, s = link_poses(m, q), m.state()
    for i, row in enumerate(q):
        s.q[:] = row
        for link in m.links:
            expected, (p, R) = vc.pose(m, s, link.name), poses.of(link.name)
            assert np.abs(p[i] - expected.p).max() <= ROUNDING * max(1.0, np.abs(expected.p).max())
            assert np.abs(R[i] - expected.R).max() <= ROUNDING


@pytest.mark.parametrize("kind", zoo.ALL)
def test_every_joint_moves_its_link_as_the_kernels_do(kind):
    """A chain of one kind of joint on random axes has the poses of `vc.pose`."""
    rng = np.random.default_rng(zoo.ALL.index(kind))
    m = zoo.random_tree(rng, 4, kinds=(kind,))
    assert_same_poses(m, np.array([zoo.random_q(rng, m) for _ in range(5)]).reshape(5, m.n_q))


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_have_the_poses_of_the_kernels(seed):
    """Branched trees of all joints have the poses of `vc.pose`."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 12, n_trees=2, free_base=bool(seed % 2))
    assert_same_poses(m, np.array([zoo.random_q(rng, m) for _ in range(3)]))


def test_one_configuration_has_poses_without_an_axis_of_samples():
    """The poses of one q are those of the same q among several."""
    m = zoo.quadruped()
    q = np.array([zoo.random_q(np.random.default_rng(0), m) for _ in range(3)])
    one, several = link_poses(m, q[1]), link_poses(m, q)
    assert one.names == several.names == ("ground", *[link.name for link in m.links])
    assert one.p.shape == (len(one.names), 3)
    assert np.array_equal(one.p, several.p[1]) and np.array_equal(one.R, several.R[1])


def test_quaternions_turn_as_the_matrices_do():
    """The quaternions of random orientations, half turns included, are those of `Pose`."""
    rng = np.random.default_rng(3)
    m = vc.Mechanism("ball")
    m.add_link("ball", joint=vc.Spherical())
    turns = [zoo.random_quaternion(rng) for _ in range(50)]
    turns += [np.array(half) for half in ((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.6, 0.0, 0.8))]
    found = link_poses(m, np.array(turns)).quaternions[:, 1]
    for quaternion, turn in zip(found, turns, strict=True):
        assert quaternion[0] >= 0.0
        assert abs(abs(quaternion @ turn) - 1.0) <= ROUNDING


def test_frames_of_a_closed_loop_meet():
    """On both sides of a closed four-bar's pin the joint frame is at one place, that of `vc.pose`."""
    m, s = closed_zoo.four_bar()
    poses, scene = link_poses(m, s.q), scene_of(m)
    on_real, on_other = loop_places(scene, poses)
    expected = vc.pose(m, s, "coupler", vc.Pose((1.9, 0, 0))).p
    assert np.abs(on_real[0] - expected).max() <= ROUNDING
    assert np.abs(on_real - on_other).max() <= 1e-11  # how well the loop was assembled
    assert np.array_equal(on_real[0], frame_on(poses, "coupler", vc.Pose((1.9, 0, 0)))[0])


def test_coordinates_of_another_width_are_refused():
    """A q that does not fit the mechanism is an error that tells both numbers."""
    with pytest.raises(vc.InputError, match=r"q must have 1 coordinates in its last axis, not the shape \(2,\)"):
        link_poses(zoo.pendulum(), [0.0, 1.0])
    with pytest.raises(vc.UnknownNameError, match="did you mean 'rod'"):
        link_poses(zoo.pendulum(), [0.0]).of("rood")
