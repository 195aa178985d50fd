"""The trapeze: a double pendulum that is cut loose, flies, is caught by its other end, then by both, and falls.

Numbers: integrated in maximal coordinates by DOP853 with rtol 1e-12, confirmed by Pinocchio 4.1.0 to 7e-12.
"""

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from measure import deviation
from motion import Stepper, kinetic, slender
from varichain.mechanism import Mechanism, Revolute

STATE = 1e-7
"""Suggested with the numbers, for positions, angles and velocities."""

STEP = scaled(5e-4, 1.5e-3)
"""[s]: errors of order four, some 1e-10 at 0.5 ms and 1e-8 at 1.5 ms after 1.4 s."""

UPRIGHT_Z = Revolute("z")

# Time [s], then per link x, y, angle of its centre, then per link their rates; at an event before and after.
SAMPLES = {
    0.22: (0.37896841693170236, -0.32616397558326304, -0.7106518242405415, 1.2077959463201975, -0.8705635553643442,
           -0.45167281739125514, -0.9675840208432279, -1.124231405297433, -2.966556987518149, -1.7534075951075545,
           -1.8737916221868636, 0.8328633966350695),
    0.44: (0.10461428179153662, -0.48893338201153863, -1.3600103309774738, 0.5791368441771272, -1.3142710802081559,
           -0.7379986556797471, -1.1937778765483165, -0.2554258305291593, -2.441596177452544, -3.7516764294357117,
           -2.010831030020315, -4.055003490468247),
    0.55: (0.008533941171912817, -0.49992716654336194, -1.5537276156608675, 0.12427672368161573, -1.4882253645157066,
           -1.3547007193250784, -0.5193255107318724, -0.008865078063876259, -1.038802340594203, -4.474767606127465,
           -0.7720379549860701, -7.035873062760454),
    0.75: (-0.12859280141779622, -0.9205376727779911, -1.8985149943638373, -0.7374151571005421, -1.6161954648910661,
           -2.680935948649459, -1.0759685350630455, -3.8855649666962377, -3.3555882012703235, -3.91812458179629,
           -0.8193380663537065, -5.640282577316698),
    0.95: (-0.45569154483217233, -1.9604464352337894, -2.8929732708532288, -1.409135037058033, -1.909667309045257,
           2.786556484262048, -2.3057728845135657, -6.376482676065514, -6.314790448695404, -2.6883202323457707,
           -2.2524203569844303, -2.269003481230386),
    "0.95 caught": (-0.45569154483217233, -1.9604464352337894, -2.8929732708532288, -1.409135037058033,
                    -1.909667309045257, 2.786556484262048, -1.4202646674616406, -6.644878242650192,
                    -3.446570158678473, -0.9221532898810596, -2.4872894459246635, -5.305459632434001),
    1.13: (-1.2082121293025687, -3.0756290135597215, 1.958551631764346, -1.6376098922736986, -2.174302057529962,
           2.0722311330872625, -7.65143285144571, -3.4795608823118, -11.049829044007815, -1.26834361597706,
           -0.69526407898855, -2.892810168484313),
    1.31: (-2.672796495161827, -3.0052238918650613, 0.9328295099873029, -2.1264833950041293, -2.169712453963027,
           1.0505858302237463, -6.826564584321142, 3.9243632063919263, -0.20421138939832773, -3.3722711157928886,
           1.9317763958222487, -7.772765922595896),
    1.4: (-3.1304196229022168, -2.505245965899987, 0.8358183552535968, -2.336543105482399, -1.9350891864037771,
          0.409845942341948, -3.5359725381774436, 6.521898381130893, -3.1188431567833597, -1.1895613091550687,
          2.738097891901905, -5.970673722077393),
    "1.4 stopped": (-3.1304196229022168, -2.505245965899987, 0.8358183552535968, -2.336543105482399,
                    -1.9350891864037771, 0.409845942341948, 0, 0, 0, 0, 0, 0),
    2.0: (-3.130419622902211, -4.271045965899998, 0.8358183552535792, -2.33654310548239, -3.700889186403788,
          0.4098459423419608, 0, -5.886, 0, 0, -5.886, 0),
}  # fmt: skip


def trapeze():
    """Two rods of 1 m and 1 kg in the plane of x and y; the upper one on the ground, angles as at the start."""
    m = Mechanism("trapeze", gravity=(0, -9.81, 0))
    rod = slender(1.0, 1.0, com=(0.5, 0, 0))
    m.add_link("upper", joint=Revolute("z", name="bar"), inertia=rod)
    m.add_link("lower", "upper", Revolute("z", name="elbow"), at=(1, 0, 0), inertia=rod)
    s = m.state()
    s.q, s.v = (-0.3, -0.3), (-0.5, 0.5)
    return m, s


def sample(m, s):
    """Centres and angles of both links, then their rates, as in SAMPLES."""
    where, rates = [], []
    for link in ("upper", "lower"):
        X, V = vc.pose(m, s, link), vc.velocity(m, s, link, (0.5, 0, 0))
        assert max(abs(X.p[2]), np.abs(X.R[2, :2]).max(), np.abs(V[[0, 1, 5]]).max()) < 1e-9  # nothing leaves the plane
        where += [*(X @ (0.5, 0, 0))[:2], np.arctan2(X.R[1, 0], X.R[0, 0])]
        rates += [*V[3:5], V[2]]
    return np.array(where + rates)


def compare(m, s, key):
    """The state is the sample's; angles but for whole turns."""
    difference = sample(m, s) - SAMPLES[key]
    difference[[2, 5]] = (difference[[2, 5]] + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(difference).max() < STATE, key


def run_to(m, s, times):
    """Integrate to each of the times, which are samples."""
    stepper = Stepper(m, s)
    for time in times:
        stepper.run(time - s.time, STEP)
        compare(m, s, time)


def test_trapeze():
    """Through cut, flight, catch by the other end, catch by both ends and free fall every number is the reference's."""
    m, s = trapeze()
    run_to(m, s, (0.22, 0.44, 0.55))

    assert vc.energy(m, s).total == pytest.approx(-6.951484506355481, abs=STATE)
    m.cut("bar", state=s)
    compare(m, s, 0.55)
    h = vc.momentum(m, s, about=(0, 0, 0))
    assert deviation(h.linear, (-4.994093116859337, -0.7809030330499463, 0), 1.0) < STATE
    assert deviation(h.angular, (0, 0, -7.687999201450418), 1.0) < STATE
    run_to(m, s, (0.75, 0.95))

    assert deviation((vc.pose(m, s, "lower") @ (1, 0, 0))[:2], (-1.8779519951061263, -1.735855169519468), 1.0) < STATE
    tip = vc.velocity(m, s, "lower", (1, 0, 0))[3:]
    assert deviation(tip, (-2.293939882681654, -1.1886730471134668, 0), 1.0) < STATE
    catch = vc.change(m, s, [vc.connect("lower", "ground", UPRIGHT_Z, at=(1, 0, 0), name="tip")])
    compare(m, s, "0.95 caught")
    assert catch.impact.energy_before == pytest.approx(31.014331325024983, abs=1e-6)  # speeds of 10 m/s times STATE
    assert catch.impact.energy_after == pytest.approx(28.27204818865291, abs=1e-6)
    assert catch.energy_lost == pytest.approx(-tip @ catch.impact.impulses["tip"][3:] / 2, rel=1e-12)
    assert catch.freedoms() == (7, 2)
    run_to(m, s, (1.13, 1.31, 1.4))

    assert deviation(vc.pose(m, s, "upper").p[:2], (-3.4657050299457612, -2.876168728511888), 1.0) < STATE
    stop = vc.change(m, s, [vc.connect("upper", "ground", UPRIGHT_Z, name="end")])
    compare(m, s, "1.4 stopped")
    assert stop.impact.energy_before == pytest.approx(33.86592020138125, abs=1e-6)
    assert kinetic(m, s) < 1e-20
    assert stop.freedoms() == (2, 0)

    fall = vc.change(m, s, [vc.cut("tip"), vc.cut("end")])
    assert fall.freedoms() == (0, 7)
    compare(m, s, "1.4 stopped")
    run_to(m, s, (2.0,))
    assert [[edit.kind for edit in entry.edits] for entry in m.log] == [
        ["cut tree"],
        ["connect"],
        ["connect"],
        ["cut", "cut"],
    ]
    assert [entry.time for entry in m.log] == pytest.approx([0.55, 0.95, 1.4, 1.4], abs=1e-12)
