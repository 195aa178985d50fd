"""Same input, same bits: in a second run, in calls of the kernel of any length, with or without listeners."""

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from movers import ball_loop, distance, four_bar, spherical_pendulum
from varichain.simulation import simulation
from varichain.simulation.settings import METHOD_CODES

SPAN = scaled(1.0, 0.02)  # [s]

methods = pytest.mark.parametrize("method", METHOD_CODES)


def run(make, method, **options):
    """Trace of a run with samples every 10 ms."""
    m, s = make()
    step = scaled(1e-3, 5e-3) if method in ("euler", "rk4") else 1e-2
    return vc.simulate(m, s, SPAN, **{"method": method, "step": step, "sample": 1e-2, "tolerance": 1e-8, **options})


def bits(trace):
    """All samples, to the bit."""
    return np.concatenate([epoch.samples for epoch in trace.epochs]).tobytes()


@methods
@pytest.mark.parametrize("make", scaled((spherical_pendulum, four_bar, ball_loop), (spherical_pendulum,)))
def test_same_bits_again(make, method):
    """Two runs in one process agree to the bit, in every column."""
    assert bits(run(make, method)) == bits(run(make, method))


@methods
def test_same_bits_whatever_the_chunks(method, monkeypatch):
    """How many steps a call of the kernel takes, which depends on the clock, changes no bit."""
    make = scaled(ball_loop, spherical_pendulum)
    found = set()
    for span in (1e-9, 1e9):  # ten steps a call, or as many as it likes
        monkeypatch.setattr(simulation, "_SPAN", span)
        found.add(bits(run(make, method)))
    assert len(found) == 1


@methods
def test_same_bits_when_somebody_listens(method, tmp_path):
    """Neither progress nor a file changes a bit."""
    times = []
    watched = run(spherical_pendulum, method, progress=lambda t, end: times.append(t), out=tmp_path / "run.h5")
    assert times
    assert bits(watched) == bits(run(spherical_pendulum, method))


@methods
def test_events_on_the_grid(method):
    """An event at a sample that changes nothing but the epoch changes no bit of what follows."""
    plain = run(spherical_pendulum, method)
    halves = run(spherical_pendulum, method, events=[vc.at(SPAN / 2, vc.use(controller=None))])
    first, second = halves.epochs
    assert (
        bits(halves)
        == plain.epochs[0].samples[: len(first)].tobytes() + plain.epochs[0].samples[len(first) - 1 :].tobytes()
    )
    assert second.start == SPAN / 2


TICKS = 1e-12
"""Ticks of control are summed up, times on the grid multiplied: they differ by roundings of time, and so do states."""


@methods
def test_controllers_that_do_nothing(method):
    """A Python function without an answer leaves the motion as it is, but for rounding."""
    plain = run(spherical_pendulum, method)
    asked = run(spherical_pendulum, method, controller=lambda m, s: None)
    assert len(asked) == len(plain)
    assert distance(asked.final, plain.final) < TICKS
