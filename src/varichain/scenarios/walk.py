"""A figure that walks: feet are connected to the ground in turn."""

from __future__ import annotations

import varichain as vc
from varichain import figures
from varichain.errors import InputError
from varichain.mechanism import Box, Fixed, Inertia, Mechanism, Revolute
from varichain.scenarios.gait import FLAT, SAMPLES, STAND, Gait
from varichain.scenarios.scenario import Scenario
from varichain.spatial.checks import count_number

MOST_STEPS = 100
_TOES = (0.06, 0.085, 0.012)  # [m], the box that shows them


def walk(
    *,
    height: float = 1.75,
    mass: float = 70.0,
    steps: int = 10,
    length: float = 0.72,
    duration: float = 0.54,
    lift: float = 0.04,
) -> Scenario:
    """A figure of 40 joint freedoms, with toes besides, walks along x, from standing to standing.

    All its joints are driven along a gait with the figures of normal gait, see `gait`. The toes of the foot that bears
    are fixed to the floor, and so the pelvis goes where the legs carry it. When the other foot is flat its toes are
    fixed and the first are let go, while they are still on the floor. What the joints and the floor have to bear is in
    the trace: `holding`, `loop_forces`. N_J = 6 + 42 = 48, N_F = 42.

    Args:
        height: Of the figure [m].
        mass: Of the figure [kg].
        steps: Number of footprints, 3 to 100; the last one is beside the one before.
        length: Of a step [m], for a figure of 1.75 m.
        duration: Of a step [s].
        lift: By which feet are lifted beyond what their roll does [m].
    """
    steps = count_number(steps, "steps", MOST_STEPS)
    if steps < 3:
        raise InputError(f"a walk has three steps at least, not {steps}")
    m = figures.human40(height, mass, name="walk")
    add_toes(m)
    figures.ground(m, size=(2.0 * (steps + 2) * length, 2.0))
    gait = Gait(m, steps, length * height / 1.75, duration, lift)
    motion, s = gait.motion(), m.state()
    motion.set_state(m, s, 0.0)
    s["pelvis"].pose = m.link("pelvis").at.inverse() @ gait.pelvis(-STAND)
    m.connect("left toes", "floor", Fixed(), (0, 0, 0), state=s, name="left stance")
    events = []
    for k in range(1, steps + 1):
        standing, landing = ("left", "right") if k % 2 else ("right", "left")
        stance = vc.connect(f"{landing} toes", "floor", Fixed(), name=f"{landing} stance")
        events.append(vc.at(gait.time(k + FLAT), vc.cut(f"{standing} stance"), stance, name=f"step {k}"))
    # steps of the method end where the pieces of the motion do: between these it is smooth
    settings = {"method": "rk45", "tolerance": 1e-8, "step": duration / SAMPLES}
    return Scenario("walk", m, s, gait.end + STAND * duration, tuple(events), motion=motion, settings=settings)


def add_toes(m: Mechanism) -> None:
    """Give both feet of a figure a link at the end of the toes that stays flat on the floor while the foot rolls."""
    for side in ("left", "right"):
        frame = m.frame(f"{side} toe")
        shape = Box(_TOES, at=(0.0, 0.0, 0.5 * _TOES[2]))
        inertia = Inertia.box(0.05, _TOES)
        m.add_link(f"{side} toes", frame.link, Revolute("y"), frame.at, inertia, shapes=[shape])
