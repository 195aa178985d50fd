"""Impulses of simultaneous connections that are known by hand, each under its own name wherever it is told."""

import numpy as np
import pytest

import varichain as vc
from doors import by_change, by_event, by_live_run
from lane import PATIENCE
from motion import floating

EXACT = 1e-13  # a few operations on numbers of order one
# mass [kg] and velocity [m/s] of balls that are caught at one instant: each loses its own momentum
BALLS = {"left": (1.0, (2.0, 0.0, 0.0)), "right": (3.0, (0.0, -0.5, 4.0)), "third": (0.5, (1.0, 1.0, 1.0))}


def flying_balls():
    """Balls in flight, each on its own."""
    m = floating(**{name: vc.Inertia.sphere(mass, 0.1) for name, (mass, _) in BALLS.items()})
    s = m.state()
    for i, (name, (_, v)) in enumerate(BALLS.items()):
        s[name].position = (i, 0.0, 0.0)
        s[name].v = (0.0, 0.0, 0.0, *v)
    return m, s


def catches(order):
    """Welds of the balls to the ground."""
    return [vc.connect(name, "ground", vc.Fixed(), name=f"{name} weld") for name in order]


ORDERS = [tuple(BALLS), tuple(reversed(BALLS)), ("right", "left")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("door", [by_change, by_event, by_live_run])
def test_balls_that_are_welded_at_once(door, order, tmp_path):
    """Balls that are caught at one instant each give their own momentum to their own weld, whatever the order."""
    m, s = flying_balls()
    more = (tmp_path / "live.h5",) if door is by_live_run else ()
    found = door(m, s, catches(order), *more)
    assert list(found.impulses) == [f"{name} weld" for name in order]
    for name in order:
        mass, v = BALLS[name]
        assert np.abs(found.impulses[f"{name} weld"] - (0, 0, 0, *np.multiply(-mass, v))).max() < EXACT


def test_edits_of_a_change_name_their_links():
    """An edit of a change has the joint, the links and the impulse of one and the same connection."""
    m, s = flying_balls()
    done = vc.change(m, s, catches(BALLS))
    for edit in done.edits:
        mass, v = BALLS[edit.a]
        assert edit.joint == f"{edit.a} weld"
        assert edit.impulse[3:] == pytest.approx(np.multiply(-mass, v), abs=EXACT)
        assert np.array_equal(done.impact.impulses[edit.joint], edit.impulse)


def test_clutches_that_close_at_once():
    """Flywheels that are coupled to two others at one instant have their own impulses under their own names."""
    m = vc.Mechanism("flywheels", gravity=(0, 0, 0))
    for i, inertia in enumerate((1.0, 2.0, 4.0, 0.5)):
        m.add_link(f"w{i}", joint=vc.Revolute("z"), at=(i, 0, 0), inertia=vc.Inertia(1.0, (0, 0, 0), (10, 10, inertia)))
    s = m.state()
    s.v = (3.0, 0.0, 0.0, 2.0)
    done = vc.change(m, s, [vc.couple("w1", "w0", name="first"), vc.couple("w3", "w2", -2.0, name="second")])
    # 1 kg m^2 at 3 rad/s turns 3 kg m^2 at 1 rad/s; w3 = -2 w2: p = -(2 + 2 * 0) / (1 / 0.5 + 4 / 4)
    assert done.impact.impulses.couplings == pytest.approx({"first": 2.0, "second": -2.0 / 3.0}, abs=EXACT)
    told = {edit.joint: edit.impulse[0] for edit in done.edits}
    assert told == pytest.approx({"first": 2.0, "second": -2.0 / 3.0}, abs=EXACT)


@pytest.mark.parametrize("kind", ["fixed", "spherical", "revolute"])
def test_the_command_of_a_live_run(kind, tmp_path):
    """`LiveRun.connect` does what `vc.change` does with a joint frame along the world's axes."""
    m, s = flying_balls()
    s["left"].orientation = (0.3, 0.2, -0.5)
    s["left"].v = (0.1, 2.0, 0.3, 1.0, 0.5, 0.2)
    joint = {"fixed": vc.Fixed(), "spherical": vc.Spherical(), "revolute": vc.Revolute("x")}[kind]
    at = vc.Pose((0.1, 0.2, 0.3), R=vc.pose(m, s, "left").R.T)
    expected = by_change(m, s, [vc.connect("left", "right", joint, at, name="hook")])
    with vc.LiveRun(m, s, is_paused=True, out=tmp_path / "live.h5") as live:
        answer = live.connect("left", "right", kind, "x", point=(0.1, 0.2, 0.3), name="hook")
        report = answer.result(timeout=PATIENCE)
    assert report.energy_lost == pytest.approx(expected.energy_lost, abs=EXACT)
    assert report.impulse == pytest.approx(np.linalg.norm(expected.impulses["hook"][3:]), abs=EXACT)
    trace = vc.Trace.load(tmp_path / "live.h5")
    assert np.abs(trace.epochs[1].v[0] - expected.v).max() < EXACT
    assert trace.epochs[0].event["edits"][0]["impulse"] == pytest.approx(expected.impulses["hook"], abs=EXACT)
