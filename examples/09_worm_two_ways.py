# /// script
# requires-python = ">=3.11"
# dependencies = ["varichain[optimise,video]"]
# ///
"""One stride of the inchworm by two methods: planned in animation space, and by spacetime constraints [PFB, 6]."""

import sys
import time

import numpy as np

import varichain as vc
from varichain import animation as an
from varichain import figures
from varichain.scenarios.worm_gait import Worm

STRIDE, INTERVALS, PACE = 0.012, 8, 0.5  # [m], in each half of the stride, [s] of each half
STIFFNESS, DECAY = 2000.0, 0.004  # of the springs of the replay: in units of m g l of a segment, and [s]

# By animation space: the front goes ahead while the rear holds on, then the rear follows.
m = figures.inchworm()
s = m.state()
worm = Worm(m, "", span=0.03, lift=0.004, shape=(3, 7), duration=PACE)
figures.arch_up(m, s, worm.span)
begun = time.perf_counter()
front = worm.place(s, "front").ahead(STRIDE)
ahead = worm.phase(s, "front", front, worm.span + STRIDE)
stretched = worm.state(ahead.states[-1])
follows = worm.phase(stretched, "rear", front.ahead(-worm.span), worm.span)
planning = time.perf_counter() - begun
torques = np.concatenate([ahead.tau[:, 6:], follows.tau[1:, 6:]])
effort = sum(np.trapezoid((plan.tau[:, 6:] ** 2).sum(axis=1), plan.times) for plan in (ahead, follows))
print(
    f"animation space:       effort {effort:.2e} N^2 m^2 s, peak torque {abs(torques).max():.2e} N m, {planning:.1f} s"
)

# By spacetime constraints: the same holds, ends and times; the plan is the guess. The worm stays above the ground,
# below a ceiling, in its plane, and its joints below 8 rad/s.
m.connect("segment 1", "ground", vc.Fixed(), state=s, name="rear hold")
for name in worm.joints:
    m.edit_joint(name, limits=((-1.1, 0.0), (1.1, 0.0)))
heights = np.stack([an.point(f"segment {i}")[2] for i in range(2, 11)])
rear = vc.pose(m, follows.states[-1], "segment 1")
functions = {
    "heights": heights,
    "rear": an.point("segment 1"),
    "turn": an.rotation("segment 1", seen_from=vc.Frame("ground", rear)),
}
low, high = {"heights": worm.radius - 1e-6}, {"heights": 0.016}
change = [vc.connect("segment 10", "ground", vc.Fixed(), name="front hold"), vc.cut("rear hold")]
phases = [
    vc.Phase(PACE, rest=True, at_least=low, at_most=high, intervals=INTERVALS, name="ahead"),
    vc.Phase(
        PACE,
        change=change,
        end={"rear": rear.p, "turn": 0.0},
        rest=True,
        at_least=low,
        at_most=high,
        intervals=INTERVALS,
    ),
]
fastest = dict.fromkeys(worm.joints, 8.0)
best = vc.optimise_motion(
    m, s, phases, functions, guess=[ahead, follows], fastest=fastest, tolerance=1e-5, progress=sys.stderr.isatty()
)
peak = max(best.peak.values())
print(f"spacetime constraints: effort {best.effort:.2e} N^2 m^2 s, peak torque {peak:.2e} N m, {best.seconds:.0f} s")

# Both are replayed with springs about them, since the arch buckles under its own weight.
stiffness = STIFFNESS * worm.weight
settings = {"method": "implicit", "step": 2e-5, "sample": 5e-3}
trace = best.simulate("springs", stiffness, DECAY * stiffness, **settings)
off = vc.pose(m, trace.final, "segment 1").p - rear.p
print(f"replayed, the rear ends {1e3 * np.linalg.norm(off):.3f} mm from its place")
laws = {0.0: worm.controllers(ahead), PACE: worm.controllers(follows)}
events = [vc.at(t, *(change if t else ()), vc.use(controller=law)) for t, law in laws.items()]
planned = vc.simulate(m, s, 2 * PACE, events=events, limits="off", **settings)
if "--film" in sys.argv:
    vc.export(planned, "worm-planned.mp4", overwrite=True)
    vc.export(trace, "worm-spacetime.mp4", overwrite=True)
