"""What a sweep is made of: an importable function, a grid of parameters, repeats; a key and a seed for each trial."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import varichain
from varichain.errors import InputError, UnknownNameError, quoted
from varichain.spatial.checks import count_number, flag

_SCENARIO = "scenario:"
_MOST_TRIALS = 10**9


@dataclass(frozen=True)
class Task:
    """One trial: its parameters, the number of its repeat, its seed, and a key made of all that decides its result."""

    parameters: dict[str, Any]
    repeat: int
    seed: int
    key: str


@dataclass(frozen=True)
class Plan:
    """A whole sweep, as plain values.

    Attributes:
        function: Reference of the trial, "module:name" or "scenario:name".
        source: Digest of its source.
        grid: Values of each parameter.
        repeats: Trials at each point of the grid.
        seed: From which all seeds come.
        common_noise: Whether points share their seeds, repeat by repeat.
        version: Of varichain.
    """

    function: str
    source: str
    grid: dict[str, list[Any]]
    repeats: int
    seed: int
    common_noise: bool
    version: str

    def __len__(self) -> int:
        """Number of trials."""
        n = self.repeats
        for values in self.grid.values():
            n *= len(values)
        return n

    def tasks(self) -> Iterator[Task]:
        """All trials, in the order of the grid."""
        for values in itertools.product(*self.grid.values()):
            parameters = dict(zip(self.grid, values, strict=True))
            for repeat in range(self.repeats):
                yield self._task(parameters, repeat)

    def _task(self, parameters: dict[str, Any], repeat: int) -> Task:
        """A trial; its seed depends on its parameters and repeat alone, not on its place in the grid."""
        text = json.dumps(parameters, sort_keys=True)
        point = () if self.common_noise else tuple(hashlib.sha256(text.encode()).digest()[:8])
        state = np.random.SeedSequence(self.seed, spawn_key=(*point, repeat)).generate_state(2, np.uint32)
        seed = int(state[0]) << 31 | int(state[1]) >> 1
        decides = json.dumps([self.function, self.source, text, repeat, seed, self.version])
        return Task(parameters, repeat, seed, hashlib.sha256(decides.encode()).hexdigest()[:32])


def planned(trial: Any, grid: Any, repeats: Any, seed: Any, common_noise: Any) -> Plan:
    """A plan, checked.

    Raises:
        InputError: The trial cannot be imported elsewhere, the grid is empty or has values that are not plain.
    """
    reference = reference_of(trial)
    function = function_of(reference)
    values = _checked_grid(grid)
    check_parameters(function, reference, values)
    plan = Plan(
        reference,
        source_of(function),
        values,
        count_number(repeats, "repeats", _MOST_TRIALS),
        count_number(seed, "seed", 2**64, least=0),
        flag(common_noise, "common_noise"),
        varichain.__version__,
    )
    if len(plan) > _MOST_TRIALS:
        raise InputError(f"a sweep has at most {_MOST_TRIALS} trials, not {len(plan)}")
    return plan


def reference_of(trial: Any) -> str:
    """Reference by which other processes find a trial.

    Raises:
        InputError: There is none: a lambda, a function inside of another, or one of the program itself.
    """
    if isinstance(trial, str):
        return trial if ":" in trial else _SCENARIO + trial
    name, module = getattr(trial, "__qualname__", ""), getattr(trial, "__module__", "")
    if not callable(trial) or not name:
        raise InputError(
            f"a trial must be a function of a module, 'module:function' or the name of a scenario, not {quoted(trial)}"
        )
    if "<" in name:
        raise InputError(
            f"{name!r} of {module} cannot be imported by other processes; define it at the top of a module, with a name"
        )
    if module == "__main__":
        raise InputError(
            f"{name!r} is part of the program itself; put it into a module that other processes can import"
        )
    return f"{module}:{name}"


def function_of(reference: str) -> Callable[..., Any]:
    """The function of a reference; InputError if it cannot be imported."""
    module, _, name = reference.partition(":")
    if reference.startswith(_SCENARIO):
        from varichain.scenarios import SCENARIOS
        from varichain.sweeps.scenarios import run_scenario

        if name not in SCENARIOS:
            raise InputError(f"no scenario is called {name!r}; scenarios: {', '.join(SCENARIOS)}")
        return partial(run_scenario, name)
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"the trial {reference!r} cannot be imported: {error}") from error
    if not callable(found):
        raise InputError(f"the trial {reference!r} is not a function")
    return found  # type: ignore[no-any-return]


def source_of(function: Any) -> str:
    """Digest of a function's source."""
    inner = function.func if isinstance(function, partial) else function
    try:
        text = inspect.getsource(inner)
    except (OSError, TypeError):
        text = repr(inner)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_parameters(function: Callable[..., Any], reference: str, grid: Mapping[str, Any]) -> None:
    """Raise InputError if the function does not take the parameters and `seed`, or the scenario not the parameters."""
    if isinstance(function, partial):
        from varichain.scenarios import SCENARIOS
        from varichain.scenarios.parameters import parameters_of

        known = parameters_of(SCENARIOS[function.args[0]])
        for name in grid:  # a value that it does not take is the matter of one trial
            if name not in known:
                raise UnknownNameError("parameter", name, known)
        return
    try:
        inspect.signature(function).bind(**{name: values[0] for name, values in grid.items()}, seed=0)
    except (TypeError, ValueError) as error:  # the second from functions of C that do not tell
        raise InputError(f"{reference} must take the grid's parameters and `seed` by name: {error}") from None


def _checked_grid(grid: Any) -> dict[str, list[Any]]:
    if not isinstance(grid, Mapping) or not grid:
        raise InputError(f"grid must have values for a parameter at least, by name, not {quoted(grid)}")
    found = {}
    for name, given in grid.items():
        values = given.tolist() if isinstance(given, np.ndarray) else given
        if not isinstance(name, str) or not name.isidentifier() or name == "seed":
            raise InputError(f"parameters of a grid need names, other than seed, not {quoted(name)}")
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
            raise InputError(f"{name!r} of the grid must be a list of values, not {quoted(given)}")
        plain = [value.item() if isinstance(value, np.generic) else value for value in values]
        if not plain:
            raise InputError(f"{name!r} of the grid has no values: there is nothing to try")
        try:
            json.dumps(plain, allow_nan=False)
        except (TypeError, ValueError):
            raise InputError(f"values of {name!r} must be finite numbers, texts or lists of them") from None
        if len({json.dumps(value) for value in plain}) < len(plain):
            raise InputError(f"{name!r} of the grid has a value twice; use repeats= for more trials of a point")
        found[name] = plain
    return found
