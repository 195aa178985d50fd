import pickle
from pathlib import Path

import pytest

from varichain.errors import InputError
from varichain.mechanism import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from varichain.spatial.pose import Pose

EVERY = [Capsule(1, 2), Box((1, 2, 3)), Sphere(1), Cylinder(1, 2), Ellipsoid((1, 2, 3)), Mesh("arm.stl")]


@pytest.mark.parametrize("shape", EVERY, ids=lambda shape: type(shape).__name__)
def test_shapes_are_values(shape):
    """Shapes sit at the link's origin by default, cannot be changed, and compare and pickle by value."""
    assert shape.at == Pose()
    assert shape.color is None
    assert pickle.loads(pickle.dumps(shape)) == shape
    with pytest.raises(AttributeError):
        shape.color = (1, 0, 0)


def test_placement_may_be_a_position():
    """A shape may be placed by a pose or by a position."""
    assert Sphere(1, (0, 0, 1)).at == Sphere(1, Pose((0, 0, 1))).at


def test_colors():
    """Colors are three or four numbers or a hexadecimal string, and are held as four numbers."""
    assert Sphere(1, color=(1, 0, 0.5)).color == (1.0, 0.0, 0.5, 1.0)
    assert Sphere(1, color=[1, 0, 0.5, 0.2]).color == (1.0, 0.0, 0.5, 0.2)
    assert Sphere(1, color="#ff0033").color == (1.0, 0.0, 0.2, 1.0)


def test_meshes():
    """A mesh is a file name, from a string or a path, and a scale that is a number or three."""
    assert Mesh(Path("arm.stl")).path == "arm.stl"
    assert Mesh("arm.stl", 0.001).scale == (0.001, 0.001, 0.001)
    assert Mesh("arm.stl", (1, -1, 1)).scale == (1.0, -1.0, 1.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Capsule(0, 1), "radius must be positive"),
        (lambda: Capsule(1, -1), "length must not be negative"),
        (lambda: Cylinder(1, 0), "length must be positive"),
        (lambda: Sphere("1"), "radius must be a number"),
        (lambda: Box((1, 0, 1)), r"size\[1\] must be positive"),
        (lambda: Box(1), "size must be 3 numbers"),
        (lambda: Ellipsoid((1, 2)), "radii must be 3 numbers"),
        (lambda: Mesh(""), "path of a mesh must be a file name"),
        (lambda: Mesh(None), "path of a mesh must be a file name"),
        (lambda: Mesh("a.stl", 0), "scale must not be zero"),
        (lambda: Mesh("a.stl", (1, 2)), "scale must be 3 numbers"),
        (lambda: Sphere(1, at="here"), "at must be a Pose or a position"),
        (lambda: Sphere(1, color="red"), "color must be 3 or 4 numbers from 0 to 1 or '#rrggbb'"),
        (lambda: Sphere(1, color=(1, 2, 3)), "from 0 to 1"),
        (lambda: Sphere(1, color=(1, True, 0)), "color"),
        (lambda: Sphere(1, color=(1, 1)), "3 or 4 numbers"),
    ],
)
def test_refuses(make, words):
    """Shapes without size, place or color in the proper sense are refused by the name of the argument."""
    with pytest.raises(InputError, match=words):
        make()
