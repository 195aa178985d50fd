"""Numbers of a design by name: places of joints, inertial parameters of links, parameters of joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from varichain.derivatives.parameters import LABELS, inertia_of, inertial_regressor, parameters_of
from varichain.derivatives.places import SHIFTS, TURNS
from varichain.dynamics.arguments import opened
from varichain.errors import UnknownNameError
from varichain.kernels.derivative_momentum import MOMENTUM_WORK, momentum_derivatives
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.layout.workspace import Workspace
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import listed
from varichain.spatial.pose import Pose

_OF_JOINTS = ("stiffness", "damping", "armature", "friction")
_OF_LOOPS = ("stiffness", "damping", "friction")

Parameter = tuple[tuple[str, bool], str] | str
"""End of a joint and the label of its shift or turn; or "link", "joint", "gravity" or "controller", of whose numbers it
is one, and "gone" after what it belongs to has been cut."""


def checked_parameters(layout: Layout, by: Any, of_controller: Iterable[str] = ()) -> dict[str, Parameter]:
    """Parameters by name, those of a controller among them."""
    own = list(of_controller)
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
        elif (label in _OF_JOINTS and thing in joints) or (label in _OF_LOOPS and thing in loops):
            found[name] = "joint"
        elif label in SHIFTS and thing == "gravity":
            found[name] = "gravity"
        elif name in own:
            found[name] = "controller"
        else:
            raise UnknownNameError("parameter", name, [*own, *_names(layout)])
    return found


def _names(layout: Layout) -> list[str]:
    """Names of all parameters."""
    links = [name for name in layout.link_index if name != "ground"]
    ends = [slot.name for slot in layout.slots] + [
        end for loop in layout.loops for end in (loop.name, f"{loop.name}.other")
    ]
    joints, loops = [slot.name for slot in layout.slots], [loop.name for loop in layout.loops]
    labels = ((ends, SHIFTS + TURNS), (links, LABELS), (joints, _OF_JOINTS), (loops, _OF_LOOPS))
    found = [f"{name}.{label}" for things, of in labels for name in things for label in of]
    return found + [f"gravity.{axis}" for axis in SHIFTS]


def by_design(m: Mechanism, s: State, workspace: Workspace, a: Array, parameters: Mapping[str, Parameter]) -> Array:
    """Torques of the tree (n_v, n_parameters) by numbers in which they are linear; places have none here.

    Modes of friction are those of the workspace.
    """
    layout, _ = opened(m, s)
    found, regressor = np.zeros((layout.n_v, len(parameters))), None
    for column, (name, one) in zip(found.T, parameters.items(), strict=True):
        thing, _, label = name.rpartition(".")
        if one == "link":
            regressor = inertial_regressor(m, s, a) if regressor is None else regressor
            column[:] = regressor.matrix[:, regressor.names.index(name)]
        elif one == "joint":
            column[:] = _by_joint(layout, workspace, s, a, thing, label)
        elif one == "gravity":
            column[:] = _by_gravity(m, workspace, s, SHIFTS.index(label))
    return found


def _by_joint(layout: Layout, workspace: Workspace, s: State, a: Array, joint: str, field: str) -> Array:
    """Torques by a number of a joint, of the tree or of a loop: what one unit more of it asks for."""
    tau = np.empty((2, layout.n_v))
    inverse_dynamics(workspace.table, s.q, s.v, a, tau[0])
    if joint in layout.tree.slot_by_name:
        dofs, columns = workspace.array("dofs"), layout.slot(joint).v
        numbers, flags = dofs[field], workspace.array("bodies")["passive"]
        acting: Any = dofs["body"][columns]
    else:
        loops, i = workspace.array("loops"), [loop.name for loop in layout.loops].index(joint)
        numbers, columns = loops[field][i], slice(0, 1 if loops["law"][i] else int(loops["n_free"][i]))
        flags, acting = loops["passive"], i
    before, flag = numbers[columns].copy(), flags[acting].copy()
    numbers[columns] += 1.0
    flags[acting] = 1
    inverse_dynamics(workspace.table, s.q, s.v, a, tau[1])
    numbers[columns], flags[acting] = before, flag
    return np.asarray(tau[1] - tau[0], dtype=np.float64)


def _by_gravity(m: Mechanism, workspace: Workspace, s: State, axis: int) -> Array:
    """Torques by gravity: it pulls the whole mass at its centre."""
    by_q, by_v, center, kinetic = (np.empty((rows, len(s.v))) for rows in (6, 6, 3, 2))
    work = np.empty((workspace.length("bodies"), MOMENTUM_WORK))
    momentum_derivatives(workspace.table, s.q, s.v, by_q, by_v, center, kinetic, work)
    return np.asarray(-sum(link.inertia.mass for link in m.links) * center[axis], dtype=np.float64)


def redesigned(m: Mechanism, name: str, one: Parameter, h: float) -> Mechanism:
    """A copy of the mechanism with one parameter changed by h."""
    made, (thing, _, label) = m.copy(), name.rpartition(".")
    if isinstance(one, tuple):
        (joint, is_other), link = one[0], made.link_of_joint(one[0][0])
        if is_other:
            made.set_place(joint, at_other=_put(link.at, label, h))
        else:
            made.set_place(joint, _put(link.on_real if link.is_virtual else link.at, label, h))
    elif one == "link":
        x = parameters_of(made.link(thing).inertia)
        x[LABELS.index(label)] += h
        made.set_inertia(thing, inertia_of(x))
    elif one == "joint":
        edited: Any = made.link_of_joint(thing).joint
        numbers = (np.asarray(getattr(edited, label)) + h).tolist()
        made.edit_joint(thing, **{label: numbers[0] if edited.law else tuple(numbers)})
    elif one == "gravity":
        made.gravity = np.asarray(made.gravity) + h * np.eye(3)[SHIFTS.index(label)]
    return made


def _put(pose: Pose, label: str, h: float) -> Pose:
    """A pose shifted along, or turned about, an axis of the frame that it is given in."""
    if label in SHIFTS:
        return Pose(pose.p + h * np.eye(3)[SHIFTS.index(label)], R=pose.R)
    return Pose(pose.p, R=Pose(rotation_vector=h * np.eye(3)[TURNS.index(label)]).R @ pose.R)
