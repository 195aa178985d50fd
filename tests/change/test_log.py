"""The structure log: what it says, and that it can be replayed, copied and saved."""

import json
import pickle

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import scaled
from measure import random_state
from motion import random_connection
from varichain.mechanism import Revolute, Spherical, log


def changed():
    """A figure that grips, lets go and breaks, with its initial copy and its state."""
    m, s = closed_zoo.bar_figure(hands=())
    s.v = zoo.random_v(np.random.default_rng(1), m)
    initial = m.copy()
    s.time = 0.25
    m.connect("left hand", "ground", Revolute("y"), at=(0, 0, -0.08), state=s, name="left grip")
    s.time = 0.5
    vc.change(
        m,
        s,
        [vc.connect("right hand", "ground", Revolute("y"), at=(0, 0, -0.08), name="right grip"), vc.cut("left knee")],
    )
    s.time = 0.75
    m.cut("left grip", state=s)
    m.cut("right hip")
    return initial, m, s.follow(m)


def test_entries():
    """Every change is one entry with its time, kinds, links, frames, impulse and energy lost, oldest first."""
    _, m, _ = changed()
    first, second, third, fourth = m.log
    assert [entry.time for entry in m.log] == [0.25, 0.5, 0.75, None]
    assert [entry.number for entry in m.log] == [0, 1, 2, 3]
    assert len(m.log) == m.log.n_written == 4
    (grip,) = first.edits
    assert (grip.kind, grip.joint, grip.a, grip.b, grip.model.kind) == (
        "connect",
        "left grip",
        "left hand",
        "ground",
        "revolute",
    )
    assert np.array_equal(grip.at.p, (0, 0, -0.08))
    assert grip.at_other is not None
    assert len(grip.impulse) == 6
    assert np.abs(grip.impulse).max() > 0.01
    assert first.energy_lost > 0.0
    assert [edit.kind for edit in second.edits] == ["cut tree", "connect"]
    assert [edit.joint for edit in second.edits] == ["left knee", "right grip"]
    assert [(edit.kind, edit.joint, edit.impulse) for edit in third.edits] == [("cut", "left grip", None)]
    assert third.energy_lost == 0.0
    assert (fourth.edits[0].kind, fourth.energy_lost) == ("cut tree", None)
    assert m.log[-1] is fourth


def test_energy_and_impulse_are_those_of_the_change():
    """What an entry says of impulse and energy is what the change returned."""
    m, s = closed_zoo.bar_figure(hands=())
    s.v = zoo.random_v(np.random.default_rng(2), m)
    done = vc.change(m, s, [vc.connect("left foot", "ground", Spherical(), name="step")])
    entry = m.log[-1]
    assert entry.energy_lost == done.energy_lost
    assert entry.edits == done.edits
    assert np.array_equal(entry.edits[0].impulse, done.impact.impulses["step"])


def test_printed():
    """The log prints one line for each instant, with time, names, kinds, impulse and energy."""
    _, m, _ = changed()
    lines = str(m.log).splitlines()
    assert len(lines) == 4
    assert "0.2500 s" in lines[0]
    assert "connect 'left grip': left hand - ground, revolute, impulse" in lines[0]
    assert "J lost" in lines[0]
    assert "cut tree 'left knee': left shank - left thigh, revolute; connect 'right grip'" in lines[1]
    assert lines[2].endswith("cut 'left grip': left hand - ground, revolute")
    assert lines[3].lstrip().startswith("-")
    assert str(vc.Mechanism("empty").log) == "(no structure changes)"


def test_a_change_prints_itself():
    """A change says when it was, what was done, and how many freedoms there were and are."""
    m, s = closed_zoo.bar_figure()
    s.time = 2.0
    text = str(vc.change(m, s, [vc.cut("right grip")]))
    assert "t = 2 s" in text
    assert "cut 'right grip': right hand - ground, revolute" in text
    assert "N_J 24 -> 23, rank 12 -> 6" in text
    assert "degrees of freedom 12 -> 17" in text


def test_replay():
    """Replayed on a copy of the initial mechanism, the log gives the same structure: drawing, names, mobility."""
    initial, m, s = changed()
    m.log.replay(initial)
    assert str(initial) == str(m)
    vc.check(initial)
    one, t = vc.mobility(m, s, probe=False), initial.state()
    t.q, t.v = s.q, s.v
    other = vc.mobility(initial, t, probe=False)
    assert str(one) == str(other)
    assert np.array_equal(one.J_C, other.J_C)
    assert [link.id for link in initial.links] == [link.id for link in m.links]


@pytest.mark.parametrize("seed", range(scaled(5, 2)))
def test_replay_of_random_changes(seed):
    """The log of any sequence of changes, replayed, gives the same structure."""
    rng = np.random.default_rng([3, seed])
    m = zoo.random_tree(rng, 8, n_trees=2, kinds=zoo.MOVING)
    s = random_state(rng, m)
    twin = m.copy()
    for i in range(scaled(30, 8)):
        kind = str(rng.choice(zoo.ALL))
        m.connect(*_arguments(random_connection(rng, m, kind)), state=s, name=f"loop {i}" if i % 2 else None)
        if i % 3 == 2:
            m.cut(str(rng.choice([link.joint.name for link in m.virtual_links])), state=s)
        if i % 7 == 6:
            held = [j.name for j in m.joints if not (j.kind == "free" and m.link_of_joint(j.name).parent.is_ground)]
            if held:
                m.cut(str(rng.choice(held)), state=s)
    m.log.replay(twin)
    assert str(twin) == str(m)
    vc.check(twin)


def _arguments(connection):
    return connection.a, connection.b, connection.joint, connection.at


def test_copies_and_pickles():
    """Copies and pickles of a mechanism have its log, and go their own ways afterwards."""
    _, m, _ = changed()
    for twin in (m.copy(), pickle.loads(pickle.dumps(m))):
        assert str(twin.log) == str(m.log)
        assert [entry.edits[0].impulse for entry in twin.log] == [entry.edits[0].impulse for entry in m.log]
        twin.cut("right grip")
        assert len(twin.log) == len(m.log) + 1


def test_as_plain_values():
    """An entry can be saved as JSON: time, energy, and per edit names, kinds, joint, frames and impulse."""
    _, m, _ = changed()
    saved = json.loads(json.dumps([log.as_dict(entry) for entry in m.log]))
    grip = saved[0]["edits"][0]
    assert (saved[0]["time"], grip["kind"], grip["joint"], grip["model"]["type"]) == (
        0.25,
        "connect",
        "left grip",
        "Revolute",
    )
    assert grip["at"]["p"] == [0.0, 0.0, -0.08]
    assert np.shape(grip["at_other"]["R"]) == (3, 3)
    assert len(grip["impulse"]) == 6
    assert saved[1]["edits"][0]["at"] is None


def test_forgetting(monkeypatch):
    """Beyond its length the log forgets the oldest entries, says how many, and counts on."""
    monkeypatch.setattr(log, "MOST_ENTRIES", 3)
    m, s = closed_zoo.bar_figure(hands=())
    for i in range(5):
        m.connect("left hand", "ground", Spherical(), state=s, name=f"hold {i}")
    assert [entry.number for entry in m.log] == [2, 3, 4]
    assert str(m.log).splitlines()[0] == "(2 older entries forgotten)"
    assert m.log.n_written == 5


def test_impact_writes_nothing():
    """A blow is no structure change: the log has no entry of it."""
    m, s = closed_zoo.bar_figure(hands=())
    vc.impact(m, s, [vc.connect("left hand", "ground", Spherical())])
    assert len(m.log) == 0


def test_a_log_that_has_forgotten_its_beginning_is_not_replayed(monkeypatch):
    """Replaying a log without its first entries is refused."""
    monkeypatch.setattr(log, "MOST_ENTRIES", 2)
    m = zoo.double_pendulum()
    for i in range(3):
        m.connect(m.links[-1], "ground", vc.Spherical(), at_other=(0, 0, 0), name=f"pin {i}")
    with pytest.raises(vc.StructureError, match="forgotten its first 1"):
        m.log.replay(zoo.double_pendulum())
