"""Frames of traces."""

import sys

import numpy as np
import pytest

import shows
import varichain as vc
from varichain.scene import Playback, frame_on, link_poses

# Frames fall on samples here; what is left is the rounding of quaternions.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def trace():
    """Three epochs of 0.4 s."""
    return shows.show()


def test_frames_belong_to_one_epoch_each(trace):
    """Every frame lies in the epoch that it says, and that of an event's instant in the one after it."""
    playback = Playback(trace, fps=50)
    assert len(playback) == 61 and np.allclose(playback.time, np.arange(61) / 50)
    assert np.bincount(playback.epoch).tolist() == [20, 20, 21]
    for t, k in zip(playback.time, playback.epoch, strict=True):
        assert trace.epochs[k].start <= t <= trace.epochs[k].end


def test_frames_have_the_poses_of_the_samples(trace):
    """Where a frame falls on a sample its parts are where the sample has the links."""
    playback = Playback(trace, fps=50)
    for k, epoch in enumerate(trace.epochs):
        rows = np.flatnonzero(playback.epoch == k)
        expected = link_poses(epoch.mechanism, epoch["q"][: len(rows)])
        for i, part in enumerate(playback.parts):
            p, R = expected.of(part.name)
            assert np.abs(playback.p[rows, i] - p).max() < ROUNDING
            assert np.abs([playback.poses(row).of(part.name)[1] for row in rows] - R).max() < ROUNDING


def test_loops_have_places_and_forces_while_they_are_closed(trace):
    """A loop is shown in its epoch alone, at its frame on the real link, with the force of the samples."""
    playback = Playback(trace, fps=50)
    assert playback.loops == ("hold",)
    assert playback.is_closed[:, 0].tolist() == (playback.epoch == 0).tolist()
    first = trace.epochs[0]
    expected, _ = frame_on(link_poses(first.mechanism, first["q"][:20]), "forearm", vc.Pose((0, 0, -0.5)))
    assert np.abs(playback.loop_places[:20, 0] - expected).max() < ROUNDING
    assert np.array_equal(playback.loop_forces[:20, 0], first.loop("hold")[:20, 3:])
    assert not playback.loop_forces[20:].any()
    longest = playback.framing.arrow_scale * np.linalg.norm(playback.loop_forces, axis=-1).max()
    assert 0.1 * playback.framing.size < longest < 2.0 * playback.framing.size


def test_markers_tell_what_was_cut_where_and_when(trace):
    """Cuts of a loop and of the tree are marked at the place of their joint."""
    playback = Playback(trace)
    hold, elbow = playback.markers
    assert (hold.kind, hold.joint, hold.text, hold.time) == ("cut", "hold", "cut 'hold'", trace.epochs[0].end)
    assert np.allclose(hold.place, (0, 0, 1.0))
    poses = link_poses(trace.epochs[1].mechanism, trace.epochs[1]["q"][-1])
    assert np.allclose(elbow.place, frame_on(poses, "upper arm", vc.Pose((0, 0, -0.5)))[0])


def test_trails_follow_links_and_frames(trace):
    """A trail is the path of a link's origin or of a named frame; an unknown name is an error."""
    playback = Playback(trace, fps=50, trails=["tip", "forearm"])
    forearm = [part.name for part in playback.parts].index("forearm")
    assert np.array_equal(playback.trails["forearm"], playback.p[:, forearm])
    assert np.abs(np.linalg.norm(playback.trails["tip"] - playback.trails["forearm"], axis=1) - 0.5).max() < ROUNDING
    with pytest.raises(vc.UnknownNameError, match="did you mean 'tip'"):
        Playback(trace, trails=["tips"])


def test_between_samples_motion_is_that_of_the_trace(trace):
    """A frame between two samples has the coordinates that `Trace.at` gives."""
    playback = Playback(trace, fps=173)
    for i in (3, 40, 100, 200):
        s = trace.at(float(playback.time[i]))
        epoch = trace.epochs[playback.epoch[i]]
        poses, found = link_poses(epoch.mechanism, s.q), playback.poses(i)
        for name in found.names:
            assert np.abs(found.of(name)[0] - poses.of(name)[0]).max() < ROUNDING


def test_rate_speed_and_number_of_frames(trace):
    """Half the speed has twice the frames, and `most` thins them out evenly."""
    assert len(Playback(trace, fps=20)) == 25
    assert len(Playback(trace, fps=20, speed=0.5)) == 49
    thinned = Playback(trace, fps=50, most=21)
    assert len(thinned) == 21 and np.allclose(np.diff(thinned.time), 3 / 50)
    assert thinned.frame_at(-1.0) == 0 and thinned.frame_at(99.0) == 20 and thinned.frame_at(0.07) == 1


def test_signs_of_quaternions_do_not_jump(trace):
    """From frame to frame the nearer of the two quaternions of an orientation is taken."""
    playback = Playback(trace, fps=50)
    assert (np.einsum("nki,nki->nk", playback.quaternions[1:], playback.quaternions[:-1]) > 0.0).all()


def test_the_camera_sees_what_moves(trace):
    """The ball for the camera holds all origins of moving parts that are above the ground."""
    playback = Playback(trace)
    center, radius = playback.framing.ball
    above = playback.p[:, :2][playback.p[:, :2, 2] >= playback.framing.floor]
    assert np.linalg.norm(above - center, axis=1).max() <= radius
    assert playback.framing.floor == 0.0


def test_a_trace_without_samples_is_refused():
    """Nothing to be shown is an error that says so."""
    with pytest.raises(vc.InputError, match="no samples"):
        Playback(vc.Trace([], {}))


def test_lost_samples_leave_a_gap(trace):
    """Between the ends of what a damaged file has lost there is no frame."""
    epoch = trace.epochs[0]
    damaged = vc.Trace([type(epoch)(0, epoch.structure, epoch._samples, None, ((0.1, 0.2),)), *trace.epochs[1:]], {})
    times = Playback(damaged, fps=50).time
    assert not ((times > 0.1 + 1e-9) & (times < 0.2 - 1e-9)).any() and len(times) == 61 - 4


def test_scenes_need_no_compiler():
    """Frames of a trace are made without Numba: a viewer starts at once."""
    import subprocess

    code = "import sys, varichain.exports, varichain.scene; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_at_all_can_be_played():
    """A mechanism without links has frames without parts, and a camera that looks somewhere."""
    m = vc.Mechanism("nothing")
    with vc.TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(vc.mechanism.description(m), vc.Columns([("time", 1), ("q", 0)]))
        writer.append(np.array([[0.0], [1.0]]))
    playback = Playback(writer.finish(), fps=2)
    assert playback.p.shape == (3, 0, 3) and playback.framing.ball[1] > 0.0 and playback.framing.floor == 0.0
    assert playback.framing.arrow_scale == 0.0 and not playback.framing.follows
