"""Links without mass whose motion loops determine: computed as the limit of light links; others are refused by name."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import compiled_only, scaled
from varichain.dynamics.formulations import FORMULATIONS


def quick_return(mass):
    """A crank whose pin runs in the slot of a rocker; a slider of the given mass is on the pin and in the slot."""
    m = vc.Mechanism("quick return")
    m.add_link("crank", joint=vc.Revolute("y", name="crank"), inertia=vc.Inertia.box(2.0, (0.3, 0.02, 0.02)))
    m.add_link("rocker", joint=vc.Revolute("y", name="rocker"), at=(0, 0, -0.5), inertia=ROCKER)
    slider = vc.Inertia.zero() if mass == 0.0 else vc.Inertia.box(mass, (0.02, 0.02, 0.02))
    m.add_link("slider", "rocker", vc.Prismatic("z", name="slide"), inertia=slider)
    m.connect("slider", "crank", vc.Revolute("y"), at=(0, 0, 0), at_other=(0.3, 0, 0), name="pin")
    s = m.state()
    s["crank"].q, s["rocker"].q, s["slide"].q = 0.3, 0.5, 0.6
    s = vc.assemble(m, s, hold=["crank"]).state
    s["crank"].v = 2.0
    return m, vc.project(m, s, hold=["crank"])


ROCKER = vc.Inertia.box(1.0, (0.02, 0.02, 0.8), com=(0, 0, 0.4))


def ring_on_two_rods(mass):
    """A ring that slides on a hanging rod and is pinned to a second one: two massless freedoms, in one chain."""
    m = vc.Mechanism("ring")
    rod = vc.Inertia.box(1.0, (0.02, 0.02, 1.0), com=(0, 0, -0.5))
    ring = vc.Inertia.zero() if mass == 0.0 else vc.Inertia.box(mass, (0.02, 0.02, 0.02))
    m.add_link("first", joint=vc.Revolute("y", name="first"), inertia=rod)
    m.add_link("second", joint=vc.Revolute("y", name="second"), at=(0.4, 0, 0), inertia=rod)
    m.add_link("sleeve", "first", vc.Prismatic("z", name="along"), at=(0, 0, -0.5), inertia=vc.Inertia.zero())
    m.add_link("ring", "sleeve", vc.Revolute("y", name="turn"), inertia=ring)
    m.connect("ring", "second", vc.Fixed(), at=(0, 0, 0), at_other=(0, 0, -0.6), name="weld")
    s = m.state()
    s["first"].q, s["second"].q = -0.3, 0.2
    s = vc.assemble(m, s, hold=["second"]).state
    s["second"].v = 1.0
    return m, vc.project(m, s, hold=["second"])


MAKERS = [quick_return, ring_on_two_rods]


@pytest.mark.parametrize("make", MAKERS)
def test_formulations_agree(make):
    """The fast solver returns what massless freedoms have borrowed: the dense systems, which borrow nothing, agree."""
    m, s = make(0.0)
    fast = vc.forward_dynamics(m, s)
    for method in FORMULATIONS:
        found = vc.forward_dynamics(m, s, method=method).a
        np.testing.assert_allclose(found, fast.a, rtol=1e-10, atol=1e-10 * np.abs(fast.a).max())
    back = vc.inverse_dynamics(m, s, fast.a, actuators=False)
    assert np.isfinite(back.tau).all()


@pytest.mark.parametrize("make", MAKERS)
def test_it_is_the_limit_of_light_links(make):
    """Lighter and lighter links come as much closer to the massless one as they are lighter."""
    a = vc.forward_dynamics(*make(0.0)).a
    errors = [np.abs(vc.forward_dynamics(*make(mass)).a - a).max() for mass in (1e-3, 1e-6)]
    assert errors[0] < 1e-1 * np.abs(a).max()
    assert errors[1] == pytest.approx(1e-3 * errors[0], rel=0.1)


@pytest.mark.parametrize("make", MAKERS)
def test_impact(make):
    """A push that the loops pass on changes velocities as it does with a link of hardly any mass."""
    jumps = []
    for mass in (0.0, 1e-6):
        m, s = make(mass)
        link = m.links[0].name
        done = vc.change(m, s, [vc.push(link, (1.0, 0.0, 0.0), at=(0.1, 0, -0.2))])
        jumps.append(done.impact.jump)
    np.testing.assert_allclose(jumps[0], jumps[1], atol=1e-4 * np.abs(jumps[0]).max())


@compiled_only
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("method", ["rk4", "rk45", "gbs"])
def test_energy(make, method):
    """A swing of 2 s keeps its energy: what is borrowed moves nothing."""
    m, s = make(0.0)
    epoch = vc.simulate(m, s, scaled(2.0, 0.05), method=method, limits="off").epochs[0]
    assert np.ptp(epoch.energy.sum(axis=1)) < 1e-6 and np.ptp(epoch.energy[:, 0]) > 0.1


def test_undetermined_freedoms_are_named():
    """Cut off, the slider may slide as it likes: a SingularMassError that names it."""
    m, s = quick_return(0.0)
    with pytest.raises(vc.SingularMassError, match="'slider'"):
        m.cut("pin", state=s)
    m.cut("pin")
    with pytest.raises(vc.SingularMassError):
        vc.forward_dynamics(m, s.follow(m))
    with pytest.raises(vc.SingularMassError):
        vc.simulate(m, s.follow(m), 0.1)


def test_the_freedom_of_a_planar_joint_is_named():
    """A point mass in a planar joint cannot be turned: the error names the angle, not a displacement."""
    m = vc.Mechanism()
    m.add_link("puck", joint=vc.Planar("z", name="puck"), inertia=vc.Inertia.point(1.0))
    with np.errstate(all="ignore"), pytest.raises(vc.SingularMassError, match=r"'puck\.angle'") as caught:
        vc.forward_dynamics(m, m.state())
    assert math.isfinite(m.link("puck").inertia.mass) and "puck" in str(caught.value)


def test_a_thin_rod_that_is_cut_loose_in_a_run_is_refused():
    """A rod without thickness may hang on a hinge, and cannot fly: turned about itself it moves no inertia."""
    m = vc.Mechanism()
    m.add_link("rod", joint=vc.Revolute("y", name="hinge"), inertia=vc.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)))
    with np.errstate(all="ignore"), pytest.raises(vc.EventError, match=r"'rod\.w.' moves no"):
        vc.simulate(m, m.state(), 0.02, events=[vc.at(0.01, vc.cut("hinge"))])


def test_a_massless_wheel_follows_by_a_coupling():
    """A coupling determines a wheel without mass as a loop would: the arm swings as if the wheel were not there."""
    accelerations = []
    for has_wheel in (False, True):
        m = vc.Mechanism()
        m.add_link(
            "arm", joint=vc.Revolute("y", name="arm"), inertia=vc.Inertia.box(1.0, (1.0, 0.1, 0.1), com=(0.5, 0, 0))
        )
        if has_wheel:
            m.add_link("wheel", "arm", vc.Revolute("y", name="wheel"), at=(1.0, 0, 0), inertia=vc.Inertia.zero())
            m.couple("wheel", "arm", 3.0)
        accelerations.append(vc.forward_dynamics(m, m.state()).a)
    assert accelerations[1] == pytest.approx(accelerations[0][0] * np.array([1.0, 3.0]), rel=1e-12)
