"""Films, pages, animations and BVH of every scenario and of every example, looked at by pixels."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import varichain as vc
from export.test_animations import content_of, validated
from export.test_export_files import data_of
from scene.test_framing import ASPECT, seen
from varichain.scenarios import SCENARIOS
from varichain.scene import Playback

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import draw_films

FRAMES = 5
SHORTER = {"inchworm": 1.0, "race": 0.5, "boxes": 1.2, "fall": 1.0, "walker": 2.0}  # [s]
QUICK = (*(name for name in SCENARIOS if name != "race"), "04_let_go")  # the others are among the long tests
APART = ("05_particles", "12_what_if")  # what comes apart is no hierarchy
SIZE = (240, 160)


def _once(name):
    """A run that all its tests share; most examples are among the long tests."""
    marks = [] if name in QUICK else [pytest.mark.long]
    return pytest.param(name, marks=marks)


@pytest.fixture(scope="module", params=[_once(name) for name in (*SCENARIOS, *draw_films.EXAMPLES)])
def run(request):
    """Name and trace of a run: a whole one, if that does not take long."""
    return request.param, trace_of(request.param)


@cache
def trace_of(name):
    """Trace of a scenario or example; the fixture may be set up more than once."""
    if name in SCENARIOS:
        return SCENARIOS[name]().run(until=SHORTER.get(name))
    return draw_films.trace_of(name)


def rate(trace):
    """Frames a second at which the run has `FRAMES` frames."""
    return (FRAMES - 1) / (trace.epochs[-1].end - trace.epochs[0].start)


def coloured(picture):
    """Share of pixels that are neither background, ground, shadow nor letters: these are all grey."""
    spread = picture.max(axis=-1).astype(int) - picture.min(axis=-1)
    return float((spread > 30).mean())


def test_a_film_shows_the_mechanism_in_every_frame(run, tmp_path):
    """Every frame of the film has coloured links in it, and frames differ."""
    pytest.importorskip("pyvista")
    image = pytest.importorskip("PIL.Image")
    name, trace = run
    path = tmp_path / f"{name}.gif"
    done = vc.export(trace, path, fps=rate(trace), size=SIZE)
    pictures = []
    with image.open(path) as film:
        for i in range(film.n_frames):
            film.seek(i)
            pictures.append(np.asarray(film.convert("RGB")))
    assert done.n_frames == FRAMES
    assert min(map(coloured, pictures)) > 0.002, [*map(coloured, pictures)]
    assert np.abs(pictures[0].astype(int) - pictures[2]).max() > 50


def test_the_figure_is_large_and_inside(run):
    """What moves is inside the picture in every frame, and as long as a third of the picture's height in most."""
    _, trace = run
    playback = Playback(trace, 30.0)
    frames = [i for i in np.linspace(0, len(playback) - 1, 15).astype(int) if playback.is_shown[i].any()]
    corners = [seen(playback, i) for i in frames]
    assert max(np.abs(points).max() for points in corners) < 1.0
    assert np.median([(np.ptp(points, axis=0) * (ASPECT, 1.0)).max() / 2.0 for points in corners]) > 1.0 / 3.0


def test_pages_and_animations_have_every_link(run, tmp_path):
    """A page and a valid glTF file are written with all links, BVH with all frames."""
    name, trace = run
    parts = [part.name for part in Playback(trace, rate(trace)).parts]
    vc.export(trace, tmp_path / "run.html", fps=rate(trace))
    assert len(data_of(tmp_path / "run.html")["parts"]) == len(parts)
    assert vc.export(trace, tmp_path / "whole.html").size < 1_600_000
    vc.export(trace, tmp_path / "run.glb", fps=rate(trace))
    assert {*parts} <= {node["name"] for node in content_of(tmp_path / "run.glb")[0]["nodes"]}
    if name in APART:
        with pytest.raises(vc.InputError, match="BVH has one hierarchy for the whole run"):
            vc.export(trace, tmp_path / "run.bvh", fps=rate(trace))
    else:
        assert vc.export(trace, tmp_path / "run.bvh", fps=rate(trace)).n_frames == FRAMES
    assert validated(tmp_path / "run.glb")["messages"] == []
