"""glTF files as Blender has them; skipped where its module bpy is not installed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import varichain as vc
from export.test_every_scenario import trace_of
from varichain.scene import Playback

FIGURES = ("highbar", "swing", "holdinghands", "walk", "chair", "fall")
RATE = 24  # frames a second of Blender
EVERY = 12  # of these frames that are looked at
CLOSE = 1e-6  # [m]; single precision is good for half of that at the end of the walk, 7 m from the origin

needs_blender = pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="needs Blender as a module, bpy")


def read_by_blender(path, frames):
    """Places of bones and objects in these frames, by name."""
    program = Path(__file__).with_name("blender_reader.py")
    words = [sys.executable, str(program), str(path), *map(str, frames)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("places"))[7:])


@needs_blender
@pytest.mark.parametrize("name", FIGURES)
def test_blender_has_the_links_where_the_trace_has_them(name, tmp_path):
    """Bones of armatures and links by themselves are within a micrometre, wherever the figure has gone."""
    trace = trace_of(name)
    vc.export(trace, tmp_path / "run.glb", fps=RATE)
    playback = Playback(trace, fps=RATE)
    frames = range(0, len(playback), EVERY)
    worst = 0.0
    for i, places in zip(frames, read_by_blender(tmp_path / "run.glb", frames), strict=True):
        for k, part in enumerate(playback.parts):
            if playback.is_shown[i, k]:
                worst = max(worst, np.abs(np.array(places[part.name]) - playback.p[i, k]).max())
    assert 0.0 < worst < CLOSE
