# /// script
# requires-python = ">=3.11"
# dependencies = ["varichain"]
# ///
"""A pendulum: how long does a wide swing take, computed and exact?

A rod hangs from a hinge and is let go at 60 degrees. A quarter of its period has passed when it first hangs straight
down. The exact period needs an elliptic integral, which the arithmetic-geometric mean gives.
"""

import math

import varichain as vc

LENGTH, MASS, AMPLITUDE = 1.0, 2.0, math.radians(60)  # [m], [kg], [rad]
STEP = 1e-3  # [s]

m = vc.Mechanism("pendulum")
rod = vc.Inertia.rod(MASS, LENGTH, com=(0, 0, -LENGTH / 2))
m.add_link("rod", joint=vc.Revolute("y", name="hinge"), at=(0, 0, 2), inertia=rod)
print(m)

s = m.state()
s["hinge"].q = AMPLITUDE
start = vc.energy(m, s).total

# Leapfrog: half a step of velocity, a step of position, half a step of velocity.
while s["hinge"].q > 0:
    s.v += STEP / 2 * vc.forward_dynamics(m, s).a
    s = s.integrate(STEP * s.v)
    s.v += STEP / 2 * vc.forward_dynamics(m, s).a
    s.time += STEP
since_crossing = s["hinge"].q / s["hinge"].v
period = 4 * (s.time - since_crossing)


def exact_period() -> float:
    """Period of a rod [s]: 2 pi sqrt(2 L / 3 g) / agm(1, cos(amplitude / 2))."""
    a, b = 1.0, math.cos(AMPLITUDE / 2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return 2 * math.pi * math.sqrt(2 * LENGTH / (3 * 9.81)) / a


print(f"\nperiod computed  {period:.7f} s")
print(f"period exact     {exact_period():.7f} s")
print(f"energy drift     {abs(vc.energy(m, s).total - start):.1e} J")
