"""A trace in a real browser: it is drawn, plays, steps and seeks, and the panel follows."""

import numpy as np
import pytest

import varichain as vc
from browser.pages import clock, counts, enter, opened, picture, pixel_of, until, wait_for
from scene.test_framing import trace_of
from varichain.scenarios import SCENARIOS

RELEASE = 0.2  # [s] when the right hand lets go
BOTH, ONE = (24, 12, 12), (23, 6, 17)


@pytest.fixture(scope="module")
def trace():
    """A gymnast who lets go with one hand."""
    return SCENARIOS["highbar"](release_right=RELEASE).run(until=0.6)


@pytest.fixture(scope="module")
def view(trace):
    """The trace in the viewer, not playing, on any port."""
    with vc.view(trace, is_paused=True, port=0) as shown:
        yield shown


@pytest.fixture(scope="module")
def lasting_page(view, new_lasting_page):
    """A page for all tests: to open one takes seconds."""
    return opened(view, new_lasting_page)


@pytest.fixture
def page(view, lasting_page):
    """The page at the beginning of the trace, paused; it has drawn that, and nothing else is on its way."""
    view.pause()
    view.seek(0.0)
    until(lasting_page, lambda: view._frame == 0)
    view.pictures.wait()
    wait_for(lasting_page, "0.000 s", "#time")
    lasting_page.get_by_role("button", name="Play").wait_for()
    return lasting_page


def test_the_figure_is_drawn(view, trace, page):
    """Where the torso is seen there is a bluish body, where nothing is there is the background."""
    x, y = pixel_of(view, page, vc.pose(trace.epochs[0].mechanism, trace.at(0.0), "torso").p)
    until(page, lambda: np.ptp(picture(page)[y, x]) > 10)
    image = picture(page)
    red, _, blue = image[y, x]
    assert blue > red
    assert (image[2, -2] > 230).all()  # sky
    assert counts(page) == BOTH and "left forearm" in page.inner_text("#tree")


def test_it_plays_and_pauses(view, page):
    """Play moves the figure and the clock; at the end it stops, and Play begins again."""
    before = picture(page)
    view._speed.value = "0.05"  # slowly while it is looked for that it plays: a busy browser draws seldom
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    view._speed.value = "1"
    wait_for(page, "0.600 s", "#time")
    page.get_by_role("button", name="Play").wait_for()
    until(page, lambda: (np.abs(picture(page) - before).max(axis=-1) > 40).mean() > 0.002)
    assert counts(page) == ONE and "cut 'right hold'" in page.inner_text("#log")
    view._speed.value = "0.05"
    page.get_by_role("button", name="Play").click()
    until(page, lambda: clock(page) < 0.6)
    view._speed.value = "1"


def test_the_slider_seeks(page):
    """A time that is set is shown, on either side of an event, with the structure that there was."""
    number = page.locator("input.mantine-NumberInput-input").first
    for time, expected in ((RELEASE + 0.1, ONE), (RELEASE - 0.1, BOTH)):
        enter(page, number, time, lambda time=time: page.inner_text("#time") == f"{time:.3f} s")
        assert counts(page) == expected


def test_steps_go_to_and_fro(page):
    """Ten steps on and one back are nine frames."""
    page.get_by_role("button", name="+10").click()
    wait_for(page, "0.100 s", "#time")
    page.get_by_role("button", name="-1", exact=True).click()
    wait_for(page, "0.090 s", "#time")


def test_keys_play_and_step(view, page):
    """The arrow keys step to and fro, space plays and pauses."""
    page.mouse.click(5, 5)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    wait_for(page, "0.030 s", "#time")
    page.keyboard.press("ArrowLeft")
    wait_for(page, "0.020 s", "#time")
    view._speed.value = "0.05"
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Play").wait_for()
    view._speed.value = "1"


def blue(page):
    """Share of the picture that is as blue as a link without a colour of its own."""
    image = picture(page)
    return float((image[..., 2] - image[..., 0] > 20).mean())


@pytest.mark.long
def test_the_camera_goes_along(new_page):
    """A ball that goes twenty metres is as large at the end as at the beginning; without Follow it is gone."""
    t = np.linspace(0.0, 10.0, 101)
    places = np.stack([2.0 * t, 0.0 * t, 0.0 * t + 0.2], axis=1)
    with vc.view(trace_of(places, rate=10), is_paused=True, port=0) as shown:
        page = opened(shown, new_page)
        until(page, lambda: blue(page) > 0.02)
        first = blue(page)
        shown.seek(10.0)
        wait_for(page, "10.000 s", "#time")
        shown.pictures.wait()
        until(page, lambda: abs(blue(page) - first) < 0.25 * first)
        page.get_by_text("Show", exact=True).click()
        page.get_by_label("Follow", exact=True).click()
        until(page, lambda: blue(page) < 0.1 * first)
