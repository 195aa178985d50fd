"""What every connection in motion obeys, whatever the mechanism and the joint."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import scaled
from measure import deviation, random_state
from motion import (
    Snapshot,
    forbidden,
    kinetic,
    momentum_about_origin,
    motion_of_A,
    random_connection,
    speed,
    world,
)

STILL = 1e-11
"""Forbidden velocity after an impact, relative to the fastest link: the factor of B loses a few digits of sixteen."""

CONSERVED = 1e-11
"""Momentum of a floating system: impulses are equal and opposite to rounding, relative to mass times speed."""

SEEDS = range(scaled(12, 2))
KINDS = ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical", "fixed")


def check_loops_do_not_open(m, s, fastest):
    """No loop opens, by an account of relative motion that shares nothing with the rows of the solver."""
    for link in m.virtual_links:
        V, X = motion_of_A(m, s, link.real.name, link.parent.name, link.on_real)
        X_B = vc.pose(m, s, link.parent) @ link.at
        if link.joint.kind == "universal":  # its second axis turns with A
            first, second = X_B.R @ link.joint.axes[0], X.R @ link.joint.axes[1]
            across = np.cross(first, second)
            opening = max(np.abs(V[3:]).max(), abs(V[:3] @ across) / np.linalg.norm(across))
        elif link.joint.kind in ("planar", "cylindrical", "prismatic", "screw"):
            opening = forbidden(V, link.joint, X_B.R)
        else:
            opening = forbidden(V, link.joint, X.R)
        assert opening < STILL * fastest, (link.joint.name, opening)


@pytest.mark.parametrize("kind", zoo.ALL)
@pytest.mark.parametrize("seed", SEEDS)
def test_trees(kind, seed):
    """A connection of two links of random trees in motion keeps every pose and stops what its joint forbids.

    Kinetic energy does not grow, and the same connection once more changes nothing.
    """
    rng = np.random.default_rng([seed, zoo.ALL.index(kind)])
    m = zoo.random_tree(rng, 4 + seed % 9, n_trees=1 + seed % 3, free_base=seed % 2 == 0, passive=seed % 4 == 3)
    s = random_state(rng, m)
    wanted = random_connection(rng, m, kind, "catch")
    if wanted is None or m.n_v == 0:
        pytest.skip("everything is rigidly one")
    poses, fastest, energy = world(m, s)[0], speed(m, s), kinetic(m, s)
    done = vc.change(m, s, [wanted])
    assert np.array_equal(world(m, s)[0], poses)
    check_loops_do_not_open(m, s, fastest)
    assert kinetic(m, s) <= energy * (1 + 1e-12)
    assert done.energy_lost == pytest.approx(energy - kinetic(m, s), abs=1e-12 * energy)
    again = vc.change(m, s, [vc.connect(wanted.a, wanted.b, wanted.joint, wanted.at, name="again")])
    assert np.abs(again.impact.jump).max() < STILL * fastest
    assert abs(again.energy_lost) < 1e-11 * energy
    assert vc.mobility(m, s, probe=False).n_independent == done.mobility_after().n_independent


@pytest.mark.parametrize("kind", zoo.ALL)
@pytest.mark.parametrize("seed", SEEDS)
def test_floating_systems_keep_their_momentum(kind, seed):
    """Floating trees that connect to each other or to themselves keep their linear and angular momentum."""
    rng = np.random.default_rng([100 + seed, zoo.ALL.index(kind)])
    m = zoo.random_tree(rng, 4 + seed % 9, n_trees=1 + seed % 3, free_base=True)
    s = random_state(rng, m)
    wanted = random_connection(rng, m, kind, with_ground=False)
    if wanted is None:
        pytest.skip("everything is rigidly one")
    before, size = momentum_about_origin(m, s)
    done = vc.change(m, s, [wanted])
    assert deviation(momentum_about_origin(m, s)[0], before, size) < CONSERVED
    told = done.impact
    assert deviation(told.momentum_after.linear, told.momentum_before.linear, size) < CONSERVED
    assert deviation(told.momentum_after.angular, told.momentum_before.angular, size) < CONSERVED
    assert done.energy_lost >= -1e-12 * told.energy_before


@pytest.mark.parametrize("seed", SEEDS)
def test_several_at_once(seed):
    """Up to four connections of one instant all hold after one simultaneous impact, and keep floating momentum."""
    rng = np.random.default_rng([200, seed])
    m = zoo.random_tree(rng, 12, n_trees=3, free_base=True)
    s = random_state(rng, m)
    wanted = [random_connection(rng, m, str(rng.choice(KINDS)), f"catch {i}", with_ground=False) for i in range(4)]
    wanted = [connection for connection in wanted if connection is not None]
    before, size = momentum_about_origin(m, s)
    fastest, energy = speed(m, s), kinetic(m, s)
    done = vc.change(m, s, wanted)
    check_loops_do_not_open(m, s, fastest)
    assert deviation(momentum_about_origin(m, s)[0], before, size) < CONSERVED
    assert kinetic(m, s) <= energy * (1 + 1e-12)
    assert set(done.impact.impulses) == {connection.name for connection in wanted}


@pytest.mark.parametrize("name", closed_zoo.MECHANISMS)
def test_loops_take_part(name):
    """Where there are loops, a new connection leaves them closed, and every loop's impulse is told."""
    rng = np.random.default_rng(300)
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    loops = {link.joint.name for link in m.virtual_links}
    poses, fastest, energy = world(m, s)[0], speed(m, s), kinetic(m, s)
    wanted = random_connection(rng, m, "spherical", "catch")
    done = vc.change(m, s, [wanted])
    assert np.array_equal(world(m, s)[0], poses)
    check_loops_do_not_open(m, s, fastest)
    assert kinetic(m, s) <= energy * (1 + 1e-12)
    assert set(done.impact.impulses) == loops | {"catch"}
    freedoms = done.freedoms()
    assert freedoms[1] <= freedoms[0]
    assert vc.mobility(m, s, probe=False).n_independent == freedoms[1]
    # momentum is what the ground's impulses brought
    brought = np.zeros(3)
    for link in m.virtual_links:
        brought += (link.parent.is_ground - float(link.real.is_ground)) * done.impact.impulses[link.joint.name][3:]
    if all(root.joint.kind == "free" for root in m.ground.children if not root.is_virtual):
        change = done.impact.momentum_after.linear - done.impact.momentum_before.linear
        size = 1.0 + np.abs(done.impact.momentum_before.linear).max() + np.abs(brought).max()
        assert deviation(change, brought, size) < 1e-9  # impulses of redundant rows are of least norm, by svd


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_account(seed):
    """The energy lost is half the sum of every impulse times the relative velocity that it stopped."""
    rng = np.random.default_rng([400, seed])
    m = zoo.random_tree(rng, 9, n_trees=2, free_base=seed % 2 == 0)
    s = random_state(rng, m)
    wanted = [random_connection(rng, m, str(rng.choice(KINDS)), f"catch {i}") for i in range(2)]
    wanted = [connection for connection in wanted if connection is not None]
    relative = {c.name: motion_of_A(m, s, c.a, c.b, c.at)[0] for c in wanted}
    blow = vc.impact(m, s, wanted)
    work = sum(float(relative[name] @ blow.impulses[name]) for name in relative)
    assert blow.energy_lost == pytest.approx(-work / 2, abs=1e-9 * blow.energy_before)


@pytest.mark.parametrize("seed", SEEDS)
def test_impact_changes_nothing(seed):
    """`impact` leaves mechanism and state as they were, to the bit, and tells what `change` then does, to the bit."""
    rng = np.random.default_rng([500, seed])
    m = zoo.random_tree(rng, 8, n_trees=2)
    s = random_state(rng, m)
    if m.n_v == 0:
        pytest.skip("nothing moves")
    wanted = [random_connection(rng, m, str(rng.choice(KINDS)), f"catch {i}") for i in range(2)]
    wanted = [connection for connection in wanted if connection is not None]
    before, layout = Snapshot(m, s), s.layout
    blow = vc.impact(m, s, wanted)
    vc.impact(m, s, wanted, restitution=0.5)
    before.assert_unchanged(m, s)
    assert s.layout is layout
    done = vc.change(m, s, wanted)
    assert done.impact.v.tobytes() == blow.v.tobytes() == s.v.tobytes()
    assert done.energy_lost == blow.energy_lost


@pytest.mark.parametrize("name", ["four-bar", "stewart", "bar figure", "nested loops"])
def test_impact_of_the_loops_alone(name):
    """Without connections, `impact` gives the existing loops' own blow: none to a state that is closed."""
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(np.random.default_rng(600), m, s, reach=0.05)
    assert np.abs(vc.impact(m, s, []).jump).max() < STILL * speed(m, s)
    s.v = zoo.random_v(np.random.default_rng(601), m)
    assert deviation(vc.impact(m, s, []).v, vc.project(m, s).v) < 1e-12


def test_far_from_the_origin():
    """Floating bodies that connect a kilometre away keep their momentum about a point nearby just as well."""
    rng = np.random.default_rng(700)
    m = zoo.random_tree(rng, 8, n_trees=2, free_base=True)
    s = random_state(rng, m)
    for slot in s.layout.slots:
        if slot.kind == "free":
            s.q[slot.q.stop - 3 : slot.q.stop] += (800, -600, 100)
    fastest = speed(m, s)
    before = vc.momentum(m, s)
    m.connect("link 6", "link 7", vc.Spherical(), zoo.random_pose(rng), state=s)
    after = vc.momentum(m, s)
    assert deviation(after.linear, before.linear, fastest) < CONSERVED
    assert deviation(after.angular, before.angular, fastest) < 1e3 * CONSERVED  # arms are rounded at a kilometre


NEARLY_DEPENDENT = (("stewart", 0), ("delta", 8), ("delta", 10), ("delta", 22))
"""Seeds of connections whose rows nearly depend on those of the loops: a plain factor of G loses six digits or more."""


@pytest.mark.parametrize(("name", "seed"), NEARLY_DEPENDENT)
def test_nearly_dependent_rows(name, seed):
    """Where a new connection nearly depends on the loops, loops and connection still do not open after the impact."""
    rng = np.random.default_rng([10, seed])
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    fastest = speed(m, s)
    vc.change(m, s, [random_connection(rng, m, str(rng.choice(KINDS)))])
    check_loops_do_not_open(m, s, fastest)


@pytest.mark.parametrize(("name", "seed"), [("stewart", 14), ("delta", 19)])
def test_rows_that_the_fast_solve_would_drop(name, seed):
    """A row whose part beyond the others is between 1e-8 and 3e-5 still stops what it forbids."""
    rng = np.random.default_rng([10, seed])
    m, s = getattr(closed_zoo, name)()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    fastest = speed(m, s)
    vc.change(m, s, [random_connection(rng, m, str(rng.choice(KINDS)))])
    check_loops_do_not_open(m, s, fastest)
