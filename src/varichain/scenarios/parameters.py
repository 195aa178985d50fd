"""Parameters of scenarios: what a builder's signature and docstring say about them, and values read from text."""

from __future__ import annotations

import inspect
import operator
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from numbers import Integral
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from varichain.errors import InputError, UnknownNameError
from varichain.scenarios.units import UNITS, dimension_of, quantity
from varichain.spatial.checks import is_one_of, is_sequence, shown

Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
Duration = Annotated[float, Ge(1e-3), Le(1e6)]
"""Of a motion, or of a part of one [s]."""

Given = ParamSpec("Given")
Built = TypeVar("Built")

_ENTRY = re.compile(r"^(\w+(?:, \w+)*): (.*)$")
_UNIT = re.compile(r"\[([^\]]+)\]")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_BOUNDS: dict[type, tuple[Callable[[Any, Any], bool], str]] = {
    Gt: (operator.gt, "above"),
    Ge: (operator.ge, "at least"),
    Lt: (operator.lt, "below"),
    Le: (operator.le, "at most"),
}
_NO_TEXT = {float: "a number", int: "a whole number", bool: "True or False", type(None): "None"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a scenario.

    Attributes:
        name: Its name.
        kind: Its annotation: float, int, bool, str, a Literal, a tuple of floats, one of these with bounds
            (`Annotated`, with Gt, Ge, Lt and Le of annotated_types), or one of these or None.
        default: Its default; `inspect.Parameter.empty` if it must be given.
        about: What its docstring says.
        dimension: Key of `UNITS` that the docstring's unit belongs to; None if it has none.
    """

    name: str
    kind: Any
    default: Any
    about: str = ""
    dimension: str | None = None

    @property
    def choices(self) -> tuple[Any, ...]:
        """Values that a Literal allows; empty for other kinds."""
        return tuple(
            value for kind in _alternatives(self.kind) if get_origin(kind) is Literal for value in get_args(kind)
        )

    @property
    def unit(self) -> str | None:
        """SI unit of its number."""
        return None if self.dimension is None else next(iter(UNITS[self.dimension]))

    def value(self, given: Any, *, reads_text: bool = True) -> Any:
        """What was given, as what the builder wants.

        Args:
            given: From a file or a command line; or from Python.
            reads_text: Whether numbers may be given as text, such as "30 deg". Not from Python, where what is given
                has to be what the signature says.

        Raises:
            InputError: It is of another kind; the message says what would be valid.
        """
        problems = []
        for kind in _alternatives(self.kind):
            try:
                return self._as(kind, given, reads_text)
            except InputError as error:
                problems.append(str(error))
        raise InputError(f"parameter {self.name!r} {problems[0]}")

    def _as(self, kind: Any, given: Any, reads_text: bool) -> Any:
        if get_origin(kind) is Annotated:
            inner, *bounds = get_args(kind)
            return _within(bounds, self._as(inner, given, reads_text))
        if isinstance(given, str) and not reads_text and kind in _NO_TEXT:
            raise InputError(f"must be {_NO_TEXT[kind]}, not {shown(given)}")
        if kind is type(None):
            if given is None or is_one_of(given, ("none",)):
                return None
            raise InputError(f"must be none, not {shown(given)}")
        if get_origin(kind) is Literal:
            return _choice(get_args(kind), given)
        if kind is bool:
            return _flag(given)
        if kind is float:
            return quantity(given, *filter(None, [self.dimension])).value
        if kind is int:
            return _whole(given)
        if get_origin(kind) is tuple:
            return self._numbers(kind, given, reads_text)
        if kind is str and not isinstance(given, str):
            raise InputError(f"must be text, not {shown(given)}")
        return given

    def _numbers(self, kind: Any, given: Any, reads_text: bool) -> tuple[Any, ...]:
        """A tuple from a list, or from a text with commas."""
        entries = given.strip("()[] ").split(",") if isinstance(given, str) and reads_text else given
        if not is_sequence(entries):
            raise InputError(f"must be a list such as 1, 2, 3, not {shown(given)}")
        kinds = get_args(kind)
        if kinds[-1] is not Ellipsis and len(kinds) != len(entries):
            raise InputError(f"must have {len(kinds)} entries, not {len(entries)}")
        return tuple(self._as(kinds[0], entry, reads_text) for entry in entries)


def checked(builder: Callable[Given, Built]) -> Callable[Given, Built]:
    """A builder that checks what it is given from Python: kinds, and sizes of numbers.

    Raises, when it is called:
        UnknownNameError: The scenario has no such parameter.
        InputError: A value is not of the kind that the signature says, or not a number that can be computed with.
    """

    @wraps(builder)
    def build(*placed: Given.args, **given: Given.kwargs) -> Built:
        return builder(*placed, **checked_parameters(builder, given, reads_text=False))

    return build


@cache
def parameters_of(builder: Callable[..., Any]) -> dict[str, Parameter]:
    """Parameters of a builder by name, in the order of its signature."""
    hints, descriptions = _hints(builder), _descriptions(builder)
    found = {}
    for name, parameter in inspect.signature(builder).parameters.items():
        about = descriptions.get(name, "")
        unit = _UNIT.search(about)
        dimension = dimension_of(unit[1]) if unit else None
        found[name] = Parameter(name, hints.get(name, Any), parameter.default, about, dimension)
    return found


def checked_parameters(
    builder: Callable[..., Any], given: Mapping[str, Any], *, reads_text: bool = True
) -> dict[str, Any]:
    """Values for a builder, of the right kinds; `reads_text` as of `Parameter.value`.

    Raises:
        UnknownNameError: The scenario has no such parameter.
        InputError: A value is of the wrong kind.
    """
    known = parameters_of(builder)
    for key in given:
        if key not in known:
            raise UnknownNameError("parameter", key, known)
    return {key: known[key].value(value, reads_text=reads_text) for key, value in given.items()}


def first_line(builder: Callable[..., Any]) -> str:
    """First line of a builder's docstring."""
    return (inspect.getdoc(builder) or "").partition("\n")[0]


def _hints(builder: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of the arguments; what a builder returns may be known to type checkers alone."""
    inner = inspect.unwrap(builder)
    own = {name: hint for name, hint in inner.__annotations__.items() if name != "return"}
    bare = types.SimpleNamespace(__annotations__=own, __module__=inner.__module__)
    return get_type_hints(bare, getattr(inner, "__globals__", {}), include_extras=True)


def _descriptions(builder: Callable[..., Any]) -> dict[str, str]:
    """What the docstring's section Args says of each argument; "a, b: ..." speaks of both."""
    section = (inspect.getdoc(builder) or "").partition("\nArgs:\n")[2]
    descriptions: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line and not line.startswith(" "):
            break
        if found := _ENTRY.match(line.removeprefix("    ")):
            names = found[1].split(", ")
            descriptions |= dict.fromkeys(names, found[2])
        else:
            descriptions |= {name: f"{descriptions[name]} {line.strip()}".strip() for name in names}
    return descriptions


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _choice(choices: tuple[Any, ...], given: Any) -> Any:
    for choice in choices:
        if isinstance(given, str) and given == str(choice):
            return choice
        if isinstance(given, Integral) and not isinstance(given, bool) and given == choice:
            return choice
    raise InputError(f"must be one of {', '.join(map(str, choices))}, not {shown(given)}")


def _within(bounds: list[Any], value: Any) -> Any:
    """A number that is within bounds."""
    limits = [(*_BOUNDS[type(bound)], getattr(bound, type(bound).__name__.lower())) for bound in bounds]
    if all(is_met(value, limit) for is_met, _, limit in limits):
        return value
    words = " and ".join(f"{word} {limit:g}" for _, word, limit in limits)
    if [type(bound) for bound in bounds] == [Ge, Le]:
        words = f"from {bounds[0].ge:g} to {bounds[1].le:g}"
    raise InputError(f"must be {words}, not {shown(value)}")


def _flag(given: Any) -> bool:
    if isinstance(given, bool | np.bool_):
        return bool(given)
    word = given.lower() if isinstance(given, str) else None
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise InputError(f"must be true or false, not {shown(given)}")


def _whole(given: Any) -> int:
    if isinstance(given, Integral) and not isinstance(given, bool):
        return int(given)
    if isinstance(given, str) and re.fullmatch(r"[-+]?\d{1,300}", given.strip()):
        return int(given)
    raise InputError(f"must be a whole number, not {shown(given)}")
