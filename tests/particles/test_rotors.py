"""Armatures as rotors on shafts: the motion converges to the rigid engine's, and rotors are in the books."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from measure import deviation
from moving import bits
from particles.test_convergence import errors, order
from particles.zoo_of_particles import rods, tumbling


def geared():
    """Two rods on hinges with armatures, one larger than the inertia of its rod."""
    m, s = rods(2)
    m.edit_joint("hinge 0", armature=0.2)
    m.edit_joint("hinge 1", armature=0.01)
    return m, s.copy().follow(m)


@long_run
def test_order_one():
    """The error falls with 1 / k, of order 1 within 3 %, where a rod without its armature is far off."""
    stiffnesses = (1e5, 1e6, 1e7)
    m, s = geared()
    found, _ = errors(m, s, 0.6, stiffnesses)
    assert found[1] < 5e-4
    assert order(found, stiffnesses) == pytest.approx(1.0, abs=0.03)
    light = rods(2)
    far = vc.simulate(*light, 0.6).final.q - vc.simulate(m, s, 0.6).final.q
    assert np.abs(far).max() > 100 * found[1]


@long_run
def test_slides_and_universal_joints_have_rotors():
    """Armatures of a slider, a cylinder and a cardan joint act as in the rigid engine."""
    box = vc.Inertia.box(1.0, (0.1, 0.1, 0.3), com=(0, 0, -0.1))
    for joint in (
        vc.Prismatic("z", name="joint", armature=2.0),
        vc.Cylindrical("z", name="joint", armature=(0.1, 2.0)),
        vc.Universal(("x", "y"), name="joint", armature=(0.1, 0.05)),
    ):
        m = vc.Mechanism("geared")
        m.add_link("box", joint=joint, inertia=box)
        s = m.state()
        s.v = 0.5 * np.ones(m.n_v)
        forces = [vc.Force("box", (0.3, 0.5, 1.0), (0.1, 0.2, 0.3))]
        rigid = vc.simulate(m, s, 0.3, forces=forces).final
        ours = vc.particles.simulate(vc.particles.from_mechanism(m, s, stiffness=1e6), 0.3, forces=forces).final
        assert deviation(ours.q, rigid.q) < 2e-3


@long_run
def test_books_and_momentum():
    """Rotors have kinetic energy, the books balance, and shafts have no resultant and no moment."""
    m, s = tumbling(4, armature=0.0)
    for i in (1, 3):
        m.edit_joint(f"joint {i}", armature=0.05)
    s = s.copy().follow(m)
    p = vc.particles.from_mechanism(m, s, stiffness=1e4)
    rates = np.array([s[f"joint {i}"].v for i in (1, 3)])
    still = [link.inertia for link in m.links]
    assert still and p.energy()[0] == pytest.approx(vc.energy(m, s).kinetic, rel=1e-12)
    assert vc.energy(m, s).kinetic > 0.5 * 0.05 * (rates**2).sum()
    before = p.momentum()
    p.advance(scaled(20_000, 100), vc.particles.stiffest(p).step)
    assert np.abs(p.momentum() - before).max() < 1e-11 * np.abs(before).max()
    trace = vc.particles.simulate(vc.particles.from_mechanism(m, s, stiffness=1e4), scaled(0.5, 0.01), sample=0.005)
    assert trace.energy_error < 1e-4


@long_run
def test_a_driven_joint_bears_its_rotor():
    """The force that drives a joint is near that of the rigid engine when vibrations have died down, rotor included."""
    from scipy.interpolate import CubicSpline

    m, s = geared()
    t = np.linspace(0, 1, 30)
    motion = vc.Motion({"hinge 0": CubicSpline(t, 0.5 + 0.3 * np.sin(4 * t) ** 2)})
    motion.set_state(m, s)
    ours = vc.particles.simulate(vc.particles.from_mechanism(m, s, stiffness=1e7), 0.4, motion=motion, sample=0.01)
    rigid = vc.simulate(m, s, 0.4, motion=motion)
    of_rotor = 0.2 * 0.3 * 32.0 * np.cos(3.2)  # armature times acceleration
    assert abs(ours.epochs[0].holding[-1, 0] - rigid.epochs[0].holding[-1, 0]) < 0.2 * abs(of_rotor)


@long_run
def test_rotors_go_on():
    """Rotors are part of checkpoints, and stay through a cut."""
    m, s = geared()
    p = vc.particles.from_mechanism(m, s, stiffness=1e5)
    options = {"events": [vc.at(0.03, vc.cut("hinge 1"))]}
    whole, part = (vc.particles.simulate(p, end, sample=0.01, **options) for end in (0.08, 0.05))
    assert bits(vc.resume(part, 0.08, **options)) == bits(whole) and len(whole.epochs) == 2
    rigid = vc.simulate(m, s, 0.08, **options)
    assert deviation(whole.final["hinge 0"].q, rigid.final["hinge 0"].q) < 1e-2


def test_what_has_no_rotor():
    """Balls have none, and implicit steps have none: refused by name."""
    m, s = tumbling(3)
    m.edit_joint("joint 2", armature=0.1)
    with pytest.raises(vc.InputError, match=r"joint 2.*not in ball and free joints"):
        vc.particles.from_mechanism(m, s.copy().follow(m))
    m, s = geared()
    p = vc.particles.from_mechanism(m, s)
    with pytest.raises(vc.InputError, match=r"hinge 0.*armature.*verlet"):
        vc.particles.simulate(p, 0.1, method="implicit")
