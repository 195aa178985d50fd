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


@pytest.mark.parametrize("function", [vc.velocity, vc.jacobian, vc.bias_acceleration])
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
