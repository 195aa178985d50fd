"""Boxes on boxes: face on face, and edge across edge."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import G, books, stack, stepped
from lane import long_run, scaled

AT_ORIGIN = vc.Pose()
ROUNDING = 1e-14
"""[m]"""


def two_boxes(upper, lower=AT_ORIGIN, size=(0.3, 0.2, 0.1), swapped=False):
    """Two boxes in two poses; either of them may be the surface."""
    m = vc.Mechanism("two boxes")
    for name in ("lower", "upper"):
        m.add_link(name, None, inertia=vc.Inertia.box(1.0, size), shapes=vc.Box(size))
    link, other = ("upper", "lower") if swapped else ("lower", "upper")
    m.add_surface("box", link, touched_by=other)
    s = m.state()
    s["lower"].pose, s["upper"].pose = lower, upper
    return m, s


def gap(*poses, **options):
    """Distance of the two boxes."""
    (found,) = vc.clearances(*two_boxes(*poses, **options)).values()
    return found


@pytest.mark.parametrize("swapped", [False, True])
def test_distances_of_boxes(swapped):
    """Boxes that overlap as seen along a face are as far apart as the faces, crossed ridges as far as the edges."""
    for turn in (0.0, 0.4, np.pi / 4):
        upper = vc.Pose(p=(0.05, 0.03, 0.12), rotation_vector=(0, 0, turn))
        assert gap(upper, swapped=swapped) == pytest.approx(0.02, abs=ROUNDING)
    ridge = 0.05 * np.sqrt(2.0)  # of a bar of 0.1 x 0.1 m, turned by 45 degrees about its length
    bar = (0.3, 0.1, 0.1)
    along_x = vc.Pose(p=(0, 0, 2 * ridge + 0.01), rotation_vector=(np.pi / 4, 0, 0))
    along_y = vc.Pose(rotation_vector=(0, 0, np.pi / 2)) @ vc.Pose(rotation_vector=(np.pi / 4, 0, 0))
    assert gap(along_x, along_y, size=bar, swapped=swapped) == pytest.approx(0.01, abs=ROUNDING)
    assert gap(along_x, size=bar, swapped=swapped) == pytest.approx(ridge + 0.01 - 0.05, abs=ROUNDING)


def test_distances_do_not_depend_on_the_place():
    """Both boxes moved and turned together, and their roles exchanged, are as far apart as before."""
    rng = np.random.default_rng(0)
    for _ in range(scaled(40, 10)):
        upper = vc.Pose(p=rng.normal(size=3) * 0.25, rotation_vector=rng.normal(size=3))
        moved = vc.Pose(p=rng.normal(size=3), rotation_vector=rng.normal(size=3))
        found = gap(upper)
        assert gap(moved @ upper, moved) == pytest.approx(found, abs=1e-12)
        assert gap(upper, swapped=True) == pytest.approx(found, abs=1e-5)  # ties of faces are broken within 1e-6 m


def test_two_boxes_touch_once():
    """Boxes that are both surfaces have the contacts of one of them."""
    m, s = two_boxes(vc.Pose(p=(0, 0, 0.1)))
    m.add_surface("other", "upper", touched_by="lower")
    assert [*vc.clearances(m, s)] == [("upper", "box")]


def test_a_box_tips_over_the_edge_of_another():
    """A box whose middle is beyond the edge of the one below tips about that edge, as its weight says, or stays.

    It is narrower than the one below: the edge that it tips about crosses its sides, and none of its corners is there.
    """
    size, beyond = (0.3, 0.1, 0.1), 0.01
    m = vc.Mechanism("ledge")
    m.add_link("box", None, inertia=vc.Inertia.box(1.0, size), shapes=vc.Box(size))
    m.add_surface("ledge", "ground", vc.Box((0.3, 0.2, 0.1)), friction=1.0)
    for x, lever in ((0.15 + beyond, beyond), (0.15 - beyond, 0.0)):
        s = m.state()
        s["box"].position = (x, 0, 0.1)
        epoch = stepped(m, s, 0.002)
        inertia = (0.3**2 + 0.1**2) / 12.0 + lever**2 + 0.05**2
        assert epoch.state(-1)["box"].v[1] == pytest.approx(0.002 * G * lever / inertia, rel=0.01, abs=1e-12)


TOWERS = {
    "offset": lambda i: vc.Pose(p=(0.02 * (i % 2), 0.015 * (i // 2 % 2), 0.1 * i + 0.05)),
    "spiral": lambda i: vc.Pose(p=(0, 0, 0.1 * i + 0.05), rotation_vector=(0, 0, 0.3 * i)),
    "crossed": lambda i: vc.Pose(p=(0, 0, 0.1 * i + 0.05), rotation_vector=(0, 0, 0.5 * np.pi * i)),
}


@pytest.mark.parametrize("name", TOWERS)
def test_towers_stand(name):
    """Boxes that are stacked with offsets, as a spiral or crosswise stand as still as those that are stacked flush."""
    n, until = scaled((10, 0.5), (3, 0.002))
    m, s = stack(n)
    for i in range(n):
        s[f"box {i}"].pose = TOWERS[name](i)
    epoch = stepped(m, s, until)
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-12
    assert epoch.contact("box 0", "floor")[-1] == pytest.approx([0, 0, n * G], rel=1e-9, abs=1e-9)
    assert epoch.contact("box 1")[-1] == pytest.approx([0, 0, (n - 1) * G], rel=1e-9, abs=1e-9)


@long_run
def test_a_box_leans_edge_on_edge():
    """A bar that falls crosswise on the edge of another stops there: no penetration, hardly energy from contact."""
    size = (0.3, 0.06, 0.06)
    tilted = vc.Pose(rotation_vector=(0, 0, 0.5 * np.pi)) @ vc.Pose(rotation_vector=(np.pi / 4, 0, 0))
    m, s = two_boxes(vc.Pose(p=(0.02, 0, 0.15), rotation_vector=(0.7, 0, 0)), tilted, size)
    m.add_floor(-0.03 * np.sqrt(2.0))
    epoch = stepped(m, s, 1.0)
    assert min(min(vc.clearances(m, epoch.state(i)).values()) for i in range(0, len(epoch), 5)) > -1e-6
    # edges that slide and turn within a step are deep after it, 0.05 mm if it were not divided, and are lifted
    assert np.diff(epoch.work[:, -2]).max() < 1e-5
    assert np.abs(epoch.contact("upper", "box")).max() > 1.0 and np.isfinite(books(epoch)).all()
    assert epoch.energy[-1].sum() < epoch.energy[0].sum()
