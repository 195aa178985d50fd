"""Joints as short texts, such as "revolute y", and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, Field
from typing import Any

from varichain.errors import InputError, quoted
from varichain.mechanism.joint import JOINT_TYPES, Joint
from varichain.spatial.checks import NAMED_AXES, shown
from varichain.spatial.text import axis_text

OPTIONS = ("limits", "damping", "friction", "stiffness", "armature", "rest", "actuated")
"""Fields of every joint that files may set."""


def joint_text(joint: Joint) -> str:
    """Kind and own fields of a joint: "revolute y", "universal x y", "screw z 0.01 m/rad"."""
    words = [joint.kind]
    for field in joint.own_fields():
        value = getattr(joint, field.name)
        if _n_axes(field) == 0:
            words += [f"{value:.4g}" if isinstance(value, float) else str(value), *_unit(joint, field)]
        else:
            words += [axis_text(axis) for axis in (value if isinstance(field.default, tuple) else (value,))]
    return " ".join(words)


def joint_from_text(text: Any) -> Joint:
    """The joint of a text of named axes, as `joint_text` writes it.

    Raises:
        InputError: There is no such joint.
    """
    words = text.split() if isinstance(text, str) else []
    kind = joint_kinds().get(words[0]) if words else None
    given = None if kind is None else _fields_from(kind, words[1:])
    if kind is None or given is None:
        raise InputError(f"must be a joint such as {examples()} (axes: {', '.join(NAMED_AXES)}), not {shown(text)}")
    return kind(**given)


def joint_from_plain(value: Any) -> Joint:
    """The joint of a text, or of a mapping with its kind and fields: {"kind": "spring-damper", "stiffness": 100}.

    Raises:
        InputError: There is no such joint, or it has no such field.
    """
    if not isinstance(value, dict):
        return joint_from_text(value)
    given = dict(value)
    kind = joint_kinds().get(str(given.pop("kind", "")))
    if kind is None:
        raise InputError(f"kind must be one of {', '.join(joint_kinds())}, not {quoted(value.get('kind'))}")
    own = {field.name: field for field in kind.own_fields()}
    known = (*own, *OPTIONS)
    for name in given:
        if name not in known:
            raise InputError(f"a {kind.kind} joint has no {quoted(name)}; its fields are {', '.join(known)}")
    for name, field in own.items():
        if field.default is MISSING and name not in given:
            raise InputError(f"a {kind.kind} joint needs its {name!r}")
    fields: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in given.items()}
    return kind(**fields)


def joint_kinds() -> dict[str, type[Joint]]:
    """All joint types by their kinds."""
    return {kind.kind: kind for kind in JOINT_TYPES.values()}


def examples() -> str:
    """A text for every type that closes loops, as in "revolute z, universal x y or spherical"."""
    *texts, last = [_example(kind) for kind in JOINT_TYPES.values() if kind.rows]
    return f"{', '.join(texts)} or {last}"


def loop_kinds() -> dict[str, bool]:
    """Kinds that close loops and that at most one axis describes; whether they have it."""
    counts = {kind.kind: [_n_axes(field) for field in kind.own_fields()] for kind in JOINT_TYPES.values() if kind.rows}
    return {kind: counts[kind] == [1] for kind in counts if counts[kind] in ([], [1])}


def loop_joint(kind: str, axis: Any) -> Joint:
    """Joint of a kind, along an axis if it has one.

    Raises:
        InputError: The kind is none of `loop_kinds`.
    """
    kinds = loop_kinds()
    if kind not in kinds:
        raise InputError(f"kind must be one of {', '.join(kinds)}, not {quoted(kind)}")
    return joint_kinds()[kind](*((axis,) if kinds[kind] else ()))


def _n_axes(field: Field[Any]) -> int:
    """Number of axes that a field takes, by its default: "z" for one, ("x", "y") for two; 0 if it takes none."""
    if isinstance(field.default, tuple):
        return len(field.default)
    return 1 if isinstance(field.default, str) else 0


def _unit(joint: Joint | type[Joint], field: Field[Any]) -> list[str]:
    return [joint.units[field.name]] if field.name in joint.units else []


def _fields_from(kind: type[Joint], words: Sequence[str]) -> dict[str, Any] | None:
    """Fields of a type from the words after its kind; None if they do not fit."""
    given: dict[str, Any] = {}
    rest = list(words)
    for field in kind.own_fields():
        n = _n_axes(field)
        taken, rest = rest[: n or 1], rest[n or 1 :]
        if len(taken) < (n or 1):
            return None
        if n == 0:
            given[field.name] = _number(taken[0])
            rest = rest[1:] if rest[:1] == _unit(kind, field) and rest else rest
        else:
            given[field.name] = tuple(taken) if isinstance(field.default, tuple) else taken[0]
        if given[field.name] is None or (n and not all(axis in NAMED_AXES for axis in taken)):
            return None
    return None if rest else given


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _example(kind: type[Joint]) -> str:
    words = [kind.kind]
    for field in kind.own_fields():
        default = field.default
        words += [*default] if isinstance(default, tuple) else [default if isinstance(default, str) else "0.1"]
        words += _unit(kind, field)
    return " ".join(words)
