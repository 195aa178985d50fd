"""Static equilibrium: nothing accelerates, the potential is stationary, and stable postures come back."""

import numpy as np
import pytest
from scipy.optimize import brentq

import closed_zoo
import varichain as vc
from lane import compiled_only, scaled

REST = 1e-6  # [rad/s^2 or m/s^2] what balance to 1e-9 of the torques leaves, on links of 1e-3 kg m^2
SUPPORTED = scaled(
    [name for name in closed_zoo.MECHANISMS if name not in ("holding hands", "between floaters")],
    ["general four-bar", "bennett"],
)


def sprung(name):
    """A closed mechanism with springs in its hinges and slides."""
    m, s = closed_zoo.MECHANISMS[name]()
    for joint in m.joints:
        if joint.n_v == 1:
            m.edit_joint(str(joint.name), stiffness=30.0)
    return m, s


def pendulum(stiffness=5.0):
    """A rod along x on a hinge with a spring."""
    m = vc.Mechanism("pendulum")
    inertia = vc.Inertia.box(1.0, (1.0, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_link("rod", "ground", vc.Revolute("y", name="hinge", stiffness=stiffness), inertia=inertia)
    return m


def test_pendulum_with_a_spring():
    """5 q = m g l cos q, and the stiffness is 5 + m g l sin q."""
    m = pendulum()
    found = vc.equilibrium(m, m.state())
    q = brentq(lambda q: 5.0 * q - 9.81 * 0.5 * np.cos(q), 0.0, 1.5)
    assert found.state["hinge"].q == pytest.approx(q, abs=1e-9)
    assert found.stiffness == pytest.approx([5.0 + 9.81 * 0.5 * np.sin(q)], rel=1e-8)
    assert found.stability == "stable" and found.moved == pytest.approx([q], abs=1e-9)


def test_upright_is_unstable_and_without_gravity_indifferent():
    """A rod put upright stays there, and is known to fall; without gravity it stays anywhere."""
    m = pendulum(stiffness=0.0)
    s = m.state()
    s["hinge"].q = -np.pi / 2
    found = vc.equilibrium(m, s)
    assert found.stability == "unstable" and found.stiffness == pytest.approx([-9.81 * 0.5], rel=1e-8)
    assert found.steps == 0
    s["hinge"].q = -np.pi / 2 + 1e-3
    assert vc.equilibrium(m, s).state["hinge"].q == pytest.approx(np.pi / 2, abs=1e-8)  # gives way, and hangs
    m.gravity = (0, 0, 0)
    assert vc.equilibrium(m, s).stability == "indifferent"


def test_torques_and_forces_take_part():
    """A torque and a force at the tip balance the weight where they should."""
    m, lift = pendulum(stiffness=0.0), vc.Force("rod", force=(0, 0, 3.0), at=(1.0, 0, 0))
    found = vc.equilibrium(m, m.state(), {"hinge": -1.0}, [lift])
    # about y: weight g/2 cos q, force -3 cos q, torque -1
    assert found.state["hinge"].q == pytest.approx(np.arccos(1.0 / (9.81 * 0.5 - 3.0)), abs=1e-8)
    assert np.abs(vc.forward_dynamics(m, found.state, {"hinge": -1.0}, [lift]).a).max() < REST
    with pytest.raises(vc.EquilibriumError):  # too much for the weight: it turns for ever
        vc.equilibrium(m, m.state(), {"hinge": -2.0}, [lift])


def _quick(name):
    """A mechanism; the figure, which takes hundreds of steps, is for the long tests."""
    return pytest.param(name, marks=[pytest.mark.long] if name == "standing figure" else [])


@pytest.mark.parametrize("name", [_quick(name) for name in SUPPORTED])
def test_closed_mechanisms_come_to_rest(name):
    """At rest in the posture nothing accelerates, and the loops are closed."""
    m, s = sprung(name)
    found = vc.equilibrium(m, s)
    assert not found.state.v.any() and found.state.time == s.time
    assert np.abs(vc.forward_dynamics(m, found.state).a).max(initial=0.0) < REST
    assert max((loop.gap for loop in vc.loop_states(m, found.state).values()), default=0.0) < 1e-9


@pytest.mark.parametrize("name", scaled(["five-bar", "stewart", "sarrus", "loop closed by universal"], ["bennett"]))
def test_stiffness_is_that_of_the_potential(name):
    """Along all directions that the loops allow the potential rises by half the stiffness times the way squared."""
    m, s = sprung(name)
    found = vc.equilibrium(m, s)
    base = vc.energy(m, found.state).potential
    mobility = vc.mobility(m, found.state, probe=False)
    W = np.linalg.qr(mobility.W)[0]
    step = 1e-3
    # the trace of the stiffness does not depend on the directions chosen
    rises = []
    for direction in W.T:
        for sign in (1.0, -1.0):
            near = vc.assemble(m, found.state.integrate(sign * step * direction)).state
            rises.append(vc.energy(m, near).potential - base)
    assert sum(rises) / step**2 == pytest.approx(found.stiffness.sum(), rel=1e-3)  # fourth order of the potential
    assert min(rises) > 0.0 and found.stability == "stable"


@compiled_only
def test_stable_postures_come_back():
    """A push of 1 mm/s at a stable posture swings about it, and goes nowhere."""
    m, s = sprung("five-bar")
    found = vc.equilibrium(m, s)
    mobility = vc.mobility(m, found.state, probe=False)
    pushed = found.state.copy()
    pushed.v = 1e-3 * mobility.W[:, 0]
    trace = vc.simulate(m, pushed, 5.0, limits="off")
    assert np.abs(trace.epochs[0].q - found.state.q).max() < 0.01


def test_joints_to_hold():
    """A joint to hold keeps its place, and its torque is what inverse dynamics asks there."""
    m, s = sprung("five-bar")
    found = vc.equilibrium(m, s, hold=["left crank"])
    start = vc.assemble(m, s, hold=["left crank"]).state
    assert found.state["left crank"].q == start["left crank"].q
    tau = {"left crank": found.holding["left crank"][0]}
    assert np.abs(vc.forward_dynamics(m, found.state, tau).a).max() < REST
    assert "left crank" in repr(found)


def test_joints_to_hold_with_torques():
    """The torque of a joint to hold is the whole of it, whatever else was said of it."""
    m = pendulum(stiffness=0.0)
    for tau in (None, {"hinge": 7.0}):
        found = vc.equilibrium(m, m.state(), tau, hold=["hinge"])
        assert found.holding["hinge"] == pytest.approx([-9.81 * 0.5])


def test_nothing_carries_a_floating_link():
    """A free body has no equilibrium under gravity: the error says along what it is pushed."""
    m = vc.Mechanism("free")
    m.add_link("ball", "ground", vc.Free(), inertia=vc.Inertia.sphere(2.0, 0.1))
    with pytest.raises(vc.EquilibriumError, match=r"'ball.vz' -19.6") as caught:
        vc.equilibrium(m, m.state())
    assert caught.value.forces["ball.vz"] == pytest.approx(-2.0 * 9.81)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"hold": "hinge"}, vc.InputError),
        ({"hold": ["knee"]}, vc.UnknownNameError),
        ({"tau": [1.0, 2.0]}, vc.InputError),
        ({"forces": 5}, vc.InputError),
    ],
)
def test_refusals(options, error):
    """What cannot be meant is refused."""
    m = pendulum()
    with pytest.raises(error):
        vc.equilibrium(m, m.state(), **options)
