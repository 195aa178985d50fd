"""Couplings in every algorithm, alone and mixed with loops."""

import copy
import pickle

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import scaled
from measure import deviation
from motion import world
from varichain.dynamics.formulations import FORMULATIONS
from varichain.mechanism.log import as_dict, entry_from

AGREEMENT = 1e-9  # formulations that square or invert M lose this much at most
ROUNDING = 1e-12


def coupled_tree(rng, n=9):
    """Random tree of hinges, sliders and screws with chains of couplings, and a coupling along one branch."""
    m = vc.Mechanism("coupled")
    for i in range(n):
        axis = zoo.random_direction(rng)
        joint = [vc.Revolute(axis), vc.Prismatic(axis), vc.Screw(axis, pitch=0.3)][rng.integers(3)]
        parent = "ground" if i == 0 else f"l{rng.integers(max(0, i - 3), i)}"
        size = 0.2 + rng.random(3)
        inertia = vc.Inertia.box(0.5 + rng.random(), size=size, com=0.3 * rng.normal(size=3))
        m.add_link(
            f"l{i}", parent, joint, at=vc.Pose(rng.normal(size=3), rotation_vector=rng.normal(size=3)), inertia=inertia
        )
    order = rng.permutation(n)
    for i in range(0, n - 2, 2):  # a chain over every other joint, up and down the tree
        m.couple(f"l{order[i]}", f"l{order[i + 2]}", rng.normal(), rng.normal())
    return m


def closed_state(rng, m, s=None):
    """Random state with couplings and loops closed."""
    s = m.state() if s is None else s.copy()
    s = vc.assemble(m, s.integrate(0.3 * rng.normal(size=m.n_v))).state
    s.v = rng.normal(size=m.n_v)
    return vc.project(m, s)


def mixed(rng):
    """A spatial four-bar whose crank drives a geared chain that hangs on the coupler."""
    m, s = closed_zoo.general_four_bar()
    names = s.joints
    last = m.links[1].name
    for i in range(3):
        inertia = vc.Inertia.box(0.5, size=(0.3, 0.2, 0.1), com=(0.1, 0.05, 0))
        m.add_link(f"g{i}", last, vc.Revolute(zoo.random_direction(rng)), at=0.2 * rng.normal(size=3), inertia=inertia)
        last = f"g{i}"
    hinges = [name for name in names if m.joint(name).n_v == 1]
    m.couple("g0", hinges[0], 0.5, 0.2)
    m.couple("g2", "g1", -1.5)
    new = m.state()
    for name in names:
        new[name].q = s[name].q
    return m, vc.assemble(m, new, hold=hinges[:1]).state


CASES = {
    "tree": lambda rng: (lambda m: (m, closed_state(rng, m)))(coupled_tree(rng)),
    "with a loop": lambda rng: (lambda m, s: (m, closed_state(rng, m, s)))(*mixed(rng)),
}


@pytest.mark.parametrize("case", CASES)
def test_formulations_agree(case):
    """All formulations give the same accelerations, which keep the couplings, and inverse dynamics undoes them."""
    for seed in range(scaled(10, 1)):
        rng = np.random.default_rng(seed)
        m, s = CASES[case](rng)
        tau = rng.normal(size=m.n_v)
        fast = vc.forward_dynamics(m, s, tau)
        for method in FORMULATIONS:
            assert deviation(vc.forward_dynamics(m, s, tau, method=method).a, fast.a) < AGREEMENT, method
        for coupling in m.couplings:
            a, a_to = fast[coupling.joint], fast[coupling.to]
            assert abs(a - coupling.multiplier * a_to) < ROUNDING * (1 + np.abs(fast.a).max())
        back = vc.inverse_dynamics(m, s, fast.a, actuators=False).tau
        W = vc.mobility(m, s, probe=False).W
        assert deviation(W.T @ back, W.T @ tau) < AGREEMENT


@pytest.mark.parametrize("case", CASES)
def test_forces_of_couplings(case):
    """M a + bias = tau + K^T x with the forces that the couplings are said to have."""
    for seed in range(scaled(5, 1)):
        rng = np.random.default_rng(100 + seed)
        m, s = CASES[case](rng)
        if m.virtual_links:
            continue
        tau = rng.normal(size=m.n_v)
        result = vc.forward_dynamics(m, s, tau)
        total = tau.copy()
        for coupling in m.couplings:
            x = result.loop_forces.couplings[coupling.name]
            total[s.layout.slot(coupling.joint).v] += x
            total[s.layout.slot(coupling.to).v] -= coupling.multiplier * x
        assert deviation(vc.mass_matrix(m, s) @ result.a + vc.bias_force(m, s), total) < AGREEMENT


@pytest.mark.parametrize("case", CASES)
def test_motion_keeps_couplings_and_energy(case):
    """A coupled mechanism that swings freely keeps its couplings to rounding and its energy to the step's order."""
    rng = np.random.default_rng(7)
    m, s = CASES[case](rng)
    s.v = vc.project(m, s).v * 0.2
    prepared = m.prepare()
    q, v, tau = s.q.copy(), s.v.copy(), np.zeros(m.n_v)
    before = sum(vars_of(vc.energy(m, s)))
    prepared.advance(q, v, tau, 1e-3, scaled(500, 3))
    s.q, s.v = q, v
    for coupling in m.couplings:
        assert abs(s[coupling.joint].q - coupling.multiplier * s[coupling.to].q - coupling.offset) < ROUNDING
        assert abs(s[coupling.joint].v - coupling.multiplier * s[coupling.to].v) < ROUNDING * (1 + np.abs(v).max())
    after = sum(vars_of(vc.energy(m, s)))
    assert abs(after - before) < 1e-6 * (1 + abs(before))  # order four over 500 steps of a millisecond


def vars_of(energy):
    """Kinetic and potential energy."""
    return energy.kinetic, energy.potential


def test_mobility_counts_couplings():
    """Every coupling takes one degree of freedom, and W is the matrix of the couplings when the leaders are chosen."""
    for seed in range(scaled(10, 2)):
        rng = np.random.default_rng(seed)
        m = coupled_tree(rng)
        s = closed_state(rng, m)
        linear = vc.coupling_matrix(m)
        found = vc.mobility(m, s, prefer=linear.independent)
        assert (found.n_independent, found.rank, found.n_couplings) == (m.n_v - 4, 4, 4)
        assert found.independent == linear.independent
        assert deviation(found.W, linear.M) < ROUNDING
        assert (
            deviation(s.q, linear.M @ s.q[[s.layout.slot(name).q.start for name in linear.independent]] + linear.b)
            < 1e-10
        )
        assert "couplings             4" in str(found)


def test_redundant_coupling():
    """A coupling that repeats what a parallelogram says is dropped as redundant, and changes no acceleration."""
    m = vc.Mechanism("parallelogram")
    bar = vc.Inertia.box(1.0, size=(1.0, 0.06, 0.04), com=(0.5, 0, 0))
    m.add_link("crank", joint=vc.Revolute("y"), inertia=bar)
    m.add_link("coupler", "crank", vc.Revolute("y", actuated=False), at=(1, 0, 0), inertia=bar)
    m.add_link("rocker", joint=vc.Revolute("y", actuated=False), at=(1, 0, 0), inertia=bar)
    m.connect("coupler", "rocker", vc.Revolute("y"), at=(1, 0, 0), at_other=(1, 0, 0), name="pin")
    s = m.state()
    s["crank"].q, s["coupler"].q, s["rocker"].q = 0.7, -0.7, 0.7
    s["crank"].v, s["coupler"].v, s["rocker"].v = 1.1, -1.1, 1.1
    plain = vc.forward_dynamics(m, s, {"crank": 2.0})
    m.couple("rocker", "crank")
    doubled = vc.forward_dynamics(m, s, {"crank": 2.0})
    assert deviation(doubled.a, plain.a) < 1e-10
    assert not doubled.loop_forces.is_unique
    found = vc.mobility(m, s)
    assert found.n_independent == 1 and found.redundant_rows["rocker follows crank"] == 1


def shafts(ratio=None):
    """Two flywheels on parallel shafts, geared or not."""
    m = vc.Mechanism("gears", gravity=(0, 0, 0))
    m.add_link("a", joint=vc.Revolute("z"), inertia=vc.Inertia(1.0, about_com=(0.5, 0.5, 0.8)))
    m.add_link("b", joint=vc.Revolute("z"), at=(1, 0, 0), inertia=vc.Inertia(1.0, about_com=(0.2, 0.2, 0.3)))
    if ratio is not None:
        m.couple("b", "a", ratio)
    return m


def test_gear():
    """Two geared flywheels accelerate as their reduced inertia says, and the tooth force follows from the second."""
    m = shafts(-2.0)
    result = vc.forward_dynamics(m, m.state(), {"a": 3.0})
    assert result["a"] == pytest.approx(3.0 / (0.8 + 4 * 0.3), rel=ROUNDING)
    assert result.loop_forces.couplings["b follows a"] == pytest.approx(0.3 * result["b"][0], rel=ROUNDING)
    assert vc.inverse_dynamics(m, m.state(), {"a": 1.0})["a"] == pytest.approx(0.8 + 4 * 0.3, rel=ROUNDING)


def test_clutch_in_motion():
    """A clutch that closes on turning shafts leaves the common speed of an inelastic blow; cut again, nothing jumps."""
    m = shafts()
    s = m.state()
    s["a"].q, s["b"].q, s["a"].v, s["b"].v = 0.3, 1.0, 4.0, 1.0
    clutch = m.couple("b", "a", state=s, name="clutch")
    speed = (0.8 * 4.0 + 0.3 * 1.0) / 1.1
    assert clutch.offset == pytest.approx(0.7) and (s["b"].q, s["a"].q) == (1.0, 0.3)
    assert np.abs(s.v - speed).max() < ROUNDING
    assert m.log[-1].energy_lost == pytest.approx(0.5 * 0.8 * 0.3 / 1.1 * 3.0**2)
    assert m.log[-1].edits[0].impulse == pytest.approx((0.3 * (speed - 1.0),))  # what brings b to speed
    assert entry_from(as_dict(m.log[-1])) == m.log[-1]
    m.cut("clutch", state=s)
    assert np.abs(s.v - speed).max() < ROUNDING and not m.couplings
    assert "uncouple 'clutch': b = 1 a + 0.7" in str(m.log)
    s["a"].v = 2.0
    with pytest.raises(vc.GapError, match="leave out the offset"):
        m.couple("b", "a", offset=0.0, state=s)
    assert not m.couplings
    done = vc.change(m, s, [vc.couple("b", "a", 2.0), vc.connect("a", "ground", vc.Revolute("z"), name="bearing")])
    assert [edit.kind for edit in done.edits] == ["connect", "couple"]
    assert s["b"].v == pytest.approx(2.0 * s["a"].v)


def test_cut_of_a_coupled_joint():
    """A joint of the tree that is cut takes its couplings along, the log says so, and no link moves or jumps."""
    rng = np.random.default_rng(3)
    m = coupled_tree(rng)
    s = closed_state(rng, m)
    coupling = m.couplings[1]
    n = len(m.couplings)
    ended = [one for one in m.couplings if coupling.joint in (one.joint, one.to)]
    before = world(m, s)
    m.cut(coupling.joint)
    for was, now in zip(before, world(m, s.follow(m)), strict=True):
        assert np.abs(was - now).max() < 1e-12
    assert len(m.couplings) == n - len(ended)
    assert [edit.kind for edit in m.log[-1].edits] == ["uncouple"] * len(ended) + ["cut tree"]
    assert as_dict(m.log[-1])["edits"][0]["multiplier"] == ended[0].multiplier
    vc.check(m)
    vc.forward_dynamics(m, s)


def test_refusals():
    """Cycles, strangers, joints without one freedom, loop joints and taken names are refused; nothing changes."""
    m = shafts(1.0)
    m.add_link("c", "b", vc.Revolute("z"), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("ball", "c", vc.Spherical(), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.connect("c", "ground", vc.Planar("z"), at_other=(0, 0, 0), name="table")
    m.couple("c", "b")
    revision = m.revision
    for (joint, to, *rest), error, words in [
        (("a", "a"), vc.StructureError, "cannot follow itself"),
        (("a", "c"), vc.StructureError, "would follow itself: a -> c -> b -> a"),
        (("b", "c"), vc.StructureError, "follows 'a' already"),
        (("a", "nobody"), vc.UnknownNameError, "nobody"),
        (("ball", "a"), vc.StructureError, "3 freedoms"),
        (("a", "table"), vc.StructureError, "closes a loop"),
        (("a", "ball", np.nan), vc.InputError, "multiplier"),
        (("a", "ball", 1.0, np.inf), vc.InputError, "offset"),
    ]:
        with pytest.raises(error, match=words):
            m.couple(joint, to, *rest)
    m.cut("c follows b")
    for taken in ("b follows a", "table", "a"):
        with pytest.raises(vc.DuplicateNameError):
            m.couple("c", "b", name=taken)
    assert m.revision == revision + 1 and len(m.couplings) == 1
    with pytest.raises(vc.UnknownNameError):
        m.cut("no such coupling")


def test_copies_renames_and_replay():
    """Copies and pickles keep couplings, renamed joints keep theirs, and a replayed log makes the same ones."""
    m = shafts(-2.0)
    for twin in (m.copy(), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert twin.couplings == m.couplings
        assert deviation(vc.forward_dynamics(twin, twin.state(), {"a": 1.0}).a, [0.5, -1.0]) < ROUNDING
    other = shafts()
    m.log.replay(other)
    assert other.couplings == m.couplings
    m.edit_joint("a", name="motor")
    assert [str(one) for one in m.couplings] == ["b = -2 motor"]
    vc.check(m)
    assert "b = -2 motor" in str(m) and "1 coupling" in str(m)
    assert m.joint("motor").actuated and not m.joint("b").actuated


def test_prepared_handle():
    """A prepared handle of a coupled tree gives the same accelerations and projects onto the couplings."""
    rng = np.random.default_rng(5)
    m = coupled_tree(rng)
    s = closed_state(rng, m)
    prepared = m.prepare()
    tau, out, jump = rng.normal(size=m.n_v), np.empty(m.n_v), np.empty(m.n_v)
    assert prepared.n_rows == 4
    assert deviation(prepared.forward_dynamics(s.q, s.v, tau, out), vc.forward_dynamics(m, s, tau).a) == 0.0
    v = rng.normal(size=m.n_v)
    v += prepared.velocity_jump(s.q, v, jump)
    M = vc.coupling_matrix(m).M
    assert np.abs(v - M @ np.linalg.lstsq(M, v, rcond=None)[0]).max() < ROUNDING * 10
