"""What a command is about: a scenario by name, a scenario file, a trace, a robot file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from varichain.cli.failures import UsageError, usage
from varichain.errors import ScenarioFileError, UnknownNameError, VarichainError, quoted

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism
    from varichain.scenarios.scenario import Scenario
    from varichain.trace import Trace

YAML, TRACE, ROBOT = (".yaml", ".yml"), (".h5", ".hdf5"), (".urdf", ".xacro", ".sdf", ".xml", ".mjcf")


def robot_from(path: str, is_lenient: bool, base: str = "fixed") -> Mechanism:
    """The mechanism of a robot file; the base is that of URDF."""
    from varichain.loading import load

    return load(path, base=base, strict=not is_lenient)


def kind_of(target: str) -> str:
    """What a target is, by its suffix: "scenario", "file", "trace" or "robot"; a file must be there.

    Raises:
        UsageError: No such scenario or file, or a file of another kind.
    """
    from varichain.scenarios import SCENARIOS

    if target in SCENARIOS:
        return "scenario"
    suffix = Path(target).suffix.lower()
    kinds = {"file": YAML, "trace": TRACE, "robot": ROBOT}
    kind = next((kind for kind, suffixes in kinds.items() if suffix in suffixes), None)
    if kind is None and not suffix and not Path(target).is_file():
        raise UsageError(str(UnknownNameError("scenario", target, SCENARIOS)))
    if not Path(target).is_file():
        raise UsageError(f"there is no file {target!r}; scenarios: {', '.join(SCENARIOS)}")
    if kind is None:
        known = ", ".join((*YAML, *TRACE, *ROBOT))
        raise UsageError(f"{target!r} is neither a scenario nor a file whose suffix is known ({known})")
    return kind


def settings_from(assignments: Iterable[str]) -> dict[str, str]:
    """Parameters from `key=value` texts.

    Raises:
        UsageError: One has no equals sign, or a key comes twice.
    """
    found: dict[str, str] = {}
    for text in assignments:
        key, sign, value = text.partition("=")
        key = key.strip()
        if not sign or not key:
            raise UsageError(f"--set needs key=value, such as --set angle=30deg, not {quoted(text)}")
        if key in found:
            raise UsageError(f"--set gives {key!r} twice")
        found[key] = value.strip()
    return found


def scenario_from(target: str, assignments: Iterable[str]) -> Scenario:
    """The scenario that a name or a scenario file stands for, with parameters replaced.

    Raises:
        UsageError: No such scenario or file, an unknown parameter, a value of the wrong kind.
        ScenarioFileError: The file has mistakes.
    """
    kind, given = kind_of(target), settings_from(assignments)
    if kind == "scenario":
        from varichain.scenarios import SCENARIOS
        from varichain.scenarios.parameters import checked_parameters

        builder = SCENARIOS[target]
        with usage():
            return builder(**checked_parameters(builder, given))
    if kind != "file":
        raise UsageError(f"{target!r} is not a scenario; `varichain info {target}` shows what is in it")
    from varichain.scenarios.files import load_scenario

    try:
        return load_scenario(target, given)
    except ScenarioFileError:
        raise
    except VarichainError as error:
        raise UsageError(str(error)) from error


def trace_from(target: str, meshes: Iterable[Path] = ()) -> Trace:
    """The trace in a file, which may show mesh files of these folders.

    Raises:
        UsageError: No such file, or a file of another kind.
        TraceFileError: The file is no trace, or cannot be read.
    """
    if kind_of(target) != "trace":
        raise UsageError(f"{target!r} is not a trace; `varichain run {target} --out FILE.h5` writes one")
    from varichain.trace import Trace

    return Trace.load(target, meshes=tuple(meshes))


def free_file(path: Path, overwrite: bool) -> None:
    """Refuse a file that must not be written; said before the work rather than after it.

    Raises:
        UsageError: It exists already, or there is no such folder.
    """
    if os.path.lexists(path) and not overwrite:
        raise UsageError(f"file {str(path)!r} exists already; choose another name or add --overwrite")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {str(path.parent)!r} to write {path.name!r} to")
