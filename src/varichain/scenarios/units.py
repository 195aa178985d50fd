"""Quantities as people write them: "30 deg", "500ms", "2 cm", "1.5 kN"; numbers alone are in SI units."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from typing import Any

from varichain.errors import InputError, quoted
from varichain.spatial.checks import shown

_DEGREE = math.pi / 180.0
_LARGEST = 1e30  # of a number in SI units: some powers and products of it are computed
_GRAVITY = 9.80665  # [m/s^2] of the kilogram-force

UNITS: dict[str, dict[str, float]] = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0},
    "angle": {"rad": 1.0, "deg": _DEGREE, "mrad": 1e-3, "rev": 2.0 * math.pi},
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "km": 1e3, "in": 0.0254, "ft": 0.3048},
    "mass": {"kg": 1.0, "g": 1e-3, "t": 1e3, "lb": 0.45359237},
    "force": {"N": 1.0, "kN": 1e3, "mN": 1e-3, "kgf": _GRAVITY},
    "moment": {"N m": 1.0, "kN m": 1e3, "mN m": 1e-3},
    "impulse": {"N s": 1.0, "kN s": 1e3, "mN s": 1e-3},
    "angular impulse": {"N m s": 1.0, "mN m s": 1e-3},
    "angular velocity": {"rad/s": 1.0, "deg/s": _DEGREE, "rev/s": 2.0 * math.pi, "rpm": math.pi / 30.0},
    "velocity": {"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3, "km/h": 1.0 / 3.6},
    "acceleration": {"m/s^2": 1.0},
    "angular acceleration": {"rad/s^2": 1.0, "deg/s^2": _DEGREE},
    "energy": {"J": 1.0, "kJ": 1e3},
    "power": {"W": 1.0, "kW": 1e3},
    "frequency": {"Hz": 1.0},
    "stiffness": {"N m/rad": 1.0, "N m/deg": 1.0 / _DEGREE},
    "linear stiffness": {"N/m": 1.0, "kN/m": 1e3, "N/mm": 1e3},
    "damping": {"N m s/rad": 1.0},
    "linear damping": {"N s/m": 1.0},
    "ratio": {"%": 1e-2},
}
"""Units of each dimension, and what each is in SI units; the first one is the SI unit."""

_BY_UNIT = {unit: (dimension, factor) for dimension, units in UNITS.items() for unit, factor in units.items()}
_SPELLINGS = {"Nm": "N m", "Ns": "N s", "Nms": "N m s", "sec": "s", "degrees": "deg", "\N{DEGREE SIGN}": "deg"}
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True)
class Quantity:
    """A number in SI units.

    Attributes:
        value: The number.
        dimension: A key of `UNITS`; None for a number without unit.
        text: As it was written.
    """

    value: float
    dimension: str | None
    text: str

    def as_one_of(self, *dimensions: str) -> float:
        """The number, if it has one of the dimensions or no unit.

        Raises:
            InputError: It has another; the message names the units that would do.
        """
        if self.dimension is None or self.dimension in dimensions:
            return self.value
        valid = ", ".join(unit for dimension in dimensions for unit in UNITS[dimension])
        names = " or ".join(f"{_article(dimension)} {dimension}" for dimension in dimensions)
        raise InputError(
            f"must be {names}, but {quoted(self.text)} is {_article(self.dimension)} {self.dimension}; "
            f"valid units: {valid}"
        )


def quantity(value: Any, *dimensions: str) -> Quantity:
    """A number, or a text of number and unit; of one of some dimensions, if they are named.

    Raises:
        InputError: It is neither, the unit is unknown or of another dimension, or the number is not finite.
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        return _finite(Quantity(number, None, f"{number:g}"), value)
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise InputError(f"must be a number, or a number with its unit such as '30 deg', not {shown(value)}")
    number, unit = float(found[1]), " ".join(found[2].replace("*", " ").split())
    if not unit:
        return _finite(Quantity(number, None, value), value)
    unit = _SPELLINGS.get(unit, unit)
    if unit not in _BY_UNIT:
        valid = [unit for dimension in dimensions or UNITS for unit in UNITS[dimension]]
        close = get_close_matches(unit, valid, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise InputError(f"has an unknown unit {quoted(unit)}{hint}; valid units: {', '.join(valid)}")
    dimension, factor = _BY_UNIT[unit]
    quantity = _finite(Quantity(number * factor, dimension, value), value)
    if dimensions:
        quantity.as_one_of(*dimensions)
    return quantity


def dimension_of(unit: str) -> str | None:
    """Dimension of an SI unit, as it stands in brackets in docstrings; None if it is not one of `UNITS`."""
    return _BY_UNIT[unit][0] if unit in _BY_UNIT else None


def _finite(found: Quantity, given: Any) -> Quantity:
    if not math.isfinite(found.value):
        raise InputError(f"must be finite, not {shown(given)}")
    if abs(found.value) > _LARGEST:
        raise InputError(f"must be at most {_LARGEST:g} in SI units, not {shown(given)}")
    return found


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"
