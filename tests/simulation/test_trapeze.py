"""The trapeze: a double pendulum that is cut loose, flies, is caught by its other end, then by both, and falls.

Numbers: integrated in maximal coordinates by DOP853 with rtol 1e-12, confirmed by Pinocchio 4.1.0 to 7e-12.
"""

from functools import cache

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from measure import deviation
from motion import slender
from varichain.mechanism import Mechanism, Revolute

STATE = 1e-7
"""Suggested with the numbers, for positions, angles and velocities."""

ENERGY = 1e-6
"""[J]: speeds of 10 m/s times STATE."""

TIP = (-1.8779519951061263, -1.735855169519468)
"""Where the lower link's tip is caught at 0.95 s [m]."""

END = (-3.4657050299457612, -2.876168728511888)
"""Where the upper link's end is caught at 1.4 s [m]."""

LATER = 2e-9
"""[s] after which a second change is one of its own: what is closer than 1e-9 s is one change."""

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


def tip(m, s):
    """Place of the lower link's free end."""
    return vc.pose(m, s, "lower") @ (1, 0, 0)


@cache
def run():
    """The whole story; the tip is caught when it comes to the place where the reference has it at 0.95 s."""
    m, s = trapeze()
    catch = vc.connect("lower", "ground", Revolute("z"), at=(1, 0, 0), name="tip")
    hold = vc.connect("upper", "ground", Revolute("z"), name="end")
    events = [
        vc.at(0.55, vc.cut("bar"), name="let go"),
        vc.when(lambda m, s: tip(m, s)[0] - TIP[0], catch, direction=-1, name="catch"),
        vc.at(1.4, hold, name="hold"),
        vc.at(1.4 + LATER, vc.cut("tip"), vc.cut("end"), name="drop"),
    ]
    return vc.simulate(m, s, 2.0, events=events, method="rk45", tolerance=scaled(1e-11, 1e-8), step=0.01)


@long_run
def test_trapeze():
    """Through cut, flight, catch by the other end, catch by both ends and free fall every number is the reference's."""
    trace = run()
    hanging, flying, caught, still, falling = trace.epochs
    assert [epoch.event["names"] for epoch in trace.epochs[:-1]] == [["let go"], ["catch"], ["hold"], ["drop"]]
    times = [epoch.event["time"] for epoch in trace.epochs[:-1]]
    assert times == pytest.approx([0.55, 0.95, 1.4, 1.4 + LATER], abs=1e-9)  # as well as events are located
    for t in (0.22, 0.44, 0.75, 1.13, 1.31, 2.0):
        epoch = next(epoch for epoch in trace.epochs if epoch.start <= t <= epoch.end)
        compare(epoch.mechanism, trace.at(t), t)
    for epoch, i, key in (
        (hanging, -1, 0.55),
        (flying, 0, 0.55),
        (flying, -1, 0.95),
        (caught, 0, "0.95 caught"),
        (caught, -1, 1.4),
        (still, 0, "1.4 stopped"),
        (still, -1, "1.4 stopped"),
        (falling, 0, "1.4 stopped"),
    ):
        compare(epoch.mechanism, epoch.state(i), key)

    assert hanging.energy.sum(axis=1) == pytest.approx(-6.951484506355481, abs=STATE)
    assert deviation(flying.momentum[0, 3:], (-4.994093116859337, -0.7809030330499463, 0), 1.0) < STATE
    about_origin = vc.momentum(flying.mechanism, flying.state(0), about=(0, 0, 0)).angular
    assert deviation(about_origin, (0, 0, -7.687999201450418), 1.0) < STATE
    last = flying.state(-1)
    assert deviation(tip(flying.mechanism, last)[:2], TIP, 1.0) < STATE
    assert (
        deviation(
            vc.velocity(flying.mechanism, last, "lower", (1, 0, 0))[3:],
            (-2.293939882681654, -1.1886730471134668, 0),
            1.0,
        )
        < STATE
    )
    assert deviation(vc.pose(still.mechanism, still.state(0), "upper").p[:2], END, 1.0) < STATE


def test_energy_of_the_catches():
    """Each catch takes the energy that the reference loses, the cuts none."""
    epochs = run().epochs
    _, flying, caught, still, _ = epochs
    assert flying.energy[-1, 0] == pytest.approx(31.014331325024983, abs=ENERGY)
    assert caught.energy[0, 0] == pytest.approx(28.27204818865291, abs=ENERGY)
    assert caught.energy[-1, 0] == pytest.approx(33.86592020138125, abs=ENERGY)
    assert still.energy[:, 0].max() < 1e-20
    lost = [epoch.event["energy_lost"] for epoch in epochs[:-1]]
    assert lost == pytest.approx([0.0, 31.014331325024983 - 28.27204818865291, 33.86592020138125, 0.0], abs=ENERGY)
    freedoms = [vc.mobility(epoch.mechanism, epoch.state(0), probe=False).n_independent for epoch in epochs]
    assert freedoms == [2, 7, 2, 0, 7]
