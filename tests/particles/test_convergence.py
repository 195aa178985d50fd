"""As stiffness grows, the motion of particles converges to the rigid engine's, of order 1 in 1 / k."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import long_run
from particles.zoo_of_particles import rods
from varichain.scenarios import SCENARIOS
from varichain.scene import link_poses

pytestmark = long_run


def places(trace, times):
    """Origins of all links, and the ends of unit axes over two [m], at these times: one row each."""
    found = []
    for t in times:
        epoch = [epoch for epoch in trace.epochs if epoch.start - 1e-12 <= t <= epoch.end + 1e-12][-1]
        i = int(np.abs(epoch.time - t).argmin())
        assert abs(epoch.time[i] - t) < 1e-9
        poses = link_poses(epoch.mechanism, epoch.q[i])
        found.append(np.concatenate([poses.p.ravel(), 0.5 * poses.R.ravel()]))
    return np.array(found)


def errors(m, s, until, stiffnesses, events=()):
    """Largest error at ten times for each stiffness, and that of Richardson's extrapolation of the last two."""
    times, options = np.linspace(0.0, until, 11), {"events": events}
    rigid = vc.simulate(m, s, until, method="gbs", tolerance=1e-11, step=until / 10, limits="off", **options)
    exact, found = places(rigid, times), []
    for k in stiffnesses:
        p = vc.particles.from_mechanism(m, s, stiffness=k, limits="off")
        found.append(places(vc.particles.simulate(p, until, sample=until / 10, **options), times))
    ratio = stiffnesses[-1] / stiffnesses[-2]
    extrapolated = (ratio * found[-1] - found[-2]) / (ratio - 1.0)
    return [np.abs(x - exact).max() for x in found], np.abs(extrapolated - exact).max()


def order(errors, stiffnesses):
    """Order in 1 / k from the last two errors."""
    return np.log(errors[-2] / errors[-1]) / np.log(stiffnesses[-1] / stiffnesses[-2])


def nearly_straight(n):
    """A chain that begins nearly straight: a curled one is chaotic within a second."""
    m, s = rods(n)
    s.q = np.r_[1.0, 0.03 * np.ones(n - 1)]
    return m, s


@pytest.mark.parametrize(
    ("make", "events", "largest"),
    [
        (lambda: rods(1), (), 2.5e-5),
        (lambda: rods(2), (), 5e-4),
        (closed_zoo.four_bar, (), 1.5e-3),
        (lambda: rods(2), [vc.at(0.5, vc.cut("hinge 1"))], 1.5e-3),
    ],
    ids=["pendulum", "double pendulum", "four-bar", "cut in mid-motion"],
)
def test_order_one(make, events, largest):
    """Trees, loops and a cut: the error at k = 1e6 N/m, order 1 within 2 %, and ten times less by extrapolation."""
    stiffnesses = (1e5, 1e6, 1e7)
    found, extrapolated = errors(*make(), 1.0, stiffnesses, events)
    assert found[1] < largest
    assert order(found, stiffnesses) == pytest.approx(1.0, abs=0.02)
    assert extrapolated < 0.1 * found[-1]


@pytest.mark.parametrize(
    ("make", "until", "events", "stiffnesses"),
    [
        (lambda: nearly_straight(16), 0.7, (), (1e5, 1e7)),
        (
            lambda: rods(2),
            1.0,
            [vc.at(0.5, vc.connect("rod 1", "ground", vc.Revolute("y"), (0, 0, -0.5), name="catch"))],
            (1e6, 1e7),
        ),
        (lambda: _high_bar(), 0.3, (), (1e8, 1e9)),
    ],
    ids=["16 links", "connection in mid-motion", "high bar"],
)
def test_about_order_one(make, until, events, stiffnesses):
    """Long chains, impacts of connections and a limp figure amplify what is small: order 1 within 15 %."""
    found, _ = errors(*make(), until, stiffnesses, events)
    assert order(found, stiffnesses) == pytest.approx(1.0, abs=0.15)


def _high_bar():
    """The figure that hangs on a bar by both hands, limp."""
    scenario = SCENARIOS["highbar"]()
    return scenario.mechanism, scenario.state
