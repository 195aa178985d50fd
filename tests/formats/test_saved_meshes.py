"""Mesh files of saved mechanisms: found again wherever the file is saved, copied where they have to be."""

import os
import pathlib
import struct

import pytest

import varichain as vc


def stl(path, size=1.0):
    """A binary STL file with one tetrahedron."""
    corners = [(0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for i in face for x in corners[i]), 0) for face in faces)
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + data)
    return path


def drawn(*meshes):
    """A pendulum that looks like its meshes."""
    m = vc.Mechanism("drawn")
    shapes = [vc.Mesh(mesh, scale=2.0) for mesh in meshes]
    m.add_link("rod", joint=vc.Revolute("y"), inertia=vc.Inertia.sphere(1.0, 0.1, com=(0, 0, -1)), shapes=shapes)
    return m


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_meshes_elsewhere_are_copied(tmp_path, ending):
    """Meshes of other folders come along, two of one name too, and saving again changes nothing."""
    if ending == "xml":
        pytest.importorskip("mujoco")
    first, second = stl(tmp_path / "a/b/c/rod.stl"), stl(tmp_path / "d/e/f/rod.stl", 3.0)
    target = tmp_path / "x/y/z"
    target.mkdir(parents=True)
    path = target / f"robot.{ending}"
    assert vc.save(drawn(first, second), path) == []
    loaded = vc.load(path)
    found = [shape.path for shape in loaded.link("rod").shapes]
    assert sorted(map(os.path.basename, found)) == ["rod-2.stl", "rod.stl"]
    contents = {pathlib.Path(name).read_bytes() for name in found}
    assert contents == {first.read_bytes(), second.read_bytes()}
    vc.save(loaded, path, overwrite=True)
    assert sorted(os.listdir(target / "robot.meshes")) == ["rod-2.stl", "rod.stl"]


def test_meshes_beside_stay(tmp_path):
    """A mesh that `load` finds from the file is named, not copied."""
    mesh = stl(tmp_path / "bot/meshes/rod.stl")
    (tmp_path / "bot/urdf").mkdir()
    path = tmp_path / "bot/urdf/robot.urdf"
    vc.save(drawn(mesh), path)
    assert "../meshes/rod.stl" in path.read_text() and os.listdir(path.parent) == ["robot.urdf"]


def test_refusals(tmp_path):
    """Missing files and forbidden folders are noted; another file in the way is not overwritten unasked."""
    target = tmp_path / "x/y/z"
    target.mkdir(parents=True)
    (note,) = vc.save(drawn(tmp_path / "none.stl"), target / "a.urdf")
    assert "no such file" in str(note)
    secret = stl(tmp_path / "a/b/c/rod.stl")
    m = vc.Mechanism("drawn")
    confined = vc.Mesh(secret, folders=[str(target)])
    m.add_link("rod", joint=vc.Revolute("y"), inertia=vc.Inertia.sphere(1.0, 0.1), shapes=[confined])
    (note,) = vc.save(m, target / "b.urdf")
    assert "not among those that are allowed" in str(note) and not (target / "b.meshes").exists()
    stl(target / "c.meshes/rod.stl", 5.0)
    with pytest.raises(vc.FileError, match="exists already"):
        vc.save(drawn(secret), target / "c.urdf")
    assert not (target / "c.urdf").exists()
