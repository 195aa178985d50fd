"""The server of the viewer: on loopback by default, behind a gate, silent, on a free port."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from varichain.errors import InputError, MissingExtraError, quoted
from varichain.viewer.gate import Gate

HOST, PORT = "127.0.0.1", 8080
_PORTS_TRIED = 100
_WHITE, _SHADE = (255, 255, 255), (170, 175, 185)
_PANEL = 360  # [px], width of the panel


def require_viser() -> Any:
    """The package viser.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import viser
    except ImportError:
        raise MissingExtraError("the viewer needs the package viser: pip install 'varichain[view]'") from None
    return viser


def open_server(gate: Gate, host: str = HOST, port: int = PORT, label: str | None = None) -> Any:
    """A server of viser's behind a gate; its `get_port()` is the port, or the next free one if that was taken.

    Raises:
        MissingExtraError: viser is not installed, or not in a version that can be guarded.
        InputError: The address is none of this machine, or no port is free.
    """
    viser = require_viser()
    from varichain.viewer.guarded import Guard

    # who calls and says nothing is no matter for the terminal
    logging.getLogger("websockets").addHandler(logging.NullHandler())
    free = free_port(host, port)
    guard = Guard(gate)
    with _silent(), guard.installed(free):  # it would print its address, without the token, in a box
        server = viser.ViserServer(host=host, port=free, label=label, verbose=False)
    if not guard.is_installed:
        close_server(server)
        raise MissingExtraError(f"viser {viser.__version__} cannot be guarded: pip install 'varichain[view]'")
    _carry_out_in_order(server)
    guard.inputs.control = server.gui._gui_input_handle_from_uuid.get
    guard.inputs.command = server.gui._command_handle_from_uuid.get
    # a button in the page would open a tunnel for the whole world
    server.request_share_url = _no_tunnel
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    _light(server.scene)
    panel = server.gui.main_panel
    panel.dock_right()  # beside the picture, not over it
    panel.set_width(_PANEL)
    return server


def _carry_out_in_order(server: Any) -> None:
    """Let one thread carry out what browsers ask for: of viser's many threads, one could overtake the other."""
    server._thread_executor.shutdown()
    one = ThreadPoolExecutor(max_workers=1, thread_name_prefix="varichain browsers")
    server._thread_executor = server.gui._thread_executor = server.scene._thread_executor = one


def _light(scene: Any) -> None:
    """Light from above and a little from all sides; mirrored surroundings take seconds where there is no GPU."""
    scene.configure_environment_map(hdri=None)
    scene.add_light_hemisphere("/sky", sky_color=_WHITE, ground_color=_SHADE, intensity=2.4)


def close_server(server: Any) -> None:
    """Stop a server and its threads."""
    with _silent():
        server.stop()
    server._thread_executor.shutdown(wait=True)  # it leaves its threads to finish by themselves


def free_port(host: str, port: int) -> int:
    """The port, or the first free one after it; 0 is any free port.

    Raises:
        InputError: The address is none of this machine, or no port is free.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"a port is a number from 0 to 65535, not {port}")
    last = ""
    for candidate in range(port, min(port + _PORTS_TRIED, 65536)):
        try:
            family = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0][0]
            with socket.socket(family, socket.SOCK_STREAM) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind((host, candidate))
                return int(trial.getsockname()[1])
        except (socket.gaierror, UnicodeError) as error:  # the second if it cannot even be asked for
            raise InputError(f"{quoted(host)} is no address of this machine: {error}") from None
        except OSError as error:
            last = error.strerror or str(error)
    raise InputError(f"no port from {port} on is free at {host!r}: {last}")


def address(server: Any, token: str) -> str:
    """Address for a browser, with the token without which nothing is served."""
    host = server.get_host()
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}/{token}/"


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Let viser print nothing; in a notebook it would not go through the standard output."""
    import rich

    before = rich.print
    rich.print = lambda *_, **__: None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        rich.print = before


def _no_tunnel(*_: Any, **__: Any) -> None:
    return None
