"""What cameras show of a run, where they go along, and the signs of fixed pivots."""

import numpy as np
import pytest

import varichain as vc
from varichain.mechanism import description
from varichain.scenarios import SCENARIOS
from varichain.scene import Playback, scene_of
from varichain.scene.camera import ANGLE, axes_of, fitted, smoothed
from varichain.scene.poses import link_poses, matrices_from_quaternions
from varichain.scene.scene import corners_of
from varichain.scene.supports import support_corners, supports_of

VIEW, ASPECT = (-1.05, 0.16), 16 / 9
ROUNDING = 1e-9


def seen(playback, i):
    """Where the corners of what moves are in the picture of frame i: from -1 to 1 in its width and its height."""
    framing = playback.framing
    points = framing.figure if framing.follows else framing.outline
    center, distance = fitted(points, VIEW, ASPECT)
    center = center + framing.path[i] if framing.follows else center
    right, up, back = axes_of(VIEW)
    found = []
    for k in framing.moving:
        if playback.is_shown[i, k] and playback.p[i, k, 2] >= framing.floor:
            corners = np.concatenate([corners_of(surface.triangles.vertices) for surface in playback.parts[k].surfaces])
            world = playback.p[i, k] + corners @ matrices_from_quaternions(playback.quaternions[i, k]).T - center
            depth = np.tan(0.5 * ANGLE) * (distance - world @ back)
            found.append(np.stack([world @ right / (ASPECT * depth), world @ up / depth], axis=1))
    return np.concatenate(found)


def trace_of(places, rate=30):
    """Trace of a ball of 0.2 m that is at places (n, 3) [m]."""
    m = vc.Mechanism("ball")
    m.add_link("ball", joint=vc.Free(name="way"), inertia=vc.Inertia.sphere(1.0, 0.2), shapes=[vc.Sphere(0.2)])
    with vc.TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(description(m), vc.Columns([("time", 1), ("q", 7)]))
        writer.append(np.array([[i / rate, 1.0, 0.0, 0.0, 0.0, *place] for i, place in enumerate(places)]))
        return writer.finish()


def test_the_camera_goes_along_with_who_goes_far():
    """A ball that hops twenty metres is large, and in the picture, in every frame; the camera does not hop with it."""
    t = np.linspace(0.0, 10.0, 301)
    hops = np.abs(0.3 * np.sin(6.0 * t))
    playback = Playback(trace_of(np.stack([2.0 * t, 0.0 * t, 0.2 + hops], axis=1)))
    framing = playback.framing
    assert framing.follows
    for i in range(0, 301, 20):
        corners = seen(playback, i)
        assert np.abs(corners).max() < 1.0 and np.ptp(corners, axis=0).max() / 2.0 > 1.0 / 3.0, i
    assert np.ptp(framing.path[60:-60, 2]) < 0.2 * np.ptp(hops)  # its ends are those of the ball
    assert framing.path[:, 0] == pytest.approx(2.0 * t, abs=ROUNDING)
    assert framing.shift(0) == pytest.approx(np.zeros(3)) and framing.shift(300)[0] == pytest.approx(20.0)


def test_the_camera_stands_where_it_can():
    """A ball that goes to and fro by its own size is seen by a camera that stands."""
    t = np.linspace(0.0, 3.0, 91)
    playback = Playback(trace_of(np.stack([0.2 * np.sin(4.0 * t), 0.0 * t, 0.0 * t + 0.2], axis=1)))
    assert not playback.framing.follows
    assert not playback.framing.shift(50).any()
    assert all(np.abs(seen(playback, i)).max() < 1.0 for i in range(91))


def test_smoothing_keeps_what_is_straight_and_loses_what_trembles():
    """A steady way is kept to its ends, however wide the bell; a tremble of a few frames is gone."""
    steady = np.linspace([0.0, 1.0, 2.0], [30.0, 1.0, -4.0], 61)
    trembling = steady + 0.1 * np.sin(2.0 * np.arange(61))[:, None]
    for width in (0.01, 3.0, 15.0, 1000.0):
        assert np.abs(smoothed(steady, width) - steady).max() < ROUNDING
    assert np.abs(smoothed(trembling, 8.0)[20:-20] - steady[20:-20]).max() < 0.01
    assert (smoothed(steady[:1], 5.0) == steady[:1]).all()


@pytest.mark.parametrize(("name", "sides"), [("fourbar", [False, False]), ("pendulum", [True]), ("compass", [])])
def test_fixed_pivots_have_supports(name, sides):
    """A linkage stands on its supports, a pendulum hangs from one, and a walker that floats has none."""
    scenario = SCENARIOS[name]()
    playback = vc.draw(scenario.mechanism, scenario.state).playback
    (supports,) = playback.framing.supports
    assert [support.is_above for support in supports] == sides
    places = {joint.name: joint.at.p for joint in playback.scenes[0].joints}
    for support in supports:
        assert support.place == pytest.approx(places[support.joint])
    if name == "fourbar":
        corners = [support_corners(support, playback.scenes[0].mark) for support in supports]
        assert np.min(corners, axis=(0, 1))[2] == pytest.approx(playback.framing.floor)  # they stand on the ground


def test_what_stands_on_one_support_hangs_from_none():
    """The man of rods stands on his foot and sits on his chair: both supports are below."""
    scenario = SCENARIOS["seat"]()
    poses = link_poses(scenario.mechanism, scenario.state.q)
    supports = supports_of(scene_of(scenario.mechanism), poses)
    assert [support.is_above for support in supports] == [False, False]


def test_the_ground_is_below_what_pivots_hold():
    """An arm on a pivot at the ground, which swings below it, has its ground below; one that stays above has not."""
    for angle, is_below in ((3.0, True), (0.5, False)):
        m = vc.Mechanism("arm")
        rod = vc.Capsule(0.02, 0.5, at=(0, 0, 0.25))
        m.add_link("rod", joint=vc.Revolute("y", name="hinge"), inertia=vc.Inertia.sphere(1.0, 0.1), shapes=[rod])
        with vc.TraceWriter() as writer:
            writer.begin({})
            writer.open_epoch(description(m), vc.Columns([("time", 1), ("q", 1)]))
            writer.append(np.array([[0.0, 0.0], [1.0, angle]]))
            framing = Playback(writer.finish()).framing
        foot = min(corner[2] for corner in support_corners(framing.supports[0][0], framing._playback.scenes[0].mark))
        lowest = 0.5 * np.cos(angle) - 0.02
        assert framing.floor == pytest.approx(foot) if not is_below else framing.floor < lowest


def test_supports_are_drawn():
    """A PNG has the dark sign of a support below a pivot; without marks of joints it is not there."""
    pytest.importorskip("pyvista")
    from varichain.exports.look import Look
    from varichain.exports.picture import Painter

    scenario = SCENARIOS["fourbar"]()
    playback = vc.draw(scenario.mechanism, scenario.state).playback
    shares = []
    for joints in (True, False):
        painter = Painter(playback, (480, 300), Look(joints=joints, ground=False, title=False, forces=False))
        image = painter.image(0).astype(int)
        painter.close()
        is_dark = (image.max(axis=-1) < 110) & (np.ptp(image, axis=-1) < 30)  # links are blue and orange
        shares.append(is_dark[200:].mean())
    assert shares[0] > 0.02 and shares[1] < 0.002, shares
