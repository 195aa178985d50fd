"""MJCF files: loops, couplings, several joints per body, and what is refused."""

import numpy as np
import pytest

import varichain as vc

BALL = '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>'


@pytest.fixture
def load(tmp_path):
    """Load the inside of a <mujoco> element as a file."""

    def loaded(inside, **options):
        path = tmp_path / "bot.xml"
        path.write_text(f'<mujoco model="bot">\n<compiler angle="radian"/>\n{inside}\n</mujoco>', encoding="utf-8")
        return vc.load(path, **options)

    return loaded


FOUR_BAR = f"""<worldbody>
<body name="crank">{BALL}
  <joint name="q1" type="hinge" axis="0 1 0" damping="0.1" armature="0.2" range="-1 2" limited="true"/>
  <body name="coupler" pos="1 0 0"><joint name="q2" axis="0 1 0" ref="0.5" stiffness="3" springref="0.75"/>{BALL}
    <site name="tip" pos="1 0 0"/></body></body>
<body name="rocker" pos="2 0 0"><joint name="q3" axis="0 1 0" frictionloss="0.3"/>{BALL}<site name="top"/></body>
</worldbody>
<equality>{{}}</equality>
<actuator><motor joint="q1" gear="10"/></actuator>"""


def test_fields(load):
    """Damping, friction, armature, limits, springs, references and actuators arrive, and coordinates begin at zero."""
    m = load(FOUR_BAR.format(""))
    q1, q2, q3 = (m.joint(f"q{i}") for i in (1, 2, 3))
    assert (q1.damping, q1.armature, q1.limits) == ((0.1,), (0.2,), ((-1,), (2,)))
    assert (q2.stiffness, q2.rest) == ((3,), (0.25,)) and "ref 0.5" in str(m.source)
    assert q3.friction == (0.3,) and (q1.actuated, q2.actuated, q3.actuated) == (True, False, False)
    assert vc.pose(m, m.state(), "coupler").is_close(vc.Pose((1, 0, 0)))
    assert m.source.frames["tip"] == ("coupler", vc.Pose((1, 0, 0)))


@pytest.mark.parametrize(
    ("equality", "kind", "rows"),
    [
        ('<connect name="loop" site1="tip" site2="top"/>', "spherical", 3),
        ('<connect name="loop" body1="coupler" body2="rocker" anchor="1 0 0"/>', "spherical", 3),
        ('<weld name="loop" body1="coupler" body2="rocker"/>', "fixed", 6),
        ('<weld name="loop" body1="coupler"/>', "fixed", 6),
    ],
)
def test_loops(load, equality, kind, rows):
    """Connects and welds of sites or bodies become loops that are closed as the file stands."""
    m = load(FOUR_BAR.format(equality))
    loop = m.link_of_joint("loop")
    assert loop.joint.kind == kind and m.state().layout.n_rows == rows
    assert vc.assemble(m, m.state()).distance < 1e-12


def test_couplings(load):
    """A joint equality of order one is a coupling about the references; an inactive one is noted."""
    m = load(FOUR_BAR.format('<joint name="gear" joint1="q3" joint2="q2" polycoef="0.1 -2 0 0 0"/>'))
    assert [str(one) for one in m.couplings] == ["q3 = -2 q2 + 0.1"] and m.couplings[0].name == "gear"
    m = load(FOUR_BAR.format('<joint name="gear" joint1="q3" joint2="q2" active="false"/>'))
    assert not m.couplings and "not active" in str(m.source)


def test_several_joints(load):
    """A body with three joints is three links; together they place it as MuJoCo does."""
    import mujoco

    inside = f"""<worldbody><body name="b" pos="0 0 1" euler="0.1 0.2 0.3">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="a" axis="0 1 0" pos="0 0 0.5"/>
    <joint name="c" axis="1 0 1" pos="0.1 0 0"/>
    {BALL}<body name="e"><joint name="s" type="ball" pos="0 0.2 0"/>{BALL}</body></body>
    <body name="f" pos="1 2 3"><freejoint name="free"/>{BALL}</body></worldbody>"""
    m = load(inside)
    assert [one.name for one in m.links] == ["b (x)", "b (a)", "b", "e", "f"]
    model = mujoco.MjModel.from_xml_path(m.source.path)
    data = mujoco.MjData(model)
    data.qpos[:3] = 0.4, -0.7, 1.1
    data.qpos[3:7] = np.array([1, 2, 3, 4]) / np.sqrt(30)
    mujoco.mj_forward(model, data)
    s = m.state()
    s["x"].q, s["a"].q, s["c"].q, s["s"].q = 0.4, -0.7, 1.1, (1, 2, 3, 4)
    for name in ("b", "e", "f"):
        carrier, frame = m.source.frames.get(name, (name, vc.Pose()))
        X = vc.pose(m, s, carrier) @ frame
        assert np.abs(X.p - data.body(name).xpos).max() < 1e-12
        assert np.abs(X.R.ravel() - data.body(name).xmat).max() < 1e-12


def test_notes(load):
    """Tendons, sensors, keyframes, geoms and gravity compensation are drawn, counted or noted."""
    m = load(
        f"""<option gravity="0 0 -1.62" density="1.2"/><worldbody>
        <body name="b" gravcomp="1"><joint name="j" axis="1 0 0"/>{BALL}
        <geom type="capsule" size="0.1 0.2" rgba="1 0 0 1"/><geom type="box" size="1 2 3"/></body>
        <geom type="plane" size="1 1 1"/>
        </worldbody><sensor><jointpos joint="j"/></sensor>"""
    )
    assert m.gravity[2] == -1.62 and m.link("b").shapes[0] == vc.Capsule(0.1, 0.4, color=(1, 0, 0, 1))
    assert m.link("b").shapes[1].size == (2, 4, 6)
    for words in ("sensor, 1 times", "gravity compensation", "density", "plane"):
        assert words in str(m.source)


BAD = {
    "polynomial": (FOUR_BAR.format('<joint name="e" joint1="q3" joint2="q2" polycoef="0 1 2 0 0"/>'), "order 2"),
    "constant": (FOUR_BAR.format('<joint name="e" joint1="q3" polycoef="1 0 0 0 0"/>'), "at a constant"),
    "schema": ("<worldbody><body><wheel/></body></worldbody>", "MuJoCo refuses it"),
    "unknown joint": (FOUR_BAR.format('<joint joint1="q9"/>'), "MuJoCo refuses it"),
    "infinite": ('<worldbody><body pos="0 0 1e999"><geom size="1"/></body></worldbody>', "finite"),
    "not a number": ('<worldbody><body pos="0 nan 0"><geom size="1"/></body></worldbody>', "finite"),
    "no bodies": ("<worldbody/>", "has no bodies"),
    "no mass": ('<worldbody><body><joint/><geom size="1" mass="0"/></body></worldbody>', "mass"),
}


@pytest.mark.parametrize(("inside", "words"), BAD.values(), ids=BAD.keys())
def test_bad_files(load, inside, words):
    """A file that MuJoCo or a mechanism cannot take is refused with a sentence."""
    with pytest.raises(vc.FormatError, match=words):
        load(inside)
