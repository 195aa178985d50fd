"""The documentation site in a real browser: pages, pictures, films and a notebook, without a network; a minute."""

import os
import re
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from browser.pages import until
from browser.test_offline_page import Opened

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "index",
    "tutorial",
    "how-to",
    "gallery",
    "looks",
    "api/simulation",
    "theory/structure-varying-chains",
    "coming-from",
)
LOST = "() => [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, env=environment, check=True, capture_output=True)
    return folder


@pytest.fixture
def show(browser, site):
    """Open a page of the site in a browser that has no network."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)

    def opened(name):
        found = Opened(context.new_page(), (site / f"{name}.html").as_uri())
        found.page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
        found.page.wait_for_load_state("load")
        return found

    yield opened
    context.close()


def complaints(opened):
    """What a browser has to say about a page, but for what it forbids to pages that are files."""
    return [text for text in opened.complaints if "file://" not in text and "CORS" not in text]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_pictures_and_asks_nobody(show, name):
    """Every picture is there, nothing was asked of the network, and the browser complains of nothing."""
    opened = show(name)
    assert opened.page.locator("h1").first.is_visible()
    opened.page.wait_for_function(f"({LOST})().length === 0")
    assert all(url.startswith(("file://", "data:")) for url in opened.requests)
    assert complaints(opened) == []


# Questions that people asked with a watch: words of its link on the front page, the page and heading with the answer,
# what is read there, and what is typed into the search box.
QUESTIONS = {
    "run a scenario": ("how-to#run-a-scenario-and-export-a-film", "varichain export swing.h5", "export scenario"),
    "my own controller": ("how-to#use-a-controller-of-my-own", "returns torques by joint name", "own controller"),
    "floating base": ("how-to#load-a-robot-with-a-floating-base", 'base="free"', "floating base"),
    "limits of a person": ("figures#limits", "Ranges [deg]", "limits person"),
    "torques of a squat": ("how-to#get-the-torques-of-a-posture", "left knee [", "torques squat"),
    "still picture": ("how-to#draw-a-still-picture", "vc.draw(m, s,", "still picture"),
    "inverse kinematics": ("how-to#place-a-hand-inverse-kinematics", "vc.animation.reach", "inverse kinematics"),
    "stand on the ground": ("how-to#stand-on-the-ground-or-land", "m.add_floor(", "contact ground"),
    "list all functions": ("api/index", "Structure", "all functions"),
    "MuJoCo": ("coming-from#from-mujoco", "mjModel", "from mujoco"),
}
WORD = 0.3  # [s] to read one: 200 a minute
CLICK = 1.5  # [s]
MINUTE = 50.0  # [s] of reading and clicking, which leaves ten for loading
RESULTS = 15  # of a search that are looked at

ABOVE = """link => { const range = document.createRange(); range.setStart(document.querySelector("article"), 0);
  range.setEndBefore(link); return range.toString(); }"""
FOUND = """([name, n]) => [...document.querySelectorAll(".md-search-result__link")].slice(0, n)
  .some(link => link.href.includes(name))"""
BELOW = """([id, words]) => { const text = document.querySelector("article").innerText;
  const head = id ? document.getElementById(id).innerText.replace("\u00b6", "").trim() : "";
  const from = text.indexOf(head), to = text.indexOf(words, from);
  return from < 0 || to < 0 ? null : text.slice(from, to + words.length); }"""


def reading(text):
    """Seconds that it takes to read a text."""
    return WORD * len(re.findall(r"\w[\w'.=-]*", text))


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_front_page_answers_a_question_within_a_minute(show, question):
    """Who reads the front page from its top to the link, clicks, and reads on to the answer has it in a minute."""
    where, words, _ = QUESTIONS[question]
    page = show("index").page
    link = page.locator("#questions-that-people-ask-first ~ .md-typeset__scrollwrap a", has_text=question).first
    assert link.bounding_box()["y"] < 900  # without scrolling
    seconds = reading(link.evaluate(ABOVE)) + CLICK
    link.click()
    page.wait_for_load_state("load")
    name, _, heading = where.partition("#")
    assert page.url.endswith(f"{name}.html#{heading}" if heading else f"{name}.html")
    read = page.evaluate(BELOW, [heading, words])
    assert read is not None and seconds + reading(read) < MINUTE


@pytest.fixture(scope="module")
def address(site):
    """Address of the site on this machine: browsers search no pages that are files."""
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("question", QUESTIONS)
def test_two_words_in_the_search_box_lead_to_the_answer(new_page, address, question):
    """The page with the answer is among the first results."""
    where, _, words = QUESTIONS[question]
    page = new_page()
    page.set_viewport_size({"width": 1200, "height": 900})  # where the search box is seen
    page.goto(f"{address}/index.html")
    page.locator(".md-search__input").press_sequentially(words)
    page.wait_for_function(FOUND, arg=[f"/{where.partition('#')[0]}.html", RESULTS])


def test_the_gallery_plays_films(show):
    """The picture of a scenario changes while it is looked at."""
    opened = show("gallery")
    film = opened.page.locator("img[src*='films/pendulum']")
    film.scroll_into_view_if_needed()
    first = film.screenshot()
    until(opened.page, lambda: film.screenshot() != first)


def test_a_notebook_shows_everything(show, site):
    """Mechanism, state, mobility, dynamics, trace, plot, still and view of the executed notebook are on its page."""
    opened = show("notebooks/first")
    text = opened.page.locator("article").inner_text()
    for words in ("mobility of", "forward dynamics of", "epoch", "energy"):
        assert words in text, words
    outputs = opened.page.locator(".jp-OutputArea-output")
    assert outputs.locator("svg").count() >= 1 and outputs.locator("img").count() >= 1
    assert outputs.locator("table").count() >= 3
    photograph = opened.page.screenshot(path=site / "first.png", full_page=True)
    assert len(photograph) > 50_000
    assert complaints(opened) == []
