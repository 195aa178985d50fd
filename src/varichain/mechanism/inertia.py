"""Inertia of a rigid body: mass, centre of mass, rotational inertia about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.mechanism import solids
from varichain.mechanism.inertia_checks import check_body, checked_mass, difference, symmetric_matrix
from varichain.spatial.arrays import Array
from varichain.spatial.checks import Triple, finite_array, finite_numbers, non_negative_scalar, unit_axis
from varichain.spatial.frozen import Frozen
from varichain.spatial.pose import Pose
from varichain.spatial.text import numbers_text

_ORIGIN = (0.0, 0.0, 0.0)


class Inertia(Frozen):
    """Inertia of a rigid body, seen from a frame of it. Immutable.

    Some body has it: the mass is not negative, and no principal moment exceeds the sum of the other two (within 1e-9
    of the largest). A body without mass has no rotational inertia either.

    Attributes:
        mass: [kg].
        com: Centre of mass (3,) [m], read-only.
        about_com: Rotational inertia about the centre of mass (3, 3) [kg m^2], read-only.
    """

    __slots__ = ("about_com", "com", "mass")

    mass: float
    com: Array
    about_com: Array

    def __init__(self, mass: float, com: ArrayLike = _ORIGIN, about_com: ArrayLike = _ORIGIN) -> None:
        """Make an inertia; three numbers for `about_com` are its diagonal.

        Raises:
            InputError: Not finite numbers of that shape.
            InertiaError: No body has this inertia.
        """
        self._set("mass", checked_mass(mass))
        self._set("com", finite_array(com, (3,), "com"))
        self._set("about_com", symmetric_matrix(about_com, "about_com"))
        check_body(self.mass, self.about_com)

    @classmethod
    def zero(cls) -> Inertia:
        """No inertia."""
        return cls(0.0)

    @classmethod
    def point(cls, mass: float, com: ArrayLike = _ORIGIN) -> Inertia:
        """Point mass at `com`."""
        return cls(mass, com)

    @classmethod
    def rod(cls, mass: float, length: float, axis: str | ArrayLike = "z", *, com: ArrayLike = _ORIGIN) -> Inertia:
        """Thin uniform rod of `length` [m] along `axis`, centred at `com`."""
        return cls(mass, com, solids.rod(checked_mass(mass), _size(length, "length"), unit_axis(axis)))

    @classmethod
    def box(cls, mass: float, size: ArrayLike, *, com: ArrayLike = _ORIGIN) -> Inertia:
        """Uniform box with full edge lengths `size` (3,) [m] along x, y, z, centred at `com`."""
        return cls(mass, com, solids.box(checked_mass(mass), _sizes(size, "size")))

    @classmethod
    def cylinder(
        cls, mass: float, radius: float, length: float, axis: str | ArrayLike = "z", *, com: ArrayLike = _ORIGIN
    ) -> Inertia:
        """Uniform solid cylinder of `radius` and `length` [m] along `axis`, centred at `com`."""
        sizes = _size(radius, "radius"), _size(length, "length")
        return cls(mass, com, solids.cylinder(checked_mass(mass), *sizes, unit_axis(axis)))

    @classmethod
    def capsule(
        cls, mass: float, radius: float, length: float, axis: str | ArrayLike = "z", *, com: ArrayLike = _ORIGIN
    ) -> Inertia:
        """Uniform solid capsule: a cylinder of `radius` and `length` [m] along `axis` between two half balls."""
        sizes = _size(radius, "radius"), _size(length, "length")
        return cls(mass, com, solids.capsule(checked_mass(mass), *sizes, unit_axis(axis)))

    @classmethod
    def sphere(cls, mass: float, radius: float, *, com: ArrayLike = _ORIGIN) -> Inertia:
        """Uniform solid ball of `radius` [m], centred at `com`."""
        return cls(mass, com, solids.ellipsoid(checked_mass(mass), (_size(radius, "radius"),) * 3))

    @classmethod
    def ellipsoid(cls, mass: float, radii: ArrayLike, *, com: ArrayLike = _ORIGIN) -> Inertia:
        """Uniform solid ellipsoid with half axes `radii` (3,) [m] along x, y, z, centred at `com`."""
        return cls(mass, com, solids.ellipsoid(checked_mass(mass), _sizes(radii, "radii")))

    @classmethod
    def from_matrix(cls, mass: float, com: ArrayLike, matrix: ArrayLike, about: ArrayLike = _ORIGIN) -> Inertia:
        """Body whose rotational inertia about the point `about` (3,) [m] is `matrix` (3, 3) [kg m^2]."""
        mass = checked_mass(mass)
        com = finite_array(com, (3,), "com")
        shift = solids.point_mass(mass, com - finite_array(about, (3,), "about"))
        return cls(mass, com, difference(symmetric_matrix(matrix, "matrix"), shift))

    def about(self, point: ArrayLike) -> Array:
        """Rotational inertia about a `point` (3,) [m]: about_com + m (|d|^2 1 - d d^T) (3, 3) [kg m^2]."""
        return self.about_com + solids.point_mass(self.mass, self.com - finite_array(point, (3,), "point"))

    def transformed(self, pose: Pose) -> Inertia:
        """The same body seen from frame A, for X_AB = `pose` and this inertia given in frame B."""
        return Inertia(self.mass, pose @ self.com, pose.R @ self.about_com @ pose.R.T)

    def __add__(self, other: object) -> Inertia:
        """Inertia of both bodies joined rigidly; both are given in the same frame."""
        if not isinstance(other, Inertia):
            return NotImplemented
        if self.mass == 0.0 or other.mass == 0.0:
            return self if other.mass == 0.0 else other
        mass = self.mass + other.mass
        share = other.mass / mass
        offset = other.com - self.com
        # Two bodies turn about their common centre as a point of the reduced mass does at their distance.
        spread = solids.point_mass(self.mass * share, offset)
        return Inertia(mass, self.com + share * offset, self.about_com + other.about_com + spread)

    def is_close(self, other: Inertia, tolerance: float = 1e-12) -> bool:
        """Whether no number of one differs from the other's by more than `tolerance`."""
        return bool(
            abs(self.mass - other.mass) <= tolerance
            and np.abs(self.com - other.com).max() <= tolerance
            and np.abs(self.about_com - other.about_com).max() <= tolerance
        )

    def __eq__(self, other: object) -> bool:
        """Whether all numbers are equal; use `is_close` for computed inertias."""
        return self.is_close(other, 0.0) if isinstance(other, Inertia) else NotImplemented

    def __hash__(self) -> int:
        """Hash of the numbers."""
        return hash((self.mass, *self.com.tolist(), *self.about_com.ravel().tolist()))

    def __repr__(self) -> str:
        """Mass [kg], centre of mass [m], and the matrix or its diagonal [kg m^2]."""
        diagonal = np.diag(self.about_com)
        if np.array_equal(self.about_com, np.diag(diagonal)):
            matrix = numbers_text(diagonal)
        else:
            matrix = f"({', '.join(numbers_text(row) for row in self.about_com)})"
        return f"Inertia({self.mass:.6g}, com={numbers_text(self.com)}, about_com={matrix})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it again when copied or unpickled: pickled arrays would come back writable."""
        return Inertia, (self.mass, self.com, self.about_com)


def _size(value: float, what: str) -> float:
    """A dimension [m]; zero is fine, for discs and plates."""
    return non_negative_scalar(value, what)


def _sizes(value: ArrayLike, what: str) -> Triple:
    x, y, z = finite_numbers(value, 3, what)
    return _size(x, f"{what}[0]"), _size(y, f"{what}[1]"), _size(z, f"{what}[2]")
