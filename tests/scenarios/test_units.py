"""Quantities with units, and parameters that are read from signatures and docstrings."""

import math
from typing import Annotated, Literal

import numpy as np
import pytest
from annotated_types import Ge, Le

from varichain.errors import InputError, UnknownNameError
from varichain.scenarios.parameters import NonNegative, Positive, checked, checked_parameters, first_line, parameters_of
from varichain.scenarios.units import UNITS, quantity


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("30deg", math.pi / 6, "angle"),
        ("30 deg", math.pi / 6, "angle"),
        ("500ms", 0.5, "time"),
        ("2cm", 0.02, "length"),
        (" -1.5e-3 kN ", -1.5, "force"),
        ("3 Nm", 3.0, "moment"),
        ("3 N*m", 3.0, "moment"),
        (".5", 0.5, None),
        ("1e-3", 1e-3, None),
        (7, 7.0, None),
        ("36 km/h", 10.0, "velocity"),
        ("60 rpm", 2 * math.pi, "angular velocity"),
        ("5 %", 0.05, "ratio"),
    ],
)
def test_quantities(text, value, dimension):
    """A number with its unit, with a blank between them or without, is that number in SI units."""
    found = quantity(text)
    assert found.value == pytest.approx(value, rel=1e-15)
    assert found.dimension == dimension


@pytest.mark.parametrize(
    "wrong", ["", "deg", "1 2", "3 foo", "1,5", True, None, [1], math.nan, "1e999", "0x10", "nan", 1e31, "-1e28 km"]
)
def test_what_is_no_quantity(wrong):
    """What is no number, not finite, too large to be squared, or has an unknown unit is refused."""
    with pytest.raises(InputError):
        quantity(wrong)


def test_dimensions():
    """A unit of another dimension is refused with the units that would do; a number alone has none and will do."""
    assert quantity("3", "time").value == 3.0
    with pytest.raises(InputError, match="must be a time, but '3 m' is a length; valid units: s, ms"):
        quantity("3 m", "time")
    with pytest.raises(InputError, match=r"unknown unit 'mss' \(did you mean 'ms'\?\)"):
        quantity("3 mss", "time")


def test_units_are_unique():
    """No unit belongs to two dimensions, and the first unit of each but ratios is the SI unit."""
    units = [unit for of in UNITS.values() for unit in of]
    assert len(units) == len(set(units))
    assert all(next(iter(of.values())) == 1.0 for dimension, of in UNITS.items() if dimension != "ratio")


def build(  # noqa: D417  not every argument need be told
    *,
    height: float = 1.7,
    arms: int = 2,
    limp: bool = False,
    sex: Literal["female", "male"] = "male",
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    hold: float | None = None,
    label: str = "",
) -> None:
    """A figure.

    More about it.

    Args:
        height: Of the figure, from
            the sole to the top [m].
        arms, limp: How it is.
        hold: For so long [s].

    Returns:
        Nothing.
    """


def test_parameters_come_from_signature_and_docstring():
    """Names, defaults, units and meanings are those of the builder, lines that go on and shared lines included."""
    found = parameters_of(build)
    assert list(found) == ["height", "arms", "limp", "sex", "spin", "hold", "label"]
    assert found["height"].about == "Of the figure, from the sole to the top [m]."
    assert (found["height"].unit, found["arms"].unit, found["hold"].unit) == ("m", None, "s")
    assert found["limp"].about == "How it is." and found["sex"].choices == ("female", "male")
    assert first_line(build) == "A figure."


def test_values_from_text():
    """Values from a command line become what the signature says."""
    given = {
        "height": "180cm",
        "arms": "3",
        "limp": "yes",
        "sex": "female",
        "spin": "1, 2,3",
        "hold": "none",
        "label": "a",
    }
    assert checked_parameters(build, given) == {
        "height": 1.8,
        "arms": 3,
        "limp": True,
        "sex": "female",
        "spin": (1.0, 2.0, 3.0),
        "hold": None,
        "label": "a",
    }
    assert checked_parameters(build, {"hold": "20ms", "spin": [1, 2, 3], "arms": 1}) == {
        "hold": 0.02,
        "spin": (1.0, 2.0, 3.0),
        "arms": 1,
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("height", "3 kg", "valid units: m, cm"),
        ("height", True, "must be a number"),
        ("arms", "2.5", "whole number"),
        ("arms", True, "whole number"),
        ("limp", 2, "true or false"),
        ("sex", "other", "must be one of female, male"),
        ("spin", "1, 2", "must have 3 entries, not 2"),
        ("spin", 3, "must be a list"),
        ("label", 3, "must be text"),
    ],
)
def test_values_of_the_wrong_kind(name, value, message):
    """A value of the wrong kind is refused with the name of the parameter and what would be valid."""
    with pytest.raises(InputError, match=message) as caught:
        checked_parameters(build, {name: value})
    assert repr(name) in str(caught.value)


@checked
def bounded(
    *,
    mass: Positive = 1.0,
    at: NonNegative | None = None,
    links: Annotated[int, Ge(1), Le(9)] = 2,
    size: tuple[float, float] = (1.0, 2.0),
    limp: bool = False,
    kind: Literal["a", "b"] = "a",
) -> tuple[object, ...]:
    """Something with parameters that have bounds."""
    return mass, at, links, size, limp, kind


def test_checked_builders_take_what_their_signature_says():
    """From Python numbers of numpy are numbers; None is taken where it may be; what is not given has its default."""
    given = {"mass": np.float32(2.0), "at": None, "links": np.int64(3), "size": np.array([3, 4]), "limp": np.True_}
    assert bounded(**given) == (2.0, None, 3, (3.0, 4.0), True, "a")
    assert bounded(at=0) == (1.0, 0.0, 2, (1.0, 2.0), False, "a")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mass", 0, "must be above 0, not 0.0"),
        ("mass", "1 kg", "must be a number, not '1 kg'"),
        ("mass", math.nan, "must be finite, not nan"),
        ("mass", 1e200, "must be at most 1e[+]30 in SI units, not 1e[+]200"),
        ("at", -1e-9, "must be at least 0"),
        ("at", "none", "must be a number"),
        ("links", 10, "must be from 1 to 9, not 10"),
        ("links", 10**400, "must be from 1 to 9"),
        ("links", "2", "must be a whole number"),
        ("links", 2.0, "must be a whole number"),
        ("size", "1, 2", "must be a list"),
        ("size", ["1", "2"], "must be a number"),
        ("size", [1, 2, 3], "must have 2 entries"),
        ("limp", "yes", "must be True or False"),
        ("kind", "c", "must be one of a, b"),
        ("masss", 1.0, "did you mean 'mass'"),
    ],
)
def test_checked_builders_refuse_what_it_does_not(name, value, message):
    """From Python text is not read as a number; numbers beyond the bounds of the signature are refused by name."""
    with pytest.raises((InputError, UnknownNameError), match=message) as caught:
        bounded(**{name: value})
    assert repr(name) in str(caught.value)


def test_unknown_parameters():
    """An unknown parameter is refused with those that exist."""
    with pytest.raises(UnknownNameError, match="did you mean 'height'"):
        checked_parameters(build, {"hieght": 1})
