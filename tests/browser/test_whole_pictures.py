"""Never two structures in one picture: a run that changes all the time, photographed in a real browser."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import varichain as vc
from browser.pages import opened, picture, until
from varichain.mechanism.describe import description
from varichain.simulation.live_frames import LiveFrame, LiveStructure
from varichain.viewer.camera import frame_camera

PLACE = 0.5  # [m] to either side
PAUSE = 0.3  # [s]
MIDDLE = 120  # column between the places of the two structures
SLOW = """() => { const wait = () => { const end = performance.now() + 500; while (performance.now() < end); \
requestAnimationFrame(wait); }; wait(); }"""


def block(is_tied):
    """A block on a slide, on the left and tied to the ground or on the right and free: mechanism and coordinates."""
    m = vc.Mechanism("block")
    box = vc.Box(size=(0.4, 0.4, 0.4))
    m.add_link("block", "ground", vc.Prismatic("x", name="slide"), (0, 0, 1), vc.Inertia.sphere(1.0, 0.1), box)
    s = m.state()
    s["slide"].q = -PLACE if is_tied else PLACE
    if is_tied:
        m.connect("block", "ground", vc.Revolute("y", name="tie"), state=s)
    return m, s.q.copy()


class Restless:
    """A run that goes to and fro between two structures, each with its own place, faster than anybody can draw.

    It waits for `is_calm` to be unset: a page opens slowly while everything changes.
    """

    def __init__(self):
        self._kinds = [block(True), block(False)]
        self.n, self.has_ended, self.is_calm = 0, False, True

    @property
    def frame(self):
        """The newest frame; three of them are of one structure."""
        number = self.n // 3
        m, q = self._kinds[number % 2]
        loads = np.zeros((len(m.virtual_links), 6))
        loads[:, 5] = 9.81
        structure = LiveStructure(number, description(m), "", (1, 0, 1), (f"structure {number}",))
        clock = {"speed": 1.0, "rate": 1.0, "is_paused": False, "message": "", "until": None, "is_kept": False}
        forces = {"loop_forces": loads, "contact_forces": np.zeros((0, 3)), "contact_modes": np.zeros(0)}
        more = {"energy": (0.0,) * 3, "drag": None, "reports": (), "aims": {}, "structure": structure}
        return LiveFrame(time=0.01 * self.n, q=q, v=np.zeros(len(q)), **forces, **clock, **more)

    def subscribe(self):
        """The run itself."""
        return self

    def next(self, timeout=None):
        """The next frame."""
        if self.is_calm:
            return None
        self.n += 1
        return self.frame

    def close(self):
        """Nothing to close."""

    resume = pause = step = undo = reset = hold = close


def seen(page):
    """Columns of the picture where the block is, as tied (orange), and as free (blue)."""
    image = picture(page)
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    is_tied, is_free = (red - blue > 60) & (red - green > 15), (blue - red > 25)
    return SimpleNamespace(tied=np.flatnonzero(is_tied.sum(axis=0) > 20), free=np.flatnonzero(is_free.sum(axis=0) > 20))


def _draw_slowly(stage):
    """Let a picture of another structure take long between its structure and its poses: halves would be caught."""
    present = stage.present

    def slow(number):
        present(number)
        time.sleep(PAUSE)

    stage.present = slow


@pytest.fixture
def source():
    """A run that changes all the time."""
    return Restless()


@pytest.fixture
def page(source, new_page):
    """A page that shows it, with both places in the picture."""
    from varichain.viewer import LiveView

    with LiveView(source, port=0) as view:
        frame_camera(view.server, np.array([0.0, 0.0, 1.0]), 0.8)
        page = opened(view, new_page)
        page.set_viewport_size({"width": 600, "height": 300})
        until(page, lambda: len(seen(page).tied) or len(seen(page).free))  # the first picture
        _draw_slowly(view.stage)
        source.is_calm = False
        yield page


def photograph(page, n):
    """Look at n pictures at least, and until both structures were seen: each is one of them, whole."""
    kinds = []

    def is_enough():
        found = seen(page)
        is_tied = bool(len(found.tied))
        assert is_tied != bool(len(found.free)), found
        assert (np.median([*found.tied, *found.free]) < MIDDLE) == is_tied, found
        kinds.append(is_tied)
        return len(kinds) >= n and len({*kinds}) == 2

    until(page, is_enough)


def test_no_picture_has_two_structures(source, page):
    """The block is orange on the left, or blue on the right, and nothing else, while structures change."""
    before = source.n
    photograph(page, 4)
    assert source.n > before + 3  # it did change meanwhile


@pytest.mark.long
def test_no_picture_of_a_slow_browser_has_two_structures(page):
    """In a browser that draws at most two pictures a second too, each picture is of one structure."""
    page.evaluate(SLOW)
    photograph(page, 12)
