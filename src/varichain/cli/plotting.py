"""`varichain plot`: what a trace says over time, as a picture."""

from __future__ import annotations

from pathlib import Path

import click

from varichain.cli import options
from varichain.cli.console import print_json, say
from varichain.cli.failures import UsageError, reported, usage
from varichain.cli.targets import free_file, trace_from

_SUFFIXES = (".png", ".svg", ".pdf")


@click.command(short_help="Plot a trace over time.")
@click.argument("target", metavar="TRACE.h5|FILE.sweep")
@click.option(
    "--what",
    metavar="WHAT,...",
    help="energy, freedoms, closure, forces, contacts, joint_forces, angles, displacements, torques, holding, "
    "functions, strain, sinkage; by default the first five.",
)
@click.option("--joints", metavar="JOINT,...", help="Joints to plot; by default those that vary most.")
@click.option(
    "--out", metavar="FILE", type=options.PATH, help="PNG, SVG or PDF; by default the trace's name with .png."
)
@options.overwrite
@options.as_json
@options.debug
def plot(
    target: str,
    what: str | None,
    joints: str | None,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    debug: bool,
) -> None:
    """Plot energy, freedoms, closure error, loop and contact forces of a trace over time, with its events marked."""
    with reported(debug):
        path = out or Path(target).with_suffix(".png")
        if path.suffix.lower() not in _SUFFIXES:
            raise UsageError(f"{str(path)!r} must end with {', '.join(_SUFFIXES)}")
        if target.endswith(".sweep"):
            _plot_sweep(target, path, what, overwrite)
            return
        trace = trace_from(target)
        free_file(path, overwrite)
        from varichain.plots import plot as plotted

        with usage():
            figure = plotted(trace, _names(what), _names(joints))
        from varichain.files import completed

        with completed(str(path), overwrite) as temporary:
            figure.savefig(temporary, format=path.suffix[1:].lower())
        if as_json:
            print_json({"plot": str(path), "trace": target, "bytes": path.stat().st_size, "damage": trace.damage})
            return
        say(f"plot in {path}")


def _plot_sweep(target: str, path: Path, what: str | None, overwrite: bool) -> None:
    """Draw a sweep: measures over its first parameter."""
    from varichain.files import completed
    from varichain.sweeps import Sweep

    with usage():
        free_file(path, overwrite)
        figure = Sweep.load(target).plot(_names(what))
    with completed(str(path), overwrite) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower())
    say(f"plot in {path}")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
