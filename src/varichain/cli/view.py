"""`varichain view`: a trace, a scenario or a robot in the browser."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from varichain.cli import options
from varichain.cli.console import say, warn
from varichain.cli.failures import UsageError, reported
from varichain.cli.targets import free_file, kind_of, robot_from, scenario_from, trace_from
from varichain.errors import quoted

if TYPE_CHECKING:
    from varichain.viewer.base import Viewer

_LIMITS = ("hard", "soft", "off")
_BASES = ("fixed", "free")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command(short_help="Show a trace, a scenario or a robot in the browser.")
@options.target
@options.assignments
@options.lenient
@click.option("--base", metavar="fixed|free", help="Whether the root link of a URDF stands fast or floats.")
@click.option(
    "--live/--replay", default=None, help="Run a scenario while it is watched (default), or first and then watch."
)
@click.option("--speed", type=click.FloatRange(1e-3, 1e3), default=1.0, help="Simulated seconds in a second.")
@click.option("--limits", metavar="hard|soft|off", help="Joint limits of a live run: stops, springs, or none.")
@click.option("--paused/--running", "is_paused", default=None, help="Wait for Play or Resume; robots do by default.")
@click.option("--out", metavar="FILE.h5", type=options.PATH, help="File to write the trace of a live run to.")
@click.option("--overwrite", is_flag=True, help="Replace FILE.h5 if it exists.")
@options.meshes
@click.option("--host", default="127.0.0.1", help="Address to listen at; by default this machine alone.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, help="Port; the next free one if it is taken.")
@click.option("--open/--no-browser", "opens", default=None, help="Whether to open a browser; by default on a desktop.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as one line of JSON.")
@options.debug
def view(
    target: str,
    assignments: tuple[str, ...],
    is_lenient: bool,
    base: str | None,
    live: bool | None,
    speed: float,
    limits: str | None,
    is_paused: bool | None,
    out: Path | None,
    overwrite: bool,
    meshes: tuple[Path, ...],
    host: str,
    port: int,
    opens: bool | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Show a trace, a scenario or a robot in the browser until Ctrl-C; live, joints can be cut, connected, dragged."""
    with reported(debug):
        from varichain.viewer.server import require_viser

        require_viser()
        kind = kind_of(target)
        is_live = kind != "trace" if live is None else live
        if base is not None and (kind != "robot" or base not in _BASES):
            raise UsageError(f"--base is for robots, and one of {', '.join(_BASES)}, not {quoted(base)}")
        shown, more = _shown(target, kind, is_live, assignments, (is_lenient, base or "fixed"), meshes)
        if limits is not None:
            if limits not in _LIMITS or not is_live:
                raise UsageError(f"--limits is for live runs, and one of {', '.join(_LIMITS)}, not {quoted(limits)}")
            more["limits"] = limits
        if out is not None:
            if not is_live:
                raise UsageError("--out is for live runs; `varichain run` writes the trace of a scenario")
            free_file(out, overwrite)
            more |= {"out": out, "overwrite": overwrite}
        from varichain.viewing import view as open_view

        if not as_json:
            warn("preparing ...")
        viewer = open_view(shown, speed=speed, is_paused=is_paused, host=host, port=port, **more)
    with reported(debug), viewer:
        try:
            _print_address(viewer, "live" if is_live else "replay", as_json)
            if _is_desktop() and not as_json if opens is None else opens:
                webbrowser.open(viewer.address)
            viewer.wait()
        except KeyboardInterrupt:  # the usual end
            warn("stopped")
    if out is not None:
        warn(f"the trace is in {str(out)!r}")


def _shown(
    target: str,
    kind: str,
    is_live: bool,
    assignments: tuple[str, ...],
    loading: tuple[bool, str],
    meshes: tuple[Path, ...],
) -> tuple[Any, dict[str, Any]]:
    """What is to be viewed, and further arguments; `loading` says whether robots are repaired, and what bases do."""
    if kind == "trace":
        if is_live or assignments:
            raise UsageError(f"{target!r} is a trace, which is replayed; --live and --set are for scenarios")
        return trace_from(target, meshes), {}
    if kind == "robot":
        if not is_live or assignments:
            raise UsageError(f"{target!r} is a robot, which runs live; --replay and --set are for scenarios")
        m = robot_from(target, *loading)
        if loading[0] and m.source is not None:
            for note in m.source.notes:
                warn(f"note: {note}")
        return m, {}
    scenario = scenario_from(target, assignments)
    return (scenario, {}) if is_live else (scenario.run(progress=sys.stderr.isatty()), {})


def _print_address(viewer: Viewer, mode: str, as_json: bool) -> None:
    host = viewer.server.get_host()
    if viewer.asked_port not in (0, viewer.port):
        warn(f"port {viewer.asked_port} is taken; this is {viewer.port}")
    if host not in _LOOPBACK:
        warn("everybody who has this address, with its token, can watch, and change a live run; it is not encrypted")
    if as_json:
        address = {"address": viewer.address, "host": host, "port": viewer.port, "mode": mode}
        sys.stdout.write(json.dumps(address) + "\n")
    else:
        say(f"{viewer.address}  ({mode}; Ctrl-C stops)")
    sys.stdout.flush()


def _is_desktop() -> bool:
    """Whether a browser would open in a window; elsewhere it might take over the terminal."""
    has_display = sys.platform in ("darwin", "win32") or any(os.environ.get(x) for x in ("DISPLAY", "WAYLAND_DISPLAY"))
    return has_display and sys.stdout.isatty()
