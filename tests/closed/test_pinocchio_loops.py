"""Closed chains against Pinocchio's constraint dynamics, wherever its 3-D and 6-D constraints can express the loops."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import scaled
from measure import deviation
from oracles.pinocchio_loops import PinocchioLoopOracle
from varichain.mechanism import Fixed, Spherical

AGREEMENT = 1e-9  # both lose digits to the condition of M, some 1e4 for the figures, and keep nine at least
# Redundant rows make Pinocchio's matrix singular; its proximal steps approach the answer and stop at this accuracy.
PROXIMAL = 1e-9


def standing_with_ball_hands():
    """Figure of 40 freedoms: feet fixed, hands held by ball joints."""
    m = vc.figures.human40(damping=False)
    s = m.state()
    closed_zoo.arms_up(s, 2.4, 0.5, 0.2)
    for side in ("left", "right"):
        s[f"{side} knee"].q = 0.5
        m.connect(f"{side} foot", "ground", Fixed(), state=s)
        m.connect(f"{side} hand", "ground", Spherical(), closed_zoo.GRIP, state=s)
    return m, s


def floating_nested(seed):
    """Random floating tree with ball and fixed loops between links, one to the ground."""
    return closed_zoo.nested_loops(seed, 18, kinds=("spherical", "fixed", "spherical", "spherical"))


REGULAR = {
    "loop closed by spherical": lambda: closed_zoo.loop_of("spherical"),
    "loop closed by fixed": lambda: closed_zoo.loop_of("fixed"),
    "stewart": closed_zoo.stewart,
    "delta": closed_zoo.delta,
    "delta without spin": lambda: closed_zoo.delta(spinning=False),
    "holding hands": closed_zoo.holding_hands,
    "pinned chain": lambda: closed_zoo.pinned_chain(scaled(40, 10)),
    "standing": standing_with_ball_hands,
}
REDUNDANT = {  # rows too many, in every loop or in some
    "ball ladder": lambda: closed_zoo.ball_ladder(scaled(40, 3)),
    "ball-jointed four-bar": lambda: ball_four_bar(),
    **{f"nested {seed}": lambda seed=seed: floating_nested(seed) for seed in range(scaled(8, 2))},
}


def ball_four_bar():
    """Four-bar whose loop is closed by a ball joint."""
    m, s = closed_zoo.four_bar()
    m.cut("pin")
    m.connect("coupler", "rocker", Spherical(), at=(1.9, 0, 0), at_other=(1.6, 0, 0))
    return m, s


@pytest.mark.parametrize("name", REGULAR)
def test_accelerations(name):
    """Accelerations of chains closed by ball joints and welds are Pinocchio's."""
    m, start = REGULAR[name]()
    twin = PinocchioLoopOracle(m, accuracy=1e-14, mu=0.0, most_steps=1)
    rng = np.random.default_rng(5)
    for _ in range(scaled(5, 1)):
        s = closed_zoo.random_closed_state(rng, m, start)
        tau = 10.0 * zoo.random_v(rng, m)
        found = vc.forward_dynamics(m, s, tau)
        assert found.loop_forces.is_unique
        assert deviation(found.a, twin.forward_dynamics(s, tau)) < AGREEMENT


@pytest.mark.parametrize("name", ["stewart", "loop closed by spherical", "loop closed by fixed"])
def test_loop_forces(name):
    """Forces at the loops are Pinocchio's, turned into world axes."""
    m, start = REGULAR[name]()
    twin = PinocchioLoopOracle(m, accuracy=1e-14, mu=0.0, most_steps=1)
    rng = np.random.default_rng(6)
    s = closed_zoo.random_closed_state(rng, m, start)
    tau = 10.0 * zoo.random_v(rng, m)
    found = vc.forward_dynamics(m, s, tau).loop_forces
    twin.forward_dynamics(s, tau)
    frames = vc.loop_states(m, s)
    scale = np.abs(found.multipliers).max()
    for (loop, wrench), data in zip(found.items(), twin.constraint_data, strict=True):
        R = frames[loop].X_WA.R
        assert deviation(wrench[3:], R @ data.contact_force.linear, scale) < AGREEMENT
        assert deviation(wrench[:3], R @ data.contact_force.angular, scale) < AGREEMENT


@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_rows(name):
    """Chains that may have more rows than they need agree too, with Pinocchio's proximal steps."""
    m, start = REDUNDANT[name]()
    twin = PinocchioLoopOracle(m, accuracy=1e-13, mu=1e-6, most_steps=200)
    rng = np.random.default_rng(7)
    for _ in range(scaled(5, 1)):
        s = closed_zoo.random_closed_state(rng, m, start)
        tau = 10.0 * zoo.random_v(rng, m)
        found = vc.forward_dynamics(m, s, tau)
        assert not (found.loop_forces.is_unique and name.startswith("ball"))
        assert deviation(found.a, twin.forward_dynamics(s, tau)) < PROXIMAL
