"""Many designs of one mechanism: each is that of the mechanism built so, by functions for one state."""

import numpy as np
import pytest

import varichain as vc
from derivatives.linkages import LENGTHS, four_bar, redesign
from lane import long_run, scaled
from varichain.errors import InputError, StructureError, UnknownNameError

ANGLES = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)
TOLERANCE = 1e-8  # loops closed to 1e-13, times accelerations per metre


def driven(p):
    """Crank angles with velocities and accelerations."""
    return {"crank": np.stack([ANGLES[:p], np.full(p, 3.0), np.linspace(-1.0, 1.0, p)])}


def some_designs(n):
    """Lengths about those of a crank that turns round."""
    return LENGTHS * (1.0 + 0.1 * np.random.default_rng(0).uniform(-1.0, 1.0, (n, 4)))


@long_run
@pytest.mark.parametrize("closing", [None, vc.Spherical()])
def test_designs_are_mechanisms_built_so(closing):
    """Positions, motions, drive torques and forces in all joints are those of each mechanism by itself."""
    m, s = four_bar(closing=closing)
    values, p = some_designs(scaled(4, 2)), scaled(36, 6)
    before = s.q.copy()
    found = vc.designs(m, s, redesign, values, driven(p))
    assert np.array_equal(s.q, before)
    assert found.is_closed.all() and found.q.shape == (len(values), p, 3)
    for i, lengths in enumerate(values):
        own, start = four_bar(*lengths, closing=closing)
        for j in range(0, p, scaled(5, 2)):
            start.q, start.v = found.q[i, j], found.v[i, j]
            state = vc.assemble(own, start, hold=["crank"]).state
            assert np.abs(state.q - found.q[i, j]).max() < 1e-11
            result = vc.inverse_dynamics(own, state, {"crank": driven(p)["crank"][2, j]})
            heavy = {"knee": 1e12, "pivot": 1e12}  # of torques that do the same, the crank's
            drive = vc.inverse_dynamics(own, state, found.a[i, j], weights=heavy)
            assert found.a[i, j] == pytest.approx(result.a, abs=TOLERANCE)
            assert found.tau["crank"][i, j] == pytest.approx(drive["crank"].item(), abs=1e-6)
            forces = vc.joint_forces(own, state, vc.forward_dynamics(own, state, {"crank": found.tau["crank"][i, j]}))
            for name, wrench in forces.items():
                assert found[name][i, j] == pytest.approx(wrench, abs=1e-6), name
    assert m.joint("knee").name and np.allclose(m.link("coupler").at.p, (0.3, 0, 0))  # the mechanism is as it was


def test_external_forces():
    """Loads in world axes and in those of links: drive torques and forces in joints are those of each design."""
    m, s = four_bar()
    forces = [
        vc.Force("coupler", (3.0, 0, -5.0), at=(0.4, 0, 0.1)),
        vc.Force("rocker", (1.0, 0, 2.0), (0, 0.5, 0), (0.1, 0, 0), "local"),
    ]
    values, p = some_designs(2), scaled(8, 3)
    found, bare = (vc.designs(m, s, redesign, values, driven(p), given) for given in (forces, ()))
    assert np.array_equal(found.q, bare.q) and np.abs(found.tau["crank"] - bare.tau["crank"]).max() > 0.1
    for i, lengths in enumerate(values):
        own, state = four_bar(*lengths)
        for j in range(p):
            state.q, state.v = found.q[i, j], found.v[i, j]
            result = vc.forward_dynamics(own, state, {"crank": found.tau["crank"][i, j]}, forces)
            assert found.a[i, j] == pytest.approx(result.a, abs=1e-6)
            for name, wrench in vc.joint_forces(own, state, result, forces).items():
                assert found[name][i, j] == pytest.approx(wrench, abs=1e-6), name
    with pytest.raises(UnknownNameError, match="link"):
        vc.designs(m, s, redesign, values, driven(p), [vc.Force("nowhere", (1, 0, 0))])


def test_power_is_that_of_the_drive():
    """The drive's power is the rate of the energy, and what the damper takes."""
    m, s = four_bar()
    found = vc.designs(m, s, redesign, [LENGTHS], driven(36))
    state, h = m.state(), 1e-5
    for j in range(0, 36, scaled(3, 12)):
        energies = []
        for sign in (1.0, -1.0):
            state.q = found.q[0, j] + sign * h * found.v[0, j] + 0.5 * h**2 * found.a[0, j]
            state.v = found.v[0, j] + sign * h * found.a[0, j]
            energies.append(vc.energy(m, state).total)
        power = found.tau["crank"][0, j] * 3.0 - 0.01 * 3.0**2
        assert power == pytest.approx((energies[0] - energies[1]) / (2.0 * h), abs=1e-6)


@long_run
def test_what_cannot_be_closed_is_not_a_number():
    """A crank that is too long for a whole turn has positions where nothing closes, and others where all is well."""
    m, s = four_bar()
    angles = ANGLES[:: scaled(1, 2)]
    found = vc.designs(m, s, redesign, [LENGTHS, (1.0, 0.8, 0.5, 0.4), LENGTHS], {"crank": angles})
    assert found.is_closed[0].all() and found.is_closed[2].all()
    assert 0 < found.is_closed[1].sum() < len(angles)
    for values in (found.q, found["knee"], found["pin"], found.tau["crank"]):
        bad = np.isnan(values.reshape(*values.shape[:2], -1)).any(axis=2)
        assert np.array_equal(bad, ~found.is_closed)
    assert np.allclose(found["knee"][0], found["knee"][2], atol=1e-7)
    assert "3 designs" in repr(found)


def test_parameters_of_joints():
    """Springs and dampers are design numbers too; an open chain with all joints driven has its inverse dynamics."""
    m = vc.Mechanism("arm")
    for name, parent in (("upper", "ground"), ("lower", "upper")):
        at, inertia = (0, 0, -0.4 if parent != "ground" else 0), vc.Inertia.rod(1.0, 0.4, com=(0, 0, -0.2))
        m.add_link(name, parent, vc.Revolute("y", name=name), at=at, inertia=inertia)
    motion = {name: np.array([[0.2, 0.5], [1.0, 2.0], [3.0, -1.0]]) for name in ("upper", "lower")}
    stiff = np.array([[0.0], [5.0]])
    found = vc.designs(m, m.state(), lambda m, x: m.edit_joint("lower", stiffness=x[0]), stiff, motion)
    s = m.state()
    for i, k in enumerate(stiff[:, 0]):
        m.edit_joint("lower", stiffness=k)
        for j in range(2):
            s.q, s.v = motion["upper"][0, j] * np.ones(2), motion["upper"][1, j] * np.ones(2)
            tau = vc.inverse_dynamics(m, s, motion["upper"][2, j] * np.ones(2)).tau
            assert [found.tau[name][i, j] for name in ("upper", "lower")] == pytest.approx(tau, abs=1e-12)


def test_refusals():
    """What cannot be meant is refused by name."""
    m, s = four_bar()
    for change, values, drives, error, words in (
        (redesign, [[1.0, np.nan, 1.0, 1.0]], {"crank": [0.0]}, InputError, "values"),
        (redesign, [1.0, 0.3, 0.9, 0.7], {"crank": [0.0]}, InputError, "a design a row"),
        (redesign, [LENGTHS], {}, InputError, "one joint at least"),
        (redesign, [LENGTHS], {"cranks": [0.0]}, UnknownNameError, "crank"),
        (redesign, [LENGTHS], {"crank": "x"}, InputError, "positions"),
        (3.0, [LENGTHS], {"crank": [0.0]}, InputError, "function"),
        (lambda m, x: m.cut("pin"), [LENGTHS], {"crank": [0.0]}, StructureError, "joints and loops"),
    ):
        with pytest.raises(error, match=words):
            vc.designs(m, s, change, values, drives)
    m.add_link("bob", "rocker", vc.Revolute("y", name="loose"), inertia=vc.Inertia.sphere(1.0, 0.1))
    loose = m.state()
    loose.q = (*s.q, 0.0)
    with pytest.raises(InputError, match="leave 1 freedoms open"):
        vc.designs(m, loose, lambda m, x: None, [[0.0]], {"crank": [0.0]})
    with pytest.raises(UnknownNameError, match="knee"):
        vc.designs(*four_bar(), redesign, [LENGTHS], {"crank": [0.0]})["knees"]
