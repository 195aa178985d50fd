"""Numbers of a design by name: places of joints, inertial parameters of links, parameters of joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.derivatives.parameters import LABELS
from varichain.derivatives.places import SHIFTS, TURNS
from varichain.dynamics.arguments import opened
from varichain.errors import InputError, UnknownNameError
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import listed

_OF_JOINTS = ("stiffness", "damping", "armature", "friction")

Parameter = tuple[tuple[str, bool], str] | str
"""End of a joint and the label of its shift or turn; or "link" or "joint", of whose numbers it is one."""


def checked_parameters(layout: Layout, by: Any) -> dict[str, Parameter]:
    """Parameters by name."""
    joints, loops = {slot.name for slot in layout.slots}, {loop.name for loop in layout.loops}
    found: dict[str, Parameter] = {}
    for name in listed(by, str, "by"):
        thing, _, label = name.rpartition(".")
        other = thing.removesuffix(".other")
        if label in SHIFTS + TURNS and thing in joints | loops:
            found[name] = (thing, False), label
        elif label in SHIFTS + TURNS and thing != other and other in loops:
            found[name] = (other, True), label
        elif label in LABELS and thing in layout.link_index and thing != "ground":
            found[name] = "link"
        elif label in _OF_JOINTS and thing in joints:
            found[name] = "joint"
        else:
            raise UnknownNameError("parameter", name, _names(layout))
    if not found:
        raise InputError("by must name at least one parameter, such as 'knee.x' or 'thigh.mass'")
    return found


def _names(layout: Layout) -> list[str]:
    """Names of all parameters."""
    links = [name for name in layout.link_index if name != "ground"]
    ends = [slot.name for slot in layout.slots] + [
        end for loop in layout.loops for end in (loop.name, f"{loop.name}.other")
    ]
    labels = ((ends, SHIFTS + TURNS), (links, LABELS), ([slot.name for slot in layout.slots], _OF_JOINTS))
    return [f"{name}.{label}" for things, of in labels for name in things for label in of]


def by_joint_parameter(m: Mechanism, s: State, a: Array, joint: str, field: str) -> Array:
    """Torques by a number of a joint, in which they are linear: what one unit more of it asks for."""
    layout, _ = opened(m, s)
    workspace, tau = layout.new_workspace(), np.empty((2, layout.n_v))
    bodies, dofs = workspace.array("bodies"), workspace.array("dofs")
    columns = layout.slot(joint).v
    inverse_dynamics(workspace.table, s.q, s.v, a, tau[0])
    dofs[field][columns] += 1.0
    bodies["passive"][dofs["body"][columns]] = 1
    inverse_dynamics(workspace.table, s.q, s.v, a, tau[1])
    return np.asarray(tau[1] - tau[0], dtype=np.float64)
