"""`varichain draw`: a still picture of a scenario, a trace at a time, or a robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from varichain.cli import options
from varichain.cli.console import print_json, say
from varichain.cli.failures import UsageError, reported, usage
from varichain.cli.looks import checked_look, look_options, picture_size
from varichain.cli.targets import free_file, kind_of, robot_from, scenario_from, trace_from

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism.mechanism import Mechanism
    from varichain.trace import Trace


@click.command(short_help="Draw a picture, as PNG or SVG.")
@options.target
@click.option(
    "--to", metavar="FILE", type=options.PATH, required=True, help="What to write, by its suffix: png or svg."
)
@click.option("--time", metavar="SECONDS", type=float, help="Time in a trace; else its start.")
@click.option("--size", metavar="WIDTHxHEIGHT", default="960x600", help="Size in pixels.")
@look_options
@options.assignments
@options.lenient
@options.overwrite
@options.as_json
@options.debug
def draw(
    target: str,
    to: Path,
    time: float | None,
    size: str,
    assignments: tuple[str, ...],
    is_lenient: bool,
    overwrite: bool,
    as_json: bool,
    debug: bool,
    **look: Any,
) -> None:
    """Draw a scenario at its start, a trace at a time, or a robot, as PNG or SVG."""
    with reported(debug):
        from varichain.drawing import draw as drawn
        from varichain.exports.still import SUFFIXES

        if to.suffix.lower() not in SUFFIXES:
            raise UsageError(f"--to {str(to)!r} must end with {' or '.join(SUFFIXES)}: the suffix says what is drawn")
        shape, appearance = picture_size(size), checked_look(**look)
        free_file(to, overwrite)
        m, s, tracker = _shown(target, time, assignments, is_lenient)
        drawn(m, s, to, tracker=tracker, size=shape, overwrite=overwrite, **appearance)
        if as_json:
            print_json({"target": target, "file": str(to), "bytes": to.stat().st_size})
        else:
            say(f"{_name(m)} in {to} ({to.stat().st_size / 1000:.0f} kB)")


def _shown(
    target: str, time: float | None, assignments: tuple[str, ...], is_lenient: bool
) -> tuple[Mechanism | Trace, State | float | None, object]:
    """What is drawn of a target: mechanism, state and what is tracked in it, or a trace and a time."""
    kind = kind_of(target)
    if time is not None and kind != "trace":
        raise UsageError(f"--time is for traces; {target!r} is a {kind}: `varichain run {target} --out FILE.h5` first")
    if kind == "trace":
        trace = trace_from(target)
        with usage():
            t = trace.epochs[0].start if time is None else time
            trace.epoch_at(t)
            return trace, t, None
    if kind == "robot":
        return robot_from(target, is_lenient), None, None
    scenario = scenario_from(target, assignments)
    laws = scenario.controller if isinstance(scenario.controller, list | tuple) else [scenario.controller]
    return scenario.mechanism, scenario.state, next((law for law in laws if hasattr(law, "observed")), None)


def _name(shown: Mechanism | Trace) -> str:
    from varichain.trace import Trace

    return str(shown.epochs[0].mechanism.name if isinstance(shown, Trace) else shown.name)
