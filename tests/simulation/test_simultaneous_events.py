"""Several events at one instant: one change, one impact."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from moving import G, rods, started

ROUNDING = 1e-12


def flying_pair():
    """Two rods that fly beside each other, the first faster."""
    m = vc.Mechanism("pair", gravity=(0, 0, 0))
    for name, y in (("a", 0.0), ("b", 0.2)):
        m.add_link(name, parent=None, at=(0, y, 0), inertia=vc.Inertia.box(1.0, size=(1.0, 0.05, 0.05)))
    return m, started(m, v={"a": (0.3, 0, 0.1, 0, 0, 1.0)})


def latches():
    """Balls at both ends."""
    ends = enumerate((-0.5, 0.5))
    return [vc.connect("a", "b", vc.Spherical(), at=(x, 0.1, 0), name=f"latch {i}") for i, x in ends]


@long_run
def test_connections_of_two_events_are_one_impact():
    """Two events of one instant that connect give the velocities, impulses and the energy of vc.change with both."""
    m, s = flying_pair()
    trace = vc.simulate(m, s, 0.2, events=[vc.at(0.1, latch) for latch in latches()], step=0.01)
    twin = trace.epochs[0].mechanism.copy()
    state = trace.epochs[0].state(-1)
    expected = vc.change(twin, state, latches())
    event = trace.epochs[0].event
    assert len(trace.epochs) == 2
    assert np.abs(trace.epochs[1].v[0] - state.v).max() < ROUNDING
    # the latches' pull along the line between them cannot be told apart, their sum can
    found = np.sum([edit["impulse"] for edit in event["edits"]], axis=0)
    assert found == pytest.approx(np.sum([edit.impulse for edit in expected.edits], axis=0), abs=ROUNDING)
    assert event["energy_lost"] == pytest.approx(expected.impact.energy_lost, abs=ROUNDING)


def test_a_cut_and_a_connection_of_one_instant():
    """A cut and a connection of one instant are one change, the cut first: as vc.change does it."""
    m = rods(2)
    s = started(m, {"0": 0.8, "1": 0.4})
    grip = vc.connect("rod 1", "ground", vc.Revolute("y"), at=(0, 0, -1.0), name="grip")
    trace = vc.simulate(m, s, 0.3, events=[vc.at(0.2, grip), vc.at(0.2, vc.cut("0"))], step=0.01)
    twin, state = trace.epochs[0].mechanism.copy(), trace.epochs[0].state(-1)
    vc.change(twin, state, [vc.cut("0"), grip])
    assert trace.epochs[1].mechanism.n_v == 7
    assert np.abs(trace.epochs[1].v[0] - state.v).max() < ROUNDING
    assert np.abs(trace.epochs[1].closure).max() < 1e-12


@long_run
def test_momentum_is_kept_by_connections():
    """Linear and angular momentum of free bodies stay through a connection, to rounding."""
    m, s = flying_pair()
    trace = vc.simulate(m, s, 0.15, events=[vc.at(0.1, *latches())], method="gbs", tolerance=1e-13)
    before, after = trace.epochs[0]["momentum"], trace.epochs[1]["momentum"]
    assert np.abs(after[0] - before[0]).max() < ROUNDING
    assert np.abs(after - before[0]).max() < 1e-10  # with the errors of the steps


def test_pushes_add_to_the_impact():
    """A push at the instant of a connection is part of the one impact: both links take it together."""
    m, s = flying_pair()
    s.v[:] = 0.0
    joined = [vc.connect("a", "b", vc.Fixed()), vc.push("a", impulse=(0, 0, 3.0))]
    trace = vc.simulate(m, s, 0.2, events=[vc.at(0.1, *joined)], step=0.01)
    after = trace.epochs[1]
    assert after["momentum"][0, 3:] == pytest.approx([0, 0, 3.0], abs=ROUNDING)
    assert after["momentum"][0, :3] == pytest.approx(3.0 * np.cross((0, -0.1, 0), (0, 0, 1)), abs=ROUNDING)


def test_a_local_push_turns_with_its_link():
    """A push in the link's axes acts along them."""
    m = vc.Mechanism("dart", gravity=(0, 0, 0))
    m.add_link("dart", parent=None, inertia=vc.Inertia.sphere(2.0, 0.1))
    s = m.state()
    s["dart"].pose = vc.Pose(rotation_vector=(0, 0, np.pi / 2))
    kick = vc.push("dart", impulse=(2.0, 0, 0), angular=(0, 0.1, 0), axes="local")
    trace = vc.simulate(m, s, 0.1, events=[vc.at(0.05, kick)], step=0.01)
    assert trace.epochs[1]["momentum"][0] == pytest.approx([-0.1, 0, 0, 0, 2.0, 0], abs=ROUNDING)


def test_a_push_against_a_stop_is_taken_by_the_stop():
    """A push on a joint that rests at its stop, into the stop, moves nothing; away from it, all goes into motion."""
    for impulse, speed in ((-3.0, 0.0), (3.0, 3.0)):
        m = vc.Mechanism("block", gravity=(0, 0, -G))
        rail = vc.Prismatic("z", name="rail", limits=(0.0, 10.0))
        m.add_link("block", joint=rail, inertia=vc.Inertia.sphere(1.0, 0.1))
        trace = vc.simulate(m, m.state(), 0.2, events=[vc.at(0.1, vc.push("block", (0, 0, impulse)))], step=0.01)
        assert trace.epochs[1].v[0, 0] == pytest.approx(speed, abs=ROUNDING)


def test_a_limit_that_is_hit_together_with_a_connection():
    """A block that is joined to a falling partner while it rests on a stop takes all of the blow into the stop.

    The partner's momentum goes into the stop, the two rest, and the log has the limit's impulse.
    """
    m = vc.Mechanism("anvil")
    rail = vc.Prismatic("z", name="rail", limits=(0.0, 10.0))
    m.add_link("anvil", joint=rail, inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("hammer", joint=vc.Prismatic("z", name="guide"), at=(0, 0, 1), inertia=vc.Inertia.sphere(3.0, 0.1))
    trace = vc.simulate(m, m.state(), 0.4, events=[vc.at(0.3, vc.connect("hammer", "anvil", vc.Fixed()))], step=0.01)
    after = trace.epochs[1]
    assert np.abs(after.v).max() < ROUNDING
    entry = next(entry for entry in trace.log if entry["kind"] == "limit reached")
    assert entry["joint"] == "rail"
    assert entry["impulse"] == pytest.approx(3.0 * G * 0.3, abs=1e-9)
    assert trace.epochs[0].event["energy_lost"] == pytest.approx(1.5 * (G * 0.3) ** 2, abs=1e-9)


@long_run
def test_a_connection_just_when_a_limit_is_reached():
    """A connection at the very instant at which a joint arrives at its stop finds both: one state, at rest."""
    m = vc.Mechanism("drop")
    fall = 0.5 * G * 0.2**2
    m.add_link("a", joint=vc.Prismatic("z", name="a", limits=(-fall, 10.0)), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("b", joint=vc.Prismatic("z", name="b"), at=(0, 1, 0), inertia=vc.Inertia.sphere(1.0, 0.1))
    trace = vc.simulate(m, m.state(), 0.3, events=[vc.at(0.2, vc.connect("b", "a", vc.Fixed()))], step=0.01)
    assert np.abs(trace.final.v).max() < ROUNDING
    assert trace.final.q == pytest.approx([-fall, -fall], abs=1e-9)
    assert trace.final.q[0] >= -fall - 1e-11
