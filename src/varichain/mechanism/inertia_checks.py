"""Which inertias a rigid body can have."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.errors import InertiaError
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar, is_sequence
from varichain.spatial.frozen import read_only

TOLERANCE = 1e-9  # relative to the largest entry or principal moment
_ROUNDING = 64 * np.finfo(float).eps


def checked_mass(mass: Any) -> float:
    """`mass` as a float >= 0 [kg]."""
    kilograms = finite_scalar(mass, "mass")
    if kilograms < 0.0:
        raise InertiaError(f"mass must not be negative, found {kilograms:g} kg", mass=kilograms)
    return kilograms


def symmetric_matrix(value: Any, what: str) -> Array:
    """Read-only symmetric matrix (3, 3) from one that is symmetric to the tolerance, or from a diagonal (3,)."""
    if is_sequence(value) and not any(is_sequence(row) for row in value):
        return read_only(np.diag(finite_array(value, (3,), what)))
    given = finite_array(value, (3, 3), what)
    asymmetry = np.abs(given - given.T).max()
    if asymmetry > TOLERANCE * np.abs(given).max():
        raise InertiaError(f"{what} must be symmetric, but differs from its transpose by {asymmetry:.3g}", matrix=given)
    return read_only(0.5 * (given + given.T))


def check_body(mass: float, about_com: Array) -> None:
    """Refuse a rotational inertia (3, 3) [kg m^2] about the centre of mass that no body of `mass` [kg] has."""
    if mass == 0.0:
        if about_com.any():
            raise InertiaError("a body without mass must have no rotational inertia", mass, about_com)
        return
    least, middle, largest = np.linalg.eigvalsh(about_com).tolist()
    slack = TOLERANCE * largest
    if least < -slack or largest < 0.0:
        rule = "principal moments must not be negative"
    elif least + middle < largest - slack:
        rule = "no principal moment may exceed the sum of the other two"
    else:
        return
    raise InertiaError(f"{rule}, found {least:.6g}, {middle:.6g}, {largest:.6g} kg m^2", mass, about_com)


def difference(large: Array, shift: Array) -> Array:
    """`large - shift` of two rotational inertias (3, 3), where what is left of their rounding is not taken for a body.

    The second moments of the mass are the eigenvalues of tr(I)/2 1 - I, and a body exists if and only if none of them
    is negative. Those within rounding of zero are set to zero: a point mass would come out negative every other time.
    """
    matrix = large - shift
    noise = _ROUNDING * max(np.abs(large).max(), np.abs(shift).max())
    moments, axes = np.linalg.eigh(0.5 * np.trace(matrix) * np.eye(3) - matrix)
    is_noise = np.abs(moments) <= noise
    if not is_noise.any():
        return matrix
    second = (axes * np.where(is_noise, 0.0, moments)) @ axes.T
    cleaned: Array = np.trace(second) * np.eye(3) - second
    return cleaned
