"""Limits as functions: ranges of joints, swing cones, and functions that must stay between bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from varichain.animation.function import Function
from varichain.animation.leaves import Place, Quaternion
from varichain.animation.nodes import unary
from varichain.animation.quantities import coordinate, direction
from varichain.animation.resolution import Inequalities
from varichain.animation.space import AnimationSpace
from varichain.errors import InputError
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.frames import Frame
from varichain.mechanism.limits import SwingTwist
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import mapping, real_scalar
from varichain.spatial.pose import Pose

_INSIDE = 2e-9  # [rad or m] from the ends of ranges: what is rounded stays inside


class Bounds:
    """Functions that stay between bounds.

    Attributes:
        space: The functions; None if there are none.
        lower, upper: Bounds (m,); infinite where there is none.
    """

    def __init__(self, m: Mechanism, functions: Mapping[str, Function], lower: list[float], upper: list[float]) -> None:
        """Take functions of one number each, with their bounds."""
        self.space = AnimationSpace(m, functions) if functions else None
        self.lower, self.upper = np.array(lower), np.array(upper)

    def excess(self, s: State) -> float:
        """How far the worst function is beyond its bounds; zero if all are inside."""
        if self.space is None:
            return 0.0
        u = self.space.value(s)
        return float(np.maximum(self.lower - u, u - self.upper).max(initial=0.0))

    def rows(self, s: State, W: Array | None = None, within: float = 1.0) -> Inequalities | None:
        """Bounds of y so that v = W y leads no function beyond its bounds in a time `within` [s], to first order.

        Without W they are bounds of v.
        """
        if self.space is None:
            return None
        found = self.space.at(s)
        drift = found.rate - found.gradient @ s.v  # what time alone changes
        low, high = (self.lower - found.value) / within - drift, (self.upper - found.value) / within - drift
        C = found.gradient if W is None else found.gradient @ W
        return Inequalities(C, low, high, self.space.names)

    def acceleration_rows(self, s: State, W: Array, w: Array, within: float) -> Inequalities | None:
        """Bounds of ydot so that a = W ydot + w leads no function beyond its bounds in a time, to second order."""
        if self.space is None:
            return None
        found = self.space.at(s)
        known = found.value + within * found.rate + 0.5 * within**2 * (found.bias + found.gradient @ w)
        low, high = (2.0 / within**2 * (bound - known) for bound in (self.lower, self.upper))
        return Inequalities(found.gradient @ W, low, high, self.space.names)


def bounds_of(
    space: AnimationSpace, layout: Layout, has_limits: bool, at_least: Mapping[str, Any] | None, at_most: Any
) -> Bounds:
    """Ranges of joints, made once for each structure, and bounds of functions of a space."""
    m, others = space.mechanism, function_bounds(space, at_least, at_most)
    if not has_limits:
        return Bounds(m, *others)
    if space._ranges is None or space._ranges[0] is not layout:
        joints = joint_bounds(m, layout)
        space._ranges = layout, joints, Bounds(m, *joints)
    _, joints, bounds = space._ranges
    if not others[0]:
        return bounds
    return Bounds(m, joints[0] | others[0], joints[1] + others[1], joints[2] + others[2])


def joint_bounds(m: Mechanism, layout: Layout) -> tuple[dict[str, Function], list[float], list[float]]:
    """Ranges of all joints of the tree that have limits: functions by name, lower and upper bounds.

    A ball's cone is a bound of the cosine of its swing, which has a gradient everywhere but where the swing is zero.
    """
    functions: dict[str, Function] = {}
    lower: list[float] = []
    upper: list[float] = []
    for i, slot in enumerate(layout.slots):
        limits = layout.joints[i].limits
        if isinstance(limits, SwingTwist):
            link = list(layout.link_index)[i + 1]
            functions |= _ball(m, layout, i, link, limits)
            lower += [float(np.cos(limits.swing)) + _INSIDE, limits.twist[0] + _INSIDE]
            upper += [np.inf, limits.twist[1] - _INSIDE]
        elif limits is not None and not slot.has_quaternion:
            functions |= {f"{slot.name}.{label}": coordinate(slot.name, label) for label in slot.coordinates}
            margins = [min(_INSIDE, 0.5 * (high - low)) for low, high in zip(*limits, strict=True)]
            lower += [low + margin for low, margin in zip(limits[0], margins, strict=True)]
            upper += [high - margin for high, margin in zip(limits[1], margins, strict=True)]
    return functions, lower, upper


def function_bounds(
    space: AnimationSpace, at_least: Mapping[str, Any] | None, at_most: Mapping[str, Any] | None
) -> tuple[dict[str, Function], list[float], list[float]]:
    """Functions of a space that must not fall below, or rise above, bounds: by name, a number for all dimensions."""
    low, high = mapping(at_least, "at_least"), mapping(at_most, "at_most")
    functions: dict[str, Function] = {}
    lower: list[float] = []
    upper: list[float] = []
    for name in [*low, *(name for name in high if name not in low)]:
        function = space.function(name)
        if function.is_rate:
            raise InputError(f"{name!r} is a rate: it has no position that could stay between bounds")
        floor = real_scalar(low.get(name, -np.inf), f"at_least[{name!r}]")
        ceiling = real_scalar(high.get(name, np.inf), f"at_most[{name!r}]")
        if floor > ceiling:
            raise InputError(f"{name!r} cannot be at least {floor:g} and at most {ceiling:g}")
        functions[name] = function
        lower += [floor] * function.size
        upper += [ceiling] * function.size
    return functions, lower, upper


def _ball(m: Mechanism, layout: Layout, i: int, link: str, limits: SwingTwist) -> dict[str, Function]:
    """Cosine of the swing, and the twist, of a ball's link."""
    name = layout.slots[i].name
    center = m.link(link).at @ Pose(quaternion=limits.center)
    frame = Frame(layout.tree.parents[i], center)
    w, *vector = Quaternion(Place(link), Place.of(frame)).nodes(4)
    along = Function(vector) @ np.array(limits.axis)
    ratio = along / Function(w)
    return {
        f"{name}.swing": direction(link, limits.axis, seen_from=frame) @ np.array(limits.axis),
        f"{name}.twist": 2.0 * Function(unary("arctan", ratio.nodes.item())),
    }
