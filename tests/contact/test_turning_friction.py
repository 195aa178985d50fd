"""Torsional and rolling friction against closed forms: what spins and rolls comes to rest, and stays."""

import json

import numpy as np
import pytest

import varichain as vc
from contact.falling import G, ball, books, box_on_slope, stepped
from lane import long_run, scaled
from oracles.contact import violation
from varichain.kernels.contact_records import CONE, ITEM, ROLL, SPIN
from varichain.kernels.contact_solver import contact_impulses
from varichain.kernels.tables import as_records
from varichain.mechanism import description, mechanism_from

MASS, RADIUS = 2.0, 0.1
INERTIA = 0.4 * MASS * RADIUS**2
STILL = 1e-12  # [m], [rad]: rounding of ten thousand steps


def work_of_contact(epoch):
    """Work of contact since the start [J]."""
    return epoch.work[:, epoch.columns.labels["work"].index("contact")]


def test_a_ball_that_spins_stops():
    """A ball that spins about the normal is braked by torsional m g, and rests after I w / (torsional m g)."""
    torsional, spin, step = 0.01, 4.0, 1e-3
    m, s = ball(MASS, RADIUS, torsional=torsional)
    s["ball"].v = (0, 0, spin, 0, 0, 0)
    stops = INERTIA * spin / (torsional * MASS * G)
    epoch = stepped(m, s, stops + 0.05, step)
    expected = np.maximum(spin - torsional * MASS * G / INERTIA * epoch.time, 0.0)
    assert epoch.v[:, 2] == pytest.approx(expected, abs=1e-11)
    assert np.abs(epoch.v[epoch.time > stops + step]).max() < STILL
    assert work_of_contact(epoch)[-1] == pytest.approx(-0.5 * INERTIA * spin**2, abs=1e-12)
    assert np.abs(books(epoch)).max() < 1e-12
    middle = len(epoch) // 4
    assert epoch.contact_moments[middle] == pytest.approx([0, 0, -torsional * MASS * G], abs=1e-9)


def test_a_ball_that_rolls_slows_down_stops_and_stays():
    """Rolling friction brakes a rolling ball by rolling m g r / (I + m r^2); it comes to rest, and stays there."""
    rolling, speed, step = 0.02, 0.3, 1e-3
    m, s = ball(MASS, RADIUS, rolling=rolling)
    s["ball"].v = (0, speed / RADIUS, 0, speed, 0, 0)
    brake = rolling * MASS * G * RADIUS / (INERTIA + MASS * RADIUS**2)
    stops = speed / brake
    epoch = stepped(m, s, stops + scaled(2.0, 0.02), step)
    forward = np.array([(vc.pose(m, epoch.state(i), "ball").R @ epoch.v[i, 3:])[0] for i in range(len(epoch))])
    assert forward == pytest.approx(np.maximum(speed - brake * epoch.time, 0.0), abs=1e-10)
    rests = epoch.time > stops + step
    assert np.abs(epoch.q[rests] - epoch.q[-1]).max() < STILL
    assert epoch.q[-1, 4] == pytest.approx(0.5 * speed * stops, abs=speed * step)
    assert work_of_contact(epoch)[-1] == pytest.approx(-0.7 * MASS * speed**2, rel=1e-10)
    assert np.abs(books(epoch)).max() < 1e-11


def test_both_at_once():
    """A ball that rolls and spins: each is braked by its own moment, whatever the other does."""
    m, s = ball(MASS, RADIUS, friction=2.0, torsional=0.004, rolling=0.01)
    s["ball"].v = (0, 5.0, 3.0, 5.0 * RADIUS, 0, 0)
    epoch = stepped(m, s, 0.05)
    R = vc.pose(m, epoch.state(-1), "ball").R
    w = R @ epoch.v[-1, :3]
    assert w[2] == pytest.approx(3.0 - 0.004 * MASS * G / INERTIA * 0.05, abs=1e-10)
    assert w[1] == pytest.approx(5.0 - 0.01 * MASS * G / (INERTIA + MASS * RADIUS**2) * 0.05, abs=1e-10)


def on_slope(angle, rolling):
    """A ball that touches a slope that falls towards +x."""
    m = vc.Mechanism("slope")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(MASS, RADIUS), shapes=vc.Sphere(RADIUS))
    tilt = vc.Pose(rotation_vector=(0, angle, 0))
    m.add_surface("slope", "ground", vc.HalfSpace(tilt), friction=1.0, rolling=rolling)
    s = m.state()
    s["ball"].position = tilt @ (0, 0, RADIUS)
    return m, s, tilt


def test_a_ball_rests_on_a_slope_that_is_flat_enough():
    """Below atan(rolling / r) a ball on a slope does not move: 1e-12 m in 10 s."""
    angle = 0.2
    m, s, _ = on_slope(angle, 1.0001 * np.tan(angle) * RADIUS)
    epoch = stepped(m, s, scaled(10.0, 0.05), sample=0.05)
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < STILL


def test_a_ball_rolls_down_a_slope_that_is_steep_enough():
    """Above it the ball rolls with g (sin - rolling / r cos) / (1 + I / (m r^2))."""
    angle, rolling, until = 0.2, 0.5 * np.tan(0.2) * RADIUS, 0.1
    m, s, tilt = on_slope(angle, rolling)
    epoch = stepped(m, s, until)
    speed = G * (np.sin(angle) - rolling / RADIUS * np.cos(angle)) / 1.4 * until
    found = tilt.R.T @ vc.pose(m, epoch.state(-1), "ball").R @ epoch.v[-1, 3:]
    assert found == pytest.approx([speed, 0, 0], abs=1e-10)


def random_items(rng):
    """Contacts with torsional and rolling friction: their items, one to three each, and the number of rows."""
    entries, n = [], 0
    for _ in range(rng.integers(1, 6)):
        first = n
        entries.append((CONE, n, 3, n, rng.choice([0.0, 0.3, 1.0])))
        n += 3
        for kind, rows in ((SPIN, 1), (ROLL, 2)):
            if rng.random() < 0.7:
                entries.append((kind, n, rows, first, rng.choice([0.05, 0.3])))
                n += rows
    items = as_records(np.zeros(len(entries), ITEM))
    for item, entry in zip(items, entries, strict=True):
        for name, value in zip(("kind", "row", "n_rows", "normal", "friction"), entry, strict=True):
            item[name] = value
    return items, n


def test_random_problems_obey_the_laws():
    """Random problems with torsional and rolling friction are solved, half of them with dependent rows."""
    rng = np.random.default_rng(5)
    for _ in range(scaled(200, 15)):
        items, n = random_items(rng)
        K = rng.normal(size=(n, rng.integers(6, 30)))
        W, b = K @ K.T, K @ rng.normal(size=K.shape[1])
        x, u, work = np.zeros(n), np.zeros(n), [np.zeros(n) for _ in range(3)]
        found, _ = contact_impulses(items, W, b, 1e-13, x, u, *work, np.zeros((n, n + 2)))
        assert found < 1e-9 and violation(items, W, b, x) < 1e-9
        for item in items:
            r, k = int(item["row"]), int(item["n_rows"])
            if item["kind"] in (SPIN, ROLL):
                assert np.linalg.norm(x[r : r + k]) <= item["friction"] * x[item["normal"]] * (1 + 1e-12)


def test_without_them_nothing_changes():
    """A surface whose torsional and rolling friction are zero has the bits, and the columns, of one without them."""
    rng = np.random.default_rng(6)
    velocity = rng.normal(size=6)
    found = []
    for law in ({}, {"torsional": 0.0, "rolling": 0.0}):
        m, s = ball(restitution=0.3, **law)
        s["ball"].v = velocity
        found.append(stepped(m, s, 0.1))
    assert found[0].samples.tobytes() == found[1].samples.tobytes()
    assert found[0].columns.width_of("contact_moments") == 0


@long_run
def test_a_box_that_spins_on_its_corners():
    """The corners of a box that spins share the moments: with torsional friction it turns less far than without."""
    turned = []
    for torsional in (0.0, 0.02):
        m, s = box_on_slope(0.0, friction=0.2, torsional=torsional)
        s["box"].v = (0, 0, 5.0, 0, 0, 0)
        epoch = stepped(m, s, 1.0)
        turned.append(2.0 * np.arccos(abs(epoch.q[-1, 0])))
        assert work_of_contact(epoch)[-1] < 0.0 and np.abs(books(epoch)).max() < 1e-6
    assert turned[1] < 0.8 * turned[0]


def test_runs_are_continued_to_the_bit():
    """A run with rolling friction that is interrupted and resumed is the run without interruption."""
    m, s = ball(torsional=0.002, rolling=0.004)
    s["ball"].v = (1.0, 2.0, 3.0, 0.2, -0.1, 0)
    whole = vc.simulate(m, s, 0.02, contacts="stepping")
    half = vc.resume(vc.simulate(m, s, 0.01, contacts="stepping"), 0.02)
    assert half.epochs[-1].q[-1].tobytes() == whole.epochs[-1].q[-1].tobytes()
    assert half.epochs[-1].contact_moments[-1].tobytes() == whole.epochs[-1].contact_moments[-1].tobytes()


def test_they_survive_descriptions():
    """Copies and descriptions have them; descriptions that were written before have none."""
    m, _ = ball(torsional=0.002, rolling=0.004)
    plain = json.loads(json.dumps(description(m)))
    assert mechanism_from(plain).surface("floor") == m.copy().surface("floor") == m.surface("floor")
    for key in ("torsional", "rolling"):
        del plain["surfaces"][0][key]
    old = mechanism_from(plain).surface("floor")
    assert (old.torsional, old.rolling) == (0.0, 0.0)


@pytest.mark.parametrize("kind", ["torsional", "rolling"])
def test_refusals(kind):
    """Negative numbers are refused by name, and so are exact contacts."""
    with pytest.raises(vc.InputError, match=f"{kind} friction of surface 'floor' must not be negative"):
        ball(**{kind: -0.1})
    m, s = ball(**{kind: 0.1})
    with pytest.raises(vc.InputError, match="torsional and rolling friction have no events"):
        vc.simulate(m, s, 0.1, contacts="exact")
