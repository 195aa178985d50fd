"""The shift of a gait that puts the pressure under its feet.

Where the floor presses follows from inverse dynamics. If the body is shifted by e, along x and y, the pressure moves by
e - (z / f) e'', with the height z of the centre of mass and the force f of the floor per mass [Kajita 2001]. What is
lacking is thus a linear equation for e over the whole walk; it is solved several times, because legs move as well.
"""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import TYPE_CHECKING

import numpy as np

import varichain as vc
from varichain.errors import InputError
from varichain.scenarios.balanced_gait import BalancedGait
from varichain.scenarios.whole_body import JointCourses

if TYPE_CHECKING:
    from varichain.mechanism import Mechanism
    from varichain.motion import Motion
    from varichain.spatial.arrays import Array

LEAD = 1.2  # [s] of standing before the gait and after it: the body moves before the feet do
_TICK = 0.01  # [s] of samples
_ROUNDS = 3
_CARRIED = 0.85  # part of a shift of the pelvis that the centre of mass makes
_FILTER = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
_BENT = 4.0  # [deg] that knees are bent at least
_BEYOND = 2.5  # [deg] that a joint may be planned to be beyond its limits: its stop then takes that little


def balanced(gait: BalancedGait) -> BalancedGait:
    """The gait with a shift that puts the pressure where it should be.

    Raises:
        InputError: Its steps are too long or too fast for legs and joints.
    """
    from scipy.interpolate import CubicSpline

    times = samples_of(gait)
    wanted = np.array([gait.pressure(gait.phase(t)) for t in times])
    e = np.zeros((len(times), 2))
    for _ in range(_ROUNDS):
        pressed, depth = pressures(gait.m, motion_of(gait), times)
        e += _lacking(_smoothed(wanted - pressed), depth) / _CARRIED
        gait = replace(gait, shift=CubicSpline(times, e, bc_type="clamped"))
    _check_joints(gait, times)
    return gait


def samples_of(gait: BalancedGait) -> Array:
    """Times since the gait began [s], from some before it to some after it."""
    found: Array = -LEAD + _TICK * np.arange(round((gait.end + 2.0 * LEAD) / _TICK) + 1, dtype=np.float64)
    return found


def motion_of(gait: BalancedGait) -> Motion:
    """Motion of all joints, the root among them, over the time since the gait began."""
    times = samples_of(gait)
    q, samples = gait.configurations(times), {}
    for slot in gait.m.state().layout.slots:
        if slot.coordinates:
            samples[slot.name] = q[:, slot.q] if slot.has_quaternion else q[:, slot.q.start]
    return vc.Motion.sampled(times, samples, ends="clamped")


def pressures(m: Mechanism, motion: Motion, times: Array) -> tuple[Array, Array]:
    """Where a level floor presses (n, 2) [m] on a figure that moves so, and z / f (n,) [s^2]."""
    handle, tau, center = m.prepare(), np.zeros(m.n_v), np.zeros(3)
    R, p = np.zeros((handle.n_links, 9)), np.zeros((handle.n_links, 3))
    root, mass = handle.links["pelvis"], sum(link.inertia.mass for link in m.links)
    pressed, depth = [], []
    for q, v, a in zip(*JointCourses(m, motion).many(times), strict=True):
        handle.inverse_dynamics(q, v, a, tau)
        handle.poses(q, R, p)
        handle.center_of_mass(q, center)
        turned = R[root].reshape(3, 3)
        force = turned @ tau[3:6]
        moment = turned @ tau[:3] + np.cross(p[root], force)
        pressed.append((-moment[1] / force[2], moment[0] / force[2]))
        depth.append(center[2] * mass / force[2])
    return np.array(pressed), np.array(depth)


def _smoothed(x: Array) -> Array:
    """Columns without what is faster than samples show: second derivatives of splines are larger there."""
    padded = np.pad(x, ((2, 2), (0, 0)), mode="edge")
    return np.column_stack([np.convolve(column, _FILTER, "valid") for column in padded.T])


def _lacking(wanted: Array, depth: Array) -> Array:
    """Shift e (n, 2) with e - depth e'' = wanted, at rest at both ends."""
    from scipy.linalg import solve_banded

    r, bands, right = depth / _TICK**2, np.zeros((3, len(wanted))), wanted.copy()
    bands[1], bands[0, 2:], bands[2, :-2] = 1.0 + 2.0 * r, -r[1:-1], -r[1:-1]
    bands[1, [0, -1]], bands[0, 1], bands[2, -2], right[[0, -1]] = 1.0, -1.0, -1.0, 0.0
    found: Array = solve_banded((1, 1), bands, right)
    return found


def _check_joints(gait: BalancedGait, times: Array) -> None:
    """Raise InputError if a joint would be far beyond its limits, or a leg straight, which could not be led then."""
    s, steps = gait.m.state(), f"steps of {gait.length:g} m and {gait.duration:g} s are too long or too fast"
    for q in gait.configurations(times):
        s.q = q
        for joint, excess in vc.limit_excess(gait.m, s).items():
            if degrees(excess) > _BEYOND:
                raise InputError(f"{steps}: {joint!r} would be {degrees(excess):.1f} degrees beyond its limits")
        bent = degrees(min(s["left knee"].q, s["right knee"].q))
        if bent < _BENT:
            raise InputError(f"{steps}: a knee would be bent by {bent:.1f} degrees only, not by {_BENT:g} at least")
