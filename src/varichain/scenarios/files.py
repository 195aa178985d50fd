"""Scenario files: YAML that starts from a named scenario and says what is different."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from varichain.errors import FileError, InputError, ScenarioFileError, VarichainError
from varichain.files import bytes_of, file_name
from varichain.scenarios.marks import Marked
from varichain.scenarios.parameters import checked_parameters, parameters_of
from varichain.scenarios.schema import ScenarioFile
from varichain.scenarios.validation import Faults, unknown, validated
from varichain.spatial.checks import mapping, shown

if TYPE_CHECKING:
    from varichain.scenarios.scenario import Builder, Scenario

_MOST_BYTES = 2**20
_SETTINGS = ("method", "step", "sample", "tolerance", "limits", "contacts")


def load_scenario(path: str | os.PathLike[str], parameters: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario that a file describes; see docs/scenario-files.md.

    Args:
        path: YAML file.
        parameters: Values that replace the file's, as numbers or as text with units.

    Raises:
        ScenarioFileError: It cannot be read, or has mistakes; all of them are listed, each with its place.
        UnknownNameError, InputError: A parameter in `parameters` does not exist or is of the wrong kind.
    """
    name = file_name(path)
    try:
        text = bytes_of(name, _MOST_BYTES).decode("utf-8-sig")
    except FileError as error:
        raise ScenarioFileError(name, [(1, 1, str(error))]) from None
    except UnicodeDecodeError:
        raise ScenarioFileError(name, [(1, 1, "cannot be read: it is not text in UTF-8")]) from None
    return scenario_from_text(text, name, parameters)


def scenario_from_text(text: str, path: str = "<text>", parameters: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario that a YAML text describes; arguments and errors as of `load_scenario`."""
    from varichain.scenarios import SCENARIOS

    if not isinstance(text, str):
        raise InputError(f"text must be the text of a scenario file, not {shown(text)}")
    faults = Faults(Marked(text, file_name(path)))
    file, kept = validated(faults)
    if file is not None and file.scenario not in SCENARIOS:
        faults.add(("scenario",), unknown("scenario", file.scenario, list(SCENARIOS)))
        file = None
    if file is not None:
        builder = SCENARIOS[file.scenario]
        replaced = checked_parameters(builder, mapping(parameters, "parameters"))
        base = _built(builder, file, replaced, faults)
        if base is not None:
            found = _completed(base, file, kept, faults)
    if faults.found:
        raise ScenarioFileError(path, faults.found)
    return found


def _built(builder: Builder, file: ScenarioFile, replaced: dict[str, Any], faults: Faults) -> Scenario | None:
    """The named scenario with those of the file's parameters that are right; None if it refuses them."""
    known, values = parameters_of(builder), {}
    for key, given in file.parameters.items():
        if key not in known:
            faults.add(("parameters", key), unknown("parameter", key, list(known)), of_key=True)
            continue
        try:
            values[key] = known[key].value(given)
        except InputError as error:
            faults.add(("parameters", key), str(error))
    try:
        return builder(**(values | replaced))
    except VarichainError as error:
        faults.add(("parameters",), f"scenario {file.scenario!r} refuses its parameters: {error}")
        return None


def _completed(base: Scenario, file: ScenarioFile, kept: dict[str, list[int]], faults: Faults) -> Scenario:
    """The scenario with what the file adds and leaves out."""
    from varichain.scenarios.contradictions import check_events, steps_of
    from varichain.scenarios.plans import Planner
    from varichain.scenarios.surfaces import add_surfaces, check_start

    base = replace(base, **{part: _NOTHING[part] for part in file.without})
    until = base.until if file.until is None else file.until
    add_surfaces(base.mechanism, file, kept, faults)
    planner = Planner(base.mechanism, base.events, faults)
    planner.learn(file.events)
    steps = [step for event in base.events for step in steps_of(event, None)]
    events = []
    for i, event in zip(kept.get("events", []), file.events, strict=True):
        found = planner.event(event, ("events", i))
        if found is not None:
            events.append(found)
            steps += steps_of(found, ("events", i))
    if until <= base.state.time:
        faults.add(("until",), f"'until' must be later than the start at {base.state.time:g} s")
    check_events(base.mechanism, steps, until, faults)
    loads = [planner.force(load, ("forces", i)) for i, load in zip(kept.get("forces", []), file.forces, strict=True)]
    settings = _settings(base, file, faults)
    check_start(base, settings, file, faults)
    pd = planner.pd(file.controller.pd, ("controller", "pd")) if file.controller is not None else None
    return replace(
        base,
        until=until,
        events=(*base.events, *events),
        controller=_together(base.controller, pd),
        forces=_added(base.forces, loads),
        settings=settings,
    )


_NOTHING: dict[str, Any] = {"events": (), "controller": None, "motion": None, "forces": ()}


def _together(own: Any, more: Any) -> Any:
    """Controllers that act both."""
    if own is None or more is None:
        return more if own is None else own
    return [*(own if isinstance(own, list | tuple) else [own]), more]


def _added(own: Any, more: list[Any]) -> Any:
    """Forces that act together; the scenario's own may be a function."""
    if not more:
        return own
    if callable(own):
        return lambda m, s: [*_listed(own(m, s)), *more]
    return (*_listed(own), *more)


def _listed(forces: Any) -> list[Any]:
    return [] if forces is None else list(forces) if isinstance(forces, list | tuple) else [forces]


def _settings(base: Scenario, file: ScenarioFile, faults: Faults) -> dict[str, Any]:
    """The scenario's settings with those of the file; what does not fit together is noted."""
    from varichain.simulation.settings import DEFAULTS, checked_settings

    given = {name: getattr(file, name) for name in _SETTINGS if getattr(file, name) is not None}
    settings = base.settings | given
    try:
        checked_settings(**(DEFAULTS | settings))
    except InputError as error:
        place = next((name for name in ("sample", "step", *_SETTINGS) if name in given), "scenario")
        faults.add((place,), str(error))
    return settings
