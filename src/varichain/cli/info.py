"""`varichain info`: contents of a scenario, a file or a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from varichain.cli import options
from varichain.cli.console import print_json, say
from varichain.cli.failures import reported
from varichain.cli.targets import kind_of, robot_from, scenario_from

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism.mechanism import Mechanism


@click.command(short_help="Print the tree and the freedoms, or what a trace has.")
@options.target
@options.assignments
@options.lenient
@options.as_json
@options.debug
def info(target: str, assignments: tuple[str, ...], is_lenient: bool, as_json: bool, debug: bool) -> None:
    """Print the tree and the degrees of freedom of a scenario or robot, or what happened in a trace."""
    with reported(debug):
        kind = kind_of(target)
        if kind == "trace":
            _trace(target, as_json)
        elif kind == "robot":
            _robot(target, is_lenient, as_json)
        else:
            _scenario(target, assignments, as_json)


def _scenario(target: str, assignments: tuple[str, ...], as_json: bool) -> None:
    from varichain.scenarios import SCENARIOS
    from varichain.scenarios.parameters import first_line

    scenario = scenario_from(target, assignments)
    about = first_line(SCENARIOS[scenario.name]) if scenario.name in SCENARIOS else ""
    if not as_json:
        say(f"{scenario.name}: {about}" if about else scenario.name)
        settings = "".join(f", {key} {value}" for key, value in scenario.settings.items())
        n = len(scenario.events)
        say(f"until {scenario.until:g} s, {n} event{'s' if n != 1 else ''}{settings}")
        say()
    _mechanism(scenario.mechanism, scenario.state, {"scenario": scenario.name, "until": scenario.until}, as_json)


def _mechanism(m: Mechanism, s: State, more: dict[str, Any], as_json: bool) -> None:
    from varichain.dynamics import mobility

    found = mobility(m, s)
    if as_json:
        counts = {name: getattr(found, name) for name in ("n_all", "n_tree", "n_loops", "rank", "n_independent")}
        names = {name: list(getattr(found, name)) for name in ("independent", "dependent", "locked", "passive")}
        joints = {str(joint.name): joint.kind for joint in m.joints}
        print_json(more | {"mechanism": m.name} | counts | names | {"actuation": found.actuation, "joints": joints})
        return
    say(str(m))
    say()
    say(str(found))


def _trace(path: str, as_json: bool) -> None:
    from varichain.trace import Trace

    trace = Trace.load(path)
    if as_json:
        epochs = [
            {"start": epoch.start, "end": epoch.end, "samples": len(epoch), "event": epoch.event}
            for epoch in trace.epochs
            if len(epoch)
        ]
        about = {"outcome": trace.outcome, "message": trace.message, "damage": trace.damage, "meta": trace.meta}
        print_json({"trace": path, "samples": len(trace)} | about | {"epochs": epochs})
        return
    say(str(trace))
    say()
    for epoch in trace.epochs:
        if epoch.event is not None:
            lost = epoch.event.get("energy_lost") or 0.0
            text = f"; {lost:.4g} J lost" if lost else ""
            say(f"{epoch.end:9.4f} s  {', '.join(epoch.event.get('actions', ()))}{text}")
    say("made with " + ", ".join(f"{key} {value}" for key, value in trace.meta.items()))


def _robot(path: str, is_lenient: bool, as_json: bool) -> None:
    """Tell of a robot file, where its loops close nearest to its zero pose."""
    from varichain.dynamics import assemble

    m = robot_from(path, is_lenient)
    s = assemble(m, m.state()).state if m.virtual_links else m.state()
    notes = [] if m.source is None else [str(note) for note in m.source.notes]
    _mechanism(m, s, {"file": path, "notes": notes}, as_json)
    if notes and not as_json:
        say()
        say("\n".join(["notes on the file", *(f"  {note}" for note in notes)]))
