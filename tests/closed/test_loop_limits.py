"""Inverse dynamics within what loops can bear: friction cones, centres of pressure, limits of wrenches."""

import math

import numpy as np
import pytest

import varichain as vc
from varichain.errors import ActuationError, InputError, UnknownNameError

pytest.importorskip("daqp")


def standing():
    """A figure in a crouch, both feet on the ground, at rest."""
    m = vc.figures.human40(damping=False)
    s = m.state()
    for side, knee, turn in (("left", 0.6, 0.1), ("right", 0.7, -0.1)):
        s[f"{side} knee"].q = knee
        s[f"{side} hip"].orientation = vc.Pose(rotation_vector=(turn, -0.35, 0.0))
        m.connect(f"{side} foot", "ground", vc.Fixed(), state=s, name=f"{side} sole")
    return m, s


def soles(m):
    """Names of the loops that hold the feet."""
    return [link.joint.name for link in m.virtual_links]


def in_frame(found, name):
    """Force and moment of a loop, in the axes of the ground."""
    wrench = found.loop_forces[name]
    return wrench[3:], wrench[:3]


def check(m, s, found, a):
    """Torques and loop forces together give the accelerations."""
    tau = vc.mass_matrix(m, s) @ a + vc.bias_force(m, s) - found.tau
    K = np.empty((s.layout.n_rows, m.n_v))
    m.prepare().loop_jacobian(s.q, K)
    assert np.abs(K.T @ found.loop_forces.multipliers - tau).max() < 1e-6 * (1 + np.abs(tau).max())


@pytest.mark.parametrize("facets", [None, 4, 12])
@pytest.mark.parametrize("friction", [0.8, 0.02])
def test_friction_cones(friction, facets):
    """Forces at the soles stay within their cones, and the figure stands as it did."""
    m, s = standing()
    a = np.zeros(m.n_v)
    cones = {name: vc.FrictionCone(friction, facets=facets) for name in soles(m)}
    found = vc.inverse_dynamics(m, s, a, loop_limits=cones)
    weight = sum(link.inertia.mass for link in m.links) * 9.81
    total = np.zeros(3)
    for name in soles(m):
        force, _ = in_frame(found, name)
        total += force
        assert np.hypot(force[0], force[1]) <= friction * force[2] + 1e-7 * weight
    assert total == pytest.approx([0, 0, weight], abs=1e-5 * weight)
    check(m, s, found, a)


def test_wide_limits_change_nothing():
    """Limits that do not act leave the torques of least norm."""
    m, s = standing()
    a = np.zeros(m.n_v)
    free = vc.inverse_dynamics(m, s, a)
    open_ends = {name: vc.WrenchLimits((-1e6,) * 6, (1e6,) * 6) for name in soles(m)}
    found = vc.inverse_dynamics(m, s, a, loop_limits=open_ends)
    size = np.abs(free.tau).max()
    np.testing.assert_allclose(found.tau, free.tau, atol=1e-5 * size)


def test_a_round_cone_is_the_limit_of_pyramids():
    """The cost with pyramids within the cone falls towards that of the round cone, from above."""
    m, s = standing()
    a, costs = np.zeros(m.n_v), []
    for facets in (4, 8, 32, None):
        cones = {name: vc.FrictionCone(0.02, facets=facets) for name in soles(m)}
        costs.append(float(np.sum(vc.inverse_dynamics(m, s, a, loop_limits=cones).actuation.tau_act ** 2)))
    assert costs[0] >= costs[1] >= costs[2] >= costs[3] * (1 - 1e-7)
    assert costs[2] == pytest.approx(costs[3], rel=1e-2)


def test_centre_of_pressure():
    """The moment at a sole stays within its size times the normal force, and torsion within its own bound."""
    m, s = standing()
    cones = {name: vc.FrictionCone(0.8, size=(0.05, 0.02), torsion=0.01) for name in soles(m)}
    found = vc.inverse_dynamics(m, s, np.zeros(m.n_v), loop_limits=cones)
    for name in soles(m):
        force, moment = in_frame(found, name)
        slack = 1e-6 * force[2]
        assert abs(moment[1]) <= 0.05 * force[2] + slack and abs(moment[0]) <= 0.02 * force[2] + slack
        assert abs(moment[2]) <= 0.01 * force[2] + slack


def test_limits_of_torques_and_wrenches_together():
    """Both kinds of limits hold at once."""
    m, s = standing()
    name, other = soles(m)
    limits = {"left knee": (-5.0, 5.0)}
    loops = {name: vc.WrenchLimits(upper=(None,) * 5 + (300.0,)), other: vc.FrictionCone(0.7)}
    found = vc.inverse_dynamics(m, s, np.zeros(m.n_v), limits=limits, loop_limits=loops)
    assert found.loop_forces[name][5] <= 300.0 + 1e-5
    assert abs(found["left knee"][0]) <= 5.0 + 1e-7


def test_what_cannot_be_says_why():
    """A figure that is to fall faster than gravity would have to be pulled: the cones say so, and by how much."""
    m, s = standing()
    cones = {name: vc.FrictionCone(0.5) for name in soles(m)}
    free = vc.forward_dynamics(m, s)  # the legs give way: the soles still push
    mass = sum(link.inertia.mass for link in m.links)
    down = [vc.Force(m.links[0].name, (0, 0, 3.0 * mass * 9.81))]
    with pytest.raises(ActuationError, match="friction cone of") as caught:
        vc.inverse_dynamics(m, s, np.zeros(m.n_v), down, loop_limits=cones)
    assert caught.value.residual > 100.0 and caught.value.joints
    assert free.loop_forces.array.shape == (2, 6)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: vc.FrictionCone(-0.1), InputError, "friction"),
        (lambda: vc.FrictionCone(math.nan), InputError, "friction"),
        (lambda: vc.FrictionCone(0.5, normal=(0, 0, 0)), InputError, "normal"),
        (lambda: vc.FrictionCone(0.5, size=(0.1,)), InputError, "size"),
        (lambda: vc.FrictionCone(0.5, facets=2), InputError, "facets"),
        (lambda: vc.FrictionCone(0.5, torsion=-1.0), InputError, "torsion"),
        (lambda: vc.WrenchLimits((0,) * 5), InputError, "6 numbers"),
        (lambda: vc.WrenchLimits((1,) * 6, (0,) * 6), InputError, "lower <= upper"),
    ],
)
def test_refusals(make, error, said):
    """Limits that mean nothing are refused by name."""
    with pytest.raises(error, match=said):
        make()


def test_unknown_loops():
    """A loop that is not there is named with those that are."""
    m, s = standing()
    with pytest.raises(UnknownNameError, match=soles(m)[0]):
        vc.inverse_dynamics(m, s, loop_limits={"nose": vc.FrictionCone(0.5)})
    with pytest.raises(InputError, match="FrictionCone or WrenchLimits"):
        vc.inverse_dynamics(m, s, loop_limits={soles(m)[0]: 0.5})
