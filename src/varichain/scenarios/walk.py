"""A figure that walks: feet are connected to the ground in turn."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le

import varichain as vc
from varichain import figures
from varichain.mechanism import Box, Fixed, Inertia, Mechanism, Revolute
from varichain.scenarios.balanced_gait import CAREFUL, BalancedGait
from varichain.scenarios.balancing import LEAD, balanced
from varichain.scenarios.gait import FLAT, SAMPLES, STAND, Gait
from varichain.scenarios.parameters import Duration, NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario
from varichain.scenarios.stepper import Stepper, add_contacts

_DRIVEN, _FREE = 0.72, 0.5  # [m], steps of a figure of 1.75 m that is driven, and of one that has to balance
_TOES = (0.06, 0.085, 0.012)  # [m], the box that shows them


@checked
def walk(
    *,
    height: Positive = 1.75,
    mass: Positive = 70.0,
    steps: Annotated[int, Ge(3), Le(100)] = 10,
    length: Positive | None = None,
    duration: Duration = 0.54,
    lift: NonNegative = 0.04,
    contact: bool = False,
) -> Scenario:
    """A figure of 40 joint freedoms, with toes besides, walks along x, from standing to standing.

    All its joints are driven along a gait with the figures of normal gait, see `gait`. The toes of the foot that bears
    are fixed to the floor, and so the pelvis goes where the legs carry it. When the other foot is flat its toes are
    fixed and the first are let go, while they are still on the floor. What the joints and the floor have to bear is in
    the trace: `holding`, `loop_forces`. N_J = 6 + 42 = 48, N_F = 42.

    With `contact` nothing is driven and nothing connected: it walks by the torques of its joints, on heels and toes
    that the floor bears by contact with friction, and would fall if it lost its balance. Its gait is shifted so that
    the floor presses where feet are, see `balancing`; knees are bent more, and steps shorter. N_J = N_F = 48.

    Args:
        height: Of the figure [m].
        mass: Of the figure [kg].
        steps: Number of footprints, 3 to 100; the last one is beside the one before.
        length: Of a step [m], for a figure of 1.75 m; 0.72 m by default, 0.5 m with `contact`.
        duration: Of a step [s].
        lift: By which feet are lifted beyond what their roll does [m].
        contact: Whether it walks by torques, on contacts.
    """
    m = figures.human40(height, mass, name="walk")
    add_toes(m)
    step = ((_FREE if contact else _DRIVEN) if length is None else length) * height / 1.75
    if contact:
        free = BalancedGait(m, steps, step, duration, lift, CAREFUL)
        return _by_contact(m, balanced(free))
    figures.ground(m, size=(2.0 * (steps + 2) * step, 2.0))
    gait = Gait(m, steps, step, duration, lift)
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


def _by_contact(m: Mechanism, gait: BalancedGait) -> Scenario:
    """The figure on its feet, at the start of a gait."""
    figures.ground(m, size=(2.0 * (gait.steps + 2) * gait.length, 2.0))
    add_contacts(m)
    stepper = Stepper(m, gait)
    s = stepper.start(m)
    s["pelvis"].position = s["pelvis"].position - (0.0, 0.0, min(vc.clearances(m, s).values()))  # to rounding
    settings = {"contacts": "stepping", "step": 1e-3, "sample": 1e-2, "control_step": 2e-3}
    return Scenario("walk", m, s, gait.end + 2.0 * LEAD, controller=stepper, settings=settings)


def add_toes(m: Mechanism) -> None:
    """Give both feet of a figure a link at the end of the toes that stays flat on the floor while the foot rolls."""
    for side in ("left", "right"):
        frame = m.frame(f"{side} toe")
        shape = Box(_TOES, at=(0.0, 0.0, 0.5 * _TOES[2]))
        inertia = Inertia.box(0.05, _TOES)
        m.add_link(f"{side} toes", frame.link, Revolute("y"), frame.at, inertia, shapes=[shape])
