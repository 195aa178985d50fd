"""Named frames wherever links are taken: a frame's name means the frame, as its link and place do."""

import numpy as np
import pytest

import varichain as vc
import zoo

ROUNDING = 1e-13
PLACE = (0.1, -0.2, 0.3)


@pytest.fixture
def figure():
    """A figure in a random state."""
    m = vc.figures.human16()
    s = m.state()
    rng = np.random.default_rng(3)
    s.q, s.v = zoo.random_q(rng, m), rng.normal(size=m.n_v)
    return m, s


def acceleration(m, s, *frame, **options):
    """Acceleration with joint accelerations like the velocities."""
    return vc.acceleration(m, s, s.v, *frame, **options)


@pytest.mark.parametrize("function", [vc.velocity, vc.jacobian, vc.bias_acceleration, acceleration])
@pytest.mark.parametrize("axes", ["world", "local"])
def test_a_name_means_the_frame(figure, function, axes):
    """Kinematics of "left grip" are those of its link at its place, also of a point in the frame."""
    m, s = figure
    frame = m.frame("left grip")
    expected = function(m, s, *frame, axes=axes)
    assert np.abs(function(m, s, "left grip", axes=axes) - expected).max() == 0.0
    assert np.abs(function(m, s, frame, axes=axes) - expected).max() == 0.0
    there = function(m, s, frame.link, frame.at @ vc.Pose(PLACE), axes=axes)
    assert np.abs(function(m, s, "left grip", PLACE, axes=axes) - there).max() < ROUNDING


def test_poses_of_frames(figure):
    """The pose of a frame is that of its link with its place."""
    m, s = figure
    expected = vc.pose(m, s, *m.frame("left grip"))
    for found in (vc.pose(m, s, "left grip"), vc.pose(m, s, m.frame("left grip"))):
        assert np.abs(found.p - expected.p).max() == 0.0 and np.abs(found.R - expected.R).max() == 0.0


def test_unknown_names_list_frames_too(figure):
    """What is neither link nor frame is told, with the nearest name of both."""
    m, s = figure
    with pytest.raises(vc.UnknownNameError, match=r"no link or frame is called 'left gripe'.*did you mean 'left grip'"):
        vc.pose(m, s, "left gripe")


@pytest.mark.parametrize("axes", ["world", "local"])
def test_forces_on_frames(figure, axes):
    """A force on a frame does what it does at the frame's place on the link, in the frame's axes if they are local."""
    m, s = figure
    frame = m.frame("left seat")
    X = vc.pose(m, s, "left seat")
    force, moment = np.array([1.0, 2.0, 3.0]), np.array([0.3, -0.2, 0.1])
    R = X.R if axes == "local" else np.eye(3)
    at = vc.pose(m, s, frame.link).inverse() @ (X @ PLACE)
    expected = vc.forward_dynamics(m, s, forces=[vc.Force(frame.link, R @ force, R @ moment, at)]).a
    found = vc.forward_dynamics(m, s, forces=[vc.Force(frame, force, moment, PLACE, axes)]).a
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_a_free_link_is_put_at_a_world_pose():
    """Whatever its joint frame and its parent are, the link, or a frame on it, is where it was put."""
    m = vc.Mechanism("carried")
    m.add_link("cart", "ground", vc.Prismatic("x"), at=(0.3, 0.2, 1.01), inertia=vc.Inertia.sphere(1.0, 0.1))
    joint_frame = vc.Pose((0.5, 0, -0.2), rpy=(0.3, -0.4, 1.0))
    m.add_link("base", "cart", vc.Free(), at=joint_frame, inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_frame("eye", "base", vc.Pose((0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3)))
    s = m.state()
    s["cart"].q, s.v = 0.7, np.arange(7.0)
    to = vc.Pose((1.0, 2.0, 3.0), rpy=(0.5, 0.6, 0.7))
    for name in ("base", "eye"):
        vc.set_pose(m, s, name, to)
        found = vc.pose(m, s, name)
        assert np.abs(found.p - to.p).max() < ROUNDING and np.abs(found.R - to.R).max() < ROUNDING
    assert s["cart"].q == 0.7 and s.v.tolist() == [0, 1, 2, 3, 4, 5, 6]
    with pytest.raises(vc.InputError, match="links that do: base"):
        vc.set_pose(m, s, "cart", to)
    with pytest.raises(vc.InputError, match="to must be a Pose"):
        vc.set_pose(m, s, "base", "here")
