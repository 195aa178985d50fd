"""Andrews' squeezing mechanism: seven bodies in a plane, three loops at one point, a stiff spring, a motor, 0.03 s.

Data, start and end are those of the IVP test set [Mazzia 2008], where they are written as seven equations
with six multipliers. Integrated from these equations (DOP853, rtol 1e-13), the crank ends 4.5e-9 rad from the published
angle, as it does here; the two integrations differ by less than 1e-11.
"""

import numpy as np

import varichain as vc
from lane import scaled
from varichain.mechanism import Inertia, Mechanism, Revolute

PUBLISHED = 1e-8
"""[rad] Of the published angles: what is left of them where two derivations agree."""

START = {
    "beta": -0.0617138900142764496358948458001,
    "Theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "Omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}
END = {
    "beta": 0.1581077119962904e2,
    "Theta": -0.1575637105984298e2,
    "gamma": 0.4082224013073101e-1,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "Omega": 0.5347301163226948,
    "epsilon": 0.1048080741042263e1,
}


def flat(mass, about_com, x, y=0.0):
    """Inertia of a body that moves in the plane, where one moment says all."""
    return Inertia(mass, (x, y, 0), (about_com,) * 3)


def squeezer():
    """The mechanism in its published start, with the letters of the test set as names of the joints."""
    rr, d, e, zf, zt, u, ss = 7e-3, 28e-3, 2e-2, 2e-2, 4e-2, 4e-2, 35e-3
    m = Mechanism("Andrews", gravity=(0, 0, 0))
    A, B, C = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0)
    m.add_link("crank", joint=Revolute("z", name="beta"), inertia=flat(0.04325, 2.194e-6, 92e-5))
    m.add_link("rod", "crank", Revolute("z", name="Theta"), (rr, 0, 0), flat(0.00365, 4.41e-7, -115e-4))
    m.add_link("arm", "ground", Revolute("z", name="gamma"), B, flat(0.02373, 5.255e-6, 1874e-5, 1043e-5))
    m.add_link("lower", "ground", Revolute("z", name="delta"), A, flat(0.07050, 1.169e-5, 2308e-5, 916e-5))
    m.add_link("lower rod", "lower", Revolute("z", name="phi"), (zt, 0, 0), flat(0.00706, 5.667e-7, 0, 1421e-5 - e))
    m.add_link("upper", "ground", Revolute("z", name="epsilon"), A, flat(0.05498, 1.912e-5, 1228e-5, 449e-5))
    m.add_link("upper rod", "upper", Revolute("z", name="Omega"), (0, -u, 0), flat(0.00706, 5.667e-7, zf - 1421e-5))
    for link, place in {"arm": (0, -ss, 0), "lower rod": (0, -e, 0), "upper rod": (zf, 0, 0)}.items():
        m.connect("rod", link, Revolute("z"), at=(-d, 0, 0), at_other=place, name=f"{link} pin")
    spring = vc.SpringDamper(stiffness=4530.0, length=0.07785)
    m.connect("arm", "ground", spring, at=(2e-2, -18e-3, 0), at_other=C, name="spring")
    s = m.state()
    for joint, angle in START.items():
        s[joint].q = angle
    return m, s


def motor(t, q, v, tau):
    """A constant moment on the crank [N m]."""
    tau[0] = 0.033


def test_the_start_is_closed_and_has_one_freedom():
    """The published start closes all loops; of 15 rows in space nine are redundant, as the linkage is planar."""
    m, s = squeezer()
    assert np.abs(vc.project(m, s).q - s.q).max() < 1e-15
    mobility = vc.mobility(m, s)
    assert mobility.n_independent == 1
    assert mobility.rank == 15  # all joint freedoms, 7 in the tree, 3 pins and the 6 of the spring, but one


def test_the_end_is_the_published_one():
    """All angles after 0.03 s, in which the crank turns two and a half times, are those of the test set."""
    m, s = squeezer()
    until, step = scaled((0.03, 1e-5), (5e-4, 1e-5))
    trace = vc.simulate(m, s, until, controller=vc.Compiled(motor), step=step, sample=until)
    assert trace.epochs[0].closure.max() < 1e-13
    done = 0.033 * (trace.final["beta"].q - START["beta"])
    gained = np.diff(trace.epochs[0].energy.sum(axis=1))[0]
    assert abs(gained - done) < 1e-8 * max(done, 1e-3)
    for joint, angle in scaled(END, {}).items():
        assert abs(trace.final[joint].q - angle) < PUBLISHED, joint
