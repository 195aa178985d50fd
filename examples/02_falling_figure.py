# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "varichain"]
# ///
"""A falling figure that turns itself: its arms swing, its trunk turns the other way, its angular momentum stays zero.

The figure is dropped at rest. Springs in the shoulders swing both arms round to the left, and because nothing outside
can turn the figure, all the rest of it turns to the right. Its centre of mass falls as a stone would. (The steps are
Euler's, the simplest there are: what is left of the angular momentum is their error, half of it at half the step.)
"""

import numpy as np

import varichain as vc

STEP = 1e-4  # [s]

m = vc.figures.human40(at=(0, 0, 3), damping=0.5)
raised, swung = vc.Pose(rotation_vector=(0, -1.5, 0)), vc.Pose(rotation_vector=(0, 0, 1.2))
for side in ("left", "right"):
    m.edit_joint(f"{side} shoulder", stiffness=60.0, rest=(swung @ raised).quaternion)

s = m.state()
for side in ("left", "right"):
    s[f"{side} shoulder"].orientation = raised

mass = sum(link.inertia.mass for link in m.links)
height = vc.center_of_mass(m, s)[2]
print(f"{m.name}: {len(m)} links, {m.n_v} freedoms, {mass:.0f} kg")
print("\n   time   fallen  as a stone   pelvis turned   angular momentum")
print("    [s]      [m]         [m]           [deg]         [kg m^2/s]")
for i in range(5001):
    if i % 1000 == 0:
        fallen = height - vc.center_of_mass(m, s)[2]
        R = vc.pose(m, s, "pelvis").R
        turned = np.degrees(np.arctan2(R[1, 0], R[0, 0]))
        spin = np.linalg.norm(vc.momentum(m, s).angular)
        print(f"{s.time:7.2f}{fallen:9.3f}{9.81 * s.time**2 / 2:12.3f}{turned:16.1f}{spin:19.1e}")
    s.v += STEP * vc.forward_dynamics(m, s).a
    s = s.integrate(STEP * s.v)
    s.time += STEP
