"""The paper's rotation-plane rule, taken literally, and the sound one beside it."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run

STEP = 1e-5  # [s]; the stiffest pair has (2e5 N/m / 1 kg)^1/2 = 450 rad/s


def bent(rule, tilt=0.0, gravity=(0, 0, -9.81)):
    """Three free particles of 1 kg in a V, in a plane that is tilted about x."""
    system = vc.particles.System(gravity=gravity)
    R = vc.spatial.rotation.matrix_from_axis_angle((1, 0, 0), tilt)
    for name, at in (("a", (1, 0.5, 0)), ("b", (0, 0, 0)), ("c", (1, -0.5, 0))):
        system.add_particle(name, 1.0, R @ at)
    system.add_spring("a", "b", 1e5)
    system.add_spring("b", "c", 1e5)
    system.add_joint("a", "b", "c", rule=rule)
    return system


def zigzag(rule):
    """Four free particles whose two joints lie in different planes."""
    system = vc.particles.System(gravity=(0, 0, 0))
    places = {"a": (0, 0, 0), "b": (1, 0, 0), "c": (1.5, 1, 0), "d": (2, 1, 1)}
    rates = {"a": (0, 0.5, 0.5), "b": (0, -0.5, 0), "c": (0.5, 0, -0.5), "d": (-0.5, 0, 0)}
    for name, at in places.items():
        system.add_particle(name, 1.0, at, rates[name])
    for one, other in ("ab", "bc", "cd"):
        system.add_spring(one, other, 1e5)
    system.add_joint("a", "b", "c", rule=rule)
    system.add_joint("b", "c", "d", rule=rule)
    return system


@long_run
def test_a_flat_joint_does_not_fall_by_the_papers_rule():
    """A free joint in a horizontal plane stays where it is by the literal rule, and falls 4.905 m by the sound one."""
    fallen = {}
    for rule in ("paper", "sound"):
        system = bent(rule)
        system.advance(100_000, STEP)
        fallen[rule] = -system.center()[2]
    assert abs(fallen["paper"]) < 1e-12
    assert fallen["sound"] == pytest.approx(4.905, abs=1e-9)


@long_run
def test_a_tilted_joint_glides_sideways_by_the_papers_rule():
    """A joint tilted by 0.7 rad moves along its plane instead of falling straight down."""
    system = bent("paper", tilt=0.7)
    start = system.center()
    system.advance(100_000, STEP)
    along = 4.905 * np.sin(0.7)
    assert system.center() - start == pytest.approx(
        np.array([0.0, -along * np.cos(0.7), -along * np.sin(0.7)]), abs=1e-6
    )


@long_run
def test_the_papers_rule_creates_momentum_and_energy():
    """A free chain gains momentum and energy by the literal rule; by the sound one both are kept."""
    gained = {}
    for rule in ("paper", "sound"):
        system = zigzag(rule)
        momentum, energy = system.momentum(), system.energy().sum()
        system.advance(200_000, STEP)
        gained[rule] = np.abs(system.momentum() - momentum), system.energy().sum() / energy
    assert gained["paper"][0][3:].max() > 0.5
    assert gained["paper"][1] > 1.5
    assert gained["sound"][0].max() < 1e-12
    # velocity Verlet keeps the energy of a spring of 450 rad/s to (w h)^2 / 8 of its own
    assert gained["sound"][1] == pytest.approx(1.0, abs=1e-5)


def test_a_torque_is_a_couple():
    """The torque of three particles has no resultant and no moment, and opens the angle between the ends."""
    system = bent("sound", tilt=0.3, gravity=(0, 0, 0))
    system.add_joint("c", "b", "a", torque=2.0, name="drive")
    system.evaluate()
    assert np.abs(system.force.sum(axis=0)).max() < 1e-14
    assert np.abs(np.cross(system.x, system.force).sum(axis=0)).max() < 1e-14
    a, b, c = system.x
    arm = np.linalg.norm(a - b)
    assert np.linalg.norm(system.force[0]) == pytest.approx(2.0 / arm)
    assert system.force[0] @ (a - c) > 0.0
