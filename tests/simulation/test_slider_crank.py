"""The slider-crank of Haug 1992, example 6.1.8, with a spring-damper and a constant force; SUNDIALS' idasSlCrank_dns.

The numbers were computed elsewhere: from its one equation of motion, DOP853 with rtol 1e-13.
"""

import numpy as np
import pytest
from scipy.integrate import simpson

import varichain as vc
from lane import scaled
from varichain.mechanism import Inertia, Mechanism, Prismatic, Revolute

ANGLE = 1e-8
"""Suggested with the numbers, for the crank's angle."""

CRANK = 0.5  # [m]

# Time [s]: crank's angle, slider's place, rod's angle, crank's rate, integral of the kinetic energy [J s].
SAMPLES = {
    0.4: (1.5298775992, 0.88672056069, -0.52311556944, -0.20446186414, 0.0035070820795),
    2.0: (0.57903881205, 1.380335272, -0.27714409574, -0.94218707279, 0.47024370637),
    4.0: (-1.2064316477, 1.0623426558, 0.48609316342, -0.50384520507, 1.7157245479),
    6.0: (-1.1079974931, 1.1175594839, 0.46385963393, 0.57732984383, 1.8548599555),
    8.0: (0.64422553948, 1.3536306145, -0.30499634986, 0.83841833721, 3.0393552425),
    10.0: (1.2756758487, 1.023578559, -0.49881304918, -0.2399149972, 3.3366067995),
}


def spring(t, q, v, tau):
    """Spring-damper between the middles of crank and rod, 1 N/m, 1 N s/m, 1 m long; coordinates are crank, knee, bore.

    With unit vectors e along the crank and f along the rod, the spring spans (e a + f) / 2.
    """
    angle = q[0] + q[1]
    x = 0.5 * (CRANK * np.cos(q[0]) + np.cos(angle))
    y = 0.5 * (CRANK * np.sin(q[0]) + np.sin(angle))
    length = np.sqrt(x * x + y * y)
    by_knee = 0.5 * (y * np.cos(angle) - x * np.sin(angle)) / length
    by_crank = by_knee + 0.5 * CRANK * (y * np.cos(q[0]) - x * np.sin(q[0])) / length
    pull = length - 1.0 + by_crank * v[0] + by_knee * v[1]
    tau[0] -= pull * by_crank
    tau[1] -= pull * by_knee


def slider_crank():
    """The rod's centre is its pin on the slider: half of its mass is given to the slider, which changes nothing."""
    m = Mechanism("slider-crank", gravity=(0, 0, 0))
    m.add_link("crank", joint=Revolute("z", name="crank"), inertia=Inertia(1.0, (0, 0, 0), (0.5, 0.5, 1.0)))
    rod = Inertia(0.5, (1, 0, 0), (1.0, 1.0, 2.0))
    m.add_link("rod", "crank", Revolute("z", name="knee"), at=(CRANK, 0, 0), inertia=rod)
    m.add_link("slider", joint=Prismatic("x", name="bore"), inertia=Inertia.point(0.5))
    m.connect("rod", "slider", Revolute("z"), at=(1, 0, 0), at_other=(0, 0, 0), name="pin")
    s = m.state()
    s.q = (np.pi / 2, -np.pi / 6 - np.pi / 2, np.sqrt(0.75))
    return m, s


@pytest.mark.parametrize("by_element", [True, False])
def test_slider_crank(by_element):
    """Angles, slider and the integral of the kinetic energy are the reference's for 10 s.

    The spring-damper is a force element, or written by hand as generalized forces.
    """
    m, s = slider_crank()
    controller = vc.Compiled(spring)
    if by_element:
        element = vc.SpringDamper(stiffness=1.0, damping=1.0, length=1.0)
        m.connect("rod", "crank", element, at=(0.5, 0, 0), at_other=(CRANK / 2, 0, 0), name="spring")
        s, controller = s.follow(m), None
    samples = {t: row for t, row in SAMPLES.items() if t <= scaled(10.0, 0.4)}
    push = vc.Force("rod", (1, 0, 0), at=(2, 0, 0))
    step = scaled(5e-3, 4e-2)
    trace = vc.simulate(m, s, max(samples), controller=controller, forces=[push], step=step)
    kinetic = trace.epochs[0].energy[:, 0]
    for t, row in samples.items():
        s, n = trace.at(t), round(t / step) + 1
        found = (s["crank"].q, s["bore"].q, s["crank"].q + s["knee"].q, s["crank"].v)
        assert np.abs(np.subtract(found, row[:4])).max() < ANGLE, t
        assert abs(simpson(kinetic[:n], dx=step) - row[4]) < scaled(ANGLE, 1e-6), t  # Simpson's rule is of order four
