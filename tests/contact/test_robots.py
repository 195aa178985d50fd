"""Robots of files that stand by contact."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from real_robots import example, files, needs_examples

SOLE = (0.1, 0.06)
"""[m] half the length and breadth of Talos' soles."""


def talos():
    """Talos on its soles, half sitting, on a floor."""
    m = vc.load(example("talos_reduced.urdf"), base="free", strict=False)
    (postures,) = files("example-robot-data", "talos.srdf")
    s = vc.load_postures(postures, m)["half_sitting"]
    corners = [vc.ContactPoint((x, y, 0.0)) for x in (-SOLE[0], SOLE[0]) for y in (-SOLE[1], SOLE[1])]
    for link in m.links:
        m.set_contact_shapes(link, corners if link.name.endswith("sole_link") else [])
    m.add_floor(float(vc.pose(m, s, "left_sole_link").p[2]), friction=0.6)
    return m, vc.separate(m, s)


@long_run
@needs_examples
def test_talos_stands():
    """Talos stands for ten seconds, by torques that bear its weight and gains about its posture, without creeping."""
    m, s = talos()
    closed = vc.closed_contacts(m, s, within=5e-4)  # the posture has soles that are flat to 0.2 mm
    assert len(closed.points) == 8
    torques = vc.inverse_dynamics(closed.mechanism, s, loop_limits=closed.loop_limits).tau
    target = {joint.name: float(s[joint.name].q) for joint in m.joints if joint.n_q == 1}
    gains = vc.PD(target, stiffness=5000.0, damping=100.0)
    controllers = [gains, lambda m, s: torques]
    options = {"contacts": "stepping", "controller": controllers, "control_step": 0.1, "sample": 0.1}
    (epoch,) = vc.simulate(m, s, 10.0, **options).epochs
    soles = np.array([vc.pose(m, epoch.state(i), "left_sole_link").p for i in range(20, len(epoch))])
    assert np.abs(soles - soles[0]).max() < 1e-12  # [m] in eight seconds; 6e-15 was measured
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < 1e-3  # what it takes until the soles are flat
    assert np.abs(epoch.v[-1]).max() < 1e-7
    weight = 9.81 * sum(link.inertia.mass for link in m.links)
    feet = epoch.contact("left_sole_link", "floor") + epoch.contact("right_sole_link", "floor")
    assert feet[-1] == pytest.approx([0, 0, weight], abs=1e-6 * weight)
