"""Who may open a viewer, and what those who may can send: strangers, floods, nonsense and clients that do not read."""

import contextlib
import http.client
import socket
import sys
import threading
import time
import traceback
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest

import varichain as vc
from lane import PATIENCE

msgspec, viser = pytest.importorskip("msgspec"), pytest.importorskip("viser")
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from varichain.viewer import pictures  # noqa: E402
from varichain.viewer.gate import Gate  # noqa: E402
from varichain.viewer.guarded import BURST, BYTES, LARGEST_MESSAGE, MESSAGES, Allowance  # noqa: E402
from varichain.viewer.inputs import LARGEST_RENDER, is_fitting  # noqa: E402

PROTOCOL = f"viser-v{viser.__version__}"
ONES = {"position": [1.0] * 3, "look_at": [0] * 3, "up_direction": [0, 0, 1], "wxyz": [1, 0, 0, 0]}
CAMERA = {
    "type": "ViewerCameraMessage",
    "fov": 1.0,
    "near": 0.1,
    "far": 10,
    "image_height": 9,
    "image_width": 9,
    **ONES,
}
FOREIGN = ("http://evil.example", "null", "file://", "http://127.0.0.1:1", "https://127.0.0.1", "")


def arm():
    """A link on a hinge."""
    m = vc.Mechanism("arm")
    m.add_link("link", "ground", vc.Revolute("y", name="hinge"), (0, 0, 1), vc.Inertia.sphere(1.0, 0.1))
    return m


@pytest.fixture(scope="module")
def view():
    """A live run in the viewer, which does not wait: neither to begin, nor for clients that never draw."""
    with pytest.MonkeyPatch.context() as patched, vc.view(arm(), port=0, is_paused=False) as shown:
        patched.setattr(pictures, "PATIENCE", 0.1)
        shown.source.resume().result()
        yield shown


def origin_of(view):
    """Origin of the view's own page."""
    return "http://" + urlsplit(view.address).netloc


def joined(view, reads=True, **options):
    """A client of a view, with the right address and origin; one that does not read is left by the server in time."""
    settings = {"origin": origin_of(view), "subprotocols": [PROTOCOL], "max_size": None, "open_timeout": PATIENCE}
    client = connect(view.address.replace("http", "ws"), **(settings | options))
    client.n_read = 0
    client.send(msgspec.msgpack.encode(CAMERA))  # a page begins with it
    if reads:
        threading.Thread(target=read_on, args=(client,), daemon=True).start()
    return client


def read_on(client):
    """Read until the connection is closed, and count."""
    with contextlib.suppress(ConnectionClosed):
        while client.recv(timeout=PATIENCE):
            client.n_read += 1


def update(handle, value, name="value"):
    """A message that writes a control."""
    return msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": {name: value}})


def rendered(uuid, size=600):
    """A message with a render that was asked for."""
    return msgspec.msgpack.encode({"type": "GetRenderResponseMessage", "render_uuid": uuid, "payload": bytes(size)})


def answer(view, path="", **headers):
    """Status, headers and text of a GET."""
    place = urlsplit(view.address)
    caller = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
    with contextlib.closing(caller):
        caller.request("GET", path or place.path, headers={**headers, "Connection": "close"})
        with caller.getresponse() as found:
            return found.status, dict(found.getheaders()), found.read()


def until(condition):
    """Wait until something is so; else tell what all threads are doing."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            stacks = ("".join(traceback.format_stack(frame)) for frame in sys._current_frames().values())
            pytest.fail("it did not become so\n" + "\n".join(stacks))
        time.sleep(0.05)


def goes_on(view):
    """Wait until the run has made a step from now on."""
    frame = view.source.frame
    assert not frame.is_paused, frame.message
    until(lambda: view.source.frame.time > frame.time)


def click_pause(view, client):
    """Click the button that pauses and resumes: it does what its label says, so wait until that has been drawn."""
    label = "Resume" if view.source.frame.is_paused else "Pause"
    until(lambda: view._commands._pause.label == label)
    client.send(update(view._commands._pause, True))


@pytest.mark.parametrize("origin", FOREIGN)
def test_foreign_origins_are_refused(view, origin):
    """A websocket from another page, from a file or from a sandbox is refused, even with the token."""
    with pytest.raises(InvalidStatus, match="403"):
        joined(view, origin=origin).close()
    assert answer(view, Origin=origin)[0] == 403


def test_without_an_origin_nothing_connects(view):
    """Browsers send an origin with each websocket; who sends none is refused."""
    with pytest.raises(InvalidStatus, match="403"):
        joined(view, origin=None).close()


@pytest.mark.parametrize("path", ["/", "/index.html", "/x/", "/%s/", "/..%%2f%s/"])
def test_without_the_token_nothing_is_served(view, path):
    """Another path than the printed one is refused, for the page and for the websocket."""
    wrong = path % ("A" * 32) if "%" in path else path
    status, headers, text = answer(view, wrong)
    assert status == 403 and b"token" in text and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    with pytest.raises(InvalidStatus, match="403"):
        connect(origin_of(view).replace("http", "ws") + wrong, origin=origin_of(view), subprotocols=[PROTOCOL]).close()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:%d", "127.0.0.1.evil.example", "192.0.2.1:%d", ""])
def test_foreign_names_are_refused(view, host):
    """A name that a stranger's DNS points at this machine is not answered."""
    status, _, text = answer(view, Host=host % view.port if "%" in host else host)
    assert status == 403 and b"name" in text


def test_the_page_is_served_with_the_token(view):
    """With the token there is a page that no other can frame and that loads nothing from elsewhere."""
    status, headers, text = answer(view)
    assert status == 200 and b"<html" in text
    assert headers["X-Frame-Options"] == "DENY" and headers["Referrer-Policy"] == "no-referrer"
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    assert answer(view, Host=f"localhost:{view.port + 1}")[0] == 200  # through a tunnel


def test_a_notebook_frames_the_view(view):
    """The address that a notebook shows is another one, which pages of this machine alone can frame."""
    framed = view._repr_html_().split('src="')[1].split('"')[0]
    assert framed != view.address
    status, headers, _ = answer(view, urlsplit(framed).path)
    assert status == 200 and "X-Frame-Options" not in headers
    assert "frame-ancestors http://localhost:*" in headers["Content-Security-Policy"]


def test_other_hosts_need_the_token_too():
    """A viewer for the network answers to its numbers and names, and to no other name; each has its own token."""
    gate, other = Gate("0.0.0.0"), Gate("0.0.0.0")
    assert gate.token != other.token and gate.token != gate.frame_token
    path = f"/{gate.token}/"
    for host in ("192.0.2.1:80", "[2001:db8::1]:80", "localhost", socket.gethostname()):
        assert gate.refusal(path, [host], [f"http://{host}"], True) is None
        assert "token" in gate.refusal(f"/{other.token}/", [host], [f"http://{host}"], True)
    for hosts in (["evil.example"], [], ["localhost", "localhost"]):
        assert "name" in gate.refusal(path, hosts, [f"http://{host}" for host in hosts[:1]], True)
    assert "origin" in gate.refusal(path, ["localhost"], ["http://localhost"] * 2, True)


def test_values_are_checked_on_the_server(view):
    """Numbers beyond the range, options that are not offered and attributes other than the value are not taken."""
    commands, before = view._commands, view.source.frame.structure.description["gravity"]
    speed = view.source.frame.speed
    with joined(view) as client:
        for bad in ([1e300, 0, 0], [1e4, 0, 0], [float("nan"), 0, 0], [0, 0], "x", None, True):
            client.send(update(commands._gravity, bad))
        for bad in ("1e300", "nan", 3, ["1"]):
            client.send(update(commands._speed, bad))
        for name, bad in (("update_cb", []), ("removed", True), ("uuid", "x"), ("props", {})):
            client.send(update(commands._speed, bad, name))
        client.send(update(commands._gravity, [0.0, 0.0, -1.62]))  # in order: all others were read before
        until(lambda: view.source.frame.structure.description["gravity"] == [0.0, 0.0, -1.62])
        client.send(update(commands._gravity, before))
    assert view.source.frame.speed == speed and commands._speed._impl.update_cb
    goes_on(view)


def test_what_fits_a_control():
    """A value fits if it is of the control's kind, among its options and in its range."""
    free, ranged = SimpleNamespace(), SimpleNamespace(min=-1.0, max=1.0)
    assert is_fitting(0.0, 1, ranged) and is_fitting((0.0, 0.0), [1, -1.0], ranged)
    assert not is_fitting(0.0, 1.1, ranged) and not is_fitting((0.0, 0.0), [1, -2.0], ranged)
    assert is_fitting(True, False, free) and not is_fitting(True, 1, free) and not is_fitting(0.0, True, free)
    assert is_fitting("a", "b", free) and not is_fitting("a", 1, free) and not is_fitting(None, "a", free)
    options = SimpleNamespace(options=("a", "b"))
    assert is_fitting("a", "b", options) and not is_fitting("a", "c", options)


def test_nonsense_is_dropped(view):
    """Texts, broken and nested messages, unknown kinds and uploads change nothing, and their sender may stay."""
    deep = b"\x91" * 1000 + b"\xc0"
    upload = {"type": "FileTransferStartUpload", "source_component_uuid": view._commands._speed._impl.uuid}
    upload |= {"transfer_uuid": "1", "filename": "x", "mime_type": "x", "part_count": 4, "size_bytes": 2**30}
    rng = np.random.default_rng(0)
    with joined(view) as client:
        client.send("text")
        for raw in (b"", b"\xc1", deep, msgspec.msgpack.encode(upload), msgspec.msgpack.encode({"type": "GuiReset"})):
            client.send(raw)
        for _ in range(50):
            client.send(rng.bytes(int(rng.integers(1, 200))))
        client.send(msgspec.msgpack.encode({"type": "TransformControlsUpdateMessage", "name": "/drag", "wxyz": [1]}))
        click_pause(view, client)
        until(lambda: view.source.frame.is_paused)
        click_pause(view, client)
        until(lambda: not view.source.frame.is_paused)
    assert view.server.gui._current_file_upload_states == {}


def test_keys_trigger_commands_that_there_are(view):
    """A command's id does what the key does; ids of nothing, of a control, and more than an id are dropped."""
    uuids = {handle.label: uuid for uuid, handle in view.server.gui._command_handle_from_uuid.items()}
    assert {"Pause or resume", "Step", "Undo", "Reset", "Cut"} == {*uuids}

    def trigger(uuid, **more):
        return msgspec.msgpack.encode({"type": "CommandTriggerMessage", "uuid": uuid, **more})

    until(lambda: not view.source.frame.is_paused and view._commands._pause.label == "Pause")
    with joined(view) as client:
        for bad in ("nothing", view._commands._speed._impl.uuid, 3, None, ["x"]):
            client.send(trigger(bad))
        client.send(trigger(uuids["Pause or resume"]))
        until(lambda: view.source.frame.is_paused)
        until(lambda: view._commands._pause.label == "Resume")
        client.send(trigger(uuids["Pause or resume"]))
        until(lambda: not view.source.frame.is_paused)


def test_what_browsers_do_is_done_in_order(monkeypatch):
    """What a browser starts by its first picture, however slowly, is not overtaken by the click that follows."""
    with vc.view(arm(), port=0, is_paused=False) as shown:
        shown.source.resume().result()
        done = []
        monkeypatch.setattr(shown, "_begin", lambda: (time.sleep(0.5), done.append("begin")))
        monkeypatch.setattr(shown.source, "pause", lambda: done.append("pause"))
        with joined(shown) as client:
            until(lambda: shown.pictures._asked)
            assert done == []
            (uuid,) = shown.pictures._asked.values()
            client.send(rendered("another"))
            client.send(rendered(uuid, LARGEST_RENDER + 1))
            client.send(rendered(uuid))
            click_pause(shown, client)
            until(lambda: len(done) == 2)
    assert done == ["begin", "pause"]


def test_a_client_may_leave_while_it_is_asked_to_draw(view):
    """Who leaves between the look at who is there and the question stops nothing, and viser need not warn."""
    with joined(view):
        until(lambda: view.server.get_clients())
        (*_, gone) = view.server.get_clients().values()
    until(lambda: gone._websock_connection.get_message_buffer().done)
    there = SimpleNamespace(get_clients=lambda: {gone.client_id: gone})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(view.pictures, "_server", there)
        view.pictures._ask(gone, time.monotonic() + 1.0)
    goes_on(view)


def test_a_busy_server_is_waited_for(view, monkeypatch):
    """A server that answers late is not taken for one that has stopped; the picture after it is whole."""
    monkeypatch.setattr(pictures, "_CHECK", 0.01)
    view.pictures._buffer.event_loop.call_soon_threadsafe(time.sleep, 0.3)
    with view._drawing, view.pictures.whole():
        assert view.pictures._buffer.atomic_counter == 1
    goes_on(view)


def test_large_messages_end_the_connection(view):
    """A message beyond the limit is not read; its sender is left and the run goes on."""
    with joined(view, reads=False) as client:
        client.send(bytes(LARGEST_MESSAGE + 1))
        read_on(client)
        assert client.protocol.close_code == 1009  # message too big
    goes_on(view)


def test_broken_frames_end_the_connection(view):
    """Bytes that are no frames, after a right handshake, end that connection alone."""
    place = urlsplit(view.address)
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as caller:
        lines = (
            f"GET {place.path} HTTP/1.1",
            f"Host: {place.netloc}",
            f"Origin: http://{place.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            f"Sec-WebSocket-Protocol: {PROTOCOL}",
        )
        caller.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        assert b" 101 " in caller.recv(100)
        caller.sendall(b"\xff" * 64)
        while caller.recv(2**16):
            pass
    goes_on(view)


def test_a_client_may_send_so_much():
    """A bucket lets a burst pass, and then a rate, of messages or of bytes."""
    for size, each in ((1, 1.0 / MESSAGES), (LARGEST_MESSAGE, LARGEST_MESSAGE / BYTES)):
        allowance, now, n = Allowance(), 1.0, 2000
        for _ in range(n):
            now += allowance.delay(size, now)
        assert now - 1.0 == pytest.approx(n * each - BURST, rel=0.01)


def test_floods_and_silence_do_not_stop_the_run(view):
    """With 50 clients, one of which floods, one of which never reads, others are served and the run goes on."""
    clients = [joined(view, reads=i != 1) for i in range(50)]  # 0 floods, 1 reads nothing
    try:
        for _ in range(300):
            clients[0].send(update(view._commands._speed, "1"))
        goes_on(view)
        before = [client.n_read for client in clients]
        until(lambda: all(client.n_read > n for client, n in zip(clients[2:], before[2:], strict=True)))
        goes_on(view)
        assert answer(view)[0] == 200
    finally:
        for client in clients:
            client.close_timeout = 1.0
            client.close()
