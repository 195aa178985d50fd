"""Two examples of the Modelica Standard Library's MultiBody package, both with a damper: a double pendulum, a four-bar.

The numbers were computed elsewhere: DOP853 with rtol 1e-13 in minimal coordinates, confirmed in maximal ones.
"""

import numpy as np

import varichain as vc
from lane import scaled
from varichain.mechanism import Inertia, Mechanism, Revolute

ANGLES = 1e-6
"""Suggested with the numbers [rad]."""

GRAVITY = (0, -9.80665, 0)

# Time [s]: both angles, the second against the first, and their rates.
DOUBLE_PENDULUM = {
    0.06: (-0.045170996278, 0.059886420017, -1.5025481305, 1.9862224763),
    0.54: (-1.7150242082, -0.59970472737, -5.6760258872, 0.9904829464),
    1.02: (-2.8545255265, -0.65825049659, 3.1649765556, -7.0344272805),
    1.5: (-1.4888528008, 1.3645735764, 4.2580905497, 4.8439338367),
    1.98: (0.0080724382116, -0.88267114625, -1.9179004214, -1.4915320114),
    2.52: (-2.2581960277, -1.0913540096, -2.82357406, -4.6473789757),
    3.0: (-2.3179156754, -1.736534573, 4.0941647322, -0.050394531661),
}

# Time [s]: angle of the crank and its rate.
FOUR_BAR = {
    0.1: (-0.13550916857, -2.7223383121),
    0.5: (-3.2945512351, -4.8873620576),
    1.0: (-1.8210908964, 12.455705724),
    2.0: (-3.6244711851, 0.019803028689),
    3.0: (-1.9366280255, -12.33512809),
    4.0: (-0.16879354143, -1.2908486845),
    5.0: (-0.94016529677, 6.9960468568),
}


def compare(trace, joints, samples):
    """Angles are those of the samples; rates too, which are ten times as large."""
    n = len(joints)
    for t, row in samples.items():
        s = trace.at(t)
        assert np.abs([s[name].q - row[i] for i, name in enumerate(joints)]).max() < ANGLES, t
        assert np.abs([s[name].v - row[n + i] for i, name in enumerate(joints)]).max() < 10 * ANGLES, t


def up_to(samples, last):
    """Samples until a time."""
    return {t: row for t, row in samples.items() if t <= last}


def test_double_pendulum():
    """Two steel boxes, let go from the horizontal, move as the reference."""
    m = Mechanism("Elementary.DoublePendulum", gravity=GRAVITY)
    box = Inertia(13.86, (0.25, 0, 0), (0.008316, 0.292908, 0.292908))
    m.add_link("box 1", joint=Revolute("z", name="revolute 1", damping=0.1), inertia=box)
    m.add_link("box 2", "box 1", Revolute("z", name="revolute 2"), at=(0.5, 0, 0), inertia=box)
    samples = up_to(DOUBLE_PENDULUM, scaled(3.0, 0.06))
    trace = vc.simulate(m, m.state(), max(samples), step=scaled(5e-4, 4e-3), sample=0.02)
    compare(trace, ["revolute 1", "revolute 2"], samples)


def four_bar():
    """Three boxes in a plane; frames of all bodies are at their hinges, in world axes at the start."""
    m = Mechanism("Loops.PlanarFourbar", gravity=GRAVITY)
    first = Inertia(7.7, (0.2, 0, 0), (0.003208333333333334, 0.10427083333333335, 0.10427083333333335))
    c, d = -0.1945052049444398, -0.06817705606085829
    second = Inertia(
        21.26231995808548,
        (0.05, 0.55, 0),
        [[2.1484165543713734, c, 0], [c, 0.026541591341121055, 0], [0, 0, 2.1660988457299584]],
    )
    fourth = Inertia(
        12.659710946542186,
        (0.325, 0.05, 0),
        [[0.015763657416575913, d, 0], [d, 0.4484257439566377, 0], [0, 0, 0.45891452181215436]],
    )
    m.add_link("body 1", joint=Revolute("z", name="j1", damping=0.1), inertia=first)
    m.add_link("body 2", "body 1", Revolute("z", name="j2"), at=(0.4, 0, 0), inertia=second)
    m.add_link("body 4", joint=Revolute("z", name="j4"), at=(-0.15, 1.0, 0), inertia=fourth)
    m.connect("body 2", "body 4", Revolute("z"), at=(0.1, 1.1, 0), at_other=(0.65, 0.1, 0), name="j3")
    return m


def test_planar_four_bar():
    """Three steel boxes in a loop of hinges, of which three rows are redundant, move as the reference."""
    m = four_bar()
    samples = up_to(FOUR_BAR, scaled(5.0, 0.1))
    trace = vc.simulate(m, m.state(), max(samples), step=scaled(1e-3, 5e-3), sample=0.1)
    compare(trace, ["j1"], samples)
    assert trace.epochs[0].closure.max() < 1e-10
