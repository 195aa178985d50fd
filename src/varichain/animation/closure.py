"""Closure errors of loops and couplings as functions: what a connection keeps at zero, by names of links."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.animation.function import Function
from varichain.animation.leaves import Place, Points
from varichain.animation.nodes import unary
from varichain.animation.quantities import axis_nodes, coordinate, rotation_nodes
from varichain.errors import UnknownNameError
from varichain.layout.layout import LoopSlot, layout_of
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance
from varichain.spatial.pose import Pose


def closure_error(m: Mechanism, name: str) -> Function:
    """How far a loop or a coupling is from closed (n_rows,) [m or rad], row by row.

    The function has the frames that the connection has now. It stays a function of the links when the connection is
    cut, so that it can lead the links back together.

    Args:
        m: Mechanism.
        name: Name of the loop's joint, or of the coupling.
    """
    layout = layout_of(instance(m, Mechanism, "mechanism"))
    found = {one.name: one for one in layout.constraints}
    if not isinstance(name, str) or name not in found:
        raise UnknownNameError("loop or coupling", name, found)
    one = found[name]
    if isinstance(one, LoopSlot):
        return _loop_error(one)
    tie = next(tie for tie in layout.ties if tie.name == name)
    error = coordinate(tie.joint) - tie.multiplier * coordinate(tie.to) - tie.offset
    return Function(error.nodes.reshape(1))


def _loop_error(loop: LoopSlot) -> Function:
    """Errors of a loop's rows, as `kernels/loops.py` measures them."""
    axes, second, pitch, length, *_ = loop.joint.loop_geometry()
    A, B = _turned(loop.link_A, loop.on_A, axes), _turned(loop.link_B, loop.on_B, axes)
    R_AW, R_BW = Function(axis_nodes(A)), Function(axis_nodes(B))
    between = Function(Points((A, B), (1.0, -1.0)).nodes(3))
    gap = R_BW @ between
    turn = _tilt(R_BW @ R_AW[2]) if loop.joint.orientation == "axis" else Function(rotation_nodes(A, B))
    errors = []
    for word, axis in loop.joint.rows or ():
        if word == "linear":
            errors.append(gap[axis])
        elif word == "angular":
            errors.append(turn[axis])
        elif word == "slid":
            errors.append(R_AW[axis] @ between)
        elif word == "distance":
            errors.append(gap.norm() - length)
        elif word == "helical":
            errors.append(_slip(gap[2], R_BW @ R_AW[:2].T, pitch))
        else:
            crossing = R_BW[2] @ (R_AW.T @ np.array(second))
            errors.append(np.arccos(crossing) - float(np.arccos(second[2])))
    return Function([error.nodes.item() for error in errors])


def _turned(link: str, frame: Pose, axes: Array) -> Place:
    """Frame of a loop, turned so that its axes are those of the rows."""
    return Place.of(link, frame @ Pose(R=axes))


def _tilt(z: Function) -> Function:
    """Rotation vector of the shortest turn from the z axis to z, given in axes of that frame."""
    factor = 0.5 * Function(unary("half_log", z[2].nodes.item()))
    return Function([(-z[1] * factor).nodes.item(), (z[0] * factor).nodes.item()])


def _slip(slide: Function, columns: Function, pitch: float) -> Function:
    """Slide along a thread beyond that of the turn, to the nearest thread; columns are x and y of A in axes of B."""
    if pitch == 0.0:
        return slide
    sine: Any = columns[1, 0] - columns[0, 1]
    cosine: Any = columns[0, 0] + columns[1, 1]
    beyond: Any = slide / pitch - np.arctan2(sine, cosine)
    slip: Function = pitch * np.arctan2(np.sin(beyond), np.cos(beyond))
    return slip
