"""Compiled forces that see how links move: the same as force elements and closed forms, at every stage of a step."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import scaled

ROD = vc.Inertia.box(1.0, (0.05, 0.05, 0.5), com=(0, 0, -0.25))
STIFFNESS, DAMPING, LENGTH = 60.0, 1.5, 0.3


def rods():
    """Two rods that hang beside each other from balls, turned and moving."""
    m = vc.Mechanism("rods")
    m.add_link("left", joint=vc.Spherical(), inertia=ROD)
    m.add_link("right", joint=vc.Spherical(), at=(0.4, 0, 0), inertia=ROD)
    s = m.state()
    s["left"].q, s["left"].v, s["right"].v = (0.98, 0.1, 0.15, 0.05), (0.4, -0.2, 0.7), (0.1, 0.9, 0)
    return m, s


def spring(t, links):
    """A spring and damper between the lower ends of two rods, 0.5 m below their origins."""
    arms, ends, rates = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
    for i in range(2):
        w, v = links[i].V[:3], links[i].V[3:]
        for k in range(3):
            arms[i, k] = -0.5 * links[i].R[k, 2]
            ends[i, k] = links[i].p[k] + arms[i, k]
        rates[i, 0] = v[0] + w[1] * arms[i, 2] - w[2] * arms[i, 1]
        rates[i, 1] = v[1] + w[2] * arms[i, 0] - w[0] * arms[i, 2]
        rates[i, 2] = v[2] + w[0] * arms[i, 1] - w[1] * arms[i, 0]
    line = ends[0] - ends[1]
    length = math.sqrt(line[0] ** 2 + line[1] ** 2 + line[2] ** 2)
    rate = ((rates[0] - rates[1]) * line).sum() / length
    pull = (STIFFNESS * (length - LENGTH) + DAMPING * rate) / length
    for i in range(2):
        x, y, z = (2 * i - 1) * pull * line[0], (2 * i - 1) * pull * line[1], (2 * i - 1) * pull * line[2]
        links[i].wrench[0] = arms[i, 1] * z - arms[i, 2] * y
        links[i].wrench[1] = arms[i, 2] * x - arms[i, 0] * z
        links[i].wrench[2] = arms[i, 0] * y - arms[i, 1] * x
        links[i].wrench[3] = x
        links[i].wrench[4] = y
        links[i].wrench[5] = z


def drag(t, links):
    """Drag against the velocity of each link's origin."""
    for i in range(len(links)):
        for k in range(3):
            links[i].wrench[3 + k] = -0.5 * links[i].V[3 + k]


def test_spring_between_links_is_the_force_element():
    """A function that pulls two links together moves them as `vc.SpringDamper` does, to rounding."""
    m, s = rods()
    tied = m.copy()
    at = {"at": (0, 0, -0.5), "at_other": (0, 0, -0.5)}
    tied.connect("left", "right", vc.SpringDamper(stiffness=STIFFNESS, damping=DAMPING, length=LENGTH), state=s, **at)
    pulled = vc.LinkForces(spring, ["left", "right"])
    wanted = vc.forward_dynamics(tied, s)
    assert vc.forward_dynamics(m, s, forces=[pulled]).a == pytest.approx(wanted.a, rel=1e-12)
    until = scaled(0.5, 0.02)
    found = vc.simulate(m, s, until, forces=pulled, method="rk4")
    assert found.final.q == pytest.approx(vc.simulate(tied, s, until, method="rk4").final.q, abs=1e-12)
    assert found.energy_error < 1e-8


def test_drag_has_its_closed_form():
    """A ball that falls against drag: v = m g / c (1 - exp(-c t / m))."""
    m = vc.Mechanism("ball")
    m.add_link("ball", joint=vc.Free(), inertia=vc.Inertia.sphere(0.2, 0.05))
    until = scaled(1.0, 0.05)
    end = vc.simulate(m, m.state(), until, forces=[vc.LinkForces(drag, "ball")]).final
    assert vc.velocity(m, end, "ball")[5] == pytest.approx(-0.2 * 9.81 / 0.5 * (1 - math.exp(-2.5 * until)), rel=1e-8)


def test_python_functions_are_of_first_order():
    """A Python function is a zero-order hold between control ticks: its error halves with the tick."""
    m = vc.Mechanism("ball")
    m.add_link("ball", joint=vc.Free(), inertia=vc.Inertia.sphere(0.2, 0.05))
    exact = vc.simulate(m, m.state(), 0.08, forces=[vc.LinkForces(drag, "ball")]).final

    def asked(m, s):
        return vc.Force("ball", -0.5 * vc.velocity(m, s, "ball")[3:])

    off = []
    for tick in (4e-3, 2e-3):
        end = vc.simulate(m, m.state(), 0.08, forces=asked, control_step=tick).final
        off.append(np.abs(end.v - exact.v).max())
    assert off[0] / off[1] == pytest.approx(2.0, rel=0.05)


def test_forces_stay_on_their_links_through_a_cut():
    """Links are found by name in every structure: after a cut the function sees them still."""
    m, s = rods()
    m.add_link("tail", "left", vc.Revolute("y"), at=(0, 0, -0.5), inertia=ROD)
    s = m.state()
    trace = vc.simulate(m, s, 0.02, events=vc.at(0.01, vc.cut("left")), forces=[vc.LinkForces(drag, ["tail"])])
    after = trace.epochs[-1]
    V = vc.velocity(after.mechanism, after.state(0), "tail")
    same = vc.forward_dynamics(after.mechanism, after.state(0), forces=[vc.Force("tail", -0.5 * V[3:])])
    assert after.a[0] == pytest.approx(same.a, abs=1e-9)


def test_refusals():
    """No function, no links, links that are not there, what Numba cannot compile, derivatives."""
    m, s = rods()
    with pytest.raises(vc.InputError, match="function of time and links"):
        vc.LinkForces(3, "left")
    with pytest.raises(vc.InputError, match="at least one link"):
        vc.LinkForces(drag, [])
    with pytest.raises(vc.UnknownNameError, match="hand"):
        vc.simulate(m, s, 0.1, forces=vc.LinkForces(drag, "hand"))
    with pytest.raises(vc.InputError, match="no derivatives"):
        vc.inverse_dynamics_derivatives(m, s, forces=[vc.LinkForces(drag, "left")])
    with pytest.raises(vc.ControllerError, match="act by themselves"):
        vc.simulate(m, s, 0.1, forces=lambda m, s: vc.LinkForces(drag, "left"))
