"""Laws of closed chains at random consistent states of the whole zoo."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import scaled
from measure import deviation
from varichain.dynamics.formulations import FORMULATIONS
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.layout.state import layout_for

# Roundings, enlarged by the condition numbers of M (1e4 for the figures) and of the chosen coordinates.
AGREEMENT = 1e-9
# The loops' accelerations are solved for directly: no condition number of M stands between.
LOOP_RESIDUAL = 1e-10
POWER = 1e-9

N_STATES = scaled(4, 1)
NAMES = list(closed_zoo.MECHANISMS)
if scaled(False, True):
    slow = ("standing figure", "holding hands", "delta", "ladder of 6", "nested loops")
    NAMES = [name for name in NAMES if name not in slow]


@cache
def cases(name):
    """Mechanism, random closed moving states of it, and random torques."""
    m, start = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(NAMES.index(name))
    states = [closed_zoo.random_closed_state(rng, m, start) for _ in range(N_STATES)]
    return m, [(s, 10.0 * rng.normal(size=m.n_v)) for s in states]


def rows(m, s):
    """K and Kdot v of all loops."""
    layout = layout_for(m, s)
    table = layout.workspaces.of_thread.table
    return constraint_matrix(layout, table, s.q), constraint_bias(layout, table, s)


def closed_acceleration(m, s, rng):
    """Random accelerations that keep the loops closed."""
    K, bias = rows(m, s)
    a = rng.normal(size=m.n_v)
    return a - np.linalg.lstsq(K, K @ a + bias, rcond=1e-10)[0]


@pytest.mark.parametrize("name", NAMES)
def test_formulations_agree(name):
    """Articulated bodies, unit vectors, the projected mass matrix and the dense system give the same accelerations."""
    m, states = cases(name)
    for s, tau in states:
        fast = vc.forward_dynamics(m, s, tau)
        assert not fast.is_nearly_singular
        for method in FORMULATIONS:
            assert deviation(vc.forward_dynamics(m, s, tau, method=method).a, fast.a) < AGREEMENT, method


JOINTS = (vc.Spherical(), vc.Cylindrical("z"), vc.Revolute("y"), vc.Fixed())
"""With three, four, five and six rows."""


@pytest.mark.parametrize(
    "three",
    scaled(list(product(JOINTS, repeat=3)), [JOINTS[:3], JOINTS[:0:-1]]),
    ids=lambda three: "-".join(joint.kind for joint in three),
)
def test_loops_of_any_size_share_freedoms(three):
    """Loops of three to six rows that meet in a figure's torso give the accelerations of the other formulations."""
    m = vc.figures.human16()
    s = m.state().integrate(0.3 * np.random.default_rng(0).normal(size=m.n_v))
    for link, joint in zip(("left hand", "right foot", "right hand"), three, strict=True):
        m.connect(link, "ground", joint, state=s)
    s.v = vc.impact(m, s, []).v
    fast = vc.forward_dynamics(m, s)
    for method in FORMULATIONS:
        assert deviation(vc.forward_dynamics(m, s, method=method).a, fast.a) < AGREEMENT, method


@pytest.mark.parametrize("name", NAMES)
def test_loop_forces_agree(name):
    """Loop forces are the same by all methods, those of least norm where redundant rows leave a choice."""
    m, states = cases(name)
    for s, tau in states:
        fast = vc.forward_dynamics(m, s, tau).loop_forces
        scale = max(1.0, np.abs(fast.multipliers).max(initial=0.0))
        for method in FORMULATIONS:
            forces = vc.forward_dynamics(m, s, tau, method=method).loop_forces
            assert forces.is_unique == fast.is_unique, method
            assert deviation(forces.multipliers, fast.multipliers, scale) < AGREEMENT, method


@pytest.mark.parametrize("name", NAMES)
def test_loops_stay_closed(name):
    """Accelerations keep every loop closed: K a + Kdot v = 0, relative to the accelerations."""
    m, states = cases(name)
    for s, tau in states:
        K, bias = rows(m, s)
        assert np.abs(K @ s.v).max(initial=0.0) < LOOP_RESIDUAL * (1.0 + np.abs(s.v).max())
        for method in ("articulated", *FORMULATIONS):
            a = vc.forward_dynamics(m, s, tau, method=method).a
            scale = 1.0 + np.abs(a).max() + np.abs(bias).max(initial=0.0)
            assert np.abs(K @ a + bias).max(initial=0.0) < LOOP_RESIDUAL * scale, method


@pytest.mark.parametrize("name", NAMES)
def test_equation_of_motion(name):
    """The accelerations and the loop forces satisfy M a + bias = tau + K^T x."""
    m, states = cases(name)
    for s, tau in states:
        result = vc.forward_dynamics(m, s, tau)
        K, _ = rows(m, s)
        M = vc.mass_matrix(m, s)
        terms = np.abs(M) @ np.abs(result.a) + np.abs(K.T) @ np.abs(result.loop_forces.multipliers)
        left = M @ result.a + vc.bias_force(m, s)
        assert deviation(left, tau + K.T @ result.loop_forces.multipliers, terms.max()) < AGREEMENT


@pytest.mark.parametrize("name", NAMES)
def test_inverse_undoes_forward(name):
    """Torques from inverse dynamics, put into forward dynamics, give the accelerations back."""
    m, states = cases(name)
    m = m.copy()
    for joint in m.joints:  # everything is driven, so that every motion is possible
        if joint.n_v:
            m.edit_joint(joint.name, actuated=True)
    rng = np.random.default_rng(1)
    for s, _ in states:
        a = closed_acceleration(m, s, rng)
        inverse = vc.inverse_dynamics(m, s, a)
        found = vc.forward_dynamics(m, s, inverse.tau)
        assert deviation(found.a, a, 1.0 + np.abs(a).max()) < AGREEMENT
        scale = 1.0 + np.abs(found.loop_forces.multipliers).max(initial=0.0)
        assert deviation(inverse.loop_forces.multipliers, found.loop_forces.multipliers, scale) < AGREEMENT


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "stewart", "bennett", "sarrus", "delta without spin"])
def test_inverse_undoes_forward_by_its_own_actuators(name):
    """Where the actuators suffice, forward dynamics of random actuator torques and inverse dynamics are inverse."""
    m, start = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(2)
    s = closed_zoo.random_closed_state(rng, m, start)
    tau = {joint.name: rng.normal(size=joint.n_v) for joint in m.joints if joint.actuated}
    a = vc.forward_dynamics(m, s, tau).a
    found = vc.inverse_dynamics(m, s, a)
    for joint, torque in tau.items():
        assert deviation(found[joint], torque, 10.0) < AGREEMENT
    assert found.actuation.null_space.shape[1] == 0


@pytest.mark.parametrize("name", NAMES)
def test_power_balance(name):
    """Loop forces do no work: the torques' power is the rate of kinetic and potential energy."""
    m, states = cases(name)
    for s, tau in states:
        result = vc.forward_dynamics(m, s, tau)
        K, _ = rows(m, s)
        power = tau @ s.v
        # dT/dt + dU/dt = v . (M a + C v + g) of the tree, whose own energy is checked elsewhere
        rate = s.v @ (vc.mass_matrix(m, s) @ result.a + vc.bias_force(m, s))
        scale = 1.0 + np.abs(s.v) @ (np.abs(vc.mass_matrix(m, s)) @ np.abs(result.a)) + np.abs(tau) @ np.abs(s.v)
        assert abs(rate - power) < POWER * scale
        assert abs(s.v @ K.T @ result.loop_forces.multipliers) < POWER * scale


@pytest.mark.parametrize("name", [name for name in NAMES if name in ("four-bar", "stewart", "bennett", "nested loops")])
def test_energy_along_the_motion(name):
    """Energy at two closed states a small step apart differs by the torques' work, to second order of the step."""
    m, states = cases(name)
    step = 1e-4
    for s, tau in states[:1]:
        a = vc.forward_dynamics(m, s, tau).a
        energies = []
        for sign in (-1, 1):
            moved = s.integrate(sign * step * s.v + 0.5 * step**2 * a)
            moved.v = s.v + sign * step * a
            energies.append(vc.energy(m, vc.project(m, moved)).total)
        rate = (energies[1] - energies[0]) / (2 * step)
        terms = np.abs(tau) @ np.abs(s.v) + abs(energies[0])
        # the central difference leaves third derivatives of the energy, some hundred times larger than the terms
        assert abs(rate - tau @ s.v) < 1e3 * step**2 * terms


@pytest.mark.parametrize("name", [name for name in NAMES if name in ("holding hands", "between floaters")])
def test_internal_loops_leave_momentum_alone(name):
    """Loops within floating systems neither push nor turn them: momentum changes by gravity, whatever the torques."""
    m, states = cases(name)
    for s, tau in states:
        for joint in m.joints:
            if joint.kind == "free":
                tau[s.layout.slot(joint.name).v] = 0.0
        a = vc.forward_dynamics(m, s, tau).a
        mass = sum(link.inertia.mass for link in m.links)
        J = vc.center_of_mass_jacobian(m, s)
        step = 1e-6
        before, after = s.integrate(-step * s.v), s.integrate(step * s.v)
        J_rate = (vc.center_of_mass_jacobian(m, after) - vc.center_of_mass_jacobian(m, before)) / (2 * step)
        # a central difference of step 1e-6 is good to about 1e-9 of the accelerations
        assert deviation(J @ a + J_rate @ s.v, m.gravity, 1.0 + np.abs(a).max()) < 1e-7
        momentum = []
        for sign in (-1, 1):
            moved = s.integrate(sign * step * s.v)
            moved.v = s.v + sign * step * a
            momentum.append(vc.momentum(m, moved).angular)
        spin = (momentum[1] - momentum[0]) / (2 * step)
        assert np.abs(spin).max() < 1e-7 * mass * (1.0 + np.abs(a).max())


def test_torque_in_a_virtual_joint_is_power():
    """A torque in a loop's own joint does the work tau v of that joint."""
    m, start = closed_zoo.five_bar()
    rng = np.random.default_rng(3)
    s = closed_zoo.random_closed_state(rng, m, start)
    a = vc.forward_dynamics(m, s, {"tip": 2.0}).a
    rate = s.v @ (vc.mass_matrix(m, s) @ a + vc.bias_force(m, s))
    assert rate == pytest.approx(2.0 * vc.loop_states(m, s)["tip"].v[0], abs=POWER * (1.0 + np.abs(a).max()))


def test_unknown_method():
    """A method that does not exist is refused with the names of those that do."""
    m, s = closed_zoo.four_bar()
    with pytest.raises(vc.InputError, match="articulated"):
        vc.forward_dynamics(m, s, method="magic")
