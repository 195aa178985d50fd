"""Exported pages in a real browser, from a file, with the network off."""

import io

import numpy as np
import pytest

import shows
import varichain as vc
from browser.pages import until
from scene.test_framing import trace_of


class Opened:
    """A page, and what its browser asked for and complained of."""

    def __init__(self, page, address):
        self.page, self.requests, self.complaints = page, [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.goto(address)

    def pixels(self):
        """What is on the canvas (height, width, 3), once all that was asked for has been drawn."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        image = pytest.importorskip("PIL.Image")
        with image.open(io.BytesIO(self.page.locator("canvas").screenshot())) as picture:
            return np.array(picture.convert("RGB"), dtype=int)

    def at_rest(self):
        """The same, once nothing changes any more: what is told of an event fades."""
        found = [self.pixels()]

        def is_still():
            found.append(self.pixels())
            told = self.page.evaluate("getComputedStyle(document.getElementById('toast')).opacity")
            return np.abs(found[-1] - found[-2]).max() == 0 and float(told) == 0.0

        until(self.page, is_still)
        return found[-1]


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """A replay of the arm in a browser that has no network."""
    path = tmp_path_factory.mktemp("page") / "arm & co.html"
    vc.export(shows.show(), path, trails=["tip"])
    context = browser.new_context(viewport={"width": 800, "height": 600}, offline=True)
    yield Opened(context.new_page(), path.as_uri())
    context.close()


def is_red(pixels):
    """Where the picture is as red as the upper arm."""
    return pixels[..., 0] - pixels[..., 1:].max(axis=-1) > 60


def test_the_page_shows_the_mechanism_without_a_network(opened):
    """The figure is drawn in its colours, with name, structure and marks of events; nothing else was asked for."""
    page, pixels = opened.page, opened.pixels()
    assert 0.0005 < is_red(pixels).mean() < 0.2
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 200
    assert page.locator("h1").text_content() == "arm <&>"
    assert "1 loop" in page.locator("#structure").text_content()
    assert page.locator(".tick").count() == 2
    assert [url.startswith("file://") for url in opened.requests] == [True]
    assert opened.complaints == []


def test_the_slider_seeks_and_events_are_told(opened):
    """Behind the first cut the loop is gone, its place is marked, and the clock shows the frame's time."""
    page = opened.page
    before = opened.pixels()
    page.locator("#slider").fill("30")
    assert page.evaluate("replay.frame") == 30
    assert page.locator("#time").text_content().startswith("0.500 s")
    assert "0 loops" in page.locator("#structure").text_content()
    assert page.locator("#toast").text_content() == "cut 'hold'"
    assert page.locator(".mark:visible").count() == 1
    assert np.abs(opened.pixels() - before).max() > 100


def test_play_moves_the_figure_and_pause_stops_it(opened):
    """While it plays time goes on and the picture changes; paused, both stand still."""
    page = opened.page
    page.locator("#slider").fill("0")
    start = opened.pixels()
    page.locator("#speed").select_option("0.1")
    page.locator("#play").click()
    until(page, lambda: page.evaluate("replay.time") > 0.1)
    page.locator("#play").click()
    stopped, picture = page.evaluate("replay.time"), opened.pixels()
    assert stopped > 0.1 and (is_red(picture) != is_red(start)).any()
    page.wait_for_timeout(100)
    assert page.evaluate("replay.time") == stopped
    page.keyboard.press("ArrowRight")
    assert page.evaluate("replay.time") > stopped


def test_the_mouse_turns_the_camera(opened):
    """Dragging on the canvas shows the figure from elsewhere; a double click goes back."""
    page = opened.page
    page.locator("#slider").fill("0")
    before = opened.at_rest()
    page.mouse.move(300, 300)
    page.mouse.down()
    page.mouse.move(420, 330)
    page.mouse.up()
    until(page, lambda: (is_red(opened.pixels()) != is_red(before)).any())  # drawn when the browser finds the time
    page.mouse.dblclick(300, 300)
    until(page, lambda: np.abs(opened.pixels() - before).max() == 0)
    assert opened.complaints == []


OVERLAPS = """() => {
  const style = e => getComputedStyle(e);
  const seen = e => style(e).visibility === "visible" && style(e).opacity > 0 && e.offsetParent !== null;
  const all = [...document.querySelectorAll(".mark span, .name, #toast, #head, #key")].filter(seen);
  const boxes = all.map(e => [e.textContent, e.getBoundingClientRect()]).filter(([_, r]) => r.width);
  const found = [];
  const isOver = (r, s) => r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 2 && s.top < r.bottom - 2;
  boxes.forEach(([a, r], i) => boxes.slice(i + 1).forEach(([b, s]) => { if (isOver(r, s)) found.push([a, b]); }));
  return [boxes.map(([text]) => text), found]; }"""
"""Texts that are seen, and pairs of them that lie over each other by more than a pixel or two."""


@pytest.mark.parametrize("size", [(390, 700), (700, 420), (1280, 720)])
def test_texts_do_not_lie_over_each_other(browser, tmp_path, size):
    """Names of a person's links, the mark of a cut, what is told of it, title and legend: each is to be read."""
    m = vc.figures.human40()
    s = m.state()
    m.connect("left hand", "ground", vc.Spherical(), state=s, name="left hold of a very long name")
    run = vc.simulate(m, s, 0.3, step=0.01, limits="off", events=[vc.at(0.1, vc.cut("left hold of a very long name"))])
    vc.export(run, tmp_path / "person.html", labels=True)
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=True)
    opened = Opened(context.new_page(), (tmp_path / "person.html").as_uri())
    opened.page.evaluate("replay.seek(12)")  # 0.2 s
    shown = "getComputedStyle(document.getElementById('toast')).opacity"
    until(opened.page, lambda: opened.page.evaluate(shown) == "1")
    texts, over = opened.page.evaluate(OVERLAPS)
    assert over == [] and opened.complaints == []
    assert sum("cut 'left hold" in text for text in texts) == 2  # at its place, and what is told
    assert len({link.name for link in m.links} & {*texts}) == len(m.links)
    context.close()


def test_the_page_goes_along_with_who_goes_far(browser, tmp_path):
    """A ball that goes twenty metres is large from the beginning to the end; if it is not followed, it is small."""
    t = np.linspace(0.0, 10.0, 301)
    vc.export(trace_of(np.stack([2.0 * t, 0.0 * t, 0.0 * t + 0.2], axis=1)), tmp_path / "ball.html")
    context = browser.new_context(viewport={"width": 600, "height": 400}, offline=True)
    opened = Opened(context.new_page(), (tmp_path / "ball.html").as_uri())
    shares = []
    for is_followed in (True, False):
        opened.page.locator("#follow").set_checked(is_followed)
        for share in (0.0, 0.5, 1.0):
            opened.page.evaluate(f"replay.seek(Math.round({share} * (replay.frames - 1)))")
            pixels = opened.pixels()
            shares.append((pixels[..., 2] - pixels[..., 0] > 25).mean())
    assert min(shares[:3]) > 0.05 > 0.01 > max(shares[3:]), shares
    context.close()
