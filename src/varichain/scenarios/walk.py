"""A figure that walks: feet are connected to the ground in turn."""

from __future__ import annotations

import varichain as vc
from varichain import figures
from varichain.mechanism import Fixed
from varichain.scenarios.gait import SAMPLES, Gait
from varichain.scenarios.scenario import Scenario
from varichain.spatial.checks import count_number
from varichain.spatial.pose import Pose

MOST_STEPS = 100
_AFTER = 0.5  # [s] that it stands at the end


def walk(
    *,
    height: float = 1.75,
    mass: float = 70.0,
    steps: int = 10,
    length: float = 0.42,
    duration: float = 0.5,
    lift: float = 0.1,
) -> Scenario:
    """A figure of 40 joint freedoms walks along x, from rest to rest.

    All its joints are driven along a gait; the standing foot is fixed to the ground, and so the pelvis goes where the
    legs carry it. At the end of a step the other foot is fixed where it has come down, and the first is let go. What
    the joints and the ground have to bear is in the trace: `holding`, `loop_forces`. N_J = 6 + 40 = 46, N_F = 40.

    Args:
        height: Of the figure [m].
        mass: Of the figure [kg].
        steps: Number of steps, at most 100.
        length: Of a step [m].
        duration: Of a step at full speed [s]; the first and the last one take longer.
        lift: Of the feet [m].
    """
    steps = count_number(steps, "steps", MOST_STEPS)
    m = figures.human40(height, mass, name="walk")
    figures.ground(m, size=(2.0 * (steps + 2) * length, 2.0))
    gait = Gait(m, steps, length, duration, lift)
    motion, s = gait.motion(), m.state()
    motion.set_state(m, s, 0.0)
    s["pelvis"].pose = m.link("pelvis").at.inverse() @ Pose(p=gait.pelvis(0.0))
    m.connect("left sole", "floor", Fixed(), state=s, name="left stance")
    events = []
    for k in range(1, steps + 1):
        standing, landing = ("left", "right") if k % 2 else ("right", "left")
        stance = vc.connect(f"{landing} sole", "floor", Fixed(), name=f"{landing} stance")
        events.append(vc.at(gait.time(k), vc.cut(f"{standing} stance"), stance, name=f"step {k}"))
    # steps of the method end where the pieces of the motion do: between these it is smooth
    settings = {"method": "rk45", "tolerance": 1e-8, "step": duration / SAMPLES}
    return Scenario("walk", m, s, gait.end + _AFTER, tuple(events), motion=motion, settings=settings)
