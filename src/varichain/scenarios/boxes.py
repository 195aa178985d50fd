"""A tower of boxes that stands, and is knocked over."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le

import varichain as vc
from varichain.mechanism import Box, Inertia, Mechanism
from varichain.scenarios.parameters import NonNegative, checked
from varichain.scenarios.scenario import Scenario

_SIZE = (0.3, 0.2, 0.1)  # [m]
_MASS = 1.0  # [kg]


@checked
def boxes(
    *,
    count: Annotated[int, Ge(2), Le(20)] = 10,
    knocked: NonNegative = 1.0,
    knock: float = 10.0,
    friction: NonNegative = 0.5,
) -> Scenario:
    """A tower of boxes stands on the floor without moving; one in its middle is knocked, and the upper ones come down.

    Every box may touch the floor and every other box. N_J = N_F = 6 for each box.

    Args:
        count: Number of boxes, 2 to 20.
        knocked: When the box in the middle is knocked [s].
        knock: Impulse on it, along x and beside its middle [N s].
        friction: Coefficient of friction of boxes and floor.
    """
    m = Mechanism("boxes")
    for i in range(count):
        m.add_link(f"box {i}", None, inertia=Inertia.box(_MASS, _SIZE), shapes=Box(_SIZE))
    m.add_floor(friction=friction)
    for i in range(count - 1):
        above = [f"box {j}" for j in range(i + 1, count)]
        m.add_surface(f"box {i}", f"box {i}", friction=friction, touched_by=above)
    s = m.state()
    for i in range(count):
        s[f"box {i}"].position = (0.0, 0.0, (i + 0.5) * _SIZE[2])
    push = vc.push(f"box {count // 2}", (knock, 0.0, 0.0), at=(0.0, 0.1 * _SIZE[1], 0.0))
    events = (vc.at(knocked, push, name="a box is knocked"),)
    return Scenario(
        "boxes", m, s, knocked + 3.0, events, settings={"contacts": "stepping", "step": 1e-3, "sample": 1e-2}
    )
