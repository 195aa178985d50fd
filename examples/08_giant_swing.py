# /// script
# requires-python = ">=3.11"
# dependencies = ["varichain[optimise]"]
# ///
"""A gymnast pumps up from rest to a handstand on the high bar, with the least effort of shoulders and hips."""

import sys

import numpy as np
from scipy.interpolate import CubicSpline

import varichain as vc
from varichain import figures

SIDES, DURATION = ("left", "right"), 3.0
RANGES = {"shoulder": (-3.6, 0.3), "hip": (-2.2, 0.5)}  # [rad]
STRENGTH = {"shoulder": 150.0, "hip": 200.0}  # [N m] of each side


def gymnast():
    """A figure of 16 joint freedoms that moves in a plane, arms and legs straight, on a bar by both hands."""
    whole = figures.human16(name="gymnast")
    m = vc.Mechanism("gymnast")
    figures.bar(m)
    for link in whole.links:
        if link.name == "ground":
            continue
        name, kind, at = link.joint.name, link.joint.kind, link.at
        if kind == "free":
            joint, at = vc.Planar("y", name=name, actuated=False), vc.Pose()
        elif kind == "spherical":
            joint = vc.Revolute("y", name=name, limits=RANGES[name.split()[-1]])
        else:
            joint = vc.Fixed(name=name)
        m.add_link(link.name, link.parent.name, joint, at, link.inertia, link.shapes)
    for side in SIDES:
        m.add_frame(f"{side} grip", f"{side} hand", whole.frame(f"{side} grip").at)
    return m


def hang(m, s, angle=0.0):
    """Let a straight body hang on the bar, turned about it [rad]."""
    s["torso"].q = (0.0, 0.0, angle)
    for side in SIDES:
        s[f"{side} shoulder"].q = -np.pi
    gap = vc.pose(m, s, "bar").p - vc.pose(m, s, "left grip").p
    across = np.linalg.lstsq(vc.jacobian(m, s, "torso")[3:, :2], gap)[0]
    s["torso"].q = (*across, angle)


m = gymnast()
s = m.state()
hang(m, s)
for side in SIDES:
    m.connect(f"{side} grip", "bar", vc.Revolute("y"), state=s, name=f"{side} hold")
for joint in RANGES:
    m.couple(f"right {joint}", f"left {joint}")
counts = vc.mobility(m, s)
print(f"closed by both hands: {m.n_v} joint freedoms, {counts.n_independent} degrees of freedom")

# The guess swings the stretched body back and round the bar; then the grid is refined.
times = np.linspace(0.0, DURATION, 31)
angles = CubicSpline([0.0, 0.8, 1.4, 2.1, DURATION], [0.0, -1.0, 0.0, 2.2, np.pi], bc_type="clamped")(times)
turned, places = s.copy(), []
for angle in angles:
    hang(m, turned, angle)
    places.append(turned["torso"].q.copy())
guess = vc.Motion.sampled(times, {"torso": tuple(np.transpose(places))})
handstand = {"angle": np.pi, "left shoulder": -np.pi, "left hip": 0.0}
limits = {f"{side} {joint}": STRENGTH[joint] for side in SIDES for joint in STRENGTH}
functions = {"angle": vc.animation.coordinate("torso", "angle")}
for intervals in (30, 90):
    phase = vc.Phase(DURATION, end=handstand, rest=True, intervals=intervals)
    best = guess = vc.optimise_motion(
        m, s, phase, functions, guess=guess, torque_limits=limits, tolerance=1e-7, progress=sys.stderr.isatty()
    )
    print(
        f"{intervals} intervals: effort {best.effort:.0f} N^2 m^2 s, {best.iterations} iterations, {best.seconds:.0f} s"
    )

bar = vc.pose(m, s, "bar").p[2]
height = np.array([vc.center_of_mass(m, state)[2] for state in best.states]) - bar
back = int(np.flatnonzero(height > 0.0)[0])
print(f"it swings up to {height[: back // 2].max():.2f} m, and passes the bar after {best.times[back]:.2f} s")
trace = best.simulate("springs", 1000.0, tolerance=1e-9, step=1e-2)
print(f"replayed with springs, joints end {np.abs(trace.final.q - best.states[-1].q).max():.1e} off the handstand")
if "--film" in sys.argv:
    vc.export(trace, "giant.mp4", overwrite=True)
