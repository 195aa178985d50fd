"""Derivatives of what joints carry: wrenches of `joint_forces`, seen from the joint's place, by differences."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives.differences import by_q, by_v, by_vector, independent_columns
from lane import scaled
from measure import random_state
from varichain.errors import InputError, UnknownNameError

TOLERANCE = 1e-7  # of differences of order four


def carried(m, s, tau, joints, forces):
    """Wrenches of joints in the axes and at the origin of their frames on the parents (6 n,)."""
    result = vc.forward_dynamics(m, s, tau, forces)
    found = vc.joint_forces(m, s, result, forces)
    parts = []
    for name in joints:
        link = m.link_of_joint(name)
        place = vc.pose(m, s, link.parent.name) @ link.at
        moment, force = found[name][:3], found[name][3:]
        moment = moment + np.cross(vc.pose(m, s, link.name).p - place.p, force)
        parts += [place.R.T @ moment, place.R.T @ force]
    return np.concatenate(parts)


def check(m, s, rng, joints=None):
    """Values and derivatives beside differences."""
    tau = rng.normal(size=m.n_v)
    forces = [vc.Force(m.links[-1].name, (1.0, -2.0, 0.5), at=(0.1, 0, 0.2))]
    found = vc.joint_force_derivatives(m, s, tau, forces, joints=joints)
    named = [joint.name for joint in m.joints] if joints is None else joints
    assert np.abs(found.value - carried(m, s, tau, named, forces)).max() < 1e-9 * (1.0 + np.abs(found.value).max())
    of = vc.forward_dynamics_derivatives(m, s, tau, forces)
    columns = independent_columns(m, of.independent)
    at = lambda one: carried(m, one, tau, named, forces)  # noqa: E731
    for part, expected in (
        (found.by_q, by_q(at, m, s, columns, of.W)),
        (found.by_v, by_v(at, m, s, columns)),
        (found.by_tau, by_vector(lambda x: carried(m, s, x, named, forces), tau)),
    ):
        assert np.abs(part.array - expected).max() < TOLERANCE * (1.0 + np.abs(expected).max())


@pytest.mark.parametrize("seed", range(scaled(6, 2)))
def test_trees(seed):
    """Random trees of all joints, fixed ones included, with springs, dampers and an external force."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 3 + seed % 4, zoo.ALL if seed % 2 else zoo.MOVING, passive=True)
    check(m, random_state(rng, m), rng)


@pytest.mark.parametrize("name", scaled(["stewart", "one hand", "pinned chain"], ["pinned chain"]))
def test_closed_chains(name):
    """Loops take their part of the load: in closed chains whose rows are independent."""
    m, s = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(2)
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    assert vc.forward_dynamics(m, s).loop_forces.is_unique
    check(m, s, rng, [m.joints[1].name, m.joints[0].name])


def test_parts_have_names():
    """A joint's six rows, or one of them, by name; the order is the one asked for."""
    m = zoo.random_tree(np.random.default_rng(0), 3, ("revolute",))
    s = random_state(np.random.default_rng(1), m)
    names = [joint.name for joint in m.joints][::-1][:2]
    found = vc.joint_force_derivatives(m, s, joints=names)
    assert found.value.shape == (12,) and found.by_q[names[1], names[0]].shape == (6, 1)
    assert found.by_tau[f"{names[0]}.fz", names[1]].item() == found.by_tau[names[0], names[1]][5, 0]
    with pytest.raises(UnknownNameError, match="joint"):
        vc.joint_force_derivatives(m, s, joints=["nowhere"])
    with pytest.raises(InputError, match="at least one"):
        vc.joint_force_derivatives(m, s, joints=[])
