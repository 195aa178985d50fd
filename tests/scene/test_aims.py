"""Tracked points and their targets: in playbacks, pages, films, the viewer and plots."""

import base64
import json
import re

import numpy as np
import pytest

import varichain as vc
from varichain import animation as an
from varichain.exports.look import Look
from varichain.exports.page import page_of
from varichain.scene import Playback, palette
from zoo import double_pendulum


@pytest.fixture(scope="module")
def trace():
    """A double pendulum that falls while its tip is wanted elsewhere, from 0.1 s on."""
    m = double_pendulum()
    s = m.state()
    s.q = (0.5, 0.3)
    end = m.links[-1].name
    space = vc.AnimationSpace(m, {"tip": an.point(end), "bend": an.coordinate(m.joints[1].name)})
    tracks = {"tip": an.Track([0.4, 0.0, -0.4], begins=0.1, blend=0.0), "bend": 0.2}
    return vc.simulate(m, s, 0.3, controller=an.Watch(space, tracks), step=0.01)


def test_playbacks_have_points_and_targets(trace):
    """A tracked point is where its link is in every frame; a target is where it is wanted, once it is wanted."""
    playback = Playback(trace, fps=25.0)
    ((name, (tracked, targets)),) = playback.aims.items()
    m = trace.epochs[0].mechanism
    assert name == "tip"
    for i, t in enumerate(playback.time):
        assert tracked[i] == pytest.approx(vc.pose(m, trace.at(t), m.links[-1].name).p, abs=1e-4)  # linear in between
    assert np.isnan(targets[playback.time < 0.09]).all()
    assert targets[-1] == pytest.approx([0.4, 0.0, -0.4])
    assert np.isfinite(playback.framing.outline).all()


def test_pages_have_them(trace):
    """A page carries both paths of every tracked point, and names them in its legend."""
    page = page_of(Playback(trace), Look())
    data = json.loads(re.search(r"<script[^>]*json[^>]*>(.*?)</script>", page, re.DOTALL)[1])
    ((tracked, targets),) = data["aims"]
    paths = [np.frombuffer(base64.b64decode(path), "<f4").reshape(-1, 3) for path in (tracked, targets)]
    assert paths[0].shape == paths[1].shape and np.isfinite(paths[0]).all() and np.isfinite(paths[1][-1]).all()


def test_films_show_the_target(trace):
    """A picture has pixels of the target's colour when there is a target, and none before."""
    pytest.importorskip("pyvista")
    from varichain.exports.picture import Painter

    playback = Playback(trace, fps=20.0)
    painter = Painter(playback, (320, 240))
    color = np.round(255 * np.array(palette.TARGET[:3])).astype(int)
    found = [
        int((np.abs(painter.image(i).astype(int) - color).max(axis=-1) < 12).sum()) for i in (0, len(playback) - 1)
    ]
    painter.close()
    assert found[0] == 0 and found[1] > 10


def test_a_replay_shows_them(trace):
    """The viewer has a ball for the point and one for its target, which hides as long as there is none."""
    pytest.importorskip("viser")
    from varichain.viewer.replay import ReplayView

    with ReplayView(trace, port=0, is_playing=False) as view:
        point, target = view.instant._aims["tip"]
        assert point.visible and not target.visible
        view.seek(0.3)
        view._show_frame(len(view._playback) - 1)
        assert target.visible and np.allclose(target.position, [0.4, 0.0, -0.4])


def test_plots_have_functions_and_what_is_wanted(trace):
    """Each number of a function is a line, with a dotted one for what is wanted of it."""
    pytest.importorskip("matplotlib")
    figure = vc.plot(trace, "functions")
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert {"tip[0]", "tip[0] wanted", "bend", "bend wanted"} <= set(lines)
    assert lines["bend wanted"].get_linestyle() == ":"
    assert np.nanmax(lines["bend wanted"].get_ydata()) == pytest.approx(0.2)


def test_traces_without_trackers_have_none():
    """A trace without tracked points has no aims, and no panel of functions."""
    m = double_pendulum()
    trace = vc.simulate(m, m.state(), 0.05, step=0.01)
    assert Playback(trace).aims == {}
    pytest.importorskip("matplotlib")
    with pytest.raises(vc.InputError, match="nothing for functions"):
        vc.plot(trace, "functions")
