"""One instant, many doors: methods with a state, `vc.change`, `vc.impact`, events and live runs say the same."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from doors import SAME, send_through_all_doors
from lane import scaled
from measure import random_state
from motion import layout_mass, random_connection

SEEDS = range(scaled(4, 1))
KINDS = ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical", "fixed")


@pytest.fixture
def out(tmp_path):
    """File for the trace of a live run."""
    return tmp_path / "live.h5"


@pytest.mark.parametrize("kind", zoo.ALL)
@pytest.mark.parametrize("seed", SEEDS)
def test_connections_of_trees(kind, seed, out):
    """A connection of two links of a random tree is the same through every door."""
    rng = np.random.default_rng([seed, zoo.ALL.index(kind)])
    m = zoo.random_tree(rng, 4 + seed % 9, n_trees=1 + seed % 3, free_base=seed % 2 == 0, passive=seed % 4 == 3)
    s = random_state(rng, m)
    s.time = 0.5 * seed
    send_through_all_doors(m, s, [random_connection(rng, m, kind, "catch")], out)


@pytest.mark.parametrize("seed", range(scaled(12, 1)))
def test_several_connections_at_once(seed, out):
    """Each of up to four simultaneous connections has its own impulse, which is its own through every door."""
    rng = np.random.default_rng([200, seed])
    m = zoo.random_tree(rng, 12, n_trees=3, free_base=True)
    s = random_state(rng, m)
    wanted = [random_connection(rng, m, str(rng.choice(KINDS)), f"catch {i}", with_ground=False) for i in range(4)]
    found = send_through_all_doors(m, s, wanted, out)
    assert list(found.impulses) == [connection.name for connection in wanted]


@pytest.mark.parametrize("name", closed_zoo.MECHANISMS)
def test_connections_beside_loops(name, out):
    """Where loops take part, redundant ones too, a connection is the same through every door."""
    rng = np.random.default_rng(300)
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    send_through_all_doors(m, s, [random_connection(rng, m, "spherical", "catch")], out)


NEARLY_DEPENDENT = (("stewart", 0), ("stewart", 14), ("delta", 8), ("delta", 10), ("delta", 19), ("delta", 22))


@pytest.mark.parametrize(("name", "seed"), NEARLY_DEPENDENT)
def test_nearly_dependent_rows(name, seed, out):
    """A connection whose rows nearly depend on those of the loops is the same through every door."""
    rng = np.random.default_rng([10, seed])
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    send_through_all_doors(m, s, [random_connection(rng, m, str(rng.choice(KINDS)), "catch")], out)


def test_a_connection_that_is_there_already(out):
    """Two equal connections share their impulse, the same way through every door."""
    rng = np.random.default_rng(1)
    m = zoo.random_tree(rng, 8, n_trees=2, free_base=True)
    s = random_state(rng, m)
    wanted = random_connection(rng, m, "fixed", "one", with_ground=False)
    again = vc.connect(wanted.a, wanted.b, wanted.joint, wanted.at, name="two")
    found = send_through_all_doors(m, s, [wanted, again], out)
    assert found.impulses["one"] == pytest.approx(found.impulses["two"], abs=1e-9)


def geared():
    """Hinges, a slide and a screw in motion, with a coupling and a loop among them."""
    rng = np.random.default_rng(5)
    m = vc.Mechanism("geared")
    joints = [vc.Revolute("x"), vc.Prismatic("y"), vc.Screw("z", pitch=0.3), vc.Revolute("y"), vc.Revolute("z")]
    for i, joint in enumerate(joints):
        parent = "ground" if i in (0, 3) else f"l{i - 1}"
        m.add_link(f"l{i}", parent, joint, zoo.random_pose(rng), zoo.random_inertia(rng))
    m.couple("l4", "l3", 0.7, name="gear")
    s = m.state()
    s.v = rng.normal(size=m.n_v)
    return m, vc.project(m, s)


INSTANTS = {
    "coupling": [vc.couple("l2", "l0", -1.5, name="clutch")],
    "two couplings": [vc.couple("l2", "l0", -1.5, name="clutch"), vc.couple("l1", "l3", 0.4, name="belt")],
    "coupling and connection": [
        vc.couple("l1", "l0", 2.0, name="clutch"),
        vc.connect("l2", "l4", vc.Spherical(), (0.1, 0.2, 0.3), name="hook"),
    ],
    "push": [vc.push("l2", (1.0, 2.0, -0.5), (0.1, 0.0, 0.2), at=(0.1, 0.0, 0.2))],
    "two pushes and a connection": [
        vc.push("l1", (1.0, 2.0, -0.5)),
        vc.push("l4", angular=(0.1, 0.3, 0.2), axes="local"),
        vc.connect("l2", "ground", vc.Revolute("y"), name="pin"),
    ],
    "cut of the tree": [vc.cut("l1")],
    "cut of a coupling": [vc.cut("gear")],
    "cut and connection": [vc.cut("l3"), vc.connect("l4", "l2", vc.Fixed(), name="weld")],
    "cut, coupling and push": [vc.cut("gear"), vc.couple("l4", "l0", name="clutch"), vc.push("l4", (0, 1.0, 0))],
}


@pytest.mark.parametrize("case", INSTANTS)
def test_all_actions(case, out):
    """Couplings, pushes, cuts and any of them at once are the same through every door."""
    send_through_all_doors(*geared(), INSTANTS[case], out)


@pytest.mark.parametrize("name", ["four-bar", *scaled(("bar figure", "nested loops"), ())])
def test_cuts_of_loops(name, out):
    """A cut of a loop changes no velocity, through any door; with a connection at the same instant it is one impact."""
    rng = np.random.default_rng(7)
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    gone = vc.cut(m.virtual_links[0].joint.name)
    assert np.array_equal(send_through_all_doors(m, s, [gone], out).v, s.v)
    send_through_all_doors(m, s, [gone, random_connection(rng, m, "revolute", "catch")], out)


@pytest.mark.parametrize("e", scaled((0.0, 0.3, 1.0), (0.3,)))
@pytest.mark.parametrize(("name", "seed"), [*NEARLY_DEPENDENT, ("nested loops", 0), ("four-bar", 0)])
def test_restitution(name, seed, e):
    """A bounce is a catch whose jump and impulses are 1 + e times as large, where rows nearly depend too."""
    rng = np.random.default_rng([10, seed])
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    wanted = [random_connection(rng, m, str(rng.choice(KINDS)), "catch")]
    caught, bounced = vc.impact(m, s, wanted), vc.impact(m, s, wanted, restitution=e)
    speed = np.abs(s.v).max()
    blow = max(np.abs(caught.impulses.array).max(), layout_mass(m) * speed)
    # loops of the start are closed to 1e-12 of their velocities, and nearly dependent rows enlarge what is open
    assert np.abs(bounced.jump - (1.0 + e) * caught.jump).max() < 1e-10 * speed
    assert np.abs(bounced.impulses["catch"] - (1.0 + e) * caught.impulses["catch"]).max() < 1e-8 * blow


def limited(q, v, **options):
    """Two rods that hang, both with stops at zero and one radian, and a slide with a stop."""
    m = vc.Mechanism("limited")
    rod = vc.Inertia.box(1.0, size=(0.1, 0.1, 1.0), com=(0.05, 0, -0.5))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder", limits=(0.0, 1.0)), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow", limits=(0.0, 1.0)), at=(0, 0, -1), inertia=rod)
    block = vc.Inertia.sphere(2.0, 0.1)
    m.add_link("block", joint=vc.Prismatic("x", name="rail", limits=(-2.0, 0.0)), at=(1, 0, -1), inertia=block)
    s = m.state()
    s.q, s.v = q, v
    return m, s


GRIP = vc.connect("lower", "block", vc.Revolute("y"), at=(0, 0, -1), name="grip")
# beside the line of the two rods: straight rods cannot follow a block that moves across them
GRIP_ASIDE = vc.connect("lower", "block", vc.Revolute("y"), at=(0.3, 0, -1), name="grip")
# coordinates, velocities, actions: which stops are touched, and which way joints move there
TOUCHED = {
    "at rest at a stop, pushed into it": ((0.0, 0.5, -1), (0, 0, 0), [vc.push("upper", (-1, 0, 0), at=(0, 0, -1))]),
    "at rest at a stop, pushed off it": ((0.0, 0.5, -1), (0, 0, 0), [vc.push("upper", (1, 0, 0), at=(0, 0, -1))]),
    "along a stop, driven into it by a grip": ((0.5, 0.5, 0.0), (-2, -1, 0), [GRIP]),
    "leaving a stop with a grip": ((0.0, 0.5, -1), (1.0, 0.5, 2.0), [GRIP]),
    "two stops, at rest": ((0.0, 0.0, -1), (0, 0, -3.0), [GRIP_ASIDE]),
    "three stops, at rest": ((0.0, 1.0, 0.0), (0, 0, 0), [vc.push("lower", (3, 0, 1), at=(0, 0, -1)), GRIP]),
    "into a stop": ((0.0, 0.5, -1), (-1.0, 0.5, 2.0), [GRIP]),
    "into two stops": ((0.0, 1.0, -1), (-1.0, 2.0, 0.5), [GRIP]),
    "into a stop, pushed": ((0.5, 0.5, 0.0), (0.0, 0.3, 1.0), [vc.push("block", (-1, 0, 0))]),
    "into a stop, clutched": ((0.0, 0.5, -1), (-1.0, 0.5, 2.0), [vc.couple("shoulder", "rail", 0.5, name="clutch")]),
}


@pytest.mark.parametrize("case", TOUCHED)
def test_touched_stops(case, out):
    """Stops that joints are at take part in an impact, the same way through every door.

    A live run that begins with a joint that moves into its stop strikes the stop first: a command comes after that.
    """
    q, v, actions = TOUCHED[case]
    m, s = limited(q, v)
    found = send_through_all_doors(m, s, actions, out, struck=vc.impact(m, s, []).v)
    bounds = np.array([joint.limits for joint in m.joints])[:, :, 0]
    assert (found.v[s.q == bounds[:, 0]] >= -SAME).all()
    assert (found.v[s.q == bounds[:, 1]] <= SAME).all()
