"""HYR's own examples: the parallelogram, and the shoulder of the Recupera exoskeleton."""

from pathlib import Path

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from measure import deviation
from varichain.scene import link_poses, scene_of

LENGTH, MASS = 2.0, 1.0
RESIDUAL = 1e-12  # relative to the load; what is found is a few roundings of 70 N m
EXAMPLES = Path(__file__).parents[2] / "examples"


def parallelogram(about_com, gravity=9.81, tie="mimic"):
    """HYR's Fig. 1: links of 2 m and 1 kg about z, gravity along -y, as couplings or as a loop."""
    m = vc.Mechanism("parallelogram", gravity=(0, -gravity, 0))
    rod = vc.Inertia(MASS, com=(LENGTH / 2, 0, 0), about_com=(0.01, about_com, about_com))
    m.add_link("01", joint=vc.Revolute("z", name="B01"), inertia=rod)
    m.add_link("02", "01", vc.Revolute("z", name="01_02", actuated=False), at=(LENGTH, 0, 0), inertia=rod)
    m.add_link("03", joint=vc.Revolute("z", name="B03", actuated=False), at=(LENGTH, 0, 0), inertia=rod)
    if tie == "mimic":
        m.couple("01_02", "B01", -1.0)
        m.couple("B03", "B01")
    else:
        m.connect("02", "03", vc.Revolute("z"), at=(LENGTH, 0, 0), at_other=(LENGTH, 0, 0), name="02_03")
    return m


def at(m, t):
    """State at time t of q = 2 t^2."""
    s = m.state()
    s.q, s.v = 2 * t**2 * np.array([1, -1, 1]), 4 * t * np.array([1, -1, 1])
    return s


def analytic(q, about_com, gravity):
    """Torque of the crank for an acceleration of 4 rad/s^2: the coupler only shifts."""
    effective = 2 * (about_com + MASS * LENGTH**2 / 4) + MASS * LENGTH**2
    return effective * 4.0 + gravity * 2 * MASS * LENGTH * np.cos(q)


def test_multipliers():
    """M is [1, -1, 1]^T, b is zero and M_u is one [HYR, (20)]."""
    found = vc.coupling_matrix(parallelogram(1 / 3))
    assert found.M.tolist() == [[1.0], [-1.0], [1.0]]
    assert found.b.tolist() == [0.0, 0.0, 0.0] and found.M_u.tolist() == [[1.0]]
    assert found.independent == found.actuated == ("B01",)


@pytest.mark.parametrize("about_com", [1 / 3, 4 / 3])
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_torque(about_com, gravity):
    """Over 100 steps the torque is the analytic one to rounding, flat pose at t = 0 included [HYR, Fig. 1c]."""
    m = parallelogram(about_com, gravity)
    for t in np.linspace(0.0, 1.0, scaled(101, 11)):
        s = at(m, t)
        tau = vc.inverse_dynamics(m, s, {"B01": 4.0}).tau
        assert np.abs(tau - [analytic(2 * t**2, about_com, gravity), 0, 0]).max() < RESIDUAL
        for method in ("articulated", "closure", "implicit", "explicit", "kkt"):
            assert np.abs(vc.forward_dynamics(m, s, tau, method=method).a - [4, -4, 4]).max() < RESIDUAL * 10


def test_loop_gives_the_same():
    """The same parallelogram as a loop: same torque where it is not flat, and its implicit system is singular."""
    m, loop = parallelogram(1 / 3), parallelogram(1 / 3, tie="loop")
    for t in np.linspace(0.2, 1.0, 9):
        s, c = at(m, t), at(loop, t)
        tau = vc.inverse_dynamics(m, s, {"B01": 4.0}).tau
        assert deviation(vc.inverse_dynamics(loop, c, {"B01": 4.0}).tau, tau) < 1e-10
        assert deviation(vc.forward_dynamics(loop, c, tau).a, [4, -4, 4]) < 1e-10
        assert deviation(vc.forward_dynamics(loop, c, tau, method="explicit").a, [4, -4, 4]) < 1e-10
        with pytest.raises(vc.StructureError, match="5 rows have rank 2"):
            vc.forward_dynamics(loop, c, tau, method="implicit")
    with pytest.raises(vc.InputError, match="1 loops: 02_03"):
        vc.forward_dynamics(loop, c, tau, method="closure")


# Inertia about the centre [kg m^2], gravity [m/s^2], torque [N m] at some times [s], of an independent solution.
VARIANTS = [
    (4 / 3, 0.0, {0: 34.666666666666664, 0.5: 34.666666666666664, 1: 34.666666666666664}),
    (4 / 3, 9.81, {0: 73.90666666666667, 0.5: 69.10300639524489, 1: 18.337064800556796}),
    (1 / 3, 0.0, {0: 26.666666666666664, 0.5: 26.666666666666664, 1: 26.666666666666664}),
    (1 / 3, 9.81, {0: 65.90666666666667, 0.5: 61.10300639524489, 1: 10.337064800556796}),
]


@pytest.mark.parametrize(("inertia", "gravity", "torques"), VARIANTS)
def test_torques_of_an_independent_solution(inertia, gravity, torques):
    """The published variants' torques come out: inertia about the centre or the joint, with and without weight."""
    m = parallelogram(inertia, gravity)
    for t, tau in torques.items():
        assert vc.inverse_dynamics(m, at(m, t), {"B01": 4.0})["B01"][0] == pytest.approx(tau, abs=1e-10)


def recupera():
    """The topology of HYR's Fig. 3: eight tree joints, two parallelograms that one motor drives, bodies made up."""
    return vc.load(EXAMPLES / "recupera_shoulder.urdf")


def test_recupera():
    """M (8 x 4) is HYR's (21), M_u the identity, and forward dynamics undoes inverse dynamics in all three forms."""
    m = recupera()
    found = vc.coupling_matrix(m)
    order = [found.independent.index(name) for name in ("100_200", "300_400", "400_600", "200_232")]
    expected = np.zeros((8, 4))
    expected[[0, 4, 5], [0, 1, 2]] = 1.0
    expected[[1, 2, 3, 6, 7], 3] = [1, -1, 1, 1, -1]
    assert found.M[:, order].tolist() == expected.tolist()
    assert found.M_u[:, order].tolist() == np.eye(4).tolist() and not found.b.any()
    rng = np.random.default_rng(0)
    y, v = rng.normal(size=4), rng.normal(size=4)
    s = m.state()
    s.q, s.v = found.M @ y, found.M @ v
    a = dict(zip(found.independent, (1.0, -2.0, 0.5, 3.0), strict=True))
    tau = vc.inverse_dynamics(m, s, a).tau
    assert np.count_nonzero(tau) == 4
    for method in ("articulated", "closure", "implicit", "explicit"):
        assert deviation(vc.forward_dynamics(m, s, tau, method=method).a, found.M @ [*a.values()]) < 1e-10
    assert vc.mobility(m, s).actuation == "fully actuated"


def test_recupera_is_drawn():
    """Every link of the shoulder is seen where it is, while its parallelograms move."""
    m = recupera()
    s = m.state()
    s.q = vc.coupling_matrix(m).M @ [0.3, -0.2, 0.4, 0.5]
    seen, poses = scene_of(m), link_poses(m, s.q)
    assert {part.name for part in seen.parts} == {link.name for link in m.links}
    for link in m.links:
        p, R = poses.of(link.name)
        assert deviation(R, vc.pose(m, s, link.name).R) < 1e-12 and deviation(p, vc.pose(m, s, link.name).p) < 1e-12
