"""Things that figures hold, stand and sit on: each function adds fixed or hanging links to a mechanism.

All are symmetric about y = 0 of the frame `at`, which lies on the floor, and face +x as figures do. Every link and
frame is called by `name` and what it is. A name that is taken raises DuplicateNameError, and nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from varichain.errors import InputError, quoted
from varichain.mechanism import Box, Cylinder, Fixed, Inertia, Link, Mechanism, Revolute, Spherical
from varichain.mechanism.materials import MATERIALS
from varichain.mechanism.transaction import transaction
from varichain.spatial.checks import finite_numbers, finite_scalar, name_string, positive_scalar
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_with_z_along

Place = Pose | Sequence[float]

_FLOOR: Place = (0.0, 0.0, 0.0)
_STEEL, _WOOD, _GROUND = (MATERIALS[name] for name in ("steel", "wood", "turf"))
_ALONG_Y = matrix_with_z_along((0.0, 1.0, 0.0))


def bar(
    m: Mechanism,
    height: float = 2.8,
    length: float = 2.4,
    diameter: float = 0.028,
    grips: float = 0.5,
    *,
    at: Place = _FLOOR,
    name: str = "bar",
) -> Link:
    """High bar along y, fixed to the ground; the measures of gymnastics by default [m].

    Frames "bar left" and "bar right", `grips` apart, are where hands hold it. Returns its link, with the origin in the
    middle of the bar.
    """
    height, length = positive_scalar(height, "height"), positive_scalar(length, "length")
    radius, reach = 0.5 * positive_scalar(diameter, "diameter"), 0.5 * positive_scalar(grips, "grips")
    if 2.0 * reach > length:
        raise InputError(f"grips must not be further apart than the bar is long, {length:g} m, not {2.0 * reach:g}")
    shapes = [Cylinder(radius, length, at=Pose(R=_ALONG_Y), color=_STEEL)]
    for y in (0.5 * length, -0.5 * length):
        shapes.append(Cylinder(2.0 * radius, height, at=(0.0, y, -0.5 * height), color=_STEEL))
    with transaction(_checked(m)):
        where = Pose.coerce(at, "at") @ Pose(p=(0.0, 0.0, height))
        link = m.add_link(name, "ground", Fixed(), where, shapes=shapes)
        for side, y in (("left", reach), ("right", -reach)):
            m.add_frame(f"{name} {side}", link, (0.0, y, 0.0))
    return link


def swing(
    m: Mechanism,
    height: float = 2.3,
    length: float = 1.8,
    width: float = 0.56,
    hold: float = 0.5,
    rod_mass: float = 2.0,
    plate_mass: float = 3.0,
    *,
    at: Place = _FLOOR,
    name: str = "swing",
) -> Link:
    """Swing [NY, Fig. 21]: two rods on ball joints at the top, and a plate between them that hangs on both by hinges.

    Links "swing left rod", "swing right rod", "swing plate". The plate is a child of the right rod through "swing right
    hinge" and closes a loop with the left rod through "swing left hinge": cut that one, and it comes off. The hinges
    turn about x, so that the swing has two degrees of freedom: to and fro, and sideways. Frames "swing left hold" and
    "swing right hold" on the rods are for hands, "swing seat" is the middle of the plate's upper side.

    Args:
        m: Mechanism to add to.
        height: Of the ball joints above the floor [m].
        length: From there to the hinges [m].
        width: Between the rods [m].
        hold: Of the hands above the hinges [m].
        rod_mass: Of each rod [kg].
        plate_mass: Of the plate [kg].
        at: Frame on the floor below the swing.
        name: Put before every name.

    Returns:
        The plate's link, with the origin at its hinge on the right rod.

    Raises:
        InputError: A measure that is not positive, rods longer than the swing is high, hands beyond the rods.
    """
    height, length, width = (
        positive_scalar(x, n) for x, n in ((height, "height"), (length, "length"), (width, "width"))
    )
    hold = positive_scalar(hold, "hold")
    if not hold < length < height:
        raise InputError(f"hold < length < height must hold for a swing, not {hold:g}, {length:g} and {height:g} m")
    radius, thickness, depth = 0.012, 0.03, 0.22
    rod = Inertia.cylinder(positive_scalar(rod_mass, "rod_mass"), radius, length, com=(0.0, 0.0, -0.5 * length))
    rod_shape = Cylinder(radius, length, at=(0.0, 0.0, -0.5 * length), color=_STEEL)
    middle, size = (0.0, 0.5 * width, 0.0), (depth, width, thickness)
    plate = Inertia.box(positive_scalar(plate_mass, "plate_mass"), size, com=middle)
    top = Pose.coerce(at, "at") @ Pose(p=(0.0, 0.0, height))
    with transaction(_checked(m)):
        for side, y in (("left", 0.5 * width), ("right", -0.5 * width)):
            link = f"{name_string(name, 'name')} {side} rod"
            m.add_link(link, "ground", Spherical(actuated=False), top @ Pose(p=(0.0, y, 0.0)), rod, rod_shape)
            m.add_frame(f"{name} {side} hold", link, (0.0, 0.0, hold - length))
        end, hinge = (0.0, 0.0, -length), Revolute("x", actuated=False, name=f"{name} right hinge")
        board = Box(size, at=middle, color=_WOOD)
        seat = m.add_link(f"{name} plate", f"{name} right rod", hinge, end, plate, board)
        m.add_frame(f"{name} seat", seat, (0.0, 0.5 * width, 0.5 * thickness))
        m.connect(seat, f"{name} left rod", Revolute("x"), (0.0, width, 0.0), end, name=f"{name} left hinge")
    return seat


def chair(
    m: Mechanism,
    height: float = 0.45,
    width: float = 0.45,
    depth: float = 0.42,
    back: float = 0.45,
    *,
    at: Place = _FLOOR,
    name: str = "chair",
) -> Link:
    """Chair, fixed to the ground, that looks towards +x; `back` is the height of its back above the seat [m].

    Frame "chair seat" is the middle of the seat's upper side. Returns its link, with the origin below that, on the
    floor.
    """
    height, width = positive_scalar(height, "height"), positive_scalar(width, "width")
    depth, back, board, leg = positive_scalar(depth, "depth"), positive_scalar(back, "back"), 0.03, 0.04
    x, y = 0.5 * (depth - leg), 0.5 * (width - leg)
    shapes = [
        Box((depth, width, board), at=(0.0, 0.0, height - 0.5 * board), color=_WOOD),
        Box((board, width, back), at=(0.5 * (board - depth), 0.0, height + 0.5 * back), color=_WOOD),
    ]
    for corner in ((x, y), (x, -y), (-x, y), (-x, -y)):
        shapes.append(Box((leg, leg, height), at=(*corner, 0.5 * height), color=_WOOD))
    with transaction(_checked(m)):
        link = m.add_link(name, "ground", Fixed(), Pose.coerce(at, "at"), shapes=shapes)
        m.add_frame(f"{name} seat", link, (0.0, 0.0, height))
    return link


def ground(
    m: Mechanism,
    slope: float = 0.0,
    size: Sequence[float] = (10.0, 4.0),
    *,
    at: Place = _FLOOR,
    name: str = "floor",
    color: Any = _GROUND,
) -> Link:
    """Floor to be seen and to stand on: a board whose upper side goes through the origin of `at`.

    It slopes down towards +x by `slope` [rad]; `size` is its length and breadth [m], `color` its colour. Returns its
    link, whose z is the normal of the floor.
    """
    angle, thickness = finite_scalar(slope, "slope"), 0.02
    sides = finite_numbers(size, 2, "size, length and breadth [m],")
    length, breadth = (positive_scalar(number, "size") for number in sides)
    board = Box((length, breadth, thickness), at=(0.0, 0.0, -0.5 * thickness), color=color)
    tilted = Pose.coerce(at, "at") @ Pose(rotation_vector=(0.0, angle, 0.0))
    return _checked(m).add_link(name, "ground", Fixed(), tilted, shapes=board)


def _checked(m: Mechanism) -> Mechanism:
    if not isinstance(m, Mechanism):
        raise InputError(f"expected the Mechanism to add to, not {quoted(m)}")
    return m
