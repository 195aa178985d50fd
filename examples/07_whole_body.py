# /// script
# requires-python = ">=3.11"
# dependencies = ["varichain[qp]", "example-robot-data"]
# ///
"""A whole-body controller at 1 kHz: Talos stands on both feet and moves its centre of mass along a circle.

At every tick a quadratic programme finds accelerations and contact forces: the centre of mass follows its course, the
posture stays, soles bear friction, torques are bounded. The handle has all matrices, daqp solves.
"""

import time
from importlib import metadata
from pathlib import Path

import daqp
import numpy as np

import varichain as vc

TICK, END, RADIUS = 1e-3, 2.0, 0.02
FRICTION, LARGEST = 0.6, 300.0  # of the soles; torque of a joint [N m]
EQUAL = 5  # daqp's sign of an equation


def file(name):
    """A file of the package example-robot-data."""
    listed = metadata.files("example-robot-data") or []
    return next(Path(str(one.locate())).resolve() for one in listed if one.name == name)


m = vc.load(file("talos_full_v2.urdf"), base="free", strict=False)
for joint in m.joints:  # dry friction would stop the hands before they are where the controller wants them
    if any(joint.friction):
        m.edit_joint(joint.name, friction=0.0)
s = vc.load_postures(file("talos.srdf"), m)["half_sitting"]
for side in ("left", "right"):
    m.connect(f"{side}_sole_link", "ground", vc.Fixed(), state=s, name=f"{side} sole")
h, n = m.prepare(), m.n_v
q, v, q_start = s.q.copy(), s.v.copy(), s.q.copy()
M, bias, J, center = np.empty((n, n)), np.empty(n), np.empty((3, n)), np.empty(3)
K, K_bias, away = np.empty((h.n_rows, n)), np.empty(h.n_rows), np.empty(n)
start = h.center_of_mass(q, center).copy()

driven = np.zeros(n, bool)
for slot in s.layout.slots:
    driven[slot.v] = slot.actuated
# z = [accelerations (n); multipliers of the rows]: M a + bias - K^T x is a torque where there is a motor, and zero
# elsewhere; K a + Kdot v = 0; of each sole, whose first three rows are forces, x within a pyramid of friction
soles = [loop.rows.start for loop in s.layout.loops]
cones = np.zeros((5 * len(soles), n + h.n_rows))
for i, r in enumerate(soles):
    for j, (axis, sign) in enumerate(((0, 1), (0, -1), (1, 1), (1, -1))):
        cones[5 * i + j, n + r + axis], cones[5 * i + j, n + r + 2] = sign, -FRICTION / np.sqrt(2)
    cones[5 * i + 4, n + r + 2] = -1.0
A = np.vstack([np.zeros((n + h.n_rows, n + h.n_rows)), cones])
sense = np.concatenate([np.where(driven, 0, EQUAL), np.full(h.n_rows, EQUAL), np.zeros(len(cones))]).astype(np.int32)
H, f = np.diag(np.concatenate([np.ones(n), np.full(h.n_rows, 1e-6)])), np.zeros(n + h.n_rows)
above, below = np.where(driven, LARGEST, 0.0), np.full(len(cones), -1e30)


def circle(t):
    """Place, velocity and acceleration on the circle: once round, slow at the start and at the end."""
    angle, rate, gain = (
        np.pi * t - 0.5 * np.sin(2 * np.pi * t),
        np.pi - np.pi * np.cos(2 * np.pi * t),
        np.sin(2 * np.pi * t),
    )
    outward, along = np.array([np.sin(angle), -np.cos(angle), 0.0]), np.array([np.cos(angle), np.sin(angle), 0.0])
    acceleration = 2 * np.pi**2 * gain * along - rate**2 * outward
    return RADIUS * (outward + np.array([0.0, 1.0, 0.0])), RADIUS * rate * along, RADIUS * acceleration


def torques(t):
    """Torques (n_v,) at time t, and the contact forces that they go with."""
    h.mass_matrix(q, M), h.bias_force(q, v, bias), h.loop_jacobian(q, K), h.loop_bias(q, v, K_bias)
    h.center_of_mass(q, center), h.center_of_mass_jacobian(q, J), h.difference(q, q_start, away)
    course, rate, wanted = circle(t)
    wanted += 400.0 * (start + course - center) + 40.0 * (rate - J @ v)
    H[:n, :n] = 1e3 * J.T @ J + np.eye(n)
    f[:n] = -1e3 * J.T @ wanted - (100.0 * away - 20.0 * v)
    A[:n, :n], A[:n, n:], A[n : n + h.n_rows, :n] = M, -K.T, K
    upper = np.concatenate([above - bias, -K_bias, np.zeros(len(cones))])
    lower = np.concatenate([-above - bias, -K_bias, below])
    z, _, flag, _ = daqp.solve(H, f, A, upper, lower, sense)
    assert flag > 0, "no torques within the bounds"
    return A[:n] @ z + bias, z[n:], np.linalg.norm(center - start - course)


worst, least, began = 0.0, np.inf, time.process_time()
for i in range(round(END / TICK)):
    tau, x, off = torques(i * TICK)
    tau[~driven] = 0.0
    h.advance(q, v, tau, TICK)
    worst, least = max(worst, off), min(least, *(x[r + 2] for r in soles))
spent = time.process_time() - began
print(f"{m.n_v} freedoms, {h.n_rows} rows, {h.n_actuated} motors: {END:g} s of motion in {spent:.2f} s of one core")
print(f"centre of mass off its course by at most {1e3 * worst:.3f} mm")
print(f"least normal force of a sole {least:.1f} N")
