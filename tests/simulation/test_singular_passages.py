"""Motions through singular configurations: the N-four-bar of the IFToMM library (A02), which folds flat repeatedly.

2N + 1 rods of 1 m and 1 kg: N + 1 upright on the ground, 1 m apart, N across their tops. All start upright, tops at
1 m/s. With theta from the vertical, theta'' = g (3N + 1) / 2 / ((4N + 1) / 3) sin theta. At theta = +-90 degrees
branches of the motion cross, and rows are redundant everywhere.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import varichain as vc
from lane import compiled_only
from linkages import off_books


def n_four_bar(n):
    """The mechanism and its start."""
    m = vc.Mechanism(f"{n} four-bars")
    upright, across = vc.Inertia.rod(1, 1, "z", com=(0, 0, 0.5)), vc.Inertia.rod(1, 1, "x", com=(0.5, 0, 0))
    for i in range(n + 1):
        m.add_link(f"up {i}", "ground", vc.Revolute("y"), at=(i, 0, 0), inertia=upright)
    for i in range(n):
        m.add_link(f"across {i}", f"up {i}", vc.Revolute("y"), at=(0, 0, 1), inertia=across)
        m.connect(f"across {i}", f"up {i + 1}", vc.Revolute("y"), at=(1, 0, 0), at_other=(0, 0, 1), name=f"pin {i}")
    s = m.state()
    for name in s.joints:
        s[name].v = 1.0 if name.startswith("up") else -1.0
    return m, s


def angle_of(n, t):
    """Angle of the uprights from the vertical, by the exact reduction to one freedom."""
    factor = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    found = solve_ivp(
        lambda _, y: [y[1], factor * math.sin(y[0])], (0, t), [0.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13
    )
    return found.y[0, -1]


def check(n, method, tolerance):
    """B0 at 10 s within 1e-5 m, books within 1e-9 of the energy, whatever the tolerance."""
    m, s = n_four_bar(n)
    options = {"step": 1e-3, "sample": 1e-2} if method == "rk4" else {"step": 1e-2, "tolerance": tolerance}
    trace = vc.simulate(m, s, 10.0, method=method, **options)
    turned, expected = trace.final["up 0"].q, angle_of(n, 10.0)
    assert math.hypot(math.sin(turned) - math.sin(expected), math.cos(turned) - math.cos(expected)) < 1e-7
    off, turned_over = off_books(trace)
    assert off < 1e-8 and turned_over > 10.0 * n if n < 8 else off < 1e-9 * turned_over


CASES = [
    ("rk4", 0.0),
    *((method, tolerance) for method in ("rk45", "gbs") for tolerance in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)),
]


@compiled_only
@pytest.mark.parametrize(("method", "tolerance"), CASES)
@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_four_bars(n, method, tolerance):
    """All methods follow the smooth branch, at all tolerances."""
    check(n, method, tolerance)


@compiled_only
@pytest.mark.parametrize(("n", "method", "tolerance"), [(8, "rk4", 0.0), (8, "gbs", 1e-10), (40, "gbs", 1e-9)])
def test_many_four_bars(n, method, tolerance):
    """Eight and forty, of which each passes through flat at once."""
    check(n, method, tolerance)


@pytest.mark.long
@compiled_only
@pytest.mark.parametrize(("method", "tolerance"), CASES)
@pytest.mark.parametrize("n", [8, 40])
def test_many_four_bars_by_all_methods(n, method, tolerance):
    """The same with all methods and tolerances; a minute each at worst."""
    check(n, method, tolerance)


@compiled_only
def test_accelerations_are_smooth_at_the_passage():
    """A sample right at the flat configuration: its velocities are those of the reduction, and the motion goes on."""
    m, s = n_four_bar(2)
    found = solve_ivp(
        lambda _, y: [y[1], 9.81 * 3.5 / 3.0 * math.sin(y[0])],
        (0, 2),
        [0.0, 1.0],
        events=lambda _, y: y[0] - 0.5 * math.pi,
        rtol=1e-13,
        atol=1e-13,
    )
    flat = float(found.t_events[0][0])
    trace = vc.simulate(m, s, flat + 0.1, step=flat / 100)  # a sample within rounding of flat
    state = trace.at(flat)
    assert abs(state["up 0"].q - 0.5 * math.pi) < 1e-8
    speeds = [state[f"up {i}"].v for i in range(3)]
    np.testing.assert_allclose(speeds, found.y_events[0][0, 1], atol=1e-7)
    assert off_books(trace)[0] < 1e-6  # the sample itself is left open by what a step leaves


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("away", [1e-2, 1e-4, 1e-6, 3e-7, 1e-7, 1e-8, 1e-9, 0.0])
def test_formulations_agree_near_flat(n, away):
    """Articulated bodies, the dense system and the projected masses agree however near, and with the mobility at flat.

    1e-6: rows that depend but for 1e-7 cost seven of sixteen digits, and the projection again some.
    """
    m, s = n_four_bar(n)
    for name in s.joints:
        s[name].q = (0.5 * math.pi - away) * (1.0 if name.startswith("up") else -1.0)
    found = [vc.forward_dynamics(m, s, method=method).a for method in ("articulated", "kkt", "projected")]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    np.testing.assert_allclose(found[2], found[1], atol=1e-6)
    freedoms = vc.mobility(m, s, probe=False).n_independent
    # sines of angles by which rows depend, 1e-7, lie between those of one and of several four-bars
    assert freedoms == 1 if away > 5e-7 else freedoms == n + 1 if away < 5e-8 else 1 <= freedoms <= n + 1
    if away > 5e-8:
        assert found[0][0] == pytest.approx(9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * math.cos(away), abs=1e-6)
