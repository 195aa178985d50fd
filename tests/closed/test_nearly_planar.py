"""Linkages that are planar but for a file's axes: found at load, told, and made planar."""

import math
import re

import numpy as np
import pytest

import varichain as vc
from lane import compiled_only

TILT = 2e-4  # [rad], as of axes with four digits


def four_bar_file(folder, tilt):
    """A four-bar, closed at zero by a ball; the axis of its rocker is tilted."""
    m = vc.Mechanism("four-bar")
    axis = (math.sin(tilt), math.cos(tilt), 0.0)
    knee, pin = (0.3, 0.0, 0.4), (1.4, 0.0, 0.8)  # from crank to coupler, from coupler to rocker
    m.add_link("crank", joint=vc.Revolute("y", name="crank"), inertia=bar(knee))
    m.add_link("coupler", "crank", vc.Revolute("y", name="knee"), at=knee, inertia=bar(pin))
    m.add_link("rocker", joint=vc.Revolute(axis, name="rocker"), at=(2.0, 0, 0), inertia=bar((-0.3, 0, 1.2)))
    m.connect("coupler", "rocker", vc.Spherical(), at=pin, at_other=(-0.3, 0, 1.2), name="pin")
    vc.save(m, folder / "four_bar.urdf")
    return folder / "four_bar.urdf"


def bar(end):
    """Inertia of a bar from the origin to its end."""
    return vc.Inertia.box(1.0, (0.5, 0.1, 0.5), com=0.5 * np.array(end))


def test_ball_is_loosened_and_told(tmp_path):
    """The ball becomes a point on a line across the plane, the axes are parallel, a note says so; the linkage moves."""
    m = vc.load(four_bar_file(tmp_path, TILT))
    (link,) = m.virtual_links
    assert link.joint.kind == "point-on-line" and link.joint.name == "pin"
    assert link.joint.axis == pytest.approx((0, 1, 0), abs=1e-9) == m.joint("rocker").axis  # as crank and knee
    assert any("'pin'" in str(note) and "parallel to 0.0002 rad only" in str(note) for note in m.source.notes)
    assert vc.mobility(m, m.state()).n_independent == 1


def test_on_request_it_is_kept(tmp_path):
    """keep_locked=True takes the file at its word: the linkage is locked."""
    m = vc.load(four_bar_file(tmp_path, TILT), keep_locked=True)
    assert m.virtual_links[0].joint.kind == "spherical"
    assert vc.mobility(m, m.state(), probe=False).n_independent == 0


@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_other_files_stay_as_they_are(tmp_path, tilt):
    """A linkage that is exactly planar, and one that is truly not, are taken as they are, without a word."""
    m = vc.load(four_bar_file(tmp_path, tilt))
    assert m.virtual_links[0].joint.kind == "spherical"
    assert not any("parallel" in str(note) for note in m.source.notes)


@compiled_only
def test_it_moves_as_the_repaired_file(tmp_path):
    """The linkage swings as the exactly planar one does: nothing is left of a tilt, which was of the rocker alone."""
    ends = []
    for name, tilt in (("rounded", TILT), ("tilted", 0.1), ("repaired", 0.0)):
        (tmp_path / name).mkdir()
        m = vc.load(four_bar_file(tmp_path / name, tilt))
        ends.append(vc.simulate(m, m.state(), 1.0).final)
    # 1e-9: tolerance of the steps
    assert np.abs(ends[0].q - ends[2].q).max() < 1e-9 and np.abs(ends[1].q - ends[2].q).max() < 1e-9


def test_a_file_whose_links_have_no_inertia_is_loaded(tmp_path):
    """Rods without thickness: there is no metric to look at the loops in, and the file is taken as it is."""
    path = four_bar_file(tmp_path, TILT)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'(i[xyz]{2})="[^"]*"', r'\1="0"', text), encoding="utf-8")
    m = vc.load(path)
    assert m.virtual_links[0].joint.kind in ("spherical", "point-on-line")
