# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "varichain"]
# ///
"""A control loop: an arm of three links follows a path by computed torque, 1000 times a second.

The controller asks the prepared handle of its own model for the torques that give the wanted acceleration, corrected by
what the arm lags behind; a second handle plays the real arm. The loop allocates nothing in the library, and each call
costs a few microseconds. What the model is worth shows when it is taken away, and when it is wrong.
"""

import numpy as np

import varichain as vc

TICK, SUBSTEPS, SECONDS = 1e-3, 4, 2.0
STIFFNESS, DAMPING = 400.0, 40.0  # of the error [1/s^2], [1/s]: critically damped, a twentieth of a second


def arm(payload: float) -> vc.Mechanism:
    """Turning base, upper arm and forearm, with a payload [kg] in the hand."""
    m = vc.Mechanism(f"arm with {payload:g} kg")
    m.add_link("base", joint=vc.Revolute("z"), inertia=vc.Inertia.cylinder(4.0, radius=0.1, length=0.3))
    upper = vc.Inertia.capsule(3.0, radius=0.05, length=0.4, com=(0, 0, 0.2))
    m.add_link("upper arm", "base", vc.Revolute("y", name="shoulder"), at=(0, 0, 0.3), inertia=upper)
    fore = vc.Inertia.capsule(2.0, radius=0.04, length=0.4, com=(0, 0, 0.2))
    m.add_link("forearm", "upper arm", vc.Revolute("y", name="elbow"), at=(0, 0, 0.4), inertia=fore)
    m.add_link("hand", "forearm", vc.Fixed(), at=(0, 0, 0.4), inertia=vc.Inertia.sphere(payload, radius=0.05))
    return m


def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wanted angles, velocities and accelerations at time t [s]."""
    size, rate = np.array([0.8, 0.5, 0.9]), np.array([2.0, 3.0, 4.0])
    return size * np.sin(rate * t), size * rate * np.cos(rate * t), -size * rate**2 * np.sin(rate * t)


def track(model: vc.Prepared | None, real: vc.Prepared) -> float:
    """Root mean square of the angles' error [rad] over the path; without a model the masses count as one."""
    q, v, _ = path(0.0)
    a, tau = np.zeros(3), np.zeros(3)
    squares = []
    for i in range(round(SECONDS / TICK)):
        q_wanted, v_wanted, a_wanted = path(i * TICK)
        squares.append(np.mean((q_wanted - q) ** 2))
        a_command = a_wanted + DAMPING * (v_wanted - v) + STIFFNESS * (q_wanted - q)
        if model is None:
            tau[:] = a_command
        else:
            model.inverse_dynamics(q, v, a_command, tau)
        for _ in range(SUBSTEPS):
            real.forward_dynamics(q, v, tau, a)
            v += TICK / SUBSTEPS * a
            real.integrate(q, v, TICK / SUBSTEPS, q)
    return float(np.sqrt(np.mean(squares)))


right, wrong = arm(1.0).prepare(), arm(0.8).prepare()
print(arm(1.0))
print("\nroot mean square of the tracking error:")
print(f"  model right             {track(right, right):.5f} rad")
print(f"  model lacks 0.2 kg      {track(wrong, right):.5f} rad")
print(f"  no model                {track(None, right):.5f} rad")
