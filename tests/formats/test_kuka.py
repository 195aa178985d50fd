"""An outside judge: the KUKA iiwa of Drake's benchmark, with values of 16 digits that MotionGenesis computed.

Pinocchio 4.1.0 agrees with them to 7e-15 N m and 2e-15 kg m^2.
"""

import numpy as np
import pytest

import varichain as vc

POSE, TORQUE = 1e-12, 1e-10
"""Suggested with the numbers."""

UP, DOWN = "1.570796326794897 0 ", "-1.570796326794897 3.141592653589793 0"
# Of each joint, in the link before: position [m], roll, pitch and yaw; of its link: mass [kg], centre [m], moments
# [kg m^2] about it.
JOINTS = (
    ("0 0 0.1575", "0 0 0", 5.76, "0 -0.03 0.12", (0.033, 0.0333, 0.0123)),
    ("0 0 0.2025", UP + "3.141592653589793", 6.35, "0.0003 0.059 0.042", (0.0305, 0.0304, 0.011)),
    ("0 0.2045 0", UP + "3.141592653589793", 3.5, "0 0.03 0.13", (0.025, 0.0238, 0.0076)),
    ("0 0 0.2155", UP + "0", 3.5, "0 0.067 0.034", (0.017, 0.0164, 0.006)),
    ("0 0.1845 0", DOWN, 3.5, "0.0001 0.021 0.076", (0.01, 0.0087, 0.00449)),
    ("0 0 0.2155", UP + "0", 1.8, "0 0.0006 0.0004", (0.0049, 0.0047, 0.0036)),
    ("0 0.081 0", DOWN, 1.2, "0 0 0.02", (0.001, 0.001, 0.001)),
)
Q = np.array([2, 1, 2, 1, 2, 1, 2]) * np.pi / 6
V, A = np.arange(1, 8) / 10, np.arange(7, 0, -1) / 10

R = [
    [-0.5939002959880204, 0.8043869080239565, -0.015625],
    [-0.8043869080239565, -0.5932991120359317, 0.03094940802395521],
    [0.015625, 0.03094940802395527, 0.9993988160479114],
]
P = [0.2970356451892219, 0.1727696964662288, 1.154681973689345]
# Rows from the diagonal on.
MASS_MATRIX = (
    (
        1.080155310698533,
        0.6412839137930788,
        -0.009640726321536203,
        -0.7556570752058669,
        0.0064071512922892464,
        0.025245378046960844,
        0.0009993988160479114,
    ),
    (
        4.768720206074526,
        0.7145882323465077,
        -0.884855721430974,
        -0.07493992250446872,
        -0.040960382762324325,
        2.900635094610853e-05,
    ),
    (0.2263891071873532, 0.007017885014200003, -0.002748464185546683, -0.02563511210733805, 0.0008750000000000001),
    (0.850250743001604, 0.016337062470249405, -0.029600254213465037, -0.0004330127018922192),
    (0.014844285, -3.7412297444328866e-07, 0.0008660254037844387),
    (0.016841848, 4.440892098500626e-19),
    (0.001,),
)
# Velocities, accelerations and gravity as parts of V, A and 9.8 m/s^2: torques.
TORQUES = {
    (0, 0, 1): (
        -8.881784197001252e-16,
        -33.89481106048788,
        -4.854013318704989,
        -4.401760533681908,
        0.36195772941244114,
        -0.022757120072752192,
        0,
    ),
    (1, 0, 0): (
        0.04395178858986832,
        0.2924285892167968,
        0.0611007391421466,
        0.006218755945226162,
        -0.004055449362673165,
        -0.004412867210893099,
        -0.0004761778579257498,
    ),
    (1, 0, 1): (
        0.04395178858987059,
        -33.60238247127109,
        -4.792912579562842,
        -4.395541777736684,
        0.35790228004976793,
        -0.02716998728364522,
        -0.0004761778579257498,
    ),
    (1, 1, 0): (
        0.884818821990258,
        3.575240127448822,
        0.5932428160472007,
        -0.7111076232215304,
        -0.034833990849641935,
        -0.03260673261136245,
        0.0008649076642538973,
    ),
    (1, 1, 1): (
        0.8848188219902595,
        -30.319570933039056,
        -4.2607705026577865,
        -5.11286815690344,
        0.3271237385627991,
        -0.05536385268411461,
        0.0008649076642538973,
    ),
}


def urdf():
    """The arm as a URDF file, as Drake has it."""
    parts = ['<robot name="iiwa14"><link name="base"/><link name="iiwa_link_0"/>']
    parts.append('<joint name="base" type="fixed"><parent link="base"/><child link="iiwa_link_0"/></joint>')
    for i, (xyz, rpy, mass, com, (x, y, z)) in enumerate(JOINTS, start=1):
        parts.append(
            f'<joint name="iiwa_joint_{i}" type="revolute">'
            f'<parent link="iiwa_link_{i - 1}"/><child link="iiwa_link_{i}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
            '<limit lower="-3.2" upper="3.2" effort="300" velocity="10"/></joint>'
            f'<link name="iiwa_link_{i}"><inertial><mass value="{mass}"/><origin xyz="{com}"/>'
            f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
    return "\n".join([*parts, "</robot>"])


@pytest.fixture
def arm(tmp_path):
    """The arm, loaded, and its state."""
    path = tmp_path / "kuka.urdf"
    path.write_text(urdf())
    m = vc.load(path)
    s = m.state()
    s.q = Q
    return m, s


def test_pose_and_masses(arm):
    """The pose of the last link and the mass matrix are the published ones."""
    m, s = arm
    X = vc.pose(m, s, "iiwa_link_7")
    assert np.abs(X.R - R).max() < POSE
    assert np.abs(X.p - P).max() < POSE
    expected = np.zeros((7, 7))
    expected[np.triu_indices(7)] = np.concatenate(MASS_MATRIX)
    assert np.abs(np.triu(vc.mass_matrix(m, s)) - expected).max() < TORQUE


@pytest.mark.parametrize("parts", TORQUES)
def test_torques(arm, parts):
    """Torques with and without velocities, accelerations and gravity are the published ones."""
    m, s = arm
    by_velocity, by_acceleration, by_gravity = parts
    m.gravity = (0, 0, -9.8 * by_gravity)
    s.v = V * by_velocity
    found = vc.inverse_dynamics(m, s, A * by_acceleration).tau
    assert np.abs(found - TORQUES[parts]).max() < TORQUE
