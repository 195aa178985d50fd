"""Pages of every scenario in a real browser, and films of whole runs: minutes, so `make test-long` runs them."""

import subprocess

import numpy as np
import pytest

import varichain as vc
from browser.test_offline_page import Opened
from export.test_every_scenario import coloured
from varichain.scenarios import SCENARIOS

pytestmark = pytest.mark.long
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the frames that are looked at."""


@pytest.fixture(scope="module", params=[*SCENARIOS])
def trace(request):
    """A whole run."""
    return SCENARIOS[request.param]().run()


def test_a_page_shows_the_mechanism_at_all_times(trace, browser, tmp_path):
    """From its beginning to its end a page has coloured links in it, asks for nothing and complains of nothing."""
    vc.export(trace, tmp_path / "run.html")
    context = browser.new_context(viewport={"width": 800, "height": 600}, offline=True)
    opened = Opened(context.new_page(), (tmp_path / "run.html").as_uri())
    for share in SHARES:
        opened.page.evaluate(f"replay.seek(Math.round({share} * (replay.frames - 1)))")
        assert coloured(opened.pixels()) > 0.002, share
    assert len(opened.requests) == 1 and opened.complaints == []
    context.close()


def test_a_film_of_the_whole_run_shows_the_mechanism_in_every_frame(trace, tmp_path):
    """Every frame of the decoded film has coloured links in it; smaller films have thin rods in grey."""
    pytest.importorskip("pyvista")
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    done = vc.export(trace, tmp_path / "run.mp4", size=(640, 360), fps=10)
    decode = [ffmpeg.get_ffmpeg_exe(), "-i", str(tmp_path / "run.mp4"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    decoded = subprocess.run(decode, capture_output=True, check=True).stdout
    frames = np.frombuffer(decoded, np.uint8).reshape(-1, 360, 640, 3)
    assert len(frames) == done.n_frames
    assert min(map(coloured, frames)) > 0.001
