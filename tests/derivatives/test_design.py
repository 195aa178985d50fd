"""Derivatives by design: those of mechanisms that are changed a little, closed again, by differences of order four."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives.differences import central, independent_columns, with_independent
from derivatives.linkages import four_bar
from lane import scaled
from measure import random_state
from varichain.derivatives.parameters import LABELS, parameters_of
from varichain.dynamics.assembly import close_loops
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.errors import InputError, UnknownNameError
from varichain.layout.layout import layout_of

STEP = 2e-4  # of differences of order four: small beside inertias of 0.01 kg m^2 and arms of 0.1 m
_SHIFTS, _TURNS, _INERTIAL = "xyz", ("rx", "ry", "rz"), LABELS


def put(pose, label, h):
    """A pose shifted along, or turned about, an axis of the frame that it is given in."""
    if label in _SHIFTS:
        return vc.Pose(pose.p + h * np.eye(3)[_SHIFTS.index(label)], R=pose.R)
    return vc.Pose(pose.p, R=vc.Pose(rotation_vector=h * np.eye(3)[_TURNS.index(label)]).R @ pose.R)


def changed(m, name, h):
    """A copy of the mechanism with one parameter changed by h."""
    m = m.copy()
    thing, label = name.rsplit(".", 1)
    if label in (*_SHIFTS, *_TURNS):
        joint, is_other = thing.removesuffix(".other"), thing.endswith(".other")
        link = m.link_of_joint(joint)
        if is_other:
            m.set_place(joint, at_other=put(link.at, label, h))
        else:
            m.set_place(joint, put(link.on_real if link.is_virtual else link.at, label, h))
    elif label in _INERTIAL:
        x = parameters_of(m.link(thing).inertia)
        x[_INERTIAL.index(label)] += h
        com, about = x[1:4] / x[0], np.zeros((3, 3))
        about[np.triu_indices(3)] = x[4:]
        about = about + np.triu(about, 1).T
        about_com = about - x[0] * (com @ com * np.eye(3) - np.outer(com, com))
        m.set_inertia(thing, vc.Inertia(x[0], com, about_com))
    else:
        joint = m.link_of_joint(thing).joint
        new = tuple(np.asarray(getattr(joint, label)) + h)
        m.edit_joint(thing, **{label: float(new[0]) if isinstance(joint, vc.SpringDamper) else new})
    return m


def closed(m, s, columns):
    """The state of a changed mechanism: independent positions and velocities as they were."""
    layout = layout_of(m)
    near = m.state()
    near.q = s.q
    if layout.n_rows:
        close_loops(layout, layout.workspaces.of_thread.table, near.q, np.setdiff1d(np.arange(layout.n_v), columns))
    return with_independent(m, near, columns, s.v[columns])


def torques(m, s, columns, a_ind):
    """tau, and W^T tau, with independent accelerations, those of the others following."""
    layout = layout_of(m)
    table, n = layout.workspaces.of_thread.table, layout.n_v
    K, bias = (
        (constraint_matrix(layout, table, s.q), constraint_bias(layout, table, s))
        if layout.n_rows
        else (
            np.zeros((0, n)),
            np.zeros(0),
        )
    )
    dependent = np.setdiff1d(np.arange(n), columns)
    a, W = np.zeros(n), np.zeros((n, len(columns)))
    a[columns], W[columns] = a_ind, np.eye(len(columns))
    a[dependent] = np.linalg.lstsq(K[:, dependent], -bias - K[:, columns] @ a_ind, rcond=1e-8)[0]
    W[dependent] = np.linalg.lstsq(K[:, dependent], -K[:, columns], rcond=1e-8)[0]
    tau = vc.inverse_dynamics(m, s, a, actuators=False).tau
    return np.concatenate([tau, W.T @ tau])


def check(m, s, by, rng, tolerance, prefer=()):
    """Derivatives of torques, accelerations and positions beside differences."""
    given = rng.normal(size=m.n_v)
    d = vc.design_derivatives(m, s, by, tau=given, prefer=prefer)
    columns = independent_columns(m, d.independent)
    a_ind = rng.normal(size=len(columns))
    start = torques(m, s, columns, a_ind)[: m.n_v]
    layout = layout_of(m)
    M = vc.mass_matrix(m, s)
    a = np.linalg.solve(M, start - vc.bias_force(m, s))
    e = vc.design_derivatives(m, s, by, a=a, prefer=prefer)

    def all_of(one):
        near = closed(one, s, columns)
        return np.concatenate(
            [s.difference(near), vc.forward_dynamics(one, near, given).a, torques(one, near, columns, a_ind)]
        )

    for i, name in enumerate(by):
        change = central(all_of, lambda h, name=name: changed(m, name, h), STEP)
        moved, under, needed = np.split(change, [m.n_v, 2 * m.n_v])
        for found, expected in (
            (d.q, moved),
            (d.a.by_design, under),
            (e.tau.by_design, needed[: m.n_v]),
            (e.tau_ind.by_design, needed[m.n_v :]),
        ):
            error = np.abs(found.array[:, i] - expected).max(initial=0.0)
            assert error < tolerance * (1.0 + np.abs(expected).max(initial=0.0)), (name, error)
    assert d.a.value == pytest.approx(vc.forward_dynamics(m, s, given).a)
    assert layout.n_rows == len(d.multipliers.value)


@pytest.mark.parametrize("seed", range(scaled(8, 2)))
def test_trees(seed):
    """Places, inertial parameters and parameters of joints of random trees of all joints."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 3 + seed % 4, zoo.MOVING, passive=True)
    s = random_state(rng, m)
    link = m.links[rng.integers(len(m.links))]
    joint = m.joints[rng.integers(len(m.joints))].name
    by = [f"{joint}.{label}" for label in (*_SHIFTS, *_TURNS, "damping", "armature", "stiffness")]
    by += [f"{link.name}.{label}" for label in ("mass", "hy", "Ixx", "Iyz")]
    check(m, s, by if scaled(True, False) else by[::3], rng, 1e-7)


@pytest.mark.parametrize("name", scaled(["four-bar", "tilted four-bar", "stewart", "bar figure"], ["four-bar"]))
def test_closed_chains(name):
    """Places of joints of the tree and of both ends of a loop; planar loops stay planar."""
    m, s = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(1)
    for joint in m.joints:
        m.edit_joint(joint.name, damping=(0.1,) * joint.n_v)
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.1)
    pin, joint = m.virtual_links[0].joint.name, m.joints[1].name
    is_planar = "four-bar" in name
    labels = _planar_labels(m, s) if is_planar else ("x", "z", "ry")
    by = [f"{thing}.{label}" for thing in (joint, pin, f"{pin}.other") for label in labels]
    check(m, s, [*by, f"{m.links[0].name}.mass", f"{joint}.damping"], rng, 1e-6)


def _planar_labels(m, s):
    """Shifts of a planar linkage in its plane, and the turn about its normal; none of those that would bind it."""
    normal = np.abs(vc.pose(m, s, m.links[0].name).R @ np.asarray(m.joints[0].axis))
    k = int(np.argmax(normal))
    return [label for i, label in enumerate(_SHIFTS) if i != k] if normal[k] > 1.0 - 1e-9 else ["x"]


def test_a_length_is_several_parameters():
    """The crank of a four-bar gets longer: the knee moves, and the rod has more mass, as columns added up say."""
    m, s = four_bar()
    s["crank"].v = 2.0
    s = vc.project(m, vc.assemble(m, s, hold=["crank"]).state)
    d = vc.design_derivatives(m, s, ["knee.x", "crank.mass", "crank.hx", "crank.Iyy", "crank.Izz"], prefer=["crank"])
    lengths = lambda L: np.array([2.0 * L, L**2, 2.0 * L**3 / 3.0, 2.0 * L**3 / 3.0])  # noqa: E731
    slope = np.array([1.0, 2.0, 2.0 * 0.3, 2.0 * 0.3**2, 2.0 * 0.3**2])
    assert lengths(0.3) == pytest.approx(parameters_of(m.link("crank").inertia)[[0, 1, 7, 9]])
    columns = independent_columns(m, ["crank"])

    def accelerations(L):
        own, _ = four_bar(crank=L)
        return vc.forward_dynamics(own, closed(own, s, columns)).a

    expected = central(accelerations, lambda h: 0.3 + h, STEP)
    assert d.a.by_design.array @ slope == pytest.approx(expected, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("kind", scaled(["universal", "planar", "spherical"], ["universal"]))
def test_springs_and_dampers_of_loops(kind):
    """Numbers of a joint that closes a loop, and of a spring between two links."""
    rng = np.random.default_rng(2)
    m, s = closed_zoo.loop_of(kind)
    n_v = m.joint("closing").n_v
    m.edit_joint("closing", damping=(0.3,) * n_v, stiffness=(5.0,) * n_v)
    links = [link.name for link in m.links]
    m.connect(
        links[1],
        links[4],
        vc.SpringDamper(stiffness=20.0, damping=0.5, length=0.1),
        at_other=(0, 0.1, 0),
        name="spring",
    )
    s = s.copy().follow(m)
    s.v = rng.normal(size=m.n_v)
    by = ["closing.damping", "closing.stiffness", "spring.stiffness", "spring.damping"]
    check(m, vc.project(m, s), by, rng, 1e-7)


def test_multipliers():
    """Multipliers change as those of the mechanisms do: a Stewart platform's, whose rows are independent."""
    m, s = closed_zoo.MECHANISMS["stewart"]()
    loop = m.virtual_links[0].joint.name
    d = vc.design_derivatives(m, s, [f"{loop}.x"])
    columns = independent_columns(m, d.independent)
    assert vc.forward_dynamics(m, s).loop_forces.is_unique
    multipliers = lambda one: vc.forward_dynamics(one, closed(one, s, columns)).loop_forces.multipliers  # noqa: E731
    expected = central(multipliers, lambda h: changed(m, f"{loop}.x", h), STEP)
    assert d.multipliers.by_design.array[:, 0] == pytest.approx(expected, rel=1e-6, abs=1e-5)


def test_refusals():
    """Unknown parameters are refused with those that there are; so are both accelerations and torques."""
    m, s = four_bar()
    s = vc.assemble(m, s, hold=["crank"]).state
    for name in ("knee", "knee.q", "knees.x", "knee.other.x", "ground.mass", "pin.armature"):
        with pytest.raises(UnknownNameError, match="parameter"):
            vc.design_derivatives(m, s, [name])
    with pytest.raises(InputError, match="at least one"):
        vc.design_derivatives(m, s, [])
    with pytest.raises(InputError, match="accelerations, to"):
        vc.design_derivatives(m, s, ["knee.x"], a={"crank": 1.0}, tau={"crank": 1.0})
    assert "knee.x" in repr(vc.design_derivatives(m, s, ["knee.x"]))
