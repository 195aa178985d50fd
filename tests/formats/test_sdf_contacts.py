"""Contacts of SDF: collisions touch those of static models, with the friction and restitution of Gazebo's pairs."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run

INERTIAL = "<inertial><mass>2</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.02</izz></inertia></inertial>"
BALL = "<sphere><radius>0.1</radius></sphere>"
CRATE = "<box><size>0.2 0.2 0.2</size></box>"
PLANE = "<plane><normal>0 0 1</normal><size>9 9</size></plane>"


def law(mu=None, mu2=None, bounce=None, mask=None):
    """A <surface>."""
    ode = "".join(f"<{tag}>{x}</{tag}>" for tag, x in (("mu", mu), ("mu2", mu2)) if x is not None)
    inside = f"<friction><ode>{ode}</ode></friction>" if ode else ""
    inside += f"<bounce><restitution_coefficient>{bounce}</restitution_coefficient></bounce>" if bounce else ""
    inside += f"<contact><collide_bitmask>{mask}</collide_bitmask></contact>" if mask is not None else ""
    return f"<surface>{inside}</surface>"


def collision(geometry, surface="", name="c", pose="0 0 0 0 0 0"):
    """A <collision>."""
    pose = f"<pose>{pose}</pose>"
    return f'<collision name="{name}">{pose}<geometry>{geometry}</geometry>{surface}</collision>'


def model(name, *collisions, pose="0 0 0 0 0 0", is_static=False):
    """A model of one link."""
    static = "<static>true</static>" if is_static else ""
    inside = INERTIAL + "".join(collisions)
    return f'<model name="{name}">{static}<pose>{pose}</pose><link name="body">{inside}</link></model>'


@pytest.fixture
def load(tmp_path):
    """Load a world of models."""

    def loaded(*models, contacts=True):
        text = f'<sdf version="1.7"><world name="w">{"".join(models)}</world></sdf>'
        (tmp_path / "world.sdf").write_text(text, encoding="utf-8")
        return vc.load(tmp_path / "world.sdf", contacts=contacts)

    return loaded


def notes(m):
    """All notes as one text."""
    return " ".join(map(str, m.source.notes))


FLOOR = model("floor", collision(PLANE, law(0.4, bounce=0.9)), is_static=True)


def test_pairs_have_the_smaller_coefficients(load):
    """A floor becomes a surface for each friction and restitution that its pairs have: the smaller of the two."""
    m = load(
        FLOOR,
        model("rough", collision(CRATE, law(0.9)), pose="0 0 0.1 0 0 0"),
        model("plain", collision(CRATE), pose="1 0 0.1 0 0 0"),
        model("slick", collision(BALL, law(0.1, 0.3)), pose="2 0 0.1 0 0 0"),
        model("rubber", collision(BALL, law(2, 2, bounce=0.5)), pose="3 0 0.1 0 0 0"),
    )
    found = {(surface.friction, surface.restitution): surface.touched_by for surface in m.surfaces.values()}
    assert found == {
        (0.4, 0.0): ("rough::body", "plain::body"),
        (0.1, 0.0): ("slick::body",),
        (0.4, 0.5): ("rubber::body",),
    }
    assert next(iter(m.surfaces)) == "floor::body::c (0.4)"
    assert all(isinstance(surface.shapes[0], vc.HalfSpace) for surface in m.surfaces.values())
    assert "'slick::body::c' has mu 0.1 and mu2 0.3: the smaller one" in notes(m)
    assert "contact between links is left out" in notes(m)


def test_masks_and_shapes_that_cannot_touch(load):
    """Who shares no bit of the masks touches nothing; cylinders that stand and planes that move are noted."""
    cylinder = "<cylinder><radius>0.1</radius><length>1</length></cylinder>"
    m = load(
        FLOOR,
        model("drum", collision(cylinder), is_static=True),
        model("ghost", collision(BALL, law(mask=0)), pose="0 0 1 0 0 0"),
        model("can", collision(cylinder), collision(PLANE, name="lid"), pose="0 0 2 0 0 0"),
    )
    assert {surface.touched_by for surface in m.surfaces.values()} == {("can::body",)}
    assert "'drum::body::c' cannot be a surface" in notes(m) and "'can::body::lid' cannot be a contact" in notes(m)


def test_what_is_fixed_to_the_world_stands(load, tmp_path):
    """A box that a fixed joint holds to the world is a surface; so is what is fixed to it."""
    fixed = '<joint name="{}" type="fixed"><parent>{}</parent><child>{}</child></joint>'
    links = "".join(
        f'<link name="{name}"><pose>0 0 {z} 0 0 0</pose>{INERTIAL}{collision(CRATE)}</link>'
        for name, z in (("table", 0.5), ("top", 0.7), ("thing", 2.0))
    )
    joints = fixed.format("a", "table", "top") + fixed.format("b", "world", "table")
    (tmp_path / "bot.sdf").write_text(f'<sdf version="1.7"><model name="bot">{links}{joints}</model></sdf>')
    m = vc.load(tmp_path / "bot.sdf", contacts=True)
    assert [*m.surfaces] == ["table::c", "top::c"]
    gaps = vc.clearances(m, m.state())
    assert sorted(gaps.values()) == pytest.approx([1.1, 1.3], abs=1e-12)


@long_run
def test_they_fall_slide_and_bounce(load):
    """A crate slides by the friction of its pair, and a ball bounces by the restitution of its pair."""
    m = load(
        FLOOR,
        model("crate", collision(CRATE, law(0.9)), pose="0 0 0.1 0 0 0"),
        model("ball", collision(BALL, law(1, bounce=0.5)), pose="0 3 0.3 0 0 0"),
    )
    s = m.state()
    s["crate::body"].v = (0, 0, 0, 1.0, 0, 0)
    trace = vc.simulate(m, s, 0.25, contacts="exact")
    end, landed = trace.final, np.sqrt(2 * 0.2 / 9.81)
    assert vc.velocity(m, end, "crate::body")[3] == pytest.approx(1.0 - 0.4 * 9.81 * 0.25, abs=1e-8)
    up = 0.5 * 9.81 * landed - 9.81 * (0.25 - landed)
    assert vc.velocity(m, end, "ball::body")[5] == pytest.approx(up, abs=1e-7)


def test_a_slope_leans_as_its_normal_does(load):
    """A plane may have any normal, and its collision any pose; both turn the half-space."""
    tilted = "<plane><normal>-2 0 2</normal></plane>"
    m = load(
        model("slope", collision(tilted, pose="0 0 1 0 0 1.5707963267948966"), is_static=True),
        model("ball", collision(BALL), pose="0 0 2 0 0 0"),
    )
    (gap,) = vc.clearances(m, m.state()).values()
    assert gap == pytest.approx(np.sqrt(0.5) - 0.1, abs=1e-12)
    (surface,) = m.surfaces.values()
    assert surface.shapes[0].at.R[:, 2] == pytest.approx((0.0, -np.sqrt(0.5), np.sqrt(0.5)), abs=1e-12)


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        (law(-0.1), "friction -0.1"),
        (law(1, bounce=1.5), "restitution 1.5"),
        (law(mask=0.5), "collide_bitmask must be a whole number"),
        (law(mask="many"), "must be numbers"),
        (law("nan"), "finite"),
    ],
)
def test_laws_that_no_surface_has_are_refused(load, surface, words):
    """Negative friction, restitution beyond 1 and masks that are no numbers are named errors with their line."""
    with pytest.raises(vc.FormatError, match=words) as caught:
        load(FLOOR, model("ball", collision(BALL, surface)))
    assert caught.value.line == 1
    assert load(FLOOR, model("ball", collision(BALL, surface)), contacts=False).surfaces == {}


def test_a_plane_needs_a_direction(load):
    """A normal of length zero is refused."""
    with pytest.raises(vc.FormatError, match="no direction"):
        load(model("floor", collision("<plane><normal>0 0 0</normal></plane>"), is_static=True))


def test_what_has_no_place_is_counted(load):
    """Torsional friction, soft contact and other engines' friction are in the notes."""
    extra = "<surface><friction><torsional/><bullet/></friction><soft_contact/><contact><ode/></contact></surface>"
    text = notes(load(FLOOR, model("ball", collision(BALL, extra))))
    for words in ("<torsional> in <friction>", "<bullet>", "<soft_contact>", "<ode> in <contact>"):
        assert words in text


def test_many_pairs_are_refused_and_names_are_numbered(load):
    """Millions of pairs are refused by their number; collisions of one name are told apart."""
    with pytest.raises(vc.FormatError, match="500 collisions of the world and 500 of links"):
        load(model("a", *500 * [collision(BALL)], is_static=True), model("b", *500 * [collision(BALL)]))
    m = load(model("a", *3 * [collision(BALL)], is_static=True), model("b", collision(BALL), pose="1 0 0 0 0 0"))
    assert [*m.surfaces] == ["a::body::c", "a::body::c 2", "a::body::c 3"]


def test_without_contacts_nothing_touches(load):
    """By default a file has no surfaces."""
    assert load(FLOOR, model("ball", collision(BALL)), contacts=False).surfaces == {}
