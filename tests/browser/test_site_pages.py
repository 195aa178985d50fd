"""The documentation site in a real browser: pages, pictures, films and a notebook, without a network; a minute."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from browser.test_offline_page import Opened

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
PAGES = ("index", "tutorial", "how-to", "gallery", "api/simulation", "theory/structure-varying-chains", "coming-from")
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


def test_the_front_page_answers_the_questions_that_people_ask_first(show):
    """Each of ten questions and more is one click from its answer: a heading that is in view, with text below it."""
    page = show("index").page
    questions = page.locator("#questions-that-people-ask-first ~ .md-typeset__scrollwrap table").first
    links = questions.locator("tbody a").evaluate_all("all => all.map(a => a.href)")
    assert len(links) >= 12 and questions.locator("tbody tr").count() >= 10
    for link in links:
        page.goto(link)
        heading = page.locator(f"[id='{link.partition('#')[2]}']" if "#" in link else "h1").first
        heading.wait_for()
        box = heading.bounding_box()
        assert box is not None and -50 < box["y"] < 900, link
        assert len(page.locator("article").inner_text()) > 500, link


def test_the_gallery_plays_films(show):
    """The picture of a scenario changes while it is looked at."""
    opened = show("gallery")
    film = opened.page.locator("img[src*='films/pendulum']")
    film.scroll_into_view_if_needed()
    first = film.screenshot()
    for _ in range(40):
        opened.page.wait_for_timeout(100)
        if film.screenshot() != first:
            return
    raise AssertionError("it stands still")


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
