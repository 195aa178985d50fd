"""Problems of the IFToMM library of multibody benchmarks: a pendulum, rows of four-bars, a stiff governor.

The numbers were computed elsewhere: the pendulum by Jacobi's elliptic functions with 40 digits, the four-bars from
their one equation of motion (DOP853, rtol 1e-13), the governor from Lagrange's equations (Radau, rtol 1e-10).
"""

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from motion import slender
from varichain.mechanism import Inertia, Mechanism, Prismatic, Revolute

PENDULUM = 1e-6
"""Suggested with the numbers, for 10 s; at 100 s these runs still keep it."""

ENERGY = 1e-9
"""Suggested with the numbers, relative."""

FOUR_BAR = 1e-5
"""Suggested with the numbers, for 10 s."""

GOVERNOR = 1e-5
"""Suggested with the numbers for implicit methods, of the slider's height; the benchmark itself asks for 1e-4."""

# Time [s]: x, y of the bob, and their rates.
POSITIONS = {
    0.5: (-0.39104879155, -0.92036994879, 3.911048004, -1.6617346075),
    1: (0.98629175113, -0.16501085313, 0.29690551592, 1.7746436411),
    1.5: (0.88413236028, -0.46723652415, -1.4146684834, -2.6769186924),
    2: (-0.79356619534, -0.60848393044, -2.1024378744, 2.741935393),
    3: (0.17665178992, -0.98427340974, 4.3253686745, 0.77629255334),
    4: (0.57756362825, -0.81634567147, -3.2670865746, -2.3114600123),
    5: (-0.94230543504, -0.33475433841, 0.85790425689, -2.4149286544),
    7.5: (-0.72745872131, -0.68615144742, 2.5175579567, -2.6691184561),
    10: (-0.27508746258, -0.9614192051, 4.175598101, -1.1947490546),
    20: (0.99690717399, -0.078588080809, 0.097585327977, 1.2378914529),
    50: (-0.93229099869, -0.36170912867, 0.96358206002, -2.483594717),
    100: (-0.18151335143, -0.98338848033, 4.3195367805, -0.79729792786),
}

# Number of four-bars; time [s]: x, y of the first corner, their rates, angle of the rods.
CORNERS = {
    1: {
        0.25: (0.27797761349, 0.9605875527, 1.333773883, -0.38597135671, 1.2891082249),
        1: (-0.26071267518, -0.96541643916, -6.6378094961, 1.7925539704, -1.8345566611),
        2: (0.077085471792, 0.99702448818, 1.0313568727, -0.079739898127, -4.7895509995),
        5: (-0.94490818604, -0.32733548533, -1.8589308913, 5.3661124297, -15.374480941),
        10: (0.47838505775, 0.8781501788, 1.7272640755, -0.94095217934, -30.343944971),
    },
    2: {
        0.25: (0.27710225606, 0.96084043404, 1.3231587285, -0.38159329666, 1.2900193779),
        1: (-0.19502030195, -0.98079920566, -6.6766780369, 1.3275783252, -1.7670744763),
        2: (0.057815795768, 0.99832726786, 1.0172601366, -0.058912248713, -4.7702370345),
        5: (-0.811310461, -0.58461554536, -3.5691173973, 4.9531051713, -15.08355716),
        10: (0.32845811153, 0.94451853818, 1.4230514702, -0.49486884547, -30.17980086),
    },
    40: {
        0.25: (0.27607114759, 0.96113720221, 1.3106666444, -0.37646783808, 1.2910923439),
        1: (-0.11535688063, -0.9933241113, -6.6699875239, 0.77460009866, -1.6864105981),
        5: (-0.54019005067, -0.84154305247, -5.4363691126, 3.4896283652, -14.70782987),
        10: (0.18051222668, 0.98357274058, 1.1484412775, -0.21077006677, -30.026637417),
        20: (0.41090115373, 0.91167990098, 1.5667853719, -0.70616223551, -61.684499041),
    },
}

# Time [s]: turn of the shaft, height of the slider, angle of the rods below the horizontal, and their rates.
GOVERNED = {
    0.01: (0.062825150508, 0.50023238366, 0.52330745479, 6.2811904162, 0.048226327552, -0.057785733056),
    0.1: (0.6221066814, 0.52383647557, 0.49617386908, 6.1037178088, 0.45927181044, -0.52267392975),
    0.5: (2.8076794884, 0.74324942479, 0.25949138154, 5.103415422, 0.052119780159, -0.053905218499),
    1: (5.5863469659, 0.50142092238, 0.52183330163, 6.2711257419, -0.1221514929, 0.14088557948),
    2: (11.173267076, 0.5059092943, 0.51666379736, 6.2362236144, -0.24078314698, 0.27692618857),
    5: (27.942531991, 0.53556310372, 0.48287457659, 6.0224964998, -0.54368269028, 0.61391704739),
    10: (55.935409909, 0.61962291706, 0.39007370184, 5.5482036227, -0.74760335417, 0.80846705134),
}


def up_to(samples, last):
    """Samples until a time."""
    return {t: row for t, row in samples.items() if t <= last}


def test_simple_pendulum():
    """A point mass on a massless rod is where elliptic functions put it, for 100 s, and keeps its energy."""
    m = Mechanism("A01", gravity=(0, -9.81, 0))
    m.add_link("bob", joint=Revolute("z"), inertia=Inertia.point(1.0, (-1, 0, 0)))
    expected = up_to(POSITIONS, scaled(100.0, 0.5))
    trace = vc.simulate(m, m.state(), max(expected), step=scaled(1e-3, 5e-3), sample=0.5)
    for t, row in expected.items():
        s = trace.at(t)
        found = [*(vc.pose(m, s, "bob") @ (-1, 0, 0))[:2], *vc.velocity(m, s, "bob", (-1, 0, 0))[3:5]]
        assert np.abs(np.subtract(found, row)).max() < PENDULUM, t
    energy = trace.epochs[0].energy[trace.time <= 10.0].sum(axis=1)
    assert np.abs(energy).max() < ENERGY * 9.81  # at the start it is zero: relative to the lowest potential energy


def four_bars(n):
    """Upright rods on the ground, couplers between their tops, all moving at 1 m/s to the right."""
    m = Mechanism(f"A02 of {n}", gravity=(0, -9.81, 0))
    rod = slender(1.0, 1.0, com=(0.5, 0, 0))
    for i in range(n + 1):
        m.add_link(f"rod {i}", joint=Revolute("z"), at=(i, 0, 0), inertia=rod)
    for i in range(n):
        m.add_link(f"coupler {i}", f"rod {i}", Revolute("z"), at=(1, 0, 0), inertia=rod)
        m.connect(f"coupler {i}", f"rod {i + 1}", Revolute("z"), at=(1, 0, 0), at_other=(1, 0, 0), name=f"pin {i}")
    s = m.state()
    s.q, s.v = [np.pi / 2] * (n + 1) + [-np.pi / 2] * n, [-1.0] * (n + 1) + [1.0] * n
    return m, s


@pytest.mark.parametrize("n", scaled((1, 2, 40), (1,)))
def test_four_bars(n):
    """A row of four-bars keeps its branch through the singular configuration, twice a turn."""
    m, s = four_bars(n)
    expected = up_to(CORNERS[n], scaled(20.0, 0.25))
    trace = vc.simulate(m, s, max(expected), step=scaled(2.5e-3, 1.25e-2), sample=0.25)
    for t, row in expected.items():
        s = trace.at(t)
        corner = vc.pose(m, s, "rod 0") @ (1, 0, 0)
        found = [*corner[:2], *vc.velocity(m, s, "rod 0", (1, 0, 0))[3:5], s.q[0]]
        assert np.abs(np.subtract(found, row)).max() < FOUR_BAR, t
    assert trace.epochs[0].closure.max() < 1e-10


K, C, REST = 8e5, 4e4, 0.5
"""Spring and damper between each rod's middle and the slider [N/m, N s/m, m]."""


def springs(t, q, v, tau):
    """Forces of both spring-dampers on slider and rods; coordinates are shaft, slider, rods."""
    for k in (2, 3):
        x, z = 0.5 * np.cos(q[k]), 1.0 - 0.5 * np.sin(q[k]) - q[1]
        length = np.sqrt(x * x + z * z)
        by_angle = (-x * np.sin(q[k]) - z * np.cos(q[k])) * 0.5 / length
        by_height = -z / length
        pull = K * (length - REST) + C * (by_angle * v[k] + by_height * v[1])
        tau[k] -= pull * by_angle
        tau[1] -= pull * by_height


def governor():
    """Shaft with a slider and two rods that carry weights; angles of the rods grow downward."""
    m = Mechanism("A05")
    m.add_link("shaft", joint=Revolute("z"), inertia=Inertia.box(0.3, (0.01, 0.01, 1), com=(0, 0, 0.5)))
    m.add_link("slider", "shaft", Prismatic("z"), inertia=Inertia.box(3.0, (0.1, 0.1, 0.1)))
    for side, axis in ((1, "y"), (-1, "-y")):
        rod = Inertia.box(0.3, (1, 0.01, 0.01), com=(0.5 * side, 0, 0)) + Inertia.point(5.0, (side, 0, 0))
        m.add_link(f"rod {side}", "shaft", Revolute(axis), at=(0.05 * side, 0, 1), inertia=rod)
    s = m.state()
    s.q, s.v = (0, 0.5, np.pi / 6, np.pi / 6), (2 * np.pi, 0, 0, 0)
    return m, s


@pytest.mark.parametrize("by_element", [True, False])
def test_flyball_governor(by_element):
    """The governor follows the reference while its springs damp at 1e4 per second; both rods move alike.

    The spring-dampers are force elements, or written by hand as generalized forces.
    """
    m, s = governor()
    controller = vc.Compiled(springs)
    if by_element:
        element, controller = vc.SpringDamper(stiffness=K, damping=C, length=REST), None
        for side in (1, -1):
            ends = {"at": (0.5 * side, 0, 0), "at_other": (0.05 * side, 0, 0)}
            m.connect(f"rod {side}", "slider", element, **ends, name=f"spring {side}")
        s = s.follow(m)
    expected = up_to(GOVERNED, scaled(10.0, 0.01))
    trace = vc.simulate(m, s, max(expected), controller=controller, step=scaled(1e-4, 2e-4), sample=0.01)
    for t, row in expected.items():
        s = trace.at(t)
        assert np.abs(s.q[:3] - row[:3]).max() < GOVERNOR, t
        assert np.abs(s.v[:3] - row[3:]).max() < 10 * GOVERNOR, t  # the slider turns round at some 10 rad/s
        assert abs(s.q[3] - s.q[2]) < GOVERNOR, t
