"""Human figures: they have the right joints, weigh what they should, and stand on the floor."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from varichain.errors import DuplicateNameError, InputError
from varichain.figures import Body, human16, human40, standing_height
from varichain.figures.segments import DENSITY, limb_radius
from varichain.mechanism import Box, Capsule, Ellipsoid, Fixed, Inertia, Link, Mechanism, Revolute, Sphere, Spherical
from varichain.mechanism.check import check
from varichain.mechanism.materials import MATERIALS
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_from_axis_angle

Figure = Callable[..., Mechanism]

figures = pytest.mark.parametrize("figure", [human40, human16])
sexes = pytest.mark.parametrize("sex", ["male", "female"])

SIDED_LINKS = ("upper arm", "forearm", "hand", "thigh", "shank", "foot")
MIRROR = np.diag([1.0, -1.0, 1.0])
ROUNDING = 1e-13  # of sums of some twenty numbers around one


def standing_poses(m: Mechanism) -> dict[str, Pose]:
    """Poses of all links in the zero configuration, where every joint's own transform is the identity."""
    poses = {"ground": Pose()}
    for link in m.links:
        poses[link.name] = poses[parent_of(link).name] @ link.at
    return poses


def parent_of(link: Link) -> Link:
    """The link's parent; only ground has none."""
    assert link.parent is not None
    return link.parent


def whole(m: Mechanism) -> Inertia:
    """Inertia of the standing figure as one rigid body, in the world frame."""
    poses = standing_poses(m)
    total = Inertia.zero()
    for link in m.links:
        total = total + link.inertia.transformed(poses[link.name])
    return total


def shape_points(m: Mechanism, sample: int = 41) -> np.ndarray:
    """Points on the surfaces of all capsules, and corners of all boxes, in the world frame of the standing figure."""
    poses = standing_poses(m)
    angles = np.linspace(0.0, 2.0 * np.pi, sample)
    points = []
    for link in m.links:
        for shape in link.shapes:
            if isinstance(shape, Capsule):
                X = poses[link.name] @ shape.at
                for end in (-0.5, 0.5):
                    centre = X @ np.array([0.0, 0.0, end * shape.length])
                    points += [centre + shape.radius * np.array([np.cos(a), 0.0, np.sin(a)]) for a in angles]
            if isinstance(shape, Box):
                X = poses[link.name] @ shape.at
                points += [X @ (0.5 * np.array(shape.size) * corner) for corner in product((-1, 1), repeat=3)]
    return np.array(points)


def test_human40_has_the_links_and_joints_of_the_paper() -> None:
    """The 40-freedom figure has 17 links, 12 spherical and 4 revolute joints, and a free root."""
    m = human40()
    sided = [f"{side} {part}" for side in ("left", "right") for part in ("clavicle", *SIDED_LINKS)]
    assert sorted(link.name for link in m.links) == sorted(["pelvis", "chest", "head", *sided])
    assert len(m) == 17
    assert m.n_v == 6 + 40
    kinds = [joint.kind for joint in m.joints]
    assert (kinds.count("free"), kinds.count("spherical"), kinds.count("revolute")) == (1, 12, 4)
    spherical = {joint.name for joint in m.joints if isinstance(joint, Spherical)}
    both = {
        f"{side} {name}" for side in ("left", "right") for name in ("clavicle", "shoulder", "wrist", "hip", "ankle")
    }
    assert spherical == {"chest", "neck"} | both
    revolute = {joint.name for joint in m.joints if isinstance(joint, Revolute)}
    assert revolute == {f"{side} {name}" for side in ("left", "right") for name in ("elbow", "knee")}
    assert m.joint("pelvis").kind == "free"
    check(m)


def test_human16_has_four_freedoms_per_limb() -> None:
    """The 16-freedom figure has one torso, shoulder 3 + elbow 1 and hip 3 + knee 1 per side, hands and feet fixed."""
    m = human16()
    sided = [f"{side} {part}" for side in ("left", "right") for part in SIDED_LINKS]
    assert sorted(link.name for link in m.links) == sorted(["torso", *sided])
    assert m.n_v == 6 + 16
    for side in ("left", "right"):
        assert [m.joint(f"{side} {name}").n_v for name in ("shoulder", "elbow", "hip", "knee")] == [3, 1, 3, 1]
        assert all(isinstance(m.joint(f"{side} {name}"), Fixed) for name in ("wrist", "ankle"))
    check(m)


@pytest.mark.parametrize(
    ("link", "parent"),
    [
        ("chest", "pelvis"),
        ("head", "chest"),
        ("left clavicle", "chest"),
        ("left upper arm", "left clavicle"),
        ("left forearm", "left upper arm"),
        ("left hand", "left forearm"),
        ("right thigh", "pelvis"),
        ("right shank", "right thigh"),
        ("right foot", "right shank"),
    ],
)
def test_links_hang_where_they_grow(link: str, parent: str) -> None:
    """Every link's parent is the part of the body it grows on."""
    assert parent_of(human40().link(link)).name == parent


@figures
@sexes
@pytest.mark.parametrize(("height", "mass"), [(1.75, 70.0), (1.02, 16.5), (2.2, 140.0)])
def test_figure_weighs_its_mass(figure: Figure, sex: str, height: float, mass: float) -> None:
    """The links' masses add up to the figure's."""
    m = figure(height, mass, sex)
    assert sum(link.inertia.mass for link in m.links) == pytest.approx(mass, rel=1e-14)


@figures
@sexes
def test_limbs_have_the_inertias_of_the_table(figure: Figure, sex: str) -> None:
    """Every limb's mass, centre of mass and central inertia are the table's, along the limb from its joint."""
    body = Body(1.8, 80.0, sex)
    m = figure(1.8, 80.0, sex)
    for segment in ("upper arm", "forearm", "hand", "thigh", "shank"):
        inertia = m.link(f"right {segment}").inertia
        assert inertia.mass == pytest.approx(body.segment_mass(segment), rel=1e-14)
        assert inertia.com == pytest.approx([0.0, 0.0, -body.segment_com(segment)], abs=ROUNDING)
        assert inertia.about_com == pytest.approx(np.diag(body.segment_moments(segment)), abs=ROUNDING)
    foot = m.link("right foot").inertia
    sagittal, transverse, longitudinal = body.segment_moments("foot")
    assert foot.about_com == pytest.approx(np.diag([longitudinal, transverse, sagittal]), abs=ROUNDING)


@sexes
def test_trunk_has_the_inertia_of_the_table(sex: str) -> None:
    """Pelvis is the lower trunk, head the head; chest and clavicles together are the mid and the upper trunk."""
    body = Body(1.6, 55.0, sex)
    m = human40(1.6, 55.0, sex)
    for link, segment in (("pelvis", "lower trunk"), ("head", "head")):
        inertia = m.link(link).inertia
        assert inertia.mass == pytest.approx(body.segment_mass(segment), rel=1e-14)
        assert inertia.about_com == pytest.approx(np.diag(body.segment_moments(segment)), abs=ROUNDING)
    poses = standing_poses(m)
    chest = m.link("chest").inertia
    for side in ("left", "right"):
        girdle = m.link(f"{side} clavicle")
        chest = chest + girdle.inertia.transformed(poses["chest"].inverse() @ poses[girdle.name])
    middle, upper = (
        Inertia(body.segment_mass(name), com=(0.0, 0.0, z), about_com=body.segment_moments(name))
        for name, z in (
            ("mid trunk", body.segment_length("mid trunk") - body.segment_com("mid trunk")),
            (
                "upper trunk",
                body.segment_length("mid trunk") + body.segment_length("upper trunk") - body.segment_com("upper trunk"),
            ),
        )
    )
    assert chest.is_close(middle + upper, ROUNDING)


@sexes
def test_both_figures_are_the_same_person(sex: str) -> None:
    """Standing, the 16-freedom figure has the mass, centre of mass and inertia of the 40-freedom one."""
    assert whole(human16(1.7, 65.0, sex)).is_close(whole(human40(1.7, 65.0, sex)), 1e-11)


@figures
def test_com_of_a_standing_man_is_at_57_percent_of_his_height(figure: Figure) -> None:
    """A standing man's centre of mass is above his feet, 55 to 58 % of his height above the floor.

    People on reaction boards have it at 0.557 height + 0.014 m [PALMER].
    """
    com = whole(figure(1.8, 75.0, "male")).com
    assert 0.55 <= com[2] / 1.8 <= 0.58
    assert com[2] == pytest.approx(0.557 * 1.8 + 0.014, abs=0.015)
    assert abs(com[0]) < 0.01
    assert abs(com[1]) < ROUNDING


@figures
def test_com_of_a_standing_woman_is_lower(figure: Figure) -> None:
    """A standing woman's centre of mass is 53 to 56 % of her height above the floor, lower than a man's."""
    shares = {sex: whole(figure(1.7, 65.0, sex)).com[2] / 1.7 for sex in ("male", "female")}
    assert 0.53 <= shares["female"] <= 0.56
    assert shares["female"] < shares["male"]


@figures
@sexes
def test_figure_stands_on_the_floor(figure: Figure, sex: str) -> None:
    """In the zero configuration all links are upright, the hips are at the standing height and the soles at z = 0."""
    m = figure(1.66, 60.0, sex)
    poses = standing_poses(m)
    assert all(np.array_equal(pose.R, np.eye(3)) for pose in poses.values())
    root = m.links[0].name
    assert poses[root].p == pytest.approx([0.0, 0.0, standing_height(1.66, sex)])
    assert poses["left thigh"].p[2] == poses["right thigh"].p[2] == poses[root].p[2]
    assert shape_points(m)[:, 2].min() == pytest.approx(0.0, abs=ROUNDING)
    assert poses["left hand"].p[1] > 0.1
    assert poses["right hand"].p[1] < -0.1
    assert poses["left hand"].p[2] < poses["left forearm"].p[2] < poses["left upper arm"].p[2]


@sexes
@pytest.mark.parametrize("height", [0.5, 1.75, 2.5])
def test_head_ends_at_the_height(sex: str, height: float) -> None:
    """The head's centre of mass is the table's distance below z = height."""
    m = human40(height, 70.0, sex)
    head = standing_poses(m)["head"] @ m.link("head").inertia.com
    assert head == pytest.approx([0.0, 0.0, height - Body(height, 70.0, sex).segment_com("head")], abs=ROUNDING)


@figures
def test_figure_faces_forward(figure: Figure) -> None:
    """The toes point along +x: the feet's centres of mass lie ahead of the ankles."""
    m = figure()
    assert m.link("left foot").inertia.com[0] > 0.0
    assert shape_points(m)[:, 0].max() > -1.5 * shape_points(m)[:, 0].min()


@figures
@sexes
def test_left_mirrors_right(figure: Figure, sex: str) -> None:
    """Every left link is the mirror image of the right one: its place, its mass, its inertia, its joint."""
    m = figure(sex=sex)
    poses = standing_poses(m)
    lefts = [link for link in m.links if link.name.startswith("left ")]
    assert lefts
    for left in lefts:
        right = m.link(left.name.replace("left", "right"))
        assert poses[left.name].p == pytest.approx(MIRROR @ poses[right.name].p, abs=0.0)
        assert left.inertia.mass == right.inertia.mass
        assert left.inertia.com == pytest.approx(MIRROR @ right.inertia.com, abs=ROUNDING)
        assert left.inertia.about_com == pytest.approx(MIRROR @ right.inertia.about_com @ MIRROR, abs=ROUNDING)
        assert left.joint is not None
        assert right.joint is not None
        assert left.joint.name == str(right.joint.name).replace("right", "left")
        assert left.joint.kind == right.joint.kind


@figures
def test_middle_of_the_body_is_symmetric(figure: Figure) -> None:
    """Links in the midline have their centre of mass there and no product of inertia across it."""
    m = figure()
    for link in m.links:
        if not link.name.startswith(("left ", "right ")):
            assert link.inertia.com[1] == pytest.approx(0.0, abs=ROUNDING)
            assert link.inertia.about_com[1, ::2] == pytest.approx([0.0, 0.0], abs=ROUNDING)


@figures
@pytest.mark.parametrize("side", ["left", "right"])
def test_positive_elbow_is_flexion(figure: Figure, side: str) -> None:
    """A positive elbow angle brings the hand forward and up."""
    joint = figure().joint(f"{side} elbow")
    assert isinstance(joint, Revolute)
    hand = matrix_from_axis_angle(joint.axis, 0.5 * math.pi) @ np.array([0.0, 0.0, -1.0])
    assert hand == pytest.approx([1.0, 0.0, 0.0], abs=ROUNDING)


@figures
@pytest.mark.parametrize("side", ["left", "right"])
def test_positive_knee_is_flexion(figure: Figure, side: str) -> None:
    """A positive knee angle brings the foot backward and up."""
    joint = figure().joint(f"{side} knee")
    assert isinstance(joint, Revolute)
    foot = matrix_from_axis_angle(joint.axis, 0.5 * math.pi) @ np.array([0.0, 0.0, -1.0])
    assert foot == pytest.approx([-1.0, 0.0, 0.0], abs=ROUNDING)


@figures
@sexes
def test_inertia_grows_with_mass_and_the_square_of_height(figure: Figure, sex: str) -> None:
    """A figure of 1.5 times the height and 3 times the mass has 6.75 times the inertia in every link."""
    small, large = figure(1.2, 30.0, sex), figure(1.8, 90.0, sex)
    for a, b in zip(small.links, large.links, strict=True):
        assert b.inertia.mass == pytest.approx(3.0 * a.inertia.mass, rel=1e-13)
        assert b.inertia.com == pytest.approx(1.5 * a.inertia.com, abs=ROUNDING)
        assert b.inertia.about_com == pytest.approx(6.75 * a.inertia.about_com, rel=1e-11, abs=ROUNDING)
        assert b.at.p == pytest.approx(1.5 * a.at.p, abs=ROUNDING)


@figures
@sexes
@pytest.mark.parametrize("height", [0.5, 2.5])
@pytest.mark.parametrize("mass", [1e-3, 3.0, 600.0])
def test_extreme_people_are_possible_bodies(figure: Figure, sex: str, height: float, mass: float) -> None:
    """Every accepted height and mass gives links with positive mass and positive definite inertia."""
    for link in figure(height, mass, sex).links:
        assert link.inertia.mass > 0.0
        assert np.linalg.eigvalsh(link.inertia.about_com)[0] > 0.0


def test_two_figures_live_in_one_mechanism() -> None:
    """With prefixes, figures share a mechanism; `at` places each of them."""
    m = human40(1.6, 55.0, "female", prefix="ann ", name="dance")
    same = human16(1.8, 80.0, mechanism=m, prefix="bob ", at=Pose(p=(1.0, 0.0, 0.0), rpy=(0.0, 0.0, math.pi)))
    assert same is m
    assert m.name == "dance"
    assert len(m) == 17 + 13
    assert m.n_v == 46 + 22
    poses = standing_poses(m)
    assert poses["ann pelvis"].p == pytest.approx([0.0, 0.0, standing_height(1.6, "female")])
    assert poses["bob torso"].p == pytest.approx([1.0, 0.0, standing_height(1.8)])
    assert poses["bob left hand"].p[1] < 0.0
    assert m.joint("bob left elbow").kind == "revolute"
    check(m)


def test_taken_name_leaves_the_mechanism_unchanged() -> None:
    """A figure whose names collide with the mechanism's is refused, and nothing of it remains."""
    m = Mechanism()
    m.add_link("lamp", joint=Fixed(name="right ankle"))
    before = m.revision
    with pytest.raises(DuplicateNameError, match="joint called 'right ankle'"):
        human40(mechanism=m)
    m.add_link("right hand", joint=Fixed())
    with pytest.raises(DuplicateNameError, match="link called 'right hand'"):
        human40(mechanism=m)
    assert m.revision == before + 1
    assert [link.name for link in m.links] == ["lamp", "right hand"]


@figures
@sexes
def test_every_link_is_drawn(figure: Figure, sex: str) -> None:
    """Every link has shapes with colours of their own; those of the right are the mirror image of those of the left."""
    m = figure(sex=sex)
    assert all(link.shapes and all(shape.color for shape in link.shapes) for link in m.links)
    for part in ("upper arm", "forearm", "hand", "thigh", "shank", "foot"):
        left, right = (m.link(f"{side} {part}").shapes for side in ("left", "right"))
        mirrored = sorted((*(shape.at.p * (1, -1, 1)).round(9).tolist(), shape.color) for shape in right)
        assert mirrored == sorted((*shape.at.p.round(9).tolist(), shape.color) for shape in left)


@figures
def test_people_have_a_face_side(figure: Figure) -> None:
    """Nose and eyes are ahead of the head's middle, and nothing of the head is above the figure's height."""
    m = figure(1.8)
    head = m.link("head") if "head" in [link.name for link in m.links] else m.link("torso")
    balls = [shape for shape in head.shapes if isinstance(shape, Ellipsoid)]
    small = [shape.at.p[0] for shape in balls if max(shape.radii) < 0.03]
    assert len(small) == 3 and min(small) > 0.08  # [m]
    pose = standing_poses(m)[head.name]
    tops = [(pose @ shape.at).p[2] + shape.radii[2] for shape in balls]
    assert max(tops) == pytest.approx(1.8, abs=ROUNDING)


@pytest.mark.parametrize("make", [human16, human40])
def test_hair_covers_the_top_of_the_head(make: Callable[[], Mechanism]) -> None:
    """Seen from above, the head is hair down to where the forehead begins: no skin pokes through."""
    balls = [shape for link in make().links for shape in link.shapes if isinstance(shape, Ellipsoid)]
    colors = {name: Sphere(1.0, color=MATERIALS[name]).color for name in ("hair", "skin")}
    (hair,) = [ball for ball in balls if ball.color == colors["hair"]]
    skull = max((ball for ball in balls if ball.color == colors["skin"]), key=lambda ball: ball.radii[2])
    for x, y in ((x, y) for x in np.linspace(-0.06, 0.05, 12) for y in np.linspace(-0.04, 0.04, 9)):
        heights = []
        for ball in (hair, skull):
            left = 1.0 - ((x - ball.at.p[0]) / ball.radii[0]) ** 2 - ((y - ball.at.p[1]) / ball.radii[1]) ** 2
            heights.append(ball.at.p[2] + ball.radii[2] * np.sqrt(max(left, 0.0)))
        assert heights[0] > heights[1] + 1e-3, (x, y)  # [m]


def test_people_differ_in_looks() -> None:
    """The heavy are thicker, people with different prefixes wear different shirts, and human16 has bare arms."""
    thin, thick = (human40(mass=mass).link("left thigh").shapes[0].radius for mass in (50.0, 100.0))  # type: ignore[attr-defined]
    assert thick > 1.3 * thin
    m = human40(prefix="ann ")
    human40(mechanism=m, prefix="bob ")
    assert m.link("ann chest").shapes[0].color != m.link("bob chest").shapes[0].color
    assert human16().link("left forearm").shapes[0].color != human40().link("left forearm").shapes[0].color


@pytest.mark.parametrize("length", [1e-6, 0.05, 0.4, 3.0])
@pytest.mark.parametrize("mass", [1e-6, 0.4, 10.0, 1e4])
def test_drawn_limbs_have_the_volume_of_their_mass(mass: float, length: float) -> None:
    """A capsule with the radius of `limb_radius` weighs the mass at the density of limbs."""
    r = limb_radius(mass, length)
    assert DENSITY * math.pi * r**2 * (length + 4.0 / 3.0 * r) == pytest.approx(mass, rel=1e-12)


@figures
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"height": 0.2}, r"height must lie in 0\.5\.\.2\.5 m"),
        ({"height": math.nan}, "height"),
        ({"mass": 0.0}, "mass must be positive"),
        ({"mass": -5}, "mass must be positive"),
        ({"sex": "child"}, "sex must be one of 'male', 'female', not 'child'"),
        ({"damping": -0.1}, "damping must not be negative.*True is the damping of real people"),
        ({"damping": math.inf}, "damping"),
        ({"damping": "none"}, "damping"),
        ({"damping": None}, "damping"),
        ({"limits": 1.0}, "limits must be True or False"),
        ({"prefix": None}, "prefix must be a str"),
        ({"mechanism": "human"}, "mechanism must be a Mechanism"),
        ({"name": ""}, "name"),
        ({"at": (0.0, 1.0)}, "at must be a Pose"),
    ],
)
def test_wrong_arguments_are_refused(figure: Figure, arguments: dict[str, object], message: str) -> None:
    """A wrong argument is refused by a message that names it and what would be valid."""
    with pytest.raises(InputError, match=message):
        figure(**arguments)


@pytest.mark.parametrize(("height", "sex", "share"), [(1.741, "male", 0.5308), (1.735, "female", 0.5006)])
def test_standing_height(height: float, sex: str, share: float) -> None:
    """The hips stand at 53 % of a man's and 50 % of a woman's height."""
    assert standing_height(height, sex) / height == pytest.approx(share, abs=1e-4)
