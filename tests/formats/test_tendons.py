"""Tendons of MJCF files: springs between two sites move bodies as MuJoCo says, others are noted."""

import numpy as np
import pytest

import varichain as vc

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <site name="anchor" pos="0.3 0.1 0.2"/>
    <body name="upper"><joint name="hip" type="ball"/>
      <inertial pos="0 0 -0.2" mass="1" diaginertia="0.02 0.02 0.01"/>
      <site name="on upper" pos="0.05 0 -0.1"/>
      <body name="lower" pos="0 0 -0.4"><joint name="knee" axis="0 1 0"/>
        <inertial pos="0 0 -0.2" mass="0.7" diaginertia="0.01 0.01 0.005"/>
        <site name="on lower" pos="0.02 0.01 -0.3"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    {tendons}
  </tendon>
</mujoco>"""
KEPT = """
    <spatial name="muscle" stiffness="300" damping="4" springlength="0.15">
      <site site="on upper"/><site site="on lower"/></spatial>
    <spatial name="rope" stiffness="500" springlength="0 0.6"><site site="on lower"/><site site="anchor"/></spatial>"""
LEFT_OUT = """
    <spatial name="three"><site site="anchor"/><site site="on upper"/><site site="on lower"/></spatial>
    <fixed name="sum" stiffness="2"><joint joint="knee" coef="1"/></fixed>
    <spatial name="thread"><site site="anchor"/><site site="on upper"/></spatial>"""


def loaded(tmp_path, tendons):
    """Mechanism and MuJoCo's model of the same file."""
    path = tmp_path / "legs.xml"
    path.write_text(MODEL.format(tendons=tendons))
    return vc.load(path), mujoco.MjModel.from_xml_path(str(path))


def test_accelerations_as_in_mujoco(tmp_path):
    """A spring-damper and a rope that is slack or taut: accelerations are MuJoCo's at random states."""
    m, model = loaded(tmp_path, KEPT)
    data, random = mujoco.MjData(model), np.random.default_rng(5)
    taut = 0
    for _ in range(20):
        s = m.state()
        s["hip"].q = tuple(random.normal(size=4) * 0.3 + (1, 0, 0, 0))
        s["knee"].q = random.normal()
        data.qpos[:] = s.q
        data.qvel[:] = random.normal(size=4)
        s.v = data.qvel.copy()
        mujoco.mj_forward(model, data)
        taut += data.ten_length[1] > 0.6
        assert vc.forward_dynamics(m, s).a == pytest.approx(data.qacc, rel=1e-9, abs=1e-9)
    assert 0 < taut < 20


def test_what_is_left_out_is_noted(tmp_path):
    """Paths through several sites, sums of joints, threads without a spring: one note each, none dropped in silence."""
    m, _ = loaded(tmp_path, KEPT + LEFT_OUT)
    notes = "\n".join(map(str, m.source.notes))
    for name, why in (("three", "3 sites"), ("sum", "combination of joints"), ("thread", "neither spring nor damper")):
        assert any(name in line and why in line for line in notes.splitlines())
    assert {link.joint.name for link in m.virtual_links} == {"muscle", "rope"}


def test_saved_and_loaded_again(tmp_path):
    """The elements survive a file."""
    m, _ = loaded(tmp_path, KEPT)
    vc.save(m, tmp_path / "again.urdf")
    again = vc.load(tmp_path / "again.urdf")
    assert again.joint("rope") == m.joint("rope") and again.joint("muscle") == m.joint("muscle")
