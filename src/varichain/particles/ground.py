"""Ground for particles: laws with their parameters, the surface, and where links touch it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.errors import InputError, quoted
from varichain.kernels.callbacks import address_of
from varichain.kernels.particle_records import BY_LAW, HARD, MUDDY, SANDY, SOFT
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Capsule, Sphere
from varichain.spatial.arrays import Array
from varichain.spatial.checks import (
    finite_array,
    finite_scalar,
    instance,
    is_sequence,
    name_string,
    non_negative_scalar,
    positive_scalar,
    real_scalar,
)


class Ground:
    """A law of the ground; a subclass has its parameters as fields, none of them negative."""

    code: int

    def __post_init__(self) -> None:
        """Check the numbers."""
        for each in fields(self):  # type: ignore[arg-type]
            if each.init and not callable(getattr(self, each.name)):
                what = f"{each.name} of {type(self).__name__}"
                object.__setattr__(self, each.name, non_negative_scalar(getattr(self, each.name), what))

    def record(self) -> dict[str, Any]:
        """Fields of the kernels' record."""
        return {"kind": self.code} | {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Hard(Ground):
    """Stone: N = k z^1.5 (1 + 1.5 c dz/dt) [Hunt and Crossley 1975], and Coulomb's friction.

    Attributes:
        stiffness: k [N/m^1.5]; 4/3 E* r^1/2 of a ball. 1e8 is a foot of 20 mm of hard plastic on stone, E* = 0.53 GPa.
        damping: c [s/m]; the coefficient of restitution is about 1 - c v.
        friction: Coefficient.
    """

    stiffness: float = 1e8
    damping: float = 0.3
    friction: float = 0.8
    code = HARD


@dataclass(frozen=True)
class Soft(Ground):
    """Turf or a mat: N = A (k z + d dz/dt), which comes back, and Coulomb's friction. The numbers are ours.

    Attributes:
        stiffness: k [Pa/m].
        damping: d [Pa s/m].
        friction: Coefficient.
    """

    stiffness: float = 1.2e6
    damping: float = 2.5e4
    friction: float = 0.6
    code = SOFT


@dataclass(frozen=True)
class Sandy(Ground):
    """Sand: p = (k_c / b + k_phi) z^n [Bekker 1969], an elastic way back, shear of [Janosi and Hanamoto 1961].

    Footprints stay. The numbers are those of dry sand [Wong 2008]; the last three are ours.

    Attributes:
        exponent: n.
        cohesive: k_c [N/m^(n+1)].
        frictional: k_phi [N/m^(n+2)].
        cohesion: c [Pa].
        friction: tan phi, of the angle of internal friction.
        shear: K, displacement at which shear has 0.632 of its limit A c + N tan phi [m].
        unloading: Pressure per depth on the way back [Pa/m].
        damping: Of the way down and back [Pa s/m].
    """

    exponent: float = 1.1
    cohesive: float = 0.99e3
    frictional: float = 1528.43e3
    cohesion: float = 1.04e3
    friction: float = math.tan(math.radians(28.0))
    shear: float = 0.02
    unloading: float = 1e8
    damping: float = 3e4
    code = SANDY


@dataclass(frozen=True)
class Muddy(Ground):
    """Mud: sinkage as of sand, a viscous part, suction on the way out, and a yield stress with viscosity along it.

    p = max((k_c / b + k_phi) z^n or its way back, -s (1 - exp(-z / b))) + eta dz/dt / b; along: A c and A eta v / b.
    Sinkage by [Bekker 1969], yield and viscosity by [Bingham 1922]; the cap of the suction and all numbers are ours.

    Attributes:
        exponent: n.
        cohesive: k_c [N/m^(n+1)].
        frictional: k_phi [N/m^(n+2)].
        cohesion: c, the yield stress [Pa].
        viscosity: eta [Pa s].
        suction: s [Pa].
        unloading: Pressure per depth on the way back [Pa/m].
    """

    exponent: float = 0.7
    cohesive: float = 1.5e3
    frictional: float = 1.6e5
    cohesion: float = 4e3
    viscosity: float = 200.0
    suction: float = 2e3
    unloading: float = 5e7
    code = MUDDY


@dataclass(frozen=True)
class Law(Ground):
    """A law of the user, which Numba compiles: law(t, sunk, slid, out).

    `sunk` is depth [m], its rate [m/s], deepest depth so far [m], area [m^2] and width [m] of the contact; `slid` is
    the way from where it touched the ground [m] and the speed along the ground [m/s]. The law writes the normal force
    [N] to out[0] and the largest tangential force [N] to out[1].

    Attributes:
        function: The function.
        stiffness: Largest d(normal force)/d(depth) [N/m], from which the step is found.
        damping: Largest d(normal force)/d(rate) [N s/m], likewise.
    """

    function: Callable[..., Any]
    stiffness: float
    damping: float = 0.0
    law: int = field(init=False, repr=False)
    _kept: Any = field(init=False, repr=False)
    code = BY_LAW

    def __post_init__(self) -> None:
        """Compile the function."""
        if not callable(self.function):
            raise InputError(f"a law must be a function of t, sunk, slid and out, not {quoted(self.function)}")
        super().__post_init__()
        address, kept = address_of(self.function)
        object.__setattr__(self, "law", address)
        object.__setattr__(self, "_kept", kept)

    def record(self) -> dict[str, Any]:
        """Kind and address."""
        return {"kind": BY_LAW, "law": self.law, "stiffness": self.stiffness, "damping": self.damping}


@dataclass(frozen=True)
class Region:
    """A ground in a rectangle.

    Attributes:
        ground: The ground.
        low: Least x and y [m].
        high: Largest x and y [m].
    """

    ground: Ground
    low: Any = (-math.inf, -math.inf)
    high: Any = (math.inf, math.inf)

    def __post_init__(self) -> None:
        """Check the ground and the corners, which may be infinite."""
        instance(self.ground, Ground, "ground of a region")
        for name in ("low", "high"):
            corner = getattr(self, name)
            if not is_sequence(corner) or len(corner) != 2:
                raise InputError(f"{name} must be x and y, not {quoted(corner)}")
            object.__setattr__(self, name, tuple(real_scalar(each, name) for each in corner))
        if not (self.low[0] < self.high[0] and self.low[1] < self.high[1]):
            raise InputError(f"low of a region must be below high, not {self.low} and {self.high}")


@dataclass(frozen=True, eq=False)
class Terrain:
    """Ground with a surface z = height + slope . (x, y), and a height field on it.

    Attributes:
        ground: A ground for all places, or regions, of which the first that has a place counts.
        height: At the origin [m].
        slope: dz/dx and dz/dy.
        heights: Height field (n_x, n_y) [m], bilinear between its points; None for none.
        origin: Place of its first point (2,) [m].
        spacing: Between its points along x and y (2,) [m].
        footprints: Corners of the map of footprints ((x, y), (x, y)) [m].
        cell: Size of a cell of that map [m].
    """

    ground: Any
    height: float = 0.0
    slope: Any = (0.0, 0.0)
    heights: ArrayLike | None = None
    origin: Any = (0.0, 0.0)
    spacing: Any = (1.0, 1.0)
    footprints: Any = ((-2.0, -2.0), (10.0, 2.0))
    cell: float = 0.02

    def __post_init__(self) -> None:
        """Check grounds and numbers."""
        given = list(self.ground) if isinstance(self.ground, list | tuple) else [self.ground]
        regions = [Region(each) if isinstance(each, Ground) else each for each in given]
        for region in regions:
            if not isinstance(region, Region):
                raise InputError(
                    f"a ground must be Hard, Soft, Sandy, Muddy, Law or a Region of one, not {quoted(region)}"
                )
        object.__setattr__(self, "ground", tuple(regions))
        finite_scalar(self.height, "height")
        for name in ("slope", "origin", "spacing"):
            object.__setattr__(self, name, finite_array(getattr(self, name), (2,), name))
        object.__setattr__(self, "footprints", finite_array(self.footprints, (2, 2), "footprints"))
        positive_scalar(self.cell, "cell")
        if not (np.asarray(self.spacing) > 0.0).all():
            raise InputError(f"spacing must be greater than 0, not {self.spacing}")
        try:
            given_heights = np.zeros((0, 0)) if self.heights is None else np.array(self.heights, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"heights must be numbers of shape (n_x, n_y), not {quoted(self.heights)}") from None
        if given_heights.ndim != 2 or not np.isfinite(given_heights).all() or given_heights.shape == (1, 1):
            raise InputError("heights must be finite numbers of shape (n_x, n_y), two or more along each axis")
        object.__setattr__(self, "heights", given_heights)

    def heights_at(self, places: Array) -> Array:
        """Heights of the surface at places (n, 2) [m]."""
        heights: Array = self.height + places @ np.asarray(self.slope)
        field = np.asarray(self.heights)
        if min(field.shape) > 1:
            u = np.clip((places - self.origin) / self.spacing, 0.0, np.array(field.shape) - 1.0)
            i, j = np.minimum(u.astype(int), np.array(field.shape) - 2).T
            x, y = u[:, 0] - i, u[:, 1] - j
            heights = heights + (1 - x) * (1 - y) * field[i, j] + x * (1 - y) * field[i + 1, j]
            heights = heights + (1 - x) * y * field[i, j + 1] + x * y * field[i + 1, j + 1]
        return heights

    def ruts(self) -> Array:
        """An empty map of footprints."""
        size = np.ceil((self.footprints[1] - self.footprints[0]) / self.cell).astype(int)
        return np.zeros(np.maximum(size, 0))


@dataclass(frozen=True, eq=False)
class Contact:
    """A ball, or a plate, at a point of a link that the ground pushes.

    Attributes:
        link: Name of the link.
        at: The ball's centre or the plate's middle in the link's frame (3,) [m].
        radius: Of the ball [m]; 0 for a plate.
        area: Of the print [m^2]; pi r^2 of a ball by default.
        width: Smaller side of the print [m]; 2 r of a ball by default.
    """

    link: str
    at: Any = (0.0, 0.0, 0.0)
    radius: float = 0.0
    area: float | None = None
    width: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        name_string(self.link, "link of a contact")
        object.__setattr__(self, "at", finite_array(self.at, (3,), "at"))
        r = non_negative_scalar(self.radius, "radius")
        if r == 0.0 and (self.area is None or self.width is None):
            raise InputError(f"contact of link {self.link!r} needs a radius, or area and width of a plate")
        area = math.pi * r * r if self.area is None else self.area
        object.__setattr__(self, "area", positive_scalar(area, "area"))
        object.__setattr__(self, "width", positive_scalar(2.0 * r if self.width is None else self.width, "width"))


def checked_terrain(ground: Any) -> Terrain:
    """A terrain; a ground alone is flat and everywhere."""
    return ground if isinstance(ground, Terrain) else Terrain(ground)


def contacts_of(m: Mechanism) -> list[Contact]:
    """Contacts of all links with balls or capsules as shapes: their ends.

    Raises:
        InputError: There are none.
    """
    found = []
    for link in m.links:
        for shape in link.shapes:
            if isinstance(shape, Sphere):
                found.append(Contact(link.name, shape.at.p, shape.radius))
            elif isinstance(shape, Capsule):
                for end in (-0.5, 0.5):
                    found.append(Contact(link.name, shape.at @ np.array([0, 0, end * shape.length]), shape.radius))
    if not found:
        raise InputError(f"no link of {m.name!r} has a ball or a capsule as shape: give contacts=[...]")
    return found


def checked_contacts(contacts: Any, m: Mechanism) -> Sequence[Contact]:
    """The contacts as given, or those of the shapes."""
    given = contacts_of(m) if contacts is None else list(contacts)
    for contact in given:
        if not isinstance(contact, Contact):
            raise InputError(f"contacts must be vc.particles.Contact objects, not {quoted(contact)}")
        m.link(contact.link)
    return given
