"""A notebook with everything that shows itself, executed in a kernel and photographed in a real browser."""

import io
import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from browser.pages import until
from lane import PATIENCE

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
CELLS = {
    "mechanism": "import varichain as vc\nfrom varichain.scenarios import SCENARIOS\n"
    "scenario = SCENARIOS['fourbar']()\nm, s = scenario.mechanism, scenario.state\nm",
    "state": "s",
    "mobility": "vc.mobility(m, s)",
    "dynamics": "vc.forward_dynamics(m, s)",
    "trace": "trace = scenario.run(until=1.0)\ntrace",
    "plot": "vc.plot(trace, what=['energy'])",
    "still": "vc.draw(m, s, size=(400, 250))",
    "view": "view = vc.view(trace, port=0, is_paused=True)\nview",
}
SAID = {
    "mechanism": "coupler   revolute",
    "state": "crank",
    "mobility": "degrees of freedom",
    "dynamics": "closing hinge",
    "trace": "epoch",
}
"""What is to be read in the output of a cell."""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """The executed notebook as a page of this machine, while its kernel is alive."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    nbconvert = pytest.importorskip("nbconvert")
    pytest.importorskip("viser")
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    client = nbclient.NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300)
    with client.setup_kernel(env=os.environ | {"PYTHONPATH": str(ROOT / "src")}):
        for k, cell in enumerate(client.nb.cells):
            client.execute_cell(cell, k)
        text, _ = nbconvert.HTMLExporter().from_notebook_node(client.nb)
        (folder / "book.html").write_text(text, encoding="utf-8")
        handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            context = browser.new_context(viewport={"width": 1100, "height": 900})
            opened = context.new_page()
            opened.goto(f"http://127.0.0.1:{server.server_port}/book.html")
            yield opened
            opened.screenshot(path=folder / "book.png", full_page=True)
            context.close()
            server.shutdown()


def output(page, name):
    """The output of a cell."""
    return page.locator(".jp-Cell").nth([*CELLS].index(name)).locator(".jp-OutputArea-output")


def photograph(element):
    """Pixels (height, width, 3) of an element."""
    image = pytest.importorskip("PIL.Image")
    element.scroll_into_view_if_needed()
    with image.open(io.BytesIO(element.screenshot())) as picture:
        return np.array(picture.convert("RGB"), dtype=int)


def colours(pixels):
    """Share of pixels that are neither white, grey nor black."""
    return float((np.ptp(pixels, axis=-1) > 25).mean())


@pytest.mark.parametrize("name", [*SAID])
def test_an_object_is_a_table_or_a_tree(page, name):
    """What a cell ends with is shown in words and tables, on less than a screen, without raw arrays."""
    found = output(page, name)
    text = found.inner_text()
    assert SAID[name] in text and "array(" not in text and len(text) < 2500
    assert found.bounding_box()["height"] < 900


def test_a_tree_is_aligned(page):
    """The tree of a mechanism is in letters of one width: its lines meet."""
    family = output(page, "mechanism").locator("pre").evaluate("e => getComputedStyle(e).fontFamily")
    assert "mono" in family


@pytest.mark.parametrize("name", ["plot", "still"])
def test_a_plot_and_a_still_are_pictures(page, name):
    """Lines and links are seen in their colours."""
    assert colours(photograph(output(page, name))) > 0.005


def test_a_view_is_live_in_its_frame(page):
    """The viewer is in the notebook: its panel tells the time, and the mechanism is seen beside it."""
    shown = output(page, "view").locator("iframe")
    shown.scroll_into_view_if_needed()  # a browser lets frames sleep that are not in view
    frame = output(page, "view").frame_locator("iframe")
    assert output(page, "view").count() == 1  # no box of the server's, with an address that does not work
    frame.locator("#time").wait_for(state="attached", timeout=1000.0 * PATIENCE)
    assert frame.locator("#time").text_content() == "0.000 s"
    until(page, lambda: colours(photograph(shown)) > 0.005)
