"""State: positions and velocities of a mechanism, addressed by joint name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.errors import InputError, StructureError
from varichain.layout.carry import carried, stale
from varichain.layout.layout import Layout, layout_of
from varichain.layout.tree import JointSlot
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Mesh
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar, normalised
from varichain.spatial.notebook import html_table
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import (
    matrix_from_quaternion,
    quaternion_from_matrix,
    quaternion_from_rotation_vector,
)

_PICTURE = (360, 220)  # of a state in a notebook [pixels]


class State:
    """Time, coordinates q (n_q,) and velocities v (n_v,) of all tree joints of a mechanism.

    `state["knee"].q = 0.3` sets a joint by name; `state.q` and `state.v` are the whole vectors, in the order of
    `state.joints`. Quaternions (w, x, y, z) are kept at unit length by the setters.

    A state belongs to a structure, by the names of its joints. Functions read q and v from the state and everything
    else from the mechanism as it is now, so edits of masses, damping, gravity, limits or loops leave a state valid. A
    state whose joints are no longer those of the mechanism is refused (`StaleStateError`) until `follow` is called.
    Only a call that says so changes a state: `follow`, `connect`, `cut` and `couple` with `state=`, `vc.change`,
    `vc.release`, `vc.set_pose`, `Motion.set_state` and the setters.
    """

    __slots__ = ("_layout", "_mechanism", "_q", "_time", "_v")

    def __init__(
        self, layout: Layout, q: Array, v: Array, time: float = 0.0, mechanism: Mechanism | None = None
    ) -> None:
        """Take arrays of the right length; use `Mechanism.state()` to make a state."""
        self._layout = layout
        self._mechanism = mechanism
        self._q = q
        self._v = v
        self._time = time

    @property
    def layout(self) -> Layout:
        """Names and places of the joints in q and v: the structure in which this state was made or has last followed.

        Masses and loops may have been edited since; a mechanism's own layout has those of now.
        """
        return self._layout

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism that made this state, or that it has last followed; of `trace.at(t)`, that of the epoch.

        None for a state from a kernel's arrays, or one that was unpickled.
        """
        return self._mechanism

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of q and v."""
        return tuple(slot.name for slot in self._layout.slots)

    @property
    def time(self) -> float:
        """Time [s]."""
        return self._time

    @time.setter
    def time(self, value: float) -> None:
        self._time = finite_scalar(value, "time")

    @property
    def q(self) -> Array:
        """Coordinates of all joints (n_q,)."""
        return self._q

    @q.setter
    def q(self, value: ArrayLike) -> None:
        q = finite_array(value, (self._layout.n_q,), "q").copy()
        for slot in self._layout.slots:
            if slot.has_quaternion:
                head = slice(slot.q.start, slot.q.start + 4)
                q[head] = normalised(tuple(q[head].tolist()), f"quaternion of joint {slot.name!r}")
        self._q[:] = q

    @property
    def v(self) -> Array:
        """Velocities of all joints (n_v,)."""
        return self._v

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._v[:] = finite_array(value, (self._layout.n_v,), "v")

    def __getitem__(self, joint: str) -> JointState:
        """Coordinates and velocities of one joint."""
        return JointState(self, self._layout.slot(joint).name)

    def __iter__(self) -> Any:
        """Iterate over the joints' names."""
        return iter(self.joints)

    def integrate(self, step: ArrayLike) -> State:
        """State with the coordinates moved by a step (n_v,) on the manifold; time and velocities are kept.

        A spherical joint turns by the rotation vector in its link's axes [NY, (39)-(44)], a free joint also shifts
        along its link's axes at the start of the step, other coordinates add. `s.integrate(s.v * dt)` is an Euler step.
        """
        from varichain.kernels.manifold import integrate

        moved = self.copy()
        step_array = finite_array(step, (self._layout.n_v,), "step").copy()
        integrate(self._layout.workspaces.of_thread.table, self._q, step_array, 1.0, moved._q)
        return moved

    def difference(self, other: State) -> Array:
        """Step (n_v,) from this state's configuration to the other's: s.integrate(s.difference(o)) is at o."""
        from varichain.kernels.manifold import difference

        if not isinstance(other, State) or not self._layout.tree.fits(other._layout.tree):
            raise StructureError("difference needs two states with the same joints")
        step = np.empty(self._layout.n_v)
        difference(self._layout.workspaces.of_thread.table, self._q, other._q, step)
        return step

    def follow(self, m: Mechanism) -> State:
        """Bring this state up to date with the mechanism after cuts, and return it; nothing changes without them.

        Joints that are still there keep their coordinates. A link that was cut free keeps its world pose and velocity,
        as they were in the structure in which this state was made or has last followed.

        Raises:
            StaleStateError: Links or joints have been added or renamed, or it is a state of another mechanism. The
                state stays as it was.
        """
        if not isinstance(m, Mechanism):
            raise InputError(f"expected a Mechanism, not {type(m).__name__}")
        layout = layout_of(m)
        self._q, self._v = carried(self._layout, layout, self._q, self._v)
        self._layout, self._mechanism = layout, m
        return self

    def _become(self, other: State) -> None:
        """Take over another state of the same mechanism."""
        self._layout, self._q, self._v = other._layout, other._q, other._v

    def copy(self) -> State:
        """Independent copy."""
        return State(self._layout, self._q.copy(), self._v.copy(), self._time, self._mechanism)

    def __getstate__(self) -> tuple[Layout, Array, Array, float]:
        """Copy and pickle without the mechanism, which is the user's."""
        return self._layout, self._q, self._v, self._time

    def __setstate__(self, state: tuple[Layout, Array, Array, float]) -> None:
        """Take what was pickled."""
        self._layout, self._q, self._v, self._time = state
        self._mechanism = None

    def __repr__(self) -> str:
        """Time and the joints' values, one a line."""
        lines = [f"State of {self._layout.mechanism_name!r} at t = {self._time:g} s"]
        width = max((len(slot.name) for slot in self._layout.slots), default=0)
        for slot in self._layout.slots:
            q, v = (np.array2string(x, precision=5, suppress_small=True) for x in (self._q[slot.q], self._v[slot.v]))
            lines.append(f"  {slot.name:<{width}}  {slot.kind:<9}  q {q}  v {v}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A picture of the mechanism in this state, if it is known and fits, and a table, for notebooks."""
        rows = [
            (
                slot.name,
                slot.kind,
                *(", ".join(f"{x + 0.0:.5g}" for x in of) for of in (self._q[slot.q], self._v[slot.v])),
            )
            for slot in self._layout.slots
        ]
        title = f"State of {self._layout.mechanism_name!r} at t = {self._time:g} s"
        return self._picture() + html_table(title, ("joint", "kind", "q [rad or m]", "v [rad/s or m/s]"), rows)

    def _picture(self) -> str:
        """The mechanism in this state as SVG; empty if it is not known, or has another structure by now, or meshes.

        Outlines of meshes would be megabytes: `vc.draw` draws those as PNG.
        """
        from varichain.exports.look import Look
        from varichain.exports.still import still_of

        m = self._mechanism
        if m is None or not len(m) or not np.isfinite(self._q).all() or not layout_of(m).tree.fits(self._layout.tree):
            return ""
        if any(isinstance(shape, Mesh) for link in (m.ground, *m.links) for shape in link.shapes):
            return ""
        picture: str = still_of(m, self._q, _PICTURE, Look(title=False)).svg
        return picture


class JointState:
    """Coordinates and velocities of one joint of a State; writing here writes there."""

    __slots__ = ("_name", "_state")

    def __init__(self, state: State, name: str) -> None:
        """View one joint of a state."""
        self._state = state
        self._name = name

    @property
    def _slot(self) -> JointSlot:
        """Place of the joint, which may be another after the state has followed a cut."""
        return self._state.layout.slot(self._name)

    @property
    def q(self) -> Any:
        """Coordinates: a number for one freedom, an array (n_q,) that writes through else."""
        q = self._state.q[self._slot.q]
        return float(q[0]) if len(q) == 1 else q

    @q.setter
    def q(self, value: Any) -> None:
        slot = self._slot
        q = _numbers(value, slot.q, f"q of {slot.kind} joint {slot.name!r}")
        if slot.has_quaternion:
            q[:4] = normalised(tuple(q[:4].tolist()), f"quaternion of joint {slot.name!r}")
        self._state.q[slot.q] = q

    @property
    def v(self) -> Any:
        """Velocities: a number for one freedom, an array (n_v,) that writes through else."""
        v = self._state.v[self._slot.v]
        return float(v[0]) if len(v) == 1 else v

    @v.setter
    def v(self, value: Any) -> None:
        self._state.v[self._slot.v] = _numbers(value, self._slot.v, f"v of {self._slot.kind} joint {self._slot.name!r}")

    @property
    def orientation(self) -> Array:
        """Orientation of the link in the joint frame as a unit quaternion (w, x, y, z); settable, see below.

        Takes a rotation matrix (3, 3), a rotation vector (3,) [rad], a quaternion (4,) or a Pose.
        """
        return self._state.q[self._quaternion("orientation")].copy()

    @orientation.setter
    def orientation(self, value: Any) -> None:
        self._state.q[self._quaternion("orientation")] = _quaternion_from(value, self._slot.name)

    @property
    def position(self) -> Array:
        """Position of the link's origin in the joint frame of a free joint (3,) [m]; settable."""
        return self._state.q[self._position("position")].copy()

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._state.q[self._position("position")] = finite_array(value, (3,), f"position of joint {self._slot.name!r}")

    @property
    def pose(self) -> Pose:
        """Pose of the link in the joint frame of a free joint; settable."""
        position = self.position
        return Pose(position, R=matrix_from_quaternion(self.orientation))

    @pose.setter
    def pose(self, value: Any) -> None:
        pose = Pose.coerce(value, f"pose of joint {self._slot.name!r}")
        self.position = pose.p
        self.orientation = pose

    def _quaternion(self, what: str) -> slice:
        if not self._slot.has_quaternion:
            raise InputError(
                f"{self._slot.kind} joint {self._slot.name!r} has no {what}; "
                f"set its q ({', '.join(self._slot.coordinates) or 'no coordinates'})"
            )
        return slice(self._slot.q.start, self._slot.q.start + 4)

    def _position(self, what: str) -> slice:
        if not self._slot.has_quaternion or len(self._slot.coordinates) != 6:
            raise InputError(
                f"{self._slot.kind} joint {self._slot.name!r} has no {what}; only free joints have"
                + (", spherical ones have an orientation" if self._slot.has_quaternion else "")
            )
        return slice(self._slot.q.start + 4, self._slot.q.stop)

    def __repr__(self) -> str:
        """Name, kind and values."""
        return f"<{self._slot.kind} joint {self._slot.name!r}: q={self.q}, v={self.v}>"


def new_state(mechanism: Mechanism) -> State:
    """State at rest in the zero configuration."""
    layout = layout_of(mechanism)
    return State(layout, layout.q_zero.copy(), np.zeros(layout.n_v), mechanism=mechanism)


def layout_for(mechanism: Mechanism, state: State) -> Layout:
    """Layout of the mechanism as it is now, to compute with on the state's q and v; the state stays as it is.

    Raises:
        StaleStateError: The state's coordinates are not those of the mechanism as it is now.
    """
    layout = layout_of(mechanism)
    if state._layout is not layout:
        require_fit(layout, state)
    return layout


def require_fit(layout: Layout, state: State) -> None:
    """Raise StaleStateError unless the state's coordinates are those of a layout."""
    if not isinstance(state, State):
        raise InputError(f"expected a State (from m.state()), not {type(state).__name__}")
    if not state._layout.tree.fits(layout.tree):
        raise stale(state._layout, layout)


def _numbers(value: Any, where: slice, what: str) -> Array:
    """New array of the slot's length from a number or numbers."""
    n = where.stop - where.start
    if n == 1 and np.ndim(value) == 0:
        return np.array([finite_scalar(value, what)])
    return finite_array(value, (n,), what).copy()


def _quaternion_from(value: Any, name: str) -> Array:
    """Unit quaternion of a rotation matrix, rotation vector, quaternion or pose."""
    what = f"orientation of joint {name!r}"
    if isinstance(value, Pose):
        return value.quaternion
    shape = np.shape(value)
    if shape == (3, 3):
        try:
            return quaternion_from_matrix(Pose(R=value).R)
        except InputError as error:
            raise InputError(f"{what}: {error}") from None
    if shape == (3,):
        return quaternion_from_rotation_vector(finite_array(value, (3,), what))
    if shape == (4,):
        return np.array(normalised(tuple(finite_array(value, (4,), what).tolist()), what))
    raise InputError(
        f"{what} must be a rotation matrix (3, 3), a rotation vector (3,), a quaternion (4,) or a Pose, "
        f"not something of shape {shape}"
    )
