# /// script
# requires-python = ">=3.11"
# dependencies = ["varichain"]
# ///
"""Derivatives: a pole is balanced with A and B of one step, and the stride of a walker is judged by its multipliers."""

import math

import numpy as np
from scipy.linalg import solve_discrete_are

import varichain as vc

# A cart with a pole, upright; the cart alone is driven.
m = vc.Mechanism("cart and pole")
cart = vc.Prismatic("x", name="cart")
m.add_link("cart", joint=cart, inertia=vc.Inertia.box(1.0, size=(0.3, 0.2, 0.1)))
pole = vc.Inertia.rod(0.3, 0.6, com=(0, 0, 0.3))
m.add_link("pole", "cart", vc.Revolute("y", name="pole", actuated=False), inertia=pole)

step = 0.02
model = vc.linearise(m, m.state(), step)
A, B = model.A, model.B[:, :1]
print(f"upright, a disturbance grows {np.abs(np.linalg.eigvals(A)).max():.3f} times in a step")
cost = 0.01 * np.eye(1)
P = solve_discrete_are(A, B, np.eye(4), cost)
F = np.linalg.solve(cost + B.T @ P @ B, B.T @ P @ A)
print(f"with feedback it shrinks to {np.abs(np.linalg.eigvals(A - B @ F)).max():.3f}")

s, handle = m.state(), m.prepare()
s["pole"].q = 0.3
for _ in range(500):
    tau = np.array([-(F @ np.concatenate([s.q, s.v])).item(), 0.0])
    handle.advance(s.q, s.v, tau, step)
print(f"after 10 s the pole leans {abs(s['pole'].q):.1e} rad")

# The compass walker's stride: a landing foot connects, the other is cut.
normal = np.array([math.sin(vc.figures.COMPASS_SLOPE), 0.0, math.cos(vc.figures.COMPASS_SLOPE)])


def start(x):
    """A walker at the beginning of a step, its left sole on the ground."""
    walker = vc.figures.compass_walker()
    state = vc.figures.compass_start(walker, x)
    walker.connect("left sole", "ground", vc.Revolute("y"), state=state, name="left stance")
    return walker, state


def height(walker, state):
    """Of the swinging sole above the slope, as soon as it is ahead."""
    ahead = vc.pose(walker, state, "right sole").p - vc.pose(walker, state, "left sole").p
    return max(float(ahead @ normal), 0.1 - float(ahead[0]))


def legs(walker, state):
    """Angles of the standing and of the swinging leg after the step, and their rates."""
    left, right = state["left leg"].q[2], state["left leg"].q[2] + state["hip"].q
    v_left, v_right = state["left leg"].v[2], state["left leg"].v[2] + state["hip"].v
    return right, left, v_right, v_left


landing = vc.connect("right sole", "ground", vc.Revolute("y"), name="right stance")
until = vc.when(height, vc.cut("left stance"), landing, direction=-1)
cycle = vc.periodic(start, until, legs, (0.2, -0.3, -1.0, -0.3), step=5e-3)
print(f"a stride of {cycle.period:.4f} s, found to {cycle.residual:.0e}")
print(f"largest multiplier: {abs(cycle.multipliers[0]):.4f}, so it is {'stable' if cycle.is_stable else 'unstable'}")
