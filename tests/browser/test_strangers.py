"""A page of a stranger in a real browser: it cannot connect to a viewer, read of it, or frame it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

import varichain as vc
from browser.pages import wait_for

TRY = """async ([address, protocol]) => {
  const socket = await new Promise(done => {
    const opened = new WebSocket(address.replace("http", "ws"), protocol);
    opened.onopen = () => done("opened");
    opened.onerror = () => done("refused");
  });
  const read = await fetch(address).then(answer => answer.text(), () => "refused");
  const blind = await fetch(address, {mode: "no-cors"}).then(answer => answer.type, () => "refused");
  const frame = document.createElement("iframe");
  frame.src = address;
  await new Promise(done => { frame.onload = done; document.body.append(frame); });
  return [socket, read, blind];
}"""


@pytest.fixture
def view():
    """A live run in the viewer."""
    m = vc.Mechanism("arm")
    m.add_link("link", "ground", vc.Revolute("y", name="hinge"), (0, 0, 1), vc.Inertia.sphere(1.0, 0.1))
    with vc.view(m, port=0) as shown:
        yield shown


@pytest.fixture
def stranger():
    """Address of a page on another port of this machine."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>stranger</title><body></body>")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("knows_token", [False, True])
def test_a_foreign_page_cannot_connect_read_or_frame(view, stranger, new_page, knows_token):
    """Not even a page that has got the token can open the websocket, read the page or show it in a frame."""
    viser = pytest.importorskip("viser")
    place = urlsplit(view.address)
    address = view.address if knows_token else f"http://{place.netloc}/"
    page = new_page(stranger)
    assert page.evaluate(TRY, [address, f"viser-v{viser.__version__}"]) == ["refused", "refused", "refused"]
    assert [frame.url for frame in page.frames[1:]] == ["chrome-error://chromewebdata/"]
    assert view.server.get_clients() == {}
    assert view.source.frame.structure.counts == (1, 0, 1)


def test_the_owner_is_served_without_complaints(view, new_page):
    """The printed address shows the view; the page asks for nothing from elsewhere, and its policy forbids nothing."""
    page, complaints, hosts = new_page(), [], set()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.goto(view.address)
    wait_for(page, "0.000 s", "#time")
    assert complaints == [] and hosts <= {"", urlsplit(view.address).netloc}
