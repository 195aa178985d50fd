"""A real browser for the tests of pages: Debian's chromium without a window; `make browser` installs it."""

import shutil

import pytest

from lane import PATIENCE

FLAGS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
)


@pytest.fixture(scope="session")
def browser():
    """The browser, one for all tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no chromium on this machine; `make browser` installs it where it can")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=[*FLAGS])
        yield found
        found.close()


def _pages(browser):
    """Yield a function that opens a page of its own, small, and with patience."""
    contexts = []

    def opened(address=None):
        context = browser.new_context(viewport={"width": 800, "height": 480})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000.0 * PATIENCE)
        if address is not None:
            page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()


new_page = pytest.fixture(_pages, name="new_page")
new_lasting_page = pytest.fixture(_pages, scope="module", name="new_lasting_page")  # for all tests of a file


@pytest.fixture
def page(new_page):
    """An empty page."""
    return new_page()
