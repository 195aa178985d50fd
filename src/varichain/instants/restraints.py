"""Stops and dry friction of joints as the restraints that kernels read, for one structure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, quoted
from varichain.kernels.records import (
    ACROSS,
    AROUND,
    DISTANCE,
    LINE,
    LINEAR,
    LOOP_SPEC,
    ROW_CODES,
    SPEC,
    SWUNG,
    TURN,
    TURNED,
    TWISTED,
)
from varichain.kernels.run_records import COORDINATE, RESTRAINT, ROW_OF_LOOP, SWING, TWIST, WHOLE_BALL
from varichain.layout.layout import Layout
from varichain.layout.workspace import Workspace
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Free
from varichain.mechanism.limits import SwingTwist
from varichain.spatial.checks import is_one_of, non_negative_scalar, positive_scalar

_LEAST_SWING = 1e-3  # [rad]; a narrower cone has no direction to push along
_IDENTITY = np.eye(3).ravel()


@dataclass(frozen=True)
class SoftLimits:
    """Joint limits as springs: a restoring torque beyond the limit [NY].

    Attributes:
        stiffness: Of the spring [N m/rad or N/m].
        damping: Of a damper that acts beyond the limit and never pulls [N m s/rad or N s/m].
    """

    stiffness: float = 1000.0
    damping: float = 10.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        positive_scalar(self.stiffness, "stiffness of SoftLimits")
        non_negative_scalar(self.damping, "damping of SoftLimits")


Limits = str | SoftLimits


def checked_limits(limits: Any) -> Limits:
    """`limits` if it is "hard", "off" or SoftLimits."""
    if isinstance(limits, SoftLimits) or is_one_of(limits, ("hard", "off")):
        return limits  # type: ignore[no-any-return]
    if is_one_of(limits, ("soft",)):
        return SoftLimits()
    raise InputError(f"limits must be 'hard', 'soft', 'off' or vc.SoftLimits(stiffness, damping), not {quoted(limits)}")


class Restraints(NamedTuple):
    """Restraints of a structure.

    Attributes:
        records: One a restraint (RESTRAINT).
        names: Name of each restraint, such as "knee" or "left hip.swing".
        workspace: Arrays of the structure, with the rows that restraints open and close.
    """

    records: NDArray[Any]
    names: list[str]
    workspace: Workspace


@dataclass(eq=False)
class _Stop:
    """A restraint before it is laid out.

    Attributes:
        label: Part of its name after the joint's, or "".
        kind: COORDINATE, SWING or TWIST of a tree joint; ROW_OF_LOOP if it can only be a row; WHOLE_BALL.
        freedom: Freedom of the joint.
        row: Kind and axis of the row that would lock it.
        values: Bounds, friction and softness.
    """

    label: str
    kind: int
    freedom: int
    row: tuple[int, int]
    values: dict[str, Any] = field(default_factory=dict)


def restraints_of(
    layout: Layout, limits: Limits, driven: frozenset[str] = frozenset(), softens: bool = False
) -> Restraints:
    """Restraints of all joints; those that follow a given motion have none: their motion says where they are.

    If it `softens`, the workspace has soft rows too, for springs and dampers of loops in implicit steps.
    """
    records: list[dict[str, Any]] = []
    names: list[str] = []
    modal: list[NDArray[Any]] = []
    n_loops, n_rows = len(layout.connections) + len(layout.ties), layout.n_rows

    def add(name: str, stops: list[_Stop], spec: NDArray[Any], first_dof: int) -> None:
        nonlocal n_rows
        rows: list[tuple[int, int]] = []
        ball: dict[str, Any] = {}
        for stop in stops:
            record = {"kind": stop.kind, "dof": -1, "loop": -1, "freedom": stop.freedom, **stop.values}
            is_row = record.pop("as_rows", first_dof < 0 or stop.kind == ROW_OF_LOOP)
            if is_row:
                kind = stop.kind if stop.kind == WHOLE_BALL else ROW_OF_LOOP
                record |= {"kind": kind, "loop": n_loops + len(modal), "row": n_rows + len(rows)}
                rows += [(TURNED, 0), (TURNED, 1), (TURNED, 2)] if stop.kind == WHOLE_BALL else [stop.row]
                ball |= {name: stop.values[name] for name in ("axis", "middle") if name in stop.values}
            if first_dof >= 0 and (not is_row or stop.values["friction"] > 0.0):
                record["dof"] = first_dof + stop.freedom
            records.append(record)
            names.append(f"{name}.{stop.label}" if stop.label else name)
        if rows:
            modal.append(_modal(spec, rows, ball))
            n_rows += len(rows)

    first_dof = 0
    for i, joint in enumerate(layout.joints):
        if joint.name not in driven and _is_restrained(joint, limits):
            add(str(joint.name), list(_stops(joint, limits, in_tree=True)), _spec_of_tree(layout, i), first_dof)
        first_dof += joint.n_v
    for i, connection in enumerate(layout.connections):
        if _is_restrained(connection.joint, limits):
            _refuse_whole_turns(connection.joint, limits)
            spec = np.frombuffer(connection.spec, LOOP_SPEC).copy()
            spec["owner"] = i
            add(str(connection.joint.name), list(_stops(connection.joint, limits, in_tree=False)), spec, -1)
    if softens:
        for i, connection in enumerate(layout.connections):
            if _has_forces(connection.joint):
                modal.append(_soft(connection.spec, i))
    workspace = layout.new_workspace(b"".join(spec.tobytes() for spec in modal))
    return Restraints(_records(records, workspace), names, workspace)


def touchable(layout: Layout) -> tuple[NDArray[Any], Workspace]:
    """Records of hard stops and friction of a structure outside of runs, and arrays: the thread's own if none is a row.

    Those of the tree are kept with it: a connection pays for them once.
    """
    kept = layout.tree.__dict__.get("_touchable")
    if kept is None:
        found = restraints_of(layout, "hard")
        if (found.records["loop"] >= 0).any():
            return found.records, found.workspace
        kept = layout.tree.__dict__["_touchable"] = found.records.tobytes()
    for connection in layout.connections:
        if connection.is_restrained:
            found = restraints_of(layout, "hard")
            return found.records, found.workspace
    return np.frombuffer(bytearray(kept), RESTRAINT), layout.workspaces.of_thread


def _is_restrained(joint: Joint, limits: Limits) -> bool:
    return any(joint.friction) or (joint.limits is not None and limits != "off")


def _has_forces(joint: Joint) -> bool:
    """Whether a joint has springs or dampers, or is a force element."""
    return bool(joint.law) or any(joint.stiffness) or any(joint.damping)


def _stops(joint: Joint, limits: Limits, in_tree: bool) -> Iterator[_Stop]:
    """Restraints of one joint."""
    bounds = joint.limits if limits != "off" else None
    if isinstance(bounds, SwingTwist):
        yield from _ball_stops(joint, bounds, limits)
    elif isinstance(joint, Free) and bounds is not None:
        for k, (label, low, high) in enumerate(zip(("px", "py", "pz"), *bounds, strict=True)):
            if math.isfinite(low) or math.isfinite(high):
                yield _Stop(label, ROW_OF_LOOP, 3 + k, (LINEAR, k), _values(limits, low, high))
    # a ball that is locked at a stop turns its axes: friction along them is then a row
    beside_stops = isinstance(bounds, SwingTwist) and limits == "hard"
    if joint.is_isotropic and joint.friction[0] > 0.0:
        values = _values(limits, -math.inf, math.inf, joint.friction[0])
        yield _Stop("", WHOLE_BALL, 0, (TURNED, 0), values | {"as_rows": beside_stops or not in_tree})
        return
    for k, label in enumerate(joint.coordinates):
        low, high = -math.inf, math.inf
        if bounds is not None and not joint.has_quaternion:
            low, high = bounds[0][k], bounds[1][k]
        if joint.friction[k] > 0.0 or math.isfinite(low) or math.isfinite(high):
            kind, axis = joint.freedoms[k] if joint.freedoms else ("linear", 0)
            values = _values(limits, low, high, joint.friction[k])
            which = ROW_OF_LOOP if beside_stops or not in_tree else COORDINATE
            yield _Stop(label if joint.n_v > 1 else "", which, k, (ROW_CODES[kind], axis), values)


def _ball_stops(joint: Joint, bounds: SwingTwist, limits: Limits) -> Iterator[_Stop]:
    """Cone and twist of a ball."""
    ball = {"axis": bounds.axis, "middle": bounds.center}
    # turned axes need an armature that is the same about all of them: otherwise the stops are rows
    as_rows = len(set(joint.armature)) > 1
    if bounds.swing < math.pi:
        if bounds.swing < _LEAST_SWING:
            raise InputError(
                f"swing of spherical joint {joint.name!r} is {bounds.swing:g} rad: a cone below {_LEAST_SWING:g} rad "
                "cannot be simulated; use a revolute joint"
            )
        values = ball | _values(limits, -math.inf, bounds.swing)
        yield _Stop("swing", ROW_OF_LOOP if as_rows else SWING, 0, (SWUNG, 0), values)
    if bounds.twist != (-math.pi, math.pi):
        yield _Stop("twist", ROW_OF_LOOP if as_rows else TWIST, 1, (TWISTED, 0), ball | _values(limits, *bounds.twist))


def _values(limits: Limits, lower: float, upper: float, friction: float = 0.0) -> dict[str, Any]:
    values = {"lower": lower, "upper": upper, "friction": friction}
    if isinstance(limits, SoftLimits) and (math.isfinite(lower) or math.isfinite(upper)):
        values |= {"soft": 1, "stiffness": limits.stiffness, "damping": limits.damping}
    return values


def _refuse_whole_turns(joint: Joint, limits: Limits) -> None:
    """Refuse limits that the angle of a loop's joint, known within half a turn, cannot tell apart."""
    if joint.limits is None or limits == "off" or joint.has_quaternion:
        return
    for (kind, _), label, low, high in zip(joint.freedoms, joint.coordinates, *joint.limits, strict=True):
        bounds = [bound for bound in (low, high) if math.isfinite(bound)]
        if kind in ("angular", "cardan") and any(abs(bound) >= math.pi for bound in bounds):
            raise InputError(
                f"joint {joint.name!r} closes a loop: its {label} is known within half a turn, and its limits "
                f"({low:g}, {high:g}) reach beyond; narrow them, or let the joint be one of the tree"
            )


def _spec_of_tree(layout: Layout, i: int) -> NDArray[Any]:
    """A loop between the link of a tree joint and its parent, at the joint, without rows."""
    link = np.frombuffer(layout.tree.specs, SPEC)[i + 1]
    spec = np.zeros(1, LOOP_SPEC)
    spec["link_A"], spec["link_B"], spec["owner"] = i + 1, link["parent"], -1
    spec["R_A"], spec["R_B"], spec["p_B"], spec["axes"] = _IDENTITY, link["R"], link["p"], _IDENTITY
    return spec


def _modal(spec: NDArray[Any], rows: list[tuple[int, int]], ball: dict[str, Any]) -> NDArray[Any]:
    """The loop with rows that open and close by mode, in place of its own."""
    spec["is_modal"], spec["n_rows"], spec["n_free"], spec["passive"] = 1, len(rows), 0, 0
    for k, row in enumerate(rows):
        spec["row_kinds"][0, k], spec["row_axes"][0, k] = row
    if ball:
        spec["axis_A"], spec["rest"][0, :4] = ball["axis"], ball["middle"]
    return spec


def _soft(spec: bytes, owner: int) -> NDArray[Any]:
    """The loop with soft rows along its springs and dampers, in place of its own."""
    soft = np.frombuffer(spec, LOOP_SPEC).copy()
    free = list(zip(soft["free_kinds"][0], soft["free_axes"][0], strict=True))[: int(soft["n_free"][0])]
    line = [(DISTANCE, 0), (ACROSS, 0), (ACROSS, 1)]
    if soft["length"][0] == 0.0 < soft["stiffness"][0, 0]:  # a point that pulls: its line may have any direction
        line = [(LINEAR, 2), (LINEAR, 0), (LINEAR, 1)]
    rows = {LINE: line, TURN: [(AROUND, 0)]}.get(int(soft["law"][0]), free)
    soft["owner"], soft["is_soft"] = owner, 1
    return _modal(soft, rows, {})


def _records(entries: list[dict[str, Any]], workspace: Workspace) -> NDArray[Any]:
    records = np.zeros(len(entries), RESTRAINT)
    for record, entry in zip(records, entries, strict=True):
        for name, value in entry.items():
            record[name] = value
    in_tree = records["dof"] >= 0
    bodies = workspace.array("dofs")["body"][records["dof"][in_tree]]
    records["body"][in_tree] = bodies
    records["coordinate"][in_tree] = workspace.array("bodies")["q"][bodies]
    return records
