"""`varichain draw`: a still picture of a scenario, a trace at a time, or a robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from varichain.cli.console import print_json, say
from varichain.cli.failures import Debug, UsageError, reported, usage
from varichain.cli.looks import (
    Background,
    Camera,
    Colors,
    Forces,
    Ground,
    Joints,
    Labels,
    Title,
    Zoom,
    look_options,
    picture_size,
)
from varichain.cli.targets import (
    Assignments,
    Lenient,
    Target,
    free_file,
    kind_of,
    robot_from,
    scenario_from,
    trace_from,
)

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism.mechanism import Mechanism
    from varichain.trace import Trace


def draw(
    target: Target,
    to: Annotated[Path, typer.Option(metavar="FILE", help="What to write, by its suffix: png or svg.")],
    time: Annotated[float | None, typer.Option(metavar="SECONDS", help="Time in a trace; else its start.")] = None,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="Size in pixels.")] = "960x600",
    camera: Camera = None,
    zoom: Zoom = None,
    background: Background = None,
    colors: Colors = None,
    labels: Labels = None,
    forces: Forces = None,
    joints: Joints = None,
    ground: Ground = None,
    title: Title = None,
    settings: Assignments = None,
    lenient: Lenient = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
) -> None:
    """Draw a scenario at its start, a trace at a time, or a robot, as PNG or SVG."""
    with reported(debug):
        from varichain.drawing import draw as drawn
        from varichain.exports.still import SUFFIXES

        if to.suffix.lower() not in SUFFIXES:
            raise UsageError(f"--to {str(to)!r} must end with {' or '.join(SUFFIXES)}: the suffix says what is drawn")
        flags = {"labels": labels, "forces": forces, "joints": joints, "ground": ground, "title": title}
        shape, look = picture_size(size), look_options(camera, zoom, background, colors, **flags)
        free_file(to, overwrite)
        m, s, tracker = _shown(target, time, settings or [], lenient)
        drawn(m, s, to, tracker=tracker, size=shape, overwrite=overwrite, **look)
        if as_json:
            print_json({"target": target, "file": str(to), "bytes": to.stat().st_size})
        else:
            say(f"{_name(m)} in {to} ({to.stat().st_size / 1000:.0f} kB)")


def _shown(
    target: str, time: float | None, settings: list[str], is_lenient: bool
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
    scenario = scenario_from(target, settings)
    laws = scenario.controller if isinstance(scenario.controller, list | tuple) else [scenario.controller]
    return scenario.mechanism, scenario.state, next((law for law in laws if hasattr(law, "observed")), None)


def _name(shown: Mechanism | Trace) -> str:
    from varichain.trace import Trace

    return str(shown.epochs[0].mechanism.name if isinstance(shown, Trace) else shown.name)
