"""Bar, swing, chair and floor: what they are made of, and that figures can use them."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import varichain as vc
from varichain.errors import DuplicateNameError, InputError
from varichain.figures import bar, chair, ground, human16, human40, place, swing
from varichain.mechanism import Link, Mechanism, Prismatic, Revolute, Spherical
from varichain.mechanism.check import check
from varichain.spatial.pose import Pose

Prop = Callable[..., Link]

props = pytest.mark.parametrize("prop", [bar, swing, chair, ground])
CLOSED = 1e-10  # [m or rad]: what assembly calls closed


def counts(m: Mechanism, s: vc.State) -> tuple[int, int, int]:
    """N_J, rank and N_F."""
    found = vc.mobility(m, s, probe=False)
    return found.n_all, found.rank, found.n_independent


def hang(m: Mechanism, s: vc.State) -> None:
    """Let both hands hold the bar where they are, by hinges along it."""
    for side in ("left", "right"):
        turn = vc.pose(m, s, *m.frame(f"{side} grip")).R.T
        m.connect(f"{side} grip", "bar", Revolute("y"), Pose(R=turn), state=s, name=f"{side} hold")


@props
def test_props_are_sound_and_drawn(prop: Prop) -> None:
    """A prop leaves a sound mechanism, every link of which has a shape."""
    m = Mechanism()
    prop(m)
    check(m)
    assert len(m) > 0
    assert all(link.shapes for link in m.links)


@props
def test_a_taken_name_leaves_the_mechanism_unchanged(prop: Prop) -> None:
    """A second prop of the same name is refused and leaves nothing behind; one of another name is welcome."""
    m = Mechanism()
    prop(m)
    before = m.revision, len(m), [*m.frames], len(m.virtual_links)
    with pytest.raises(DuplicateNameError):
        prop(m)
    assert (m.revision, len(m), [*m.frames], len(m.virtual_links)) == before
    prop(m, name="other", at=(2.0, 0.0, 0.0))
    check(m)


@props
def test_props_stand_where_they_are_put(prop: Prop) -> None:
    """`at` moves and turns everything."""
    here, there = Mechanism(), Mechanism()
    X = Pose((1.0, 2.0, 0.5), rotation_vector=(0.0, 0.0, 0.7))
    prop(here)
    prop(there, at=X)
    for link in here.links:
        moved = vc.pose(there, there.state(), link.name)
        assert moved.is_close(X @ vc.pose(here, here.state(), link.name), 1e-14)


@pytest.mark.parametrize(
    ("prop", "arguments", "words"),
    [
        (bar, {"height": 0.0}, "height must be positive"),
        (bar, {"grips": 3.0}, "not be further apart than the bar is long, 2.4 m"),
        (swing, {"length": 2.5}, "hold < length < height"),
        (swing, {"hold": 1.9}, "hold < length < height"),
        (swing, {"plate_mass": -1.0}, "plate_mass must be positive"),
        (chair, {"depth": math.nan}, "depth"),
        (ground, {"slope": math.inf}, "slope must be finite"),
        (ground, {"size": (1.0, 2.0, 3.0)}, "length and breadth"),
        (ground, {"size": (1.0, 0.0)}, "size must be positive"),
    ],
)
def test_impossible_props_are_refused(prop: Prop, arguments: dict[str, object], words: str) -> None:
    """A measure that cannot be is refused by name, and nothing is added."""
    m = Mechanism()
    with pytest.raises(InputError, match=words):
        prop(m, **arguments)
    assert (len(m), m.revision) == (0, 0)


@props
def test_props_want_a_mechanism(prop: Prop) -> None:
    """Something else than a mechanism is refused."""
    with pytest.raises(InputError, match="expected the Mechanism"):
        prop("bar")


def test_a_figure_hangs_on_the_bar() -> None:
    """Hanging by both hands the 16-freedom figure has N_J = 24 and N_F = 12, and is inside its limits."""
    m = human16()
    bar(m)
    s = m.state()
    place(m, s, "hanging", "grip", vc.pose(m, s, "bar"))
    hang(m, s)
    assert counts(m, s) == (24, 12, 12)
    assert vc.limit_excess(m, s) == {}
    m.cut("right hold")
    assert counts(m, s) == (23, 6, 17)


def test_hands_find_the_places_on_the_bar() -> None:
    """The 40-freedom figure's hands, connected to the frames of the bar, are brought there, inside all limits."""
    m = human40()
    bar(m)
    for side in ("left", "right"):
        m.connect(f"{side} grip", f"bar {side}", Revolute("y"), name=f"{side} hold")
    s = m.state()
    place(m, s, "hanging", "grip", vc.pose(m, s, "bar"))
    s = vc.assemble(m, s).state
    for side, y in (("left", 0.25), ("right", -0.25)):
        assert vc.pose(m, s, *m.frame(f"{side} grip")).p == pytest.approx([0.0, y, 2.8], abs=CLOSED)
    assert vc.limit_excess(m, s) == {}


def test_the_swing_is_closed_and_swings_in_two_ways() -> None:
    """The swing's loop is closed from the start; it moves to and fro and sideways, and its seat hangs level."""
    m = Mechanism()
    swing(m, height=2.0, length=1.5, width=0.6)
    s = m.state()
    assert counts(m, s) == (8, 6, 2)
    assert vc.loop_states(m, s)["swing left hinge"].gap == 0.0
    seat = vc.pose(m, s, *m.frame("swing seat"))
    assert seat.p == pytest.approx([0.0, 0.0, 0.5 + 0.015], abs=1e-15)
    assert np.array_equal(seat.R, np.eye(3))
    for side, y in (("left", 0.3), ("right", -0.3)):
        assert vc.pose(m, s, *m.frame(f"swing {side} hold")).p == pytest.approx([0.0, y, 1.0], abs=1e-15)
    assert sum(link.inertia.mass for link in m.links) == pytest.approx(7.0)


def test_the_swing_hangs_at_rest() -> None:
    """Nothing accelerates in a swing that hangs straight down, and each hinge carries half of the plate."""
    m = Mechanism()
    swing(m)
    s = m.state()
    result = vc.forward_dynamics(m, s)
    assert result.a == pytest.approx(np.zeros(m.n_v), abs=1e-12)
    # [moment; force] of the rod on the plate
    assert result.loop_forces["swing left hinge"][5] == pytest.approx(0.5 * 3.0 * 9.81, abs=1e-12)


def test_the_plate_comes_off() -> None:
    """Cut from the left rod, the plate's left end falls while its right one stays; the left rod hangs alone."""
    m = Mechanism()
    swing(m)
    s = m.state()
    m.cut("swing left hinge")
    assert counts(m, s) == (7, 0, 7)
    a = vc.forward_dynamics(m, s)
    assert a["swing right hinge"][0] < -1.0  # about x: the left end, at +y, goes down
    assert a["swing left rod"] == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_figure_sits_on_the_swing() -> None:
    """Thighs on the plate by sliders, hands on the rods by ball joints, as in [NY, Fig. 21], all inside the limits."""
    m = human16()
    swing(m)
    s = m.state()
    place(m, s, "sitting", "seat", vc.pose(m, s, *m.frame("swing seat")))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        m.connect(f"{side} seat", "swing plate", Prismatic("x"), state=s, name=f"{side} slide")
        m.connect(f"{side} grip", f"swing {side} hold", Spherical(), name=f"{side} hold")
        s[f"{side} shoulder"].orientation = (0.2 * sign, -0.9, 0.0)
        s[f"{side} elbow"].q = 1.6
    s = vc.assemble(m, s).state
    assert all(loop.gap < CLOSED for loop in vc.loop_states(m, s).values())
    assert vc.limit_excess(m, s) == {}
    # figure 22, hands 6 and thighs 2, the 30 of the paper; ball joints and hinges of the swing 8
    assert counts(m, s)[0] == 30 + 8


def test_a_figure_sits_on_the_chair() -> None:
    """Sitting on the chair the thighs rest at its height, and the feet do not go through the floor."""
    m = human40()
    chair(m)
    s = m.state()
    place(m, s, "sitting", "seat", vc.pose(m, s, *m.frame("chair seat")))
    for side in ("left", "right"):
        assert vc.pose(m, s, *m.frame(f"{side} seat")).p[2] == pytest.approx(0.45, abs=1e-12)
        assert vc.pose(m, s, *m.frame(f"{side} sole")).p[2] >= 0.0
    assert vc.limit_excess(m, s) == {}


def test_the_floor_slopes_down_forward() -> None:
    """The floor goes through the origin of its frame, and down towards +x by the slope."""
    m = Mechanism()
    floor = ground(m, slope=0.1)
    X = vc.pose(m, m.state(), floor)
    assert X.R[:, 0] == pytest.approx([math.cos(0.1), 0.0, -math.sin(0.1)])
    (board,) = floor.shapes
    assert board.at.p[2] + 0.5 * board.size[2] == 0.0
