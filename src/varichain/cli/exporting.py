"""`varichain export`: a trace as a page, a film, an animation or a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from varichain.cli import options
from varichain.cli.console import errors, print_json, say, warn
from varichain.cli.failures import UsageError, reported
from varichain.cli.looks import checked_look, look_options, picture_size
from varichain.cli.targets import free_file, trace_from

if TYPE_CHECKING:
    from varichain.exports.files import Progress


@click.command(short_help="Write a trace as a page, film, animation or table.")
@click.argument("target", metavar="TRACE.h5")
@click.option(
    "--to",
    metavar="FILE",
    type=options.PATH,
    required=True,
    help="What to write, by its suffix: html, mp4, gif, glb, bvh, csv, json, parquet.",
)
@click.option("--fps", metavar="NUMBER", type=float, help="Frames per second.")
@click.option("--speed", metavar="NUMBER", type=float, default=1.0, help="Simulated seconds in a second; 0.25 is slow.")
@click.option("--size", metavar="WIDTHxHEIGHT", default="960x540", help="Size of a film in pixels.")
@click.option("--trails", metavar="NAME,...", help="Links or named frames whose paths are drawn.")
@options.meshes
@look_options
@options.overwrite
@options.as_json
@options.debug
def export(
    target: str,
    to: Path,
    fps: float | None,
    speed: float,
    size: str,
    trails: str | None,
    meshes: tuple[Path, ...],
    overwrite: bool,
    as_json: bool,
    debug: bool,
    **look: Any,
) -> None:
    """Write a trace as a page that plays by itself, a film, an animation for other programs, or a table."""
    with reported(debug):
        from varichain.exports.files import WRITERS
        from varichain.exports.files import export as exported

        if to.suffix.lower() not in WRITERS:
            raise UsageError(f"--to {str(to)!r} must end with {', '.join(WRITERS)}: the suffix says what is written")
        if fps is not None and not 0.0 < fps <= 1000.0:
            raise UsageError(f"--fps must be between 0 and 1000, not {fps:g}")
        if not 0.0 < speed < float("inf"):
            raise UsageError(f"--speed must be greater than 0, not {speed:g}")
        shape, appearance = picture_size(size), checked_look(**look)
        trace = trace_from(target, meshes)
        free_file(to, overwrite)
        names = [] if trails is None else [name.strip() for name in trails.split(",")]
        with _bar() as progress:
            options = {"fps": fps, "speed": speed, "size": shape, "trails": names, **appearance}
            found = exported(trace, to, overwrite=overwrite, progress=progress, **options)
        if as_json:
            about = {"file": found.path, "bytes": found.size, "frames": found.n_frames, "notes": list(found.notes)}
            print_json({"trace": target} | about)
            return
        for note in found.notes:
            warn(f"note: {note}")
        what = "samples" if to.suffix.lower() in (".csv", ".json", ".parquet") else "frames"
        say(f"{found.n_frames} {what} in {found.path} ({found.size / 1000:.0f} kB)")


@contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, n: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("frames"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors(), transient=True) as bar:
        task = bar.add_task("frames", total=None)
        yield lambda done, n: bar.update(task, completed=done, total=n)
