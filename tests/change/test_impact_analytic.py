"""Impacts whose outcome is known: by hand for bodies and rods, by the papers' dense formulas for chains."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from measure import deviation, random_state
from motion import floating, kinetic, motion_of_A, slender, subspace, world
from varichain.mechanism import Fixed, Inertia, Mechanism, Planar, Prismatic, Revolute, Spherical
from varichain.spatial.pose import Pose

EXACT = 1e-13
"""A few operations on numbers of order one."""

DENSE = 1e-9
"""Two matrix inverses of the dense formulas: 1e-16 times conditions of some 1e5."""

V, L, M = 1.7, 1.3, 2.1  # speed [m/s], length [m] and mass [kg] of the rods


def rod_in_flight(v=(0.0, V, 0.0), w=(0.0, 0.0, 0.0)):
    """Rod along x, its centre at the origin."""
    m = floating(rod=slender(M, L))
    s = m.state()
    s.v = (*w, *v)
    return m, s


# --- one rod ---------------------------------------------------------------------------------------------------------


def test_rod_caught_at_its_end():
    """A rod that translates at v across itself and is caught by a pivot at its end turns at 3 v / (2 L)."""
    m, s = rod_in_flight()
    done = vc.change(m, s, [vc.connect("rod", "ground", Revolute("z"), at=(-L / 2, 0, 0), name="pivot")])
    assert deviation(s["rod"].v, (0, 0, 1.5 * V / L, 0, 0.75 * V, 0)) < EXACT
    assert done.energy_lost == pytest.approx(M * V**2 / 8, rel=EXACT)
    assert deviation(done.impact.impulses["pivot"], (0, 0, 0, 0, -M * V / 4, 0)) < EXACT


@pytest.mark.parametrize("d", np.linspace(-L / 2, L / 2, 9))
def test_rod_caught_anywhere(d):
    """Caught at a distance d from its centre, a rod turns at -d v / (L^2 / 12 + d^2)."""
    m, s = rod_in_flight()
    done = vc.change(m, s, [vc.connect("rod", "ground", Revolute("z"), at=(d, 0, 0), name="pivot")])
    omega = -d * V / (L**2 / 12 + d**2)
    assert deviation(s["rod"].v, (0, 0, omega, 0, -omega * d, 0), V) < EXACT
    assert deviation(done.impact.impulses["pivot"], (0, 0, 0, 0, M * (-omega * d - V), 0), M * V) < EXACT
    after = M * (L**2 / 12 + d**2) * omega**2 / 2
    assert done.impact.energy_after == pytest.approx(after, abs=EXACT * M * V**2)
    assert done.energy_lost == pytest.approx(M * V**2 / 2 - after, rel=EXACT)


def test_along_the_line_of_flight():
    """A rod that flies along itself and is caught by a pivot anywhere on its axis stops."""
    m, s = rod_in_flight(v=(V, 0, 0))
    m.connect("rod", "ground", Revolute("z"), at=(0.2, 0, 0), state=s)
    assert np.abs(s.v).max() < EXACT


@pytest.mark.parametrize("kind", zoo.ALL)
@pytest.mark.parametrize("seed", range(3))
def test_one_body_caught_by_the_ground(kind, seed):
    """A body that any joint catches keeps, in the metric of its inertia, the part of its motion that the joint allows.

    V' = S (S^T I S)^-1 S^T I V about its centre of mass: zero for a weld, everything for a free joint.
    """
    rng = np.random.default_rng([seed, zoo.ALL.index(kind)])
    body = zoo.random_inertia(rng)
    m = floating(body=body)
    s = random_state(rng, m)
    joint, at = zoo.random_joint(rng, kind), zoo.random_pose(rng)
    X = vc.pose(m, s, "body")
    center, frame = X @ body.com, X @ at
    V_before = vc.velocity(m, s, "body", body.com)
    I = np.zeros((6, 6))
    I[:3, :3] = X.R @ body.about_com @ X.R.T
    I[3:, 3:] = body.mass * np.eye(3)
    S = subspace(joint, frame.R)
    S[3:] += np.cross(S[:3].T, center - frame.p).T  # motions of the joint seen at the centre of mass
    expected = S @ np.linalg.solve(S.T @ I @ S, S.T @ I @ V_before) if S.size else np.zeros(6)
    before = kinetic(m, s)
    done = vc.change(m, s, [vc.connect("body", "ground", joint, at, name="catch")])
    found = vc.velocity(m, s, "body", body.com)
    tolerance = 1e-12  # lean axes of a universal joint are conditioned like 3
    assert deviation(found, expected, np.abs(V_before).max()) < tolerance
    assert deviation(kinetic(m, s), expected @ I @ expected / 2, before) < tolerance
    blow = I @ (expected - V_before)
    blow[:3] += np.cross(center - frame.p, blow[3:])  # about the joint
    assert deviation(done.impact.impulses["catch"], blow, np.abs(I @ V_before).max()) < tolerance


def test_spherical_catch_by_hand():
    """A box that flies past and is hooked at a corner turns by the inertia about that corner and its orbital spin."""
    box = Inertia.box(3.0, size=(0.6, 0.4, 0.2))
    m = floating(box=box)
    s = m.state()
    s.v = (0.3, -0.2, 0.5, 1.0, 2.0, -0.5)
    corner = np.array([0.3, 0.2, 0.1])
    spin = box.about_com @ (0.3, -0.2, 0.5) + np.cross(-corner, 3.0 * np.array([1.0, 2.0, -0.5]))
    m.connect("box", "ground", Spherical(), at=corner, state=s)
    omega = np.linalg.solve(box.about(corner), spin)
    assert deviation(s["box"].v, (*omega, *np.cross(omega, -corner))) < EXACT


def test_prismatic_catch_by_hand():
    """A body caught on a rail keeps its speed along the rail and loses all else."""
    m, s = rod_in_flight(v=(1.0, 2.0, 3.0), w=(0.5, 0.6, 0.7))
    m.connect("rod", "ground", Prismatic("y"), at=(0.2, 0.1, 0), state=s)
    assert deviation(s["rod"].v, (0, 0, 0, 0, 2, 0)) < EXACT


def test_rigid_catch():
    """A body caught rigidly by the ground stops, and the impulse is all its momentum, about the joint."""
    m, s = rod_in_flight(v=(1.0, 2.0, 0.0), w=(0.0, 0.0, 0.7))
    done = vc.change(m, s, [vc.connect("rod", "ground", Fixed(), at=(L / 2, 0, 0), name="weld")])
    assert np.abs(s.v).max() < EXACT
    moment = -(M * L**2 / 12 * 0.7 - L / 2 * M * 2.0)
    assert deviation(done.impact.impulses["weld"], (0, 0, moment, -M * 1.0, -M * 2.0, 0)) < EXACT
    assert done.freedoms() == (6, 0)


# --- two rods --------------------------------------------------------------------------------------------------------


def two_rods(m1=M, L1=L, m2=0.8, L2=2.2):
    """Two rods in a row along x that touch at the origin, both at rest."""
    m = floating(one=slender(m1, L1, com=(-L1 / 2, 0, 0)), two=slender(m2, L2, com=(L2 / 2, 0, 0)))
    return m, m.state()


def test_equal_rods_weld_in_flight():
    """Equal rods that pass end to end at u and -u and weld turn at 3 u / (2 L); a quarter of m u^2 is lost."""
    m, s = two_rods(M, L, M, L)
    s["one"].v, s["two"].v = (0, 0, 0, 0, V, 0), (0, 0, 0, 0, -V, 0)
    done = vc.change(m, s, [vc.connect("one", "two", Fixed(), name="latch")])
    omega = -1.5 * V / L
    for name in ("one", "two"):
        assert deviation(vc.velocity(m, s, name), (0, 0, omega, 0, 0, 0)) < EXACT
    assert done.energy_lost == pytest.approx(M * V**2 / 4, rel=EXACT)
    assert deviation(done.impact.impulses["latch"], (0, 0, 0, 0, -M * V / 4, 0), M * V) < EXACT


def test_unequal_rods_hinge_in_flight():
    """Rods hooked end to end by a hinge exchange the impulse u / (4 / m_1 + 4 / m_2); half of it times u is lost."""
    m1, L1, m2, L2 = M, L, 0.8, 2.2
    m, s = two_rods(m1, L1, m2, L2)
    s["one"].v = (0, 0, 0, 0, V, 0)
    before = vc.momentum(m, s, (0, 0, 0))
    done = vc.change(m, s, [vc.connect("one", "two", Revolute("z"), name="latch")])
    J = V / (4 / m1 + 4 / m2)
    # centres of mass, then spins
    assert deviation(vc.velocity(m, s, "one", (-L1 / 2, 0, 0)), (0, 0, -6 * J / (m1 * L1), 0, V - J / m1, 0)) < EXACT
    assert deviation(vc.velocity(m, s, "two", (L2 / 2, 0, 0)), (0, 0, -6 * J / (m2 * L2), 0, J / m2, 0)) < EXACT
    assert done.energy_lost == pytest.approx(J * V / 2, rel=EXACT)
    assert deviation(done.impact.impulses["latch"], (0, 0, 0, 0, -J, 0), M * V) < EXACT
    after = vc.momentum(m, s, (0, 0, 0))
    assert deviation(after.linear, before.linear) < EXACT
    assert deviation(after.angular, before.angular) < EXACT
    assert done.freedoms() == (12, 7)


# --- the papers' formulas --------------------------------------------------------------------------------------------


def jacobian_of(m, s, link, X):
    """Jacobian of a link at a world frame's origin."""
    return vc.jacobian(m, s, link, (vc.pose(m, s, link).inverse() @ X).p)


def ny_impact(m, s, a, b, joint, at):
    """Joint velocities after a connection and the impulse on a, by [NY, (25)-(38)] over the generalized coordinates.

    One chain or two: (J_1 - J_2) of the whole mechanism's coordinates covers both, since the two chains' blocks of A
    are apart, and B = J_1 A_1^-1 J_1^T + J_2 A_2^-1 J_2^T falls out. NY's (35) prints J_1^T for (J_1 - J_2)^T.
    """
    W = vc.mobility(m, s, probe=False).W
    A = W.T @ vc.mass_matrix(m, s) @ W
    X = vc.pose(m, s, a) @ at
    J = (jacobian_of(m, s, a, X) - jacobian_of(m, s, b, X)) @ W
    v = J @ np.linalg.lstsq(W, s.v, rcond=None)[0]
    B, J_n = J @ np.linalg.solve(A, J.T), subspace(joint, X.R)
    if np.linalg.cond(B) < 1e8:
        B_inv = np.linalg.inv(B)
        C = J_n @ np.linalg.solve(J_n.T @ B_inv @ J_n, J_n.T @ B_inv) if J_n.size else np.zeros((6, 6))
        F = B_inv @ (np.eye(6) - C) @ v
    else:  # B has no inverse: an impulse across J_n, of least norm, that stops what can be stopped
        N = np.linalg.svd(np.hstack((J_n, np.zeros((6, 1)))))[0][:, J_n.shape[1] :]
        F = N @ np.linalg.pinv(N.T @ B @ N, rcond=1e-11, hermitian=True) @ N.T @ v
    return s.v - W @ np.linalg.solve(A, J.T @ F), -F


def check_against_ny(m, s, a, b, joint, at):
    """Velocities and impulse of a connection are those of the papers' formulas."""
    expected, F = ny_impact(m, s, a, b, joint, at)
    fastest = np.abs(s.v).max()
    found = vc.impact(m, s, [vc.connect(a, b, joint, at, name="catch")])
    assert deviation(found.v, expected, fastest) < DENSE
    assert deviation(found.impulses["catch"], F, max(np.abs(F).max(), 1e-6 * fastest)) < 1e2 * DENSE


CATCHES = [kind for kind in zoo.ALL if kind != "free"]


@pytest.mark.parametrize("kind", CATCHES)
def test_two_chains_by_the_papers(kind):
    """A catch between two chains gives the velocities and the impulse of NY (25)-(33), C with the joint's J_n."""
    rng = np.random.default_rng([1, zoo.ALL.index(kind)])
    m = zoo.random_tree(rng, 8, ("revolute", "spherical", "prismatic"), branching=0.0, n_trees=2, free_base=True)
    s = random_state(rng, m)
    trees = [[link.name for link in m.links if root in (link, *link.ancestors)] for root in m.ground.children]
    check_against_ny(m, s, trees[0][-1], trees[1][-1], zoo.random_joint(rng, kind), zoo.random_pose(rng))


@pytest.mark.parametrize("kind", CATCHES)
def test_one_chain_by_the_papers(kind):
    """A catch inside one chain gives the velocities and the impulse of NY (34)-(38), (35) with (J_1 - J_2)^T."""
    rng = np.random.default_rng([2, zoo.ALL.index(kind)])
    m = zoo.random_tree(rng, 9, ("revolute", "spherical", "universal"), branching=0.0)
    s = random_state(rng, m)
    names = [link.name for link in m.links]
    check_against_ny(m, s, names[-1], names[0], zoo.random_joint(rng, kind), zoo.random_pose(rng))


def test_the_misprint():
    """With J_1^T, as NY (35) prints, a catch inside one chain would leave the loop opening; with (J_1 - J_2)^T not."""
    rng = np.random.default_rng(3)
    m = zoo.random_tree(rng, 9, ("revolute", "spherical", "universal"), branching=0.0)
    s = random_state(rng, m)
    a, b, at = m.links[-1].name, m.links[2].name, zoo.random_pose(rng)
    X = vc.pose(m, s, a) @ at
    J_1, J_2, A = jacobian_of(m, s, a, X), jacobian_of(m, s, b, X), vc.mass_matrix(m, s)
    for J, closes in ((J_1 - J_2, True), (J_1, False)):
        F = np.linalg.solve((J_1 - J_2) @ np.linalg.solve(A, J.T), (J_1 - J_2) @ s.v)
        jump = -np.linalg.solve(A, (J_1 - J_2).T @ F)
        assert (np.abs((J_1 - J_2) @ (s.v + jump)).max() < 1e-8) == closes


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "stewart", "one hand", "between floaters", "nested loops"])
@pytest.mark.parametrize("kind", ["revolute", "spherical", "fixed", "cylindrical"])
def test_closed_chains_by_the_papers(name, kind):
    """A catch of a mechanism with loops gives NY's result over its generalized coordinates, A = W^T M W and J W."""
    rng = np.random.default_rng([4, zoo.ALL.index(kind)])
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.1)
    link = m.links[-1].name
    expected, _ = ny_impact(m, s, link, "ground", joint := zoo.random_joint(rng, kind), at := zoo.random_pose(rng))
    found = vc.impact(m, s, [vc.connect(link, "ground", joint, at)])
    assert deviation(found.v, expected, np.abs(s.v).max()) < DENSE


# --- singular B ------------------------------------------------------------------------------------------------------


def planar_figure(rng, on_plane):
    """Five bars in the plane of x and z, on a planar joint or standing on a hinge; every B is singular."""
    m, parent = Mechanism("planar figure"), "ground"
    for i in range(5):
        first = Planar("y", name="plane") if on_plane else closed_zoo.hinge("stand")
        joint = first if i == 0 else closed_zoo.hinge(f"hinge {i}")
        m.add_link(f"bar {i}", parent, joint, at=(0 if i == 0 else 0.5, 0, 0), inertia=closed_zoo.bar(0.5))
        parent = f"bar {i}"
    return m, random_state(rng, m)


@pytest.mark.parametrize(
    "joint", [Fixed(), Revolute("y"), Spherical(), Prismatic("x"), Planar("y")], ids=lambda j: j.kind
)
@pytest.mark.parametrize("on_plane", [True, False])
def test_planar_figure(joint, on_plane):
    """A planar figure, caught, moves as the plane's own equations say, and the catch pulls nothing out of the plane."""
    m, s = planar_figure(np.random.default_rng(5), on_plane)
    at = Pose((0.5, 0, 0))
    X = vc.pose(m, s, "bar 4") @ at
    in_plane = vc.jacobian(m, s, "bar 4", at)[[1, 3, 5]]  # turns about y, moves along x and z
    sliding = X.R[:, 0][[0, 2]]
    across = np.array([[0.0, sliding[1], -sliding[0]]])
    rows = {
        "fixed": np.eye(3),
        "revolute": np.eye(3)[1:],
        "spherical": np.eye(3)[1:],
        "prismatic": np.vstack((np.eye(3)[:1], across)),
        "planar": np.zeros((0, 3)),
    }[joint.kind]
    K, A = rows @ in_plane, vc.mass_matrix(m, s)
    impulse = np.linalg.solve(K @ np.linalg.solve(A, K.T), K @ s.v)
    found = vc.impact(m, s, [vc.connect("bar 4", "ground", joint, at, name="catch")])
    assert deviation(found.v, s.v - np.linalg.solve(A, K.T @ impulse), np.abs(s.v).max()) < 1e-11
    blow, expected = found.impulses["catch"], -rows.T @ impulse
    assert deviation(blow[[1, 3, 5]], expected, max(np.abs(expected).max(), 1.0)) < DENSE
    assert np.abs(blow[[0, 2, 4]]).max() < DENSE


def test_link_on_the_ground_already():
    """A hinged rod caught by a second hinge on the same axis swings on; caught rigidly it stops."""
    m = zoo.pendulum()
    s = m.state()
    s.v = [2.0]
    assert deviation(vc.impact(m, s, [vc.connect("rod", "ground", Revolute("y"), at=(0, 0.3, 0))]).v, [2.0]) < EXACT
    stopped = vc.impact(m, s, [vc.connect("rod", "ground", Fixed(), at=(0, 0.3, 0), name="weld")])
    assert np.abs(stopped.v).max() < EXACT
    assert not stopped.impulses.is_unique


# --- several at once -------------------------------------------------------------------------------------------------


def test_both_ends_at_once():
    """A rod caught at both ends at once gets m v / 2 at each; at one end alone it gets m v / 4 and turns."""
    m, s = rod_in_flight()
    left = vc.connect("rod", "ground", Revolute("z"), at=(-L / 2, 0, 0), name="left")
    right = vc.connect("rod", "ground", Revolute("z"), at=(L / 2, 0, 0), name="right")
    both = vc.impact(m, s, [left, right])
    assert np.abs(both.v).max() < EXACT
    for name in ("left", "right"):
        assert deviation(both.impulses[name], (0, 0, 0, 0, -M * V / 2, 0)) < EXACT
    alone = [vc.impact(m, s, [catch]) for catch in (left, right)]
    assert deviation(alone[0].impulses["left"], (0, 0, 0, 0, -M * V / 4, 0)) < EXACT
    # two catches are not the sum of each alone: that would leave the rod at half its speed
    assert deviation(s.v + alone[0].jump + alone[1].jump, (0, 0, 0, 0, V / 2, 0)) < EXACT


def test_one_after_the_other():
    """Catches at one instant, one after the other, end where simultaneous ones end, by impulses that add up to theirs.

    Holding two constraints is to project onto a part of what the first leaves. The first catch alone differs from both.
    """
    rng = np.random.default_rng(6)
    m = zoo.random_tree(rng, 8, ("revolute", "spherical", "prismatic"), n_trees=2, free_base=True)
    s = random_state(rng, m)
    catches = [
        vc.connect("link 6", "ground", Spherical(), zoo.random_pose(rng), name="first"),
        vc.connect("link 7", "link 2", Revolute("x"), zoo.random_pose(rng), name="second"),
    ]
    both = vc.impact(m, s, catches)
    first = vc.change(m, s, catches[:1])
    second = vc.change(m, s, catches[1:])
    fastest = np.abs(both.v - both.jump).max()
    assert deviation(s.v, both.v, fastest) < 1e-11
    assert first.energy_lost + second.energy_lost == pytest.approx(both.energy_lost, rel=1e-11)
    total = first.impact.impulses["first"] + second.impact.impulses["first"]
    assert deviation(total, both.impulses["first"]) < 1e-10
    assert deviation(second.impact.impulses["second"], both.impulses["second"]) < 1e-10
    assert deviation(first.impact.impulses["first"], both.impulses["first"]) > 1e-3
    assert np.abs(second.impact.impulses["first"]).max() > 1e-3  # the first connection takes part in the second


def test_bounces_depend_on_their_order():
    """Ends that bounce at once end elsewhere than ends that bounce one after the other: both ways conserve energy."""
    m, s = rod_in_flight()
    left = vc.connect("rod", "ground", Revolute("z"), at=(-L / 2, 0, 0))
    right = vc.connect("rod", "ground", Revolute("z"), at=(L / 2, 0, 0))
    both = vc.impact(m, s, [left, right], restitution=1.0)
    assert deviation(both.v, (0, 0, 0, 0, -V, 0)) < EXACT
    s.v = vc.impact(m, s, [left], restitution=1.0).v
    assert deviation(s.v, (0, 0, 3 * V / L, 0, V / 2, 0)) < EXACT
    last = vc.impact(m, s, [right], restitution=1.0)
    assert deviation(last.v, both.v, V) > 0.1
    assert last.energy_after == pytest.approx(M * V**2 / 2, rel=EXACT)


# --- restitution -----------------------------------------------------------------------------------------------------

BOUNCES = (0.0, 0.3, 0.7, 1.0)


@pytest.mark.parametrize("e", BOUNCES)
def test_rod_bounces(e):
    """A falling rod that hits with its end bounces with e times the end's speed; (1 - e^2) m v^2 / 8 is lost."""
    m, s = rod_in_flight(v=(0, -V, 0))
    blow = vc.impact(m, s, [vc.connect("rod", "ground", Revolute("z"), at=(L / 2, 0, 0), name="hit")], restitution=e)
    s.v = blow.v
    assert deviation(vc.velocity(m, s, "rod", (L / 2, 0, 0))[3:], (0, e * V, 0), V) < EXACT
    assert deviation(blow.impulses["hit"], (0, 0, 0, 0, (1 + e) * M * V / 4, 0)) < EXACT
    assert blow.energy_lost == pytest.approx((1 - e**2) * M * V**2 / 8, abs=EXACT * M * V**2)


@pytest.mark.parametrize("kind", CATCHES)
@pytest.mark.parametrize("e", BOUNCES)
def test_restitution(kind, e):
    """A bounce turns the forbidden velocity into -e times what it was, and loses (1 - e^2) of a catch's loss."""
    rng = np.random.default_rng([7, zoo.ALL.index(kind)])
    m = zoo.random_tree(rng, 8, ("revolute", "spherical", "prismatic"), n_trees=2, free_base=True)
    s = random_state(rng, m)
    joint, at = zoo.random_joint(rng, kind), zoo.random_pose(rng)
    hit = vc.connect("link 6", "link 7", joint, at)
    before, X = motion_of_A(m, s, "link 6", "link 7", at)
    blow, catch = vc.impact(m, s, [hit], restitution=e), vc.impact(m, s, [hit])
    after = s.copy()
    after.v = blow.v
    change, _ = motion_of_A(m, after, "link 6", "link 7", at)
    S = subspace(joint, X.R)
    P = np.eye(6) - S @ np.linalg.pinv(S) if S.size else np.eye(6)
    assert deviation(P @ change, -e * P @ before, np.abs(before).max()) < 1e-11
    assert blow.energy_lost == pytest.approx((1 - e**2) * catch.energy_lost, abs=1e-12 * blow.energy_before)
    assert blow.energy_after <= blow.energy_before * (1 + 1e-14)


def test_loops_do_not_bounce():
    """While a connection bounces, the loops that exist stay closed."""
    rng = np.random.default_rng(8)
    m, s = closed_zoo.loops_between_floaters()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.1)
    blow = vc.impact(m, s, [vc.connect(m.links[0], "ground", Spherical())], restitution=1.0)
    after = s.copy()
    after.v = blow.v
    assert deviation(vc.project(m, after).v, after.v) < 1e-11
    assert blow.energy_lost == pytest.approx(0.0, abs=1e-11 * blow.energy_before)
    assert deviation(world(m, after)[0], world(m, s)[0]) == 0.0


@pytest.mark.parametrize("e", [-0.1, 1.1, float("nan")])
def test_impossible_restitution(e):
    """A restitution below 0 or above 1 is refused."""
    m, s = rod_in_flight()
    with pytest.raises(vc.InputError, match="restitution"):
        vc.impact(m, s, [vc.connect("rod", "ground", Fixed())], restitution=e)
