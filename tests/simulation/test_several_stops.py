"""Several stops at once: each pushes or does not, and never pulls."""

import itertools

import numpy as np
import pytest

import varichain as vc
from moving import account, kinds, started

ROUNDING = 1e-11


def train(n, gap, masses=None):
    """Wagons on one rail, each a slider on the one before it that can be pushed together to zero and apart to `gap`."""
    m = vc.Mechanism("train", gravity=(0, 0, 0))
    for i in range(n):
        limits = None if i == 0 else (0.0, gap)
        mass = 1.0 if masses is None else masses[i]
        parent = "ground" if i == 0 else f"wagon {i - 1}"
        joint = vc.Prismatic("x", name=str(i), limits=limits)
        m.add_link(f"wagon {i}", parent, joint, inertia=vc.Inertia.sphere(mass, 0.1))
    return m


def test_a_train_is_pulled_taut_wagon_by_wagon():
    """The last wagon of a loose train runs out and takes the others along one by one: momentum stays, speed falls."""
    n = 4
    m = train(n, 0.1)
    s = started(m, v={"3": 1.0})  # the last wagon alone moves, away from the others
    trace = vc.simulate(m, s, 1.0, step=0.05)
    times = np.unique([round(entry["time"], 8) for entry in trace.log])  # stops that are taut take part in later blows
    # 0.1 m at 1 m/s, then at 1/2, then at 1/3 m/s
    assert times == pytest.approx([0.1, 0.3, 0.6], abs=1e-8)
    assert trace.epochs[0]["momentum"][:, 3] == pytest.approx(np.ones(len(trace)), abs=ROUNDING)
    assert trace.final.v[0] == pytest.approx(0.25, abs=ROUNDING)
    assert np.abs(account(trace)).max() < ROUNDING


def test_stops_that_strike_at_one_instant_strike_together():
    """Wagons that hit both their neighbours at once end with one velocity."""
    m = train(3, 0.1)
    s = started(m, {"1": 0.05, "2": 0.05}, {"1": -1.0, "2": -1.0})
    trace = vc.simulate(m, s, 0.1, step=0.02)
    after = trace.final
    assert after.v == pytest.approx([-1.0, 0.0, 0.0], abs=ROUNDING)  # momentum 0 + -1 + -2 over three
    assert [entry["time"] for entry in trace.log] == pytest.approx([0.05, 0.05], abs=1e-9)


@pytest.mark.parametrize("signs", list(itertools.product((-1, 1), repeat=3)))
def test_stops_push_and_never_pull(signs):
    """At rest at three stops under any loads: what accelerates leaves its stop, what is held is pushed."""
    m = train(4, 1.0, masses=(1.0, 2.0, 0.5, 3.0))
    forces = [vc.Force(f"wagon {i + 1}", force=(sign * (1.0 + i), 0, 0)) for i, sign in enumerate(signs)]
    trace = vc.simulate(m, m.state(), 0.1, forces=forces, step=0.02)
    first, holding = trace.epochs[0], trace.epochs[0]["holding"][0, 1:]
    moved = first.q[-1, 1:]
    assert (moved >= 0.0).all()
    assert (holding >= -ROUNDING).all()  # lower stops push up
    assert np.abs(holding * moved).max() < ROUNDING  # the one or the other


def test_a_row_of_pendulums_comes_to_rest_in_order():
    """A cradle of plastic balls, each the stop of the next: the first strikes all and all go on together."""
    m = vc.Mechanism("row", gravity=(0, 0, 0))
    m.add_link("first", joint=vc.Prismatic("x", name="first"), inertia=vc.Inertia.sphere(1.0, 0.1))
    for i, name in enumerate(("second", "third", "fourth")):
        parent = ("first", "second", "third")[i]
        joint = vc.Prismatic("x", name=name, limits=(0.0, 5.0))
        m.add_link(name, parent, joint, inertia=vc.Inertia.sphere(1.0, 0.1))
    s = started(m, {"second": 0.2}, {"first": 1.0, "second": -1.0})  # only the first moves
    trace = vc.simulate(m, s, 0.4, step=0.02)
    assert trace.final.v == pytest.approx([0.25, 0, 0, 0], abs=ROUNDING)
    assert kinds(trace).count("limit reached") == 3  # those at rest in contact take their impulses too
