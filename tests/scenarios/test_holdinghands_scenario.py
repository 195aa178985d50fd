"""Two skaters who hold hands."""

import numpy as np

from lane import long_run, scaled
from scenario_checks import counts, place
from varichain.scenarios import holdinghands, summary

KEPT = 1e-8
"""Momentum that the ice cannot change, relative to the largest; nothing but rounding and steps moves it."""


@long_run
def test_ring():
    """The ring adds a ball joint's freedoms to N_J and takes three from N_F; opened, both pairs of hands are free."""
    scenario = holdinghands(closes=scaled(0.1, 0.002), opens=scaled(0.2, 0.003))
    trace = scenario.run(until=scaled(0.3, 0.004), **scaled({}, {"method": "rk4", "step": 1e-3}))
    assert counts(summary(scenario, trace)) == [(59, 29), (62, 26), (56, 32)]


@long_run
def test_momentum_and_parting():
    """Momentum along the ice and angular momentum about the upright stay through all changes; opened, they part."""
    trace = holdinghands().run()
    mass = sum(link.inertia.mass for link in trace.epochs[0].mechanism.links)
    linear, about_origin = [], []
    for epoch in trace.epochs:
        p, center = epoch["momentum"][:, 3:], epoch["center"]
        linear.append(p[:, :2])
        about_origin.append(epoch["momentum"][:, 2] + np.cross(center, p)[:, 2])
    p, h = np.concatenate(linear), np.concatenate(about_origin)
    assert np.abs(p - p[0]).max() < KEPT * mass
    assert np.abs(h - h[0]).max() < KEPT * abs(h[0])
    apart = [np.linalg.norm(place(trace.epochs[-1], i, "ann head top") - place(trace.epochs[-1], i, "bob head top"))
             for i in (0, -1)]  # fmt: skip
    assert apart[1] > apart[0] + 0.5


@long_run
def test_posture():
    """They stay on their skates, and hands that take hold are less than a hand's breadth apart."""
    trace = holdinghands().run()
    for name in ("ann", "bob"):
        z = [place(epoch, i, f"{name} head top")[2] for epoch in trace.epochs for i in range(0, len(epoch), 10)]
        assert max(z) - min(z) < 0.05
    first = trace.epochs[0]
    assert np.linalg.norm(place(first, -1, "ann right grip") - place(first, -1, "bob left grip")) < 0.06  # [m]
