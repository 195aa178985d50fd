"""Many designs of one mechanism, driven through the same positions: motions, torques of drives, forces in joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import opened, require_mass
from varichain.dynamics.forces import ExternalForce, applied, checked_forces, force_records
from varichain.dynamics.joint_forces import carried_wrenches
from varichain.dynamics.rank import least_norm
from varichain.errors import InputError, StructureError, UnknownNameError
from varichain.kernels.closure import row_jacobian
from varichain.kernels.constrained_dynamics import constrained_forward_dynamics
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.loop_wrenches import loop_wrenches
from varichain.kernels.projection import project_position
from varichain.kernels.velocity_jump import velocity_jump
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import array_of, mapping, shown
from varichain.spatial.report import Report, Reported

Indices = NDArray[np.intp]

_CLOSED = 1e-13  # [m or rad] to which loops are closed, as everywhere
_OPEN = 1e-9  # what is left above this: the loops cannot be closed from there
_MOST_STEPS = 50  # of Newton's method: from one position to the next it takes some five


@dataclass(frozen=True, eq=False, repr=False)
class Designs(Reported):
    """Motions and forces of designs (n) in driven positions (p); NaN where loops cannot be closed.

    Attributes:
        q, v, a: Coordinates (n, p, n_q), velocities and accelerations (n, p, n_v) of the tree joints.
        tau: Torque or force of each drive (n, p), by joint.
        joint_forces: Wrench [moment; force] (n, p, 6) of every tree joint, as of `vc.joint_forces`, by joint.
        loop_forces: Wrench (n, p, 6) of every loop, as of `vc.forward_dynamics`, by its joint; of least norm where
            rows are redundant.
        is_closed: Whether there is such a configuration (n, p).
    """

    q: Array
    v: Array
    a: Array
    tau: dict[str, Array]
    joint_forces: dict[str, Array]
    loop_forces: dict[str, Array]
    is_closed: NDArray[np.bool_]
    name: str

    def __getitem__(self, joint: str) -> Array:
        """Wrench (n, p, 6) in a joint, of the tree or of a loop."""
        found = {**self.joint_forces, **self.loop_forces}
        if not isinstance(joint, str) or joint not in found:
            raise UnknownNameError("joint", joint, found)
        return found[joint]

    def report(self) -> Report:
        """How many, and how many could be closed."""
        n, p = self.is_closed.shape
        return f"{n} designs of {self.name!r} in {p} positions, {self.is_closed.mean():.1%} of them closed", ()


def designs(
    m: Mechanism,
    s: State,
    change: Callable[[Mechanism, Array], object],
    values: Any,
    driven: Mapping[str, Any],
    forces: Iterable[ExternalForce] = (),
) -> Designs:
    """Motions and forces of many designs of one structure, all driven through the same positions.

    A design is an edit in place, and nothing is rebuilt: `change(m, x)` gets a copy of the mechanism and a row of
    `values`, and calls `set_place`, `set_inertia` and `edit_joint`.

    Args:
        m: Mechanism; not changed.
        s: State near which the first design is closed in its first position.
        change: Makes a design of the one before.
        values: Numbers of each design (n, k).
        driven: Joints with one freedom that are driven, by name: positions (p,), or positions, velocities and
            accelerations (3, p). They determine all other joints.
        forces: External forces on links, the same on every design.

    Raises:
        InputError: Numbers of the wrong shape, or drives that leave a freedom open.
        StructureError: A design has other joints or loops than the first.
    """
    layout, _ = opened(m, s)
    rows, (columns, motion), given = _checked_values(values), _checked_drives(layout, driven), checked_forces(forces)
    force_records(layout, given)  # links that there are
    if not callable(change):
        raise InputError(f"change must be a function of a mechanism and numbers, not {shown(change)}")
    work, start = m.copy(), s.q.copy()
    n_q, n_v, n_joints, n_loops = layout.n_q, layout.n_v, len(layout.slots), len(layout.connections)
    sizes: dict[str, tuple[int, ...]] = {"q": (n_q,), "v": (n_v,), "a": (n_v,), "tau": (n_v,)}
    sizes |= {"joints": (n_joints, 6), "loops": (n_loops, 6)}
    found = {name: np.full((len(rows), motion.shape[1], *size), np.nan) for name, size in sizes.items()}
    for i, row in enumerate(rows):
        change(work, row.copy())
        now = layout_of(work)
        _require_same(layout, now)
        require_mass(now)
        start = _Driven(now, columns, start, s.time, given).go(motion, {name: of[i] for name, of in found.items()})
    return Designs(
        found["q"],
        found["v"],
        found["a"],
        {name: found["tau"][..., k] for name, k in zip(driven, columns, strict=True)},
        {slot.name: found["joints"][:, :, i] for i, slot in enumerate(layout.slots)},
        {loop.name: found["loops"][:, :, i] for i, loop in enumerate(layout.loops)},
        np.asarray(np.isfinite(found["q"]).all(axis=-1)),
        layout.mechanism_name,
    )


class _Driven:
    """One design with its drives locked: kernels prescribe the motion of freedoms that are locked."""

    def __init__(
        self, layout: Layout, columns: Indices, start: Array, time: float, forces: Iterable[ExternalForce]
    ) -> None:
        self._layout, self._columns, self._start = layout, columns, start
        self._forces, self._time = tuple(forces), time
        self._workspace = layout.new_workspace()
        self._dofs, bodies = self._workspace.array("dofs"), self._workspace.array("bodies")
        self._dofs["lock"][columns] = 1
        bodies["locked"][self._dofs["body"][columns]] = 1
        if not layout.is_tree:
            self._workspace.array("loops")["restitution"][:] = 0.0  # velocities follow, nothing bounces
        self._places = [slot.q.start for k in columns for slot in layout.slots if slot.v.start == k]

    def go(self, motion: Array, out: Mapping[str, Array]) -> Array:
        """Fill the results; returns the first configuration that could be closed, for the next design."""
        first, q, is_closed = None, self._start.copy(), np.zeros(motion.shape[1], dtype=bool)
        for j, (position, velocity, acceleration) in enumerate(motion.transpose(1, 0, 2)):
            if not self._close(q, position):
                q = self._start.copy()
                continue
            first = q.copy() if first is None else first
            v, a = self._move(q, velocity, acceleration, out["loops"][j], out["tau"][j])
            out["q"][j], out["v"][j], out["a"][j], is_closed[j] = q, v, a, True
        q_all, v_all, a_all, loops = (out[name][is_closed] for name in ("q", "v", "a", "loops"))
        rows = (np.full(len(q_all), self._time), q_all, v_all, a_all, loops.reshape(len(q_all), -1))
        out["joints"][is_closed] = carried_wrenches(self._layout, self._workspace.table, rows, self._forces)
        return self._start if first is None else first

    def _close(self, q: Array, position: Array) -> bool:
        """Close the loops with the drives in their places, q in place; whether that succeeds."""
        q[self._places] = position
        self._dofs["forced"][self._columns] = 0.0
        left = project_position(self._workspace.table, q, _CLOSED, _MOST_STEPS, np.empty(self._layout.n_v))
        return bool(left <= _OPEN)

    def _move(
        self, q: Array, velocity: Array, acceleration: Array, wrenches: Array, torques: Array
    ) -> tuple[Array, Array]:
        """Velocities and accelerations of all joints; wrenches of loops and torques of drives are filled in."""
        n, table, driven = self._layout.n_v, self._workspace.table, self._columns
        v, jump, a, tau = np.zeros(n), np.zeros(n), np.empty(n), np.empty(n)
        v[driven] = velocity
        velocity_jump(table, q, v, jump)
        v += jump
        self._dofs["forced"][driven] = acceleration
        with applied(self._layout, table, State(self._layout, q, v, self._time), self._forces):
            constrained_forward_dynamics(table, q, v, np.zeros(n), a)
            a[driven] = acceleration
            x, K = self._workspace.array("multipliers").copy(), np.empty((self._layout.n_rows, n))
            inverse_dynamics(table, q, v, a, tau)
        rank = int(np.count_nonzero(self._workspace.array("rows")["kept"]))
        if rank + len(driven) < n:
            raise InputError(f"the drives leave {n - rank - len(driven)} freedoms open: drive further joints")
        row_jacobian(table, q, K)
        x = x if rank == len(K) else least_norm(K.T, K.T @ x, rank)
        loop_wrenches(table, x, wrenches)
        torques[driven] = (tau - K.T @ x)[driven]
        return v, a


def _checked_values(values: Any) -> Array:
    rows = array_of(values)
    if rows is None or rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise InputError(f"values must be finite numbers (n, k), a design a row, not {shown(values)}")
    return rows.astype(np.float64)


def _checked_drives(layout: Layout, driven: Any) -> tuple[Indices, Array]:
    """Freedoms of the drives, and their positions, velocities and accelerations (3, p, n_driven)."""
    columns, motions = [], []
    for name, given in mapping(driven, "driven").items():
        slot = layout.slot(name)
        if slot.v.stop - slot.v.start != 1:
            raise InputError(f"{slot.kind} joint {name!r} cannot be driven: a drive has one freedom")
        columns.append(slot.v.start)
        motion = np.asarray(given)
        is_sound = motion.dtype.kind in "iuf" and motion.ndim in (1, 2) and motion.size and np.isfinite(motion).all()
        if not is_sound or (motion.ndim == 2 and len(motion) != 3):
            raise InputError(
                f"driven[{name!r}] must be positions (p,), or positions, velocities and accelerations (3, p), not "
                f"{shown(given)}"
            )
        motions.append(motion if motion.ndim == 2 else np.stack([motion, 0.0 * motion, 0.0 * motion]))
    if not columns or len({motion.shape for motion in motions}) > 1:
        raise InputError("driven must have one joint at least, and as many positions of each")
    return np.array(columns, dtype=np.intp), np.stack(motions, axis=-1).astype(np.float64)


def _require_same(first: Layout, now: Layout) -> None:
    """Raise if a design has other joints or loops than the mechanism."""
    rows = [[(one.joint.kind, one.link_A, one.link_B) for one in of.connections] for of in (first, now)]
    if not first.tree.fits(now.tree) or rows[0] != rows[1] or len(first.ties) != len(now.ties):
        raise StructureError("designs must have the mechanism's joints and loops: change places, masses and parameters")
