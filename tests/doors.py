"""The doors through which an instant can be asked for, and what each says that happened."""

from dataclasses import dataclass

import numpy as np

import varichain as vc
from lane import PATIENCE
from motion import layout_mass

SAME = 1e-12
"""Difference between doors, relative to the size of what is compared: it is one computation."""


@dataclass
class Outcome:
    """What a door says of an instant.

    Attributes:
        start: State before the instant; a run closes the loops of its start once more, which moves the last digit.
        v: Velocities after it.
        energy_lost: Energy that the impact took [J].
        impulses: Impulses of new connections and couplings, by name.
    """

    start: vc.State
    v: np.ndarray
    energy_lost: float
    impulses: dict[str, np.ndarray]


def _impulses(edits):
    """Impulses by name, of edits or of their plain form in a trace."""
    plain = [
        (edit["joint"], edit.get("impulse")) if isinstance(edit, dict) else (edit.joint, edit.impulse) for edit in edits
    ]
    return {name: np.array(impulse, dtype=float) for name, impulse in plain if impulse is not None}


def by_change(m, s, actions):
    """`vc.change`: result and log say the same."""
    start, m, s = s, m.copy(), s.copy()
    done = vc.change(m, s, actions)
    if done.edits:
        assert m.log[-1].edits == done.edits
        assert m.log[-1].energy_lost == done.energy_lost
    return Outcome(start, s.v.copy(), done.energy_lost, _impulses(done.edits))


def by_method(m, s, actions):
    """`m.connect`, `m.couple` or `m.cut` with a state; None if there are several actions, or a push."""
    if len(actions) != 1 or isinstance(actions[0], type(vc.push("ground"))):
        return None
    start, m, s, (action,) = s, m.copy(), s.copy(), actions
    if isinstance(action, vc.connect):
        more = {"name": action.name, "snap": action.snap}
        m.connect(action.a, action.b, action.joint, action.at, action.at_other, **more, state=s)
    elif isinstance(action, vc.couple):
        m.couple(action.joint, action.to, action.multiplier, action.offset, action.name, state=s)
    else:
        m.cut(action.joint, state=s)
    entry = m.log[-1]
    return Outcome(start, s.v.copy(), entry.energy_lost, _impulses(entry.edits))


def by_impact(m, s, actions):
    """`vc.impact`, which asks and changes nothing; None if not all actions are connections."""
    if not actions or not all(isinstance(action, vc.connect) for action in actions):
        return None
    before = [link.joint.name for link in m.virtual_links]
    found = vc.impact(m, s, actions)
    return Outcome(s, found.v, found.energy_lost, {k: x for k, x in found.impulses.items() if k not in before})


def _of_trace(trace):
    """What a trace says of its only event, in all places."""
    event = trace.epochs[0].event
    told = [entry for entry in trace.log if entry["kind"] == "structure"]
    assert [entry["edits"] for entry in told] == ([event["edits"]] if "edits" in event else [])
    lost = trace.epochs[1].work[0, trace.epochs[1].columns.labels["work"].index("impacts")]
    assert abs(lost - trace.epochs[0].work[-1, -1] - event["energy_lost"]) <= SAME * (1.0 + abs(lost))
    impulses = _impulses(event.get("edits", ()))
    return Outcome(trace.epochs[0].state(-1), trace.epochs[1].v[0].copy(), event["energy_lost"], impulses)


def by_event(m, s, actions):
    """An event at the start of `vc.simulate`."""
    event = vc.at(s.time, *actions, vc.stop())
    return _of_trace(vc.simulate(m, s, s.time + 1.0, events=[event]))


def by_live_run(m, s, actions, out):
    """A command of a live run that stands still, with its report."""
    with vc.LiveRun(m, s, is_paused=True, out=out, overwrite=True) as live:
        answer = live._command("change", lambda: live._simulation.change(list(actions)))
        report = answer.result(timeout=PATIENCE)
        assert live.frame.reports[-1] is report
    found = _of_trace(vc.Trace.load(out))
    assert report.energy_lost == found.energy_lost
    for name, impulse in found.impulses.items():  # the words have four digits
        (words,) = [text for text in report.entries if f" {name!r}: " in text]
        told = f"impulse {impulse[0]:.4g}" if len(impulse) == 1 else f"impulse {np.linalg.norm(impulse[3:]):.4g} N s"
        assert told in words
    return found


def send_through_all_doors(m, s, actions, out, struck=None):
    """The actions through every door that takes them; all must say the same. Returns what `vc.change` says.

    Args:
        m: Mechanism.
        s: State, whose loops are closed.
        actions: Actions of the instant.
        out: File for the trace of a live run.
        struck: Velocities that a live run begins with, where stops are struck at its start: a command comes after it.
    """
    expected = by_change(m, s, actions)
    for door, found in (("method", by_method(m, s, actions)), ("impact", by_impact(m, s, actions))):
        if found is not None:
            assert_same(m, found, expected, door)
    for door, found in (("event", by_event(m, s, actions)), ("live run", by_live_run(m, s, actions, out))):
        begun = s.v if struck is None or door == "event" else struck
        assert np.abs(found.start.q - s.q).max(initial=0.0) <= SAME, door
        assert np.abs(found.start.v - begun).max(initial=0.0) <= SAME * np.abs(s.v).max(initial=1.0), door
        assert_same(m, found, by_change(m, found.start, actions), door)
    return expected


def assert_same(m, found, expected, door):
    """Two doors say the same of one instant."""
    start = expected.start
    speed = max(np.abs(start.v).max(initial=0.0), np.abs(expected.v).max(initial=0.0))
    energy = max(vc.energy(m, start).kinetic, abs(expected.energy_lost))
    blow = max((np.abs(impulse).max() for impulse in expected.impulses.values()), default=0.0)
    blow = max(blow, layout_mass(m) * speed)  # a catch of what cannot move has the impulse of rounding
    assert np.abs(found.v - expected.v).max(initial=0.0) <= SAME * speed, door
    assert abs(found.energy_lost - expected.energy_lost) <= SAME * energy, door
    assert found.impulses.keys() == expected.impulses.keys(), door
    for name, impulse in expected.impulses.items():
        assert np.abs(found.impulses[name] - impulse).max() <= SAME * blow, (door, name)
