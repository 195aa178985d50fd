"""Contacts of MJCF: geoms that collide touch the world's, with MuJoCo's masks and friction; the rest is noted."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from real_robots import GYMNASIUM

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco model="things">
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" friction="0.4 0.005 0.0001"/>
    <geom name="step" type="box" size="0.5 0.5 0.05" pos="2 0 0.05" euler="0 0 30"/>
    <geom name="drum" type="cylinder" size="0.1 0.2" pos="5 0 0.2"/>
    <geom name="paint" type="box" size="1 1 1" pos="9 9 9" contype="0" conaffinity="0"/>
    <body name="crate" pos="0 0 0.1">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="2" friction="0.3 0.005 0.0001"/>
      <geom type="sphere" size="0.2" pos="0 0 0.5" mass="0.1" contype="0" conaffinity="0"/>
    </body>
    <body name="ball" pos="1 0 0.1">
      <freejoint/>
      <geom type="sphere" size="0.1" mass="1" friction="0.9 0.005 0.0001"/>
    </body>
    <body name="ghost" pos="-1 0 0.5">
      <freejoint/>
      <geom type="sphere" size="0.1" mass="1" contype="2" conaffinity="2"/>
    </body>
    <body name="slick" pos="0 1 0.1">
      <freejoint/>
      <geom type="sphere" size="0.1" mass="1" condim="1" priority="1"/>
    </body>
  </worldbody>
</mujoco>"""


@pytest.fixture
def m(tmp_path):
    """The things, with their contacts."""
    (tmp_path / "things.xml").write_text(MODEL)
    return vc.load(tmp_path / "things.xml", contacts=True)


def test_surfaces_and_friction(m):
    """A surface for each coefficient of a pair: the larger one, none of a geom without friction and with priority."""
    floors = {name: surface for name, surface in m.surfaces.items() if name.startswith("floor")}
    found = {surface.friction: surface.touched_by for surface in floors.values()}
    assert found == {0.4: ("crate",), 0.9: ("ball",), 0.0: ("slick",)}
    steps = {surface.friction for name, surface in m.surfaces.items() if name.startswith("step")}
    assert steps == {1.0, 0.0}
    assert all(isinstance(surface.shapes[0], vc.HalfSpace) for surface in floors.values())
    touching = {link for surface in m.surfaces.values() for link in surface.touched_by}
    assert "ghost" not in touching and not any("paint" in name for name in m.surfaces)


def test_torsional_and_rolling_friction(tmp_path):
    """Geoms with condim 4 have torsional friction, those with condim 6 rolling friction too: the larger of a pair."""
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 0.1" friction="0.4 0.02 0.001"/>
      <body name="plain"><freejoint/><geom size="0.1" mass="1"/></body>
      <body name="twisted"><freejoint/><geom size="0.1" mass="1" condim="4" friction="0.3 0.01 0.003"/></body>
      <body name="rolled"><freejoint/><geom size="0.1" mass="1" condim="6" friction="0.3 0.01 0.003"/></body>
      <body name="first"><freejoint/><geom size="0.1" condim="6" friction="0.3 0.01 0.003" priority="1"/></body>
      </worldbody></mujoco>"""
    (tmp_path / "balls.xml").write_text(text)
    m = vc.load(tmp_path / "balls.xml", contacts=True)
    found = {x.touched_by: (x.friction, x.torsional, x.rolling) for x in m.surfaces.values()}
    assert found == {
        ("plain",): (1.0, 0.0, 0.0),
        ("twisted",): (0.4, 0.02, 0.0),
        ("rolled",): (0.4, 0.02, 0.003),
        ("first",): (0.3, 0.01, 0.003),
    }
    assert "torsional" not in " ".join(str(note) for note in m.source.notes)


def test_height_fields(tmp_path):
    """A height field of the world is a surface, where MuJoCo's rays meet it, and a ball rests on it."""
    text = """<mujoco><asset><hfield name="hills" nrow="4" ncol="5" size="2 1.5 0.5 0.1" elevation="
      0 1 2 3 1   4 5 6 2 0   1 0 3 2 2   0 1 1 5 0"/></asset>
      <worldbody><geom name="hills" type="hfield" hfield="hills" pos="0.3 0.2 0.1" euler="0 0 20"/>
      <body name="ball" pos="0.3 0.2 2"><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
    (tmp_path / "hills.xml").write_text(text)
    m = vc.load(tmp_path / "hills.xml", contacts=True)
    (field,) = m.surface("hills").shapes
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    x, y = np.meshgrid(np.linspace(-2, 2, 5)[1:-1], np.linspace(-1.5, 1.5, 4)[1:-1], indexing="ij")
    for place in np.stack([x, y], axis=-1).reshape(-1, 2):  # points of the grid, where both have the same height
        top = field.at @ np.array([*place, field.heights_at(place[None])[0]])
        hit = np.zeros(1, np.int32)
        up = np.array([0.0, 0.0, 1.0])
        down = mujoco.mj_ray(model, data, top + 5.0 * up, -up, None, 1, 1, hit)
        assert down == pytest.approx(5.0, abs=1e-6)


def test_what_does_not_come_along_is_noted(m):
    """Cylinders as surfaces, contact between links and soft contact are noted."""
    notes = " ".join(str(note) for note in m.source.notes)
    for words in ("'drum' cannot be a surface", "contact between links", "solref"):
        assert words in notes


@long_run
def test_they_touch(m):
    """The crate and the ball rest on the floor, and the ghost falls through; MuJoCo says so too."""
    s = m.state()
    end = vc.simulate(m, s, 0.5, contacts="stepping").final
    assert vc.pose(m, end, "crate").p[2] == pytest.approx(0.1, abs=1e-9)
    assert vc.pose(m, end, "ball").p[2] == pytest.approx(0.1, abs=1e-9)
    assert vc.pose(m, end, "ghost").p[2] < -0.5
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    while data.time < 0.5:
        mujoco.mj_step(model, data)
    assert data.body("ghost").xpos[2] < -0.5 and data.body("crate").xpos[2] == pytest.approx(0.1, abs=1e-3)


@long_run
def test_a_push_slides_by_the_files_friction(m):
    """A crate that slides on the floor is braked by 0.4 g, the larger of 0.3 and 0.4."""
    s = m.state()
    s["crate joint"].v = (0, 0, 0, 1.0, 0, 0)
    end = vc.simulate(m, s, 0.1, contacts="stepping").final
    assert vc.velocity(m, end, "crate")[3] == pytest.approx(1.0 - 0.4 * 9.81 * 0.1, abs=5e-3)


def test_without_contacts_nothing_touches(tmp_path):
    """By default a file has no surfaces, and says that contact was left out."""
    (tmp_path / "things.xml").write_text(MODEL)
    bare = vc.load(tmp_path / "things.xml")
    assert not bare.surfaces and "contact between shapes" in " ".join(map(str, bare.source.notes))


@long_run
@pytest.mark.parametrize("name", ["hopper.xml", "walker2d.xml"])
def test_robots_fall_on_their_floors(name):
    """Robots of Gymnasium fall on the floor of their file, and not through it; feet are rougher than other links."""
    m = vc.load(next(file for file in GYMNASIUM if file.name == name), contacts=True)
    assert {surface.friction for surface in m.surfaces.values()} in ({1.0, 2.0}, {0.9, 1.9})
    end = vc.simulate(m, m.state(), 0.3, contacts="stepping").final
    assert min(vc.clearances(m, end).values()) == pytest.approx(0.0, abs=1e-9)


def test_other_formats_are_refused(tmp_path):
    """A URDF file has no friction and no world: refused by name."""
    (tmp_path / "robot.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(vc.FormatError, match="contacts=True is for MJCF"):
        vc.load(tmp_path / "robot.urdf", contacts=True)


def test_frames_of_links_are_followed(tmp_path):
    """Contact shapes of a link whose joint is beside its body's frame are where MuJoCo has the geoms."""
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 0.1"/>
      <body name="arm" pos="0 0 1"><joint name="hinge" type="hinge" axis="0 1 0" pos="0 0 0.3"/>
      <geom name="tip" type="sphere" size="0.1" pos="0.4 0 -0.2" mass="1"/></body></worldbody></mujoco>"""
    (tmp_path / "arm.xml").write_text(text)
    m = vc.load(tmp_path / "arm.xml", contacts=True)
    s = m.state()
    s["hinge"].q = 0.4
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[0] = 0.4
    mujoco.mj_forward(model, data)
    gap = next(iter(vc.clearances(m, s).values()))
    assert gap == pytest.approx(data.geom("tip").xpos[2] - 0.1, abs=1e-9)
    assert np.isfinite(gap)


def test_many_pairs_are_refused_at_once(tmp_path):
    """A small file that stands for millions of pairs is refused by their number."""
    geoms = 600 * '<geom size="0.1"/>'
    path = tmp_path / "many.xml"
    text = f"<mujoco><worldbody>{geoms}<body><freejoint/>{geoms}</body></worldbody></mujoco>"
    path.write_text(text, encoding="utf-8")
    assert len(vc.load(path).links) == 1
    with pytest.raises(vc.FormatError, match="600 geoms of the world and 600 of links have more than 200000 pairs"):
        vc.load(path, contacts=True)
