"""Motions whose optimum is known: in closed form, published, or found independently."""

import numpy as np
import pytest

import lane
import varichain as vc
from optimise.problems import arm, block, cart_pole, crank, swing_up, tip

KELLY = 58.8  # cost of the swing-up [Kelly 2017, 6], to three digits
SOLVED = 1e-6  # of solvers' tolerances of 1e-8, in units near 1


@pytest.mark.parametrize("solver", ["ipopt", "slsqp"])
def test_least_effort_moves_a_block_by_a_linear_force(solver):
    """A mass m goes a way d in time T with the force 6 m d / T^2 (1 - 2 t / T), at a cost of 12 m^2 d^2 / T^3."""
    m, (mass, way, time) = block(2.0), (2.0, 0.7, 1.3)
    phase = vc.Phase(time, end={"slide": way}, rest=True, intervals=4)
    found = vc.optimise_motion(m, m.state(), phase, solver=solver)
    assert found.is_solved
    assert found.cost == pytest.approx(12 * mass**2 * way**2 / time**3, rel=SOLVED)
    t = np.linspace(0.0, 0.999 * time, 20)
    force = 6 * mass * way / time**2 * (1 - 2 * t / time)
    assert np.abs(found.torques(t)["slide"] - force).max() < 1e-4 * force[0]


def test_least_time_is_full_force_there_and_back():
    """A mass m goes a way d with forces up to F in the time 2 (m d / F)^1/2, switched in the middle."""
    m = block(2.0)
    phase = vc.Phase((0.1, 10.0), end={"slide": 0.9}, rest=True, intervals=6)
    found = vc.optimise_motion(m, m.state(), phase, cost={"time": 1.0}, torque_limits=3.0)
    assert found.durations[0] == pytest.approx(2 * np.sqrt(2.0 * 0.9 / 3.0), rel=SOLVED)
    middle = 0.5 * found.durations[0]
    assert found.torques(0.99 * middle)["slide"] == pytest.approx(3.0, rel=1e-4)
    assert found.torques(1.01 * middle)["slide"] == pytest.approx(-3.0, rel=1e-4)


@lane.long_run
def test_swing_up_costs_what_is_published_and_simulates_to_its_goal():
    """Cart and pole swing up at the published cost; a run ten times as fine as usual ends within 1e-4 of the goal."""
    found = swing_up(40)
    assert found.cost == pytest.approx(KELLY, rel=1e-3)
    final = found.simulate(tolerance=1e-10).final
    assert np.abs(final.q - (1.0, np.pi)).max() < 1e-4
    assert np.abs(final.v).max() < 1e-4


@pytest.mark.long
def test_swing_up_has_the_cost_of_an_independent_solution():
    """Equations of motion by hand, in CasADi's symbols, and another method have the same cost."""
    casadi = pytest.importorskip("casadi")
    x, u = casadi.SX.sym("x", 4), casadi.SX.sym("u")
    m1, m2, l, g = 1.0, 0.3, 0.5, 9.81
    s, c = casadi.sin(x[1]), casadi.cos(x[1])
    cart = (l * m2 * s * x[3] ** 2 + u + m2 * g * c * s) / (m1 + m2 * (1 - c**2))
    pole = -(l * m2 * c * s * x[3] ** 2 + u * c + (m1 + m2) * g * s) / (l * m1 + l * m2 * (1 - c**2))
    f = casadi.Function("f", [x, u], [casadi.vertcat(x[2], x[3], cart, pole)])
    n, steps = 100, 4
    h, opti = 2.0 / n, casadi.Opti()
    X, U = opti.variable(4, n + 1), opti.variable(1, n + 1)
    cost = 0
    for k in range(n):
        y = X[:, k]
        for i in range(steps):  # of Runge and Kutta, with a force that is linear in each interval

            def force(part, i=i, k=k):
                return U[k] + (U[k + 1] - U[k]) * (i + part) / steps

            d = h / steps
            a = f(y, force(0.0))
            b = f(y + d / 2 * a, force(0.5))
            e = f(y + d / 2 * b, force(0.5))
            w = f(y + d * e, force(1.0))
            y = y + d / 6 * (a + 2 * b + 2 * e + w)
        opti.subject_to(X[:, k + 1] == y)
        cost += h / 3 * (U[k] ** 2 + U[k] * U[k + 1] + U[k + 1] ** 2)
    opti.subject_to(X[:, 0] == 0)
    opti.subject_to(X[:, n] == casadi.DM([1.0, np.pi, 0.0, 0.0]))
    opti.subject_to(opti.bounded(-20, U, 20))
    opti.set_initial(X[0, :], np.linspace(0, 1, n + 1))
    opti.set_initial(X[1, :], np.linspace(0, np.pi, n + 1))
    opti.minimize(cost)
    opti.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
    solution = opti.solve()
    assert swing_up(80).cost == pytest.approx(float(solution.value(cost)), rel=1e-4)


@pytest.mark.long
def test_an_acrobot_swings_up_through_its_unstable_motion():
    """Two links with a torque between them swing up; replayed without feedback, they end within 1e-4."""
    m = vc.Mechanism("acrobot")
    rod = vc.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5))
    m.add_link("upper", joint=vc.Revolute("y", name="bar", actuated=False), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="hip"), at=(0, 0, -1), inertia=rod)
    phase = vc.Phase(2.5, end={"bar": np.pi, "hip": 0.0}, rest=True, intervals=240)
    found = vc.optimise_motion(m, m.state(), phase)
    assert found.is_solved
    assert np.abs(found.simulate(tolerance=1e-12).final.q - (np.pi, 0.0)).max() < 1e-4


def test_small_and_large_are_the_same_problem():
    """An arm of 5 mm and 1 g in plain SI moves as one of 1 m and 1 kg does, in its own units."""
    found = []
    for length, mass in ((1.0, 1.0), (0.005, 0.001)):
        m, T = arm(length, mass), np.sqrt(length)
        s = m.state()
        s.q = (0.3, 0.5)
        phase = vc.Phase(T, end={"tip": (0.5 * length, 1.2 * length)}, rest=True, intervals=6)
        motion = vc.optimise_motion(m, s, phase, {"tip": tip(length)})
        own = (mass * 9.81 * length) ** 2 * T
        found.append((motion.cost / own, motion.iterations, *motion.states[-1].q))
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@lane.long_run
def test_a_closed_chain_moves_as_it_is_simulated():
    """Without torques, collocation with multipliers of the loop is the free motion of the library, to order four."""
    m, s = crank(actuated=False)
    reference = vc.simulate(m, s, 1.0, tolerance=1e-12).final
    errors = []
    for n in (16, 32):
        final = vc.optimise_motion(m, s, vc.Phase(1.0, intervals=n)).states[-1]
        errors.append(np.abs(np.r_[final.q - reference.q, final.v - reference.v]).max())
        assert np.abs(vc.AnimationSpace(m, {"slot": vc.animation.closure_error(m, "slot")}).value(final)).max() < 1e-8
    assert errors[1] < 1e-5 and errors[1] < errors[0] / 10.0


@lane.long_run
def test_a_closed_chain_is_driven_to_its_goal():
    """A crank with a slider is turned in least effort; its torques simulate to the goal."""
    m, s = crank()
    found = vc.optimise_motion(m, s, vc.Phase(1.0, end={"crank": -0.3}, rest=True, intervals=24))
    final = found.simulate(tolerance=1e-10).final
    assert abs(final["crank"].q + 0.3) < 1e-4
    assert np.abs(final.v).max() < 1e-4


def test_cart_and_pole_repeat_a_swing():
    """A periodic swing of given height ends as it began, and a free one costs nothing but friction."""
    m = cart_pole()
    s = m.state()
    s["pivot"].v = 2.0
    phase = vc.Phase((0.8, 2.5), start={"pivot": 0.0}, start_rates={"pivot": 2.0}, intervals=10)
    found = vc.optimise_motion(m, s, phase, start="free", periodic=["track", "pivot"], guess=None)
    assert np.abs(found.states[-1].q - found.states[0].q).max() < 1e-6
    assert np.abs(found.states[-1].v - found.states[0].v).max() < 1e-6
    assert found.cost < 1e-6
