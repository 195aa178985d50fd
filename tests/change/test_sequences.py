"""Random sequences of connections and cuts on mechanisms in motion: after each of them everything still holds."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import closed_zoo
import varichain as vc
import zoo
from lane import jit_only, long_run, scaled
from measure import deviation, random_state
from motion import Snapshot, kinetic, momentum_about_origin, motion_of_A, random_connection, speed, world
from varichain.mechanism import Revolute, Spherical, log

N_CHANGES = scaled(150, 12)
"""Connections and cuts per sequence."""

N_CYCLES = scaled(1000, 40)
"""Connections and cuts of the same thing."""

KEPT = 1e-12
"""Poses and velocities at a cut: rounding along another way to the ground, a few metres long."""

STILL = 1e-11
"""Velocity at which loops open after an impact, relative to the fastest link, or to 1 where the motion has ended."""

MOST_LOOPS = 6
"""More loops than this would leave nothing of a small mechanism to move."""

KINDS = ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical", "fixed")


class Sequence:
    """A mechanism in motion and the changes that it goes through."""

    def __init__(self, seed, n_links=10):
        """Make a mechanism of two or three trees, floating or not."""
        self.rng = np.random.default_rng(seed)
        self.m = zoo.random_tree(self.rng, n_links, n_trees=2 + seed % 2, free_base=seed % 2 == 0, kinds=zoo.ALL)
        self.m.gravity = (0, 0, -9.81)
        self.s = random_state(self.rng, self.m)
        self.is_floating = seed % 2 == 0
        self.lost = 0.0

    def next(self, dt=1e-3):
        """Move on a little, then connect or cut something, at times several things at once."""
        self._drift(dt)
        n_loops = len(self.m.virtual_links)
        actions = []
        for i in range(int(self.rng.choice([1, 1, 1, 2]))):
            action = self._cut() if self.rng.random() < n_loops / MOST_LOOPS else self._connect(i)
            if action is not None and action not in actions:
                actions.append(action)
        if actions:
            self._change(actions)

    def _drift(self, dt):
        self.s = self.s.integrate(self.s.v * dt)
        self.s.time += dt
        if kinetic(self.m, self.s) < 0.1:  # impacts have eaten the motion: push
            self.s.v = zoo.random_v(self.rng, self.m)
        self.s = vc.project(self.m, self.s)

    def _connect(self, i):
        return random_connection(self.rng, self.m, str(self.rng.choice(KINDS)), with_ground=not self.is_floating)

    def _cut(self):
        loops = [link.joint.name for link in self.m.virtual_links]
        floats = {link for link in self.m.links if link.parent.is_ground and link.joint.kind == "free"}
        # a massless frame that was set free could move without inertia
        joints = [link.joint.name for link in self.m.links if link not in floats and link.inertia.mass > 0.0]
        if joints and self.rng.random() < 0.2:
            return vc.cut(str(self.rng.choice(joints)))
        return vc.cut(str(self.rng.choice(loops))) if loops else None

    def _change(self, actions):
        m, s = self.m, self.s
        before, (poses, V), energy = Snapshot(m, s), world(m, s), kinetic(m, s)
        fastest, handles = speed(m, s), m.links
        with pytest.raises(vc.UnknownNameError):  # an impossible action more, and none is done
            vc.change(m, s, [*actions, vc.cut("nothing")])
        before.assert_unchanged(m, s)
        done = vc.change(m, s, actions)
        vc.check(m)
        assert m.links == handles
        poses_after, V_after = world(m, s)
        assert deviation(poses_after, poses) < KEPT
        if done.impact is None:
            assert deviation(V_after, V, fastest) < KEPT
            assert kinetic(m, s) == pytest.approx(energy, rel=1e-12)
        self._check_account(done, fastest, energy)

    def _check_account(self, done, fastest, energy):
        m, s = self.m, self.s
        assert kinetic(m, s) <= energy * (1 + 1e-11)
        assert done.energy_lost == pytest.approx(energy - kinetic(m, s), abs=1e-11 * (energy + 1e-12))
        self.lost += done.energy_lost
        if self.is_floating and done.impact is not None:
            size = momentum_about_origin(m, s)[1] + energy
            for part in ("linear", "angular"):
                h, h_after = (getattr(x, part) for x in (done.impact.momentum_before, done.impact.momentum_after))
                assert deviation(h_after, h, size) < 1e-11
        for link in m.virtual_links:
            V, _ = motion_of_A(m, s, link.real.name, link.parent.name, link.on_real)
            if link.joint.kind in ("revolute", "universal", "spherical", "fixed"):
                assert np.abs(V[3:]).max() < STILL * max(fastest, 1.0)
        assert all(loop.gap < 1e-9 for loop in vc.loop_states(m, s).values())


@pytest.mark.parametrize("seed", range(scaled(6, 2)))
def test_sequence(seed):
    """Structure, poses, velocities, momentum and energy hold after each of many random changes."""
    sequence = Sequence(seed)
    for _ in range(N_CHANGES):
        sequence.next()
    assert sequence.m.log.n_written > N_CHANGES // 2


@settings(max_examples=scaled(25, 4))
@given(st.integers(0, 10_000), st.integers(2, 8))
def test_short_sequences(seed, n_links):
    """The same for short sequences on small mechanisms of any seed."""
    sequence = Sequence(seed, n_links)
    for _ in range(scaled(12, 4)):
        sequence.next()


@pytest.mark.parametrize("seed", range(scaled(3, 1)))
def test_same_sequence_same_bits(seed):
    """The same sequence on the same mechanism gives the same state, log and structure to the bit."""
    runs = []
    for _ in range(2):
        sequence = Sequence(seed)
        for _ in range(scaled(60, 8)):
            sequence.next()
        runs.append(sequence)
    one, other = runs
    assert one.s.q.tobytes() == other.s.q.tobytes()
    assert one.s.v.tobytes() == other.s.v.tobytes()
    assert str(one.m) == str(other.m)
    assert str(one.m.log) == str(other.m.log)
    assert [e.edits[0].impulse for e in one.m.log] == [e.edits[0].impulse for e in other.m.log]


# --- there and back --------------------------------------------------------------------------------------------------

COUNTS = (
    "n_all",
    "n_tree",
    "n_actuated",
    "n_loops",
    "rank",
    "n_independent",
    "n_lasting",
    "redundant_rows",
    "actuation",
)


def lines(m):
    """Lines of the drawing of a mechanism, whatever the order of brothers."""
    return sorted(line.lstrip("│├└─ ") for line in str(m).splitlines())


@pytest.mark.parametrize("name", closed_zoo.MECHANISMS)
def test_cutting_all_loops_and_reconnecting(name):
    """A mechanism whose loops are all cut and connected again has the mobility it had, report and all."""
    m, s = closed_zoo.MECHANISMS[name]()
    before = vc.mobility(m, s)
    loops = [(link.real, link.parent, link.joint, link.on_real, link.at) for link in m.virtual_links]
    text = lines(m)
    for *_, joint, _, _ in loops:
        m.cut(joint.name, state=s)
    assert vc.mobility(m, s).n_independent == m.n_v
    for a, b, joint, at, at_other in loops:
        m.connect(a, b, joint, at, at_other, state=s, name=joint.name)
    after = vc.mobility(m, s)
    assert {what: getattr(after, what) for what in COUNTS} == {what: getattr(before, what) for what in COUNTS}
    assert str(after) == str(before)
    assert lines(m) == text


@long_run
@pytest.mark.parametrize("name", ["four-bar", "stewart", "bar figure", "pinned chain", "bennett", "nested loops"])
def test_cutting_everything_and_reconnecting(name):
    """With every joint of the tree cut and connected again as a loop, the mechanism has the freedoms it had."""
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(np.random.default_rng(0), m, s, reach=0.05)
    before, (poses, V) = vc.mobility(m, s), world(m, s)
    weights = [link for link in m.links if link.inertia.mass > 0 and link.joint.kind != "free"]
    for link in weights:
        joint, parent, frame, n_loops = link.joint, link.parent, link.at, len(m.virtual_links)
        m.cut(joint.name, state=s)
        m.connect(link, parent, joint, at_other=frame, state=s, name=f"{joint.name} again")
        assert len(m.virtual_links) == n_loops + 1
    vc.check(m)
    after = vc.mobility(m, s)
    assert after.n_independent == before.n_independent
    assert after.n_tree == 6 * len(weights) + sum(j.n_v for j in m.joints if m.link_of_joint(j.name) not in weights)
    assert after.n_loops == before.n_loops + len(weights)
    assert deviation(world(m, s)[0], poses) < KEPT
    assert deviation(world(m, s)[1], V) < 1e-9  # what the mechanism could do before, it can still do: no impact


# --- a thousand times ------------------------------------------------------------------------------------------------


def sizes(m, s):
    """Lengths of all tables of a mechanism and of the arrays of its layout."""
    tables = [len(table) for table in (m._links, m._by_name, m._by_joint)]
    return tables, {name: array.nbytes for name, array in s.layout.arrays.items()}, len(s.q), len(s.v)


def test_a_thousand_cycles(monkeypatch):
    """A thousand connections and cuts later no table, array or log has grown, and old layouts are gone."""
    monkeypatch.setattr(log, "MOST_ENTRIES", 20)
    m, s = closed_zoo.bar_figure(hands=())
    s.v = zoo.random_v(np.random.default_rng(1), m)

    def cycle():
        m.connect("left hand", "ground", Revolute("y"), at=(0, 0, -0.1), state=s, name="grip")
        m.cut("grip", state=s)

    cycle()
    first, layouts = sizes(m, s), []
    for i in range(N_CYCLES):
        cycle()
        if i % 100 == 0:
            layouts.append(weakref.ref(s.layout))
    assert sizes(m, s) == first
    vc.check(m)
    assert len(m.log) == 20
    assert m.log.n_written == 2 * (N_CYCLES + 1)
    assert str(m.log).startswith(f"({2 * (N_CYCLES + 1) - 20} older entries forgotten)")
    assert m.copy().log.n_written == m.log.n_written
    gc.collect()
    assert sum(layout() is not None for layout in layouts) <= 1


def test_a_thousand_reconnections_of_the_tree():
    """A tree joint, once cut, lives on as a loop that is made and cut a thousand times; the structure stays."""
    m = zoo.double_pendulum()
    m.set_inertia("lower", vc.Inertia.box(1.0, (0.05, 0.05, 1.0), com=(0, 0, -0.5)))
    s = m.state()
    s.v = (1.0, 2.0)
    poses, V = world(m, s)
    m.cut("elbow", state=s)
    first = None
    for _ in range(N_CYCLES):
        m.connect("lower", "upper", Revolute("y"), state=s, name="elbow")
        first = first or (str(m), sizes(m, s))
        assert (str(m), sizes(m, s)) == first
        m.cut("elbow", state=s)
    assert deviation(world(m, s)[0], poses) < KEPT
    assert deviation(world(m, s)[1], V) < KEPT
    vc.check(m)


@jit_only
def test_changes_never_compile():
    """A hundred changes of any kind give no kernel a signature that the first few had not given it."""
    from varichain.kernels.jit import KERNELS

    def signatures():
        return {kernel.py_func.__qualname__: list(kernel.signatures) for kernel in KERNELS}

    for sequence in (Sequence(1), Sequence(2)):
        for _ in range(15):
            sequence.next()
    before = signatures()
    for seed in range(3, 8):
        sequence = Sequence(seed, n_links=4 + seed)
        for _ in range(25):
            sequence.next()
        sequence.m.connect(sequence.m.links[0], "ground", Spherical(), state=sequence.s)
    assert signatures() == before
    assert all(len(found) <= 1 for found in before.values())
