"""Linearly implicit steps: stiff joints at steps that explicit methods cannot take, order two, loops closed."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import compiled_only, long_run, scaled
from real_robots import example, needs_examples


def arm(damping=0.3, stiffness=2.0):
    """A hinge and a ball with springs and dampers."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.box(1.0, (0.05, 0.05, 0.5), com=(0, 0, -0.25))
    m.add_link("upper", joint=vc.Revolute("y", damping=damping, stiffness=stiffness), inertia=rod)
    m.add_link("lower", "upper", vc.Spherical(damping=0.1), at=(0, 0, -0.5), inertia=rod)
    s = m.state()
    s["upper"].q, s["upper"].v, s["lower"].v = 1.0, 0.5, (0.4, -0.2, 0.7)
    return m, s


def four_bar():
    """A moving four-bar with damped joints."""
    m, s = closed_zoo.four_bar()
    for joint in m.joints:
        m.edit_joint(joint.name, damping=0.4, stiffness=1.0)
    s = s.follow(m)
    s["crank"].v = 1.0
    return m, vc.project(m, s, hold=["crank"])


@pytest.mark.parametrize("make", [arm, four_bar])
def test_order_two(make):
    """Errors of positions and velocities, and of the energy books, fall fourfold when the step is halved."""
    m, s = make()
    first = m.joints[0].name
    held = vc.PD({first: float(s[first].q) + 0.3}, 5.0, 1.0)
    until = scaled(0.4, 0.04)
    exact = vc.simulate(m, s, until, method="gbs", controller=held, tolerance=1e-11, step=until / 4).final
    off, books = [], []
    for n in (scaled(40, 4), scaled(80, 8)):
        trace = vc.simulate(m, s, until, method="implicit", step=until / n, controller=held)
        off.append(max(np.abs(trace.final.q - exact.q).max(), np.abs(trace.final.v - exact.v).max()))
        books.append(trace.energy_error)
        assert trace.epochs[-1].closure.max(initial=0.0) < 1e-11
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.25)
    assert books[0] / books[1] == pytest.approx(4.0, rel=0.5)


@long_run
@pytest.mark.parametrize("damping", [1.0, 100.0, 1e6])
def test_stiff_damping_is_the_slow_motion(damping):
    """A heavily damped hinge creeps as first-order theory says, whatever the step is beside inertia / damping.

    damping q' = -stiffness q without gravity: the error is (step stiffness / damping)^2, and the inertia's part.
    """
    m = vc.Mechanism("door", gravity=(0, 0, 0))
    stiffness = 2.0 * damping
    hinge = vc.Revolute("z", damping=damping, stiffness=stiffness)
    m.add_link("leaf", joint=hinge, inertia=vc.Inertia(1.0, (0, 0, 0), (1e-3, 1e-3, 1e-3)))
    s = m.state()
    s["leaf"].q, s["leaf"].v = 1.0, -2.0
    end = vc.simulate(m, s, 1.0, method="implicit", step=1e-2).final
    slow = 0.5 * (damping - np.sqrt(damping**2 - 4e-3 * stiffness)) / 1e-3  # the smaller root of the quadratic
    assert end["leaf"].q == pytest.approx(np.exp(-slow), rel=2e-4)


@long_run
def test_rk4_cannot():
    """The same step is out of reach of an explicit method."""
    m, s = arm(damping=100.0)
    with pytest.raises(vc.SimulationError):
        vc.simulate(m, s, 1.0, method="rk4", step=1e-2)
    assert np.abs(vc.simulate(m, s, 1.0, method="implicit", step=1e-2).final.q).max() < 2.0


@long_run
def test_bounded_torques_are_kept():
    """A PD controller at the bound of its torque is not stiff, and gives no more than the bound."""
    m, s = arm()
    held = vc.PD({"upper": -1.0}, 1e4, 1e2, largest=3.0)
    trace = vc.simulate(m, s, 0.3, method="implicit", controller=held)
    assert np.abs(trace.joint("upper").tau).max() <= 3.0


@needs_examples
@compiled_only
@pytest.mark.parametrize("damping", [40.0, 100.0])
def test_cassie_with_stiff_gains(damping):
    """cassie_v2, held by its pelvis, with PD damping of 40 and 100 N m s/rad at 1 ms: it goes where it is sent.

    Its file has no rotor inertia: explicit steps would have to be microseconds long.
    """
    m = vc.load(example("cassie_v2.sdf"), strict=False)
    s = vc.assemble(m, m.state()).state
    m.connect("pelvis", "ground", vc.Fixed(), state=s)
    motors = [f"{side}-{motor}-op" for side in ("left", "right") for motor in ("roll", "yaw", "pitch", "knee", "foot")]
    target = {name: float(s[name].q) for name in motors}
    target["left-knee-op"] -= 0.2
    held = vc.PD(target, stiffness=1000.0, damping=damping)
    trace = vc.simulate(m, s, 1.0, method="implicit", step=1e-3, sample=0.05, controller=held, limits="off")
    end = trace.final
    assert np.abs(end.v).max() < 1.0 and trace.epochs[-1].closure.max() < 1e-9
    assert abs(end["left-knee-op"].q - target["left-knee-op"]) < 0.1
