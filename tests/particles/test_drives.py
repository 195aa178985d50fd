"""Joints that are driven along a motion, and joints that are coupled: springs as stiff as the joints."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PPoly
from scipy.spatial.transform import Rotation, RotationSpline

import varichain as vc
import zoo
from lane import long_run, scaled
from particles.zoo_of_particles import rods
from varichain.particles.run import ParticleRun
from varichain.simulation.controls import Controls


def swing(m, s, joint="hinge 0", size=0.4):
    """A state on a smooth motion of a joint, and that motion."""
    times = np.linspace(0, 1, 101)
    motion = vc.Motion({joint: CubicSpline(times, s[joint].q + size * (1 - np.cos(8 * times)), bc_type="clamped")})
    motion.set_state(m, s)
    return motion


def deviations(m, s, until, stiffnesses, **options):
    """Largest error of the coordinates at the end, by stiffness, and the traces with the rigid engine's last."""
    rigid = vc.simulate(m, s, until, method="gbs", tolerance=1e-10, **options)
    traces = [
        vc.particles.simulate(vc.particles.from_mechanism(m, s, stiffness=k), until, sample=0.01, **options)
        for k in stiffnesses
    ]
    return [np.abs(trace.final.q - rigid.final.q).max() for trace in traces], [*traces, rigid]


@long_run
def test_a_driven_hinge_converges_to_the_rigid_engine():
    """Coordinates, the torque of the drive and its work converge with order 1 in 1 / k; the books balance."""
    m, s = rods(3)
    motion = swing(m, s, "hinge 1")
    found, (_, stiff, rigid) = deviations(m, s, 0.4, (1e6, 1e7), motion=motion)
    assert found[0] / found[1] == pytest.approx(10.0, rel=0.15) and found[1] < 2e-3
    assert stiff.energy_error < 1e-3
    ours, theirs = stiff.epochs[0], rigid.epochs[0]
    assert ours.holding[-1][1] == pytest.approx(theirs.holding[-1][1], rel=1e-2)
    drives = ours.columns.labels["work"].index("drives")
    assert ours.work[-1][drives] == pytest.approx(theirs.work[-1][3], rel=1e-2)


@long_run
@pytest.mark.parametrize("joint", [vc.Spherical(name="joint"), vc.Free(name="joint"), vc.Prismatic("x", name="joint")])
def test_all_kinds_are_driven(joint):
    """Balls, free joints and sliders follow a motion; what hangs on them moves as in the rigid engine."""
    m = vc.Mechanism("driven")
    m.add_link("box", joint=joint, inertia=vc.Inertia.box(1.0, (0.1, 0.2, 0.3), com=(0.05, 0, 0)))
    hangs = vc.Inertia.box(0.5, (0.1, 0.1, 0.3), com=(0, 0, -0.15))
    m.add_link("hangs", "box", joint=vc.Revolute("y", name="hinge"), inertia=hangs)
    s = m.state()
    times = np.linspace(0, 1, 11)
    turns = RotationSpline(times, Rotation.from_rotvec(np.column_stack([times, np.sin(2 * times), 0.5 * times**2])))
    way = CubicSpline(times, np.column_stack([np.sin(times), times, 0 * times]))
    given = {vc.Prismatic: CubicSpline(times, 0.1 * np.sin(3 * times)), vc.Spherical: turns, vc.Free: (turns, way)}
    motion = vc.Motion({"joint": given[type(joint)]})
    motion.set_state(m, s)
    found, (stiff, _) = deviations(m, s, 0.3, (1e6,), motion=motion)
    assert found[0] < 1e-3 and stiff.energy_error < 1e-3


@long_run
def test_drives_come_and_go():
    """An event gives a joint a motion, another takes it away; implicit steps have drives of any stiffness."""
    m, s = rods(2)
    s.q = 0.3, 0.4

    def drive(m, s):
        angle, rate, begun = s["hinge 1"].q, s["hinge 1"].v, s.time
        motion = vc.Motion({"hinge 1": PPoly(np.array([[rate], [angle]]), np.array([begun, begun + 1.0]))})
        return [vc.use(motion=motion)]

    events = [vc.at(0.1, drive), vc.at(0.2, vc.use(motion=None))]
    found, (trace, _) = deviations(m, s, 0.3, (1e6,), events=events)
    assert found[0] < 2e-3
    assert [bool(np.abs(epoch.holding[-1]).max() > 0.0) for epoch in trace.epochs] == [False, True, False]
    p = vc.particles.from_mechanism(m, s, stiffness=1e10)
    stiff = vc.particles.simulate(p, 0.3, method="implicit", step=2e-4, events=events, sample=0.01)
    assert np.abs(stiff.final.q - trace.final.q).max() < 5e-3


@pytest.mark.parametrize("method", ["verlet", "implicit"])
def test_a_drive_moves_a_link(method):
    """A slider that is driven follows its motion in a few steps, and the force is mass times acceleration."""
    m = vc.Mechanism("slider", gravity=(0, 0, 0))
    m.add_link("cart", joint=vc.Prismatic("x", name="rail"), inertia=vc.Inertia.box(2.0, (0.1, 0.1, 0.1)))
    s = m.state()
    motion = vc.Motion({"rail": PPoly(np.array([[0.5], [0.0], [0.0]]), np.array([0.0, 1.0]))})
    p = vc.particles.from_mechanism(m, s, stiffness=1e5)
    step = vc.particles.stiffest(p).step if method == "verlet" else 1e-3
    run = ParticleRun(p, method, None if method == "verlet" else step, 1e-3, [], Controls(None, motion, ()))
    until = scaled(0.2, 0.05)
    for _ in run.spans(iter([until]), lambda *_: None):
        pass
    assert run.system.measure()["rail"].q == pytest.approx(0.5 * until**2, abs=2.0 / 1e5 + 1e-6)
    run.system.evaluate()
    assert run.system.holding[0] == pytest.approx(2.0, rel=scaled(1e-2, 0.3))


@long_run
def test_a_gear_converges_to_the_rigid_engine():
    """Coupled joints move as in the rigid engine, order 1 in 1 / k, and so does the force of the coupling."""
    m, s = rods(3)
    s.q = 0.8, 0.5, 0.25
    m.couple("hinge 2", "hinge 1", 0.5, name="gear")
    found, (_, stiff, rigid) = deviations(m, s.copy().follow(m), 0.4, (1e5, 1e6))
    assert found[0] / found[1] == pytest.approx(10.0, rel=0.2) and found[1] < 1e-3
    assert stiff.energy_error < 1e-3
    ours, theirs = (trace.epochs[0].coupling("gear") for trace in (stiff, rigid))
    assert ours[-1] == pytest.approx(theirs[-1], abs=0.02 * np.abs(theirs).max())


@long_run
def test_a_coupling_in_motion():
    """Joints that are coupled in mid-motion, and let go, move about as in the rigid engine; momentum is kept."""
    m = vc.Mechanism("pair", gravity=(0, 0, 0))
    box = vc.Inertia.box(1.0, (0.1, 0.2, 0.3))
    m.add_link("base", joint=vc.Free(name="floats"), inertia=box)
    for side in ("left", "right"):
        m.add_link(
            side, "base", at=(0, 0.2 if side == "left" else -0.2, 0), joint=vc.Revolute("x", name=side), inertia=box
        )
    s = m.state()
    s["left"].v, s["right"].v = 2.0, 0.5
    events = [vc.at(0.1, vc.couple("right", "left", -1.0, name="gear")), vc.at(0.3, vc.cut("gear"))]
    found, (trace, _) = deviations(m, s, 0.4, (1e7,), events=events)
    assert found[0] < 5e-3
    assert np.abs(trace.epochs[-1].momentum[-1] - trace.epochs[0].momentum[0]).max() < 1e-12
    assert [len(epoch.mechanism.couplings) for epoch in trace.epochs] == [0, 1, 0]


def test_what_is_not_on_its_motion_is_refused():
    """A joint that begins beside its motion is refused, as in the rigid engine."""
    m, s = rods(1)
    with pytest.raises(vc.InputError, match="set_state"):
        vc.particles.simulate(vc.particles.from_mechanism(m, s), 0.1, motion=vc.Motion({"hinge 0": 0.0}))


def test_a_coupling_that_does_not_fit_is_refused():
    """A coupling in motion whose offset the joints do not have is refused with the gap."""
    m = zoo.double_pendulum()
    first, second = (link.joint.name for link in m.links)
    s = m.state()
    s.q = 0.3, 0.4
    events = [vc.at(0.0, vc.couple(second, first, 1.0, 0.5))]
    with pytest.raises(vc.EventError, match="offset"):
        vc.particles.simulate(vc.particles.from_mechanism(m, s), 0.01, events=events)
