"""The prepared handle: the same functions on plain arrays, for control loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from varichain.dynamics.actuator_solve import ActuatorSolve, actuators_of
from varichain.dynamics.arguments import checked_closing, checked_step_method, require_mass
from varichain.dynamics.forward import is_close_decision
from varichain.dynamics.motion_basis import MotionBasis
from varichain.errors import ArrayError, InputError
from varichain.kernels import jit
from varichain.kernels.actuator_torques import actuator_torques
from varichain.kernels.closure import row_biases, row_jacobian
from varichain.kernels.constrained_dynamics import constrained_forward_dynamics
from varichain.kernels.derivative_forward import derivative_memory, forward_dynamics_derivatives
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives
from varichain.kernels.derivative_loads import LOAD
from varichain.kernels.forward_dynamics import forward_dynamics
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.links import link_bias_acceleration, link_jacobian, link_poses, link_velocities
from varichain.kernels.loop_basis import motion_basis
from varichain.kernels.manifold import difference, integrate
from varichain.kernels.mass_matrix import mass_matrix
from varichain.kernels.projection import project_position
from varichain.kernels.stepping import advance, step_memory
from varichain.kernels.totals import center_of_mass, center_of_mass_jacobian, energy, momentum
from varichain.kernels.velocity_jump import velocity_jump
from varichain.kernels.wrenches import clear_wrenches, load_wrenches
from varichain.layout.layout import layout_of
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance, is_index, shown

# What a handle may call, compiled or loaded before its first call.
_TREE_KERNELS = (
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
    link_poses,
    link_velocities,
    link_jacobian,
    link_bias_acceleration,
    center_of_mass,
    center_of_mass_jacobian,
    energy,
    momentum,
    integrate,
    difference,
    load_wrenches,
    clear_wrenches,
)
_LOOP_KERNELS = (constrained_forward_dynamics, project_position, velocity_jump)
# What is compiled or loaded when it is first asked for.
_ACTUATOR_KERNELS, _BASIS_KERNELS = (actuator_torques,), (motion_basis,)
_DERIVATIVE_KERNELS = (inverse_dynamics_derivatives, forward_dynamics_derivatives)  # on their first use
_NO_LOADS = np.zeros((0, LOAD))

_NOTHING = object()  # None may be given by mistake
# What an array is to a method, with its shape; the last array of each role that fitted is remembered.
_ROLES = {
    "q": ("n_q",),
    "q_other": ("n_q",),
    "v": ("n_v",),
    "given": ("n_v",),
    "out": ("n_v",),
    "rows_out": ("n_rows",),
    "all_out": ("n_all",),
    "rows_matrix_out": ("n_rows", "n_v"),
    "basis_out": ("n_v", "n_independent"),
    "actuated_out": ("n_actuated", "n_independent"),
    "matrix_out": ("n_v", "n_v"),
    "derivatives_out": (3, "n_v", "n_v"),
    "multipliers_out": (3, "n_rows", "n_v"),
    "rotations_out": ("n_links", 9),
    "positions_out": ("n_links", 3),
    "velocities_out": ("n_links", 6),
    "jacobian_out": (6, "n_v"),
    "center_jacobian_out": (3, "n_v"),
    "six_out": (6,),
    "three_out": (3,),
    "point": (3,),
    "wrenches": ("n_links", 6),
    "link": (),
}


class Prepared:
    """Dynamics of one structure on plain arrays: no allocation, about a microsecond above the kernel.

    Arrays are float64, C-contiguous and writable, of the shapes named; any other type of array is a TypeError, another
    shape an ArrayError. Shapes are looked at when an array comes for the first time: use the same arrays again and
    again, and do not reshape or resize them in place meanwhile. Values are not checked: numbers are to be finite and
    smaller than 1e100, quaternions of unit length. Results are written to `out`, which is returned. `wrenches`
    (n_links, 6) are external forces [moment; force] in world axes at the origins of the links, row 0 the ground. The
    order of q and v is `joints`, that of links is `links`.

    A handle belongs to the structure that it was prepared from: later edits of the mechanism do not reach it, and plain
    arrays do not show which structure they belong to. Compare `revision` with the mechanism's. A handle is for one
    thread at a time; prepare one for each.

    Attributes:
        n_q, n_v, n_links, n_rows: Lengths; links count the ground, rows are those of all loops, then of all couplings.
        n_all: Number of freedoms of all joints, those that close loops included, after those of the tree.
        joints: Names of the joints, in the order of q and v.
        links: Row of every link by name.
        actuated: Names of the freedoms that have an actuator; n_actuated is their number.
        revision: Revision of the mechanism that was prepared.
    """

    __slots__ = (
        *(f"_{role}" for role in _ROLES),
        "_actuators",
        "_basis",
        "_drive",
        "_derivative_memory",
        "_forward_dynamics",
        "_layout",
        "_pivots",
        "_no_acceleration",
        "_shapes",
        "_step_memory",
        "_step_method",
        "_table",
        "_workspace",
        "actuated",
        "joints",
        "links",
        "n_actuated",
        "n_all",
        "n_links",
        "n_q",
        "n_rows",
        "n_v",
        "revision",
    )

    def __init__(self, mechanism: Mechanism, weights: Mapping[str, float] | None = None) -> None:
        """Compile or load what is needed, and open a workspace."""
        layout = layout_of(instance(mechanism, Mechanism, "mechanism"))
        require_mass(layout)
        jit.seal(_TREE_KERNELS if layout.is_tree else _TREE_KERNELS + _LOOP_KERNELS)
        self._workspace = layout.new_workspace()  # owns the memory that the table's addresses mean
        self._table = self._workspace.table
        self._forward_dynamics = forward_dynamics if layout.is_tree else constrained_forward_dynamics
        self.n_rows = layout.n_rows
        self._derivative_memory: tuple[Array, ...] | None = None
        self._no_acceleration = np.zeros(layout.n_v)
        self.n_q, self.n_v, self.n_links = layout.n_q, layout.n_v, len(layout.link_index)
        self._begin_steps("rk4")
        self.joints = tuple(slot.name for slot in layout.slots)
        self.links = dict(layout.link_index)
        self.revision = layout.revision
        self._layout, self._actuators = layout, actuators_of(layout, weights)
        self._drive: ActuatorSolve | None = None
        self._basis: MotionBasis | None = None
        self.actuated = self._actuators.names
        self.n_all, self.n_actuated = layout.n_all, len(self.actuated)
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._set_shapes(0)
        self._derivatives_out = self._multipliers_out = _NOTHING
        self._pivots: tuple[float, float] | None = None  # of the last derivatives; None after other calls
        self._q = self._q_other = self._v = self._given = self._out = self._rows_out = self._matrix_out = _NOTHING
        self._rotations_out = self._positions_out = self._velocities_out = self._wrenches = self._link = _NOTHING
        self._jacobian_out = self._center_jacobian_out = self._six_out = self._three_out = self._point = _NOTHING
        self._all_out = self._rows_matrix_out = self._basis_out = self._actuated_out = _NOTHING

    def __repr__(self) -> str:
        """Sizes and revision."""
        return (
            f"<Prepared: {self.n_links - 1} links, {self.n_v} freedoms, {self.n_rows} rows, revision {self.revision}>"
        )

    def inverse_dynamics(self, q: Array, v: Array, a: Array, out: Array, wrenches: Array | None = None) -> Array:
        """Write tau = M a + bias (n_v,) of the tree; of loops, only springs and dampers in their joints take part.

        The torques that actuators of a closed chain need are `actuator_torques`.
        """
        if wrenches is not None:
            return self._with_wrenches(inverse_dynamics, q, v, a, out, wrenches)
        if q is not self._q or v is not self._v or a is not self._given or out is not self._out:
            self._fit(q=q, v=v, given=a, out=out)
        inverse_dynamics(self._table, q, v, a, out)
        return out

    def forward_dynamics(self, q: Array, v: Array, tau: Array, out: Array, wrenches: Array | None = None) -> Array:
        """Write the accelerations (n_v,) with all loops closed; NaN where something that can move has no inertia.

        q and v must be closed, as `project` leaves them.
        """
        if wrenches is not None:
            return self._with_wrenches(self._forward_dynamics, q, v, tau, out, wrenches)
        if q is not self._q or v is not self._v or tau is not self._given or out is not self._out:
            self._fit(q=q, v=v, given=tau, out=out)
        kernel = self._forward_dynamics  # called as an attribute it would be looked up as a method, which takes longer
        kernel(self._table, q, v, tau, out)
        return out

    def inverse_dynamics_derivatives(
        self, q: Array, v: Array, a: Array, out: Array, wrenches: Array | None = None
    ) -> Array:
        """Write the derivatives (3, n_v, n_v) of `inverse_dynamics`: by q, by v, and by a, which is M.

        Row k, column j of each has the derivative of tau_k along freedom j. The first call makes memory to work in.
        """
        memory = self._derivative_memory or self._begin_derivatives()
        if q is not self._q or v is not self._v or a is not self._given or out is not self._derivatives_out:
            self._fit(q=q, v=v, given=a, derivatives_out=out)
        loads = _NO_LOADS if wrenches is None else self._loads(wrenches)
        inverse_dynamics_derivatives(self._table, q, v, a, loads, out, *memory[4:7])
        return out

    def forward_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        tau: Array,
        out: Array,
        multipliers_out: Array | None = None,
        wrenches: Array | None = None,
    ) -> Array:
        """Write the derivatives (3, n_v, n_v) of `forward_dynamics`: by q, by v and by tau, with all loops closed.

        Of a closed chain only products with directions that keep the loops closed have a meaning: W of
        `vc.forward_dynamics_derivatives` for q, while v changes as it must. `multipliers_out` (3, n_rows, n_v) gets the
        derivatives of the rows' multipliers. `is_nearly_singular` says whether numbers are large because the
        configuration is. The first call makes memory to work in.
        """
        memory = self._derivative_memory or self._begin_derivatives()
        carried = memory[2] if multipliers_out is None else multipliers_out
        if q is not self._q or v is not self._v or tau is not self._given or out is not self._derivatives_out:
            self._fit(q=q, v=v, given=tau, derivatives_out=out)
        if carried is not self._multipliers_out:
            self._fit(multipliers_out=carried)
        loads = _NO_LOADS if wrenches is None else self._loads(wrenches)
        self._pivots = forward_dynamics_derivatives(self._table, q, v, tau, loads, memory[1], out, carried, *memory[3:])
        return out

    def _begin_derivatives(self) -> tuple[Array, ...]:
        """Compile or load kernels of derivatives, and make memory: loads, a, multipliers, equations, work."""
        jit.seal(_DERIVATIVE_KERNELS)
        n, n_rows = self.n_v, self.n_rows
        loads = np.zeros((self.n_links, LOAD))
        loads[:, 0] = np.arange(self.n_links)
        own = (loads, np.zeros(n), np.zeros((3, n_rows, n)), np.zeros((4, n_rows, n)))
        work = derivative_memory(self._workspace.length("bodies"), n, n_rows)
        self._derivative_memory = (*own, *work)
        return self._derivative_memory

    def _loads(self, wrenches: Array) -> Array:
        """Wrenches on links as loads: in world axes, at the links' origins."""
        if wrenches is not self._wrenches:
            self._fit(wrenches=wrenches)
        assert self._derivative_memory is not None
        loads = self._derivative_memory[0]
        loads[:, LOAD - 6 :] = wrenches
        return loads

    def multipliers(self, out: Array) -> Array:
        """Write the rows' multipliers (n_rows,) of the last forward dynamics or projection: forces or impulses."""
        if out is not self._rows_out:
            self._fit(rows_out=out)
        out[:] = self._workspace.array("multipliers")
        return out

    def actuator_torques(self, q: Array, v: Array, a: Array, out: Array, wrenches: Array | None = None) -> Array:
        """Write the torques of the actuators (n_all,) that give the accelerations a, zero where there is no actuator.

        The inverse dynamics of a closed chain, S^T tau_act = W^T tau_O [NY, (8)]: of all torques that do, those of
        least norm, with the handle's weights. `loop_multipliers` has the forces of the loops, `is_nearly_singular` says
        whether torques are large because the configuration is. q and v must be closed, and a keep them closed.

        Raises:
            AssemblyError: The accelerations would open a loop by more than a millionth of their size.
            ActuationError: The actuators cannot drive this motion.
        """
        if q is not self._q or v is not self._v or a is not self._given or out is not self._all_out:
            self._fit(q=q, v=v, given=a, all_out=out)
        found, self._pivots = self._drive, None
        if found is None:
            jit.seal(_ACTUATOR_KERNELS)
            found = self._drive = ActuatorSolve(self._layout, self._actuators)
        if wrenches is None:
            found.drive(self._table, q, v, a)
        else:
            if wrenches is not self._wrenches:
                self._fit(wrenches=wrenches)
            load_wrenches(self._table, q, wrenches)
            try:
                found.drive(self._table, q, v, a)
            finally:
                clear_wrenches(self._table)
        out[:] = found.tau
        return out

    def loop_multipliers(self, out: Array) -> Array:
        """Write the rows' multipliers (n_rows,) of the last `actuator_torques`, zero of redundant rows."""
        if out is not self._rows_out:
            self._fit(rows_out=out)
        out[:] = 0.0 if self._drive is None else self._drive.multipliers
        return out

    @property
    def is_nearly_singular(self) -> bool:
        """Whether rows, or actuators, nearly depended on each other at the last derivatives or `actuator_torques`."""
        if self._pivots is not None:
            return self.n_rows > 0 and is_close_decision(*self._pivots)
        return self._drive is not None and self._drive.is_nearly_singular

    def loop_jacobian(self, q: Array, out: Array) -> Array:
        """Write K (n_rows, n_v): rows of the loops and couplings over the tree's freedoms, K v = 0."""
        if q is not self._q or out is not self._rows_matrix_out:
            self._fit(q=q, rows_matrix_out=out)
        row_jacobian(self._table, q, out)
        return out

    def loop_bias(self, q: Array, v: Array, out: Array) -> Array:
        """Write Kdot v (n_rows,): K a + Kdot v = 0."""
        if q is not self._q or v is not self._v or out is not self._rows_out:
            self._fit(q=q, v=v, rows_out=out)
        row_biases(self._table, q, v, out)
        return out

    def choose_independent(self, q: Array, prefer: Iterable[str] = ()) -> tuple[str, ...]:
        """Choose independent freedoms of the tree at a configuration, those preferred among them; returns their names.

        `motion_basis` goes by the choice until the next one. Without preference, freedoms with actuators come first.

        Raises:
            PreferenceError: Preferred freedoms depend on each other.
        """
        if q is not self._q:
            self._fit(q=q)
        jit.seal(_BASIS_KERNELS)
        self._basis = MotionBasis(self._layout, self._table, q, self._actuators, prefer)
        self._set_shapes(len(self._basis.names))
        self._basis_out = self._actuated_out = _NOTHING
        return self._basis.names

    def motion_basis(self, q: Array, v: Array, W_out: Array, w_out: Array, S_out: Array) -> float:
        """Write W (n_v, n_independent), w (n_v,) of a = W a_ind + w; S (n_actuated, n_independent) of v_act = S v_ind.

        The order is that of `choose_independent`, which must have been called. Returns the smallest pivot of the
        choice: 1 is best, and a choice with less than 0.01 had better be made again.

        Raises:
            PreferenceError: The chosen freedoms do not determine the others in this configuration.
        """
        if self._basis is None:
            raise InputError("no independent freedoms have been chosen: call choose_independent(q) first")
        if (
            q is not self._q
            or v is not self._v
            or W_out is not self._basis_out
            or w_out is not self._out
            or S_out is not self._actuated_out
        ):
            self._fit(q=q, v=v, basis_out=W_out, out=w_out, actuated_out=S_out)
        return self._basis.write(self._table, q, v, W_out, w_out, S_out)

    def project_position(self, q: Array, work: Array, tolerance: float = 1e-12, most_steps: int = 10) -> float:
        """Close the loops' positions in place, in the mass metric, with work (n_v,); returns the largest error left."""
        if q is not self._q or work is not self._out:
            self._fit(q=q, out=work)
        return float(project_position(self._table, q, tolerance, most_steps, work))

    def velocity_jump(self, q: Array, v: Array, out: Array) -> Array:
        """Write the jump (n_v,) after which no loop opens: the impact of all loops at once."""
        if q is not self._q or v is not self._v or out is not self._out:
            self._fit(q=q, v=v, out=out)
        velocity_jump(self._table, q, v, out)
        return out

    def bias_force(self, q: Array, v: Array, out: Array, wrenches: Array | None = None) -> Array:
        """Write the bias (n_v,) in tau = M a + bias."""
        return self.inverse_dynamics(q, v, self._no_acceleration, out, wrenches)

    def mass_matrix(self, q: Array, out: Array) -> Array:
        """Write M (n_v, n_v)."""
        if q is not self._q or out is not self._matrix_out:
            self._fit(q=q, matrix_out=out)
        mass_matrix(self._table, q, out)
        return out

    def poses(self, q: Array, R_out: Array, p_out: Array) -> tuple[Array, Array]:
        """Write the world orientations (n_links, 9), by rows, and positions (n_links, 3) of all links."""
        if q is not self._q or R_out is not self._rotations_out or p_out is not self._positions_out:
            self._fit(q=q, rotations_out=R_out, positions_out=p_out)
        link_poses(self._table, q, R_out, p_out)
        return R_out, p_out

    def velocities(self, q: Array, v: Array, out: Array) -> Array:
        """Write the velocities [angular; linear] (n_links, 6) of all links at their origins, world axes."""
        if q is not self._q or v is not self._v or out is not self._velocities_out:
            self._fit(q=q, v=v, velocities_out=out)
        link_velocities(self._table, q, v, out)
        return out

    def jacobian(self, q: Array, link: int, point: Array, out: Array, local: bool = False) -> Array:
        """Write the Jacobian (6, n_v) of a point (3,), given in the link's frame, of the link in that row."""
        if q is not self._q or link is not self._link or point is not self._point or out is not self._jacobian_out:
            self._fit(q=q, link=link, point=point, jacobian_out=out)
        link_jacobian(self._table, q, link, point, 1 if local else 0, out)
        return out

    def bias_acceleration(self, q: Array, v: Array, link: int, point: Array, out: Array, local: bool = False) -> Array:
        """Write Jdot v (6,) of the same point."""
        if (
            q is not self._q
            or v is not self._v
            or link is not self._link
            or point is not self._point
            or out is not self._six_out
        ):
            self._fit(q=q, v=v, link=link, point=point, six_out=out)
        link_bias_acceleration(self._table, q, v, link, point, 1 if local else 0, out)
        return out

    def center_of_mass(self, q: Array, out: Array) -> Array:
        """Write the world position (3,) of the centre of mass."""
        if q is not self._q or out is not self._three_out:
            self._fit(q=q, three_out=out)
        center_of_mass(self._table, q, out)
        return out

    def center_of_mass_jacobian(self, q: Array, out: Array) -> Array:
        """Write the Jacobian (3, n_v) of the centre of mass."""
        if q is not self._q or out is not self._center_jacobian_out:
            self._fit(q=q, center_jacobian_out=out)
        center_of_mass_jacobian(self._table, q, out)
        return out

    def energy(self, q: Array, v: Array, out: Array) -> Array:
        """Write the kinetic, gravitational and elastic energy (3,)."""
        if q is not self._q or v is not self._v or out is not self._three_out:
            self._fit(q=q, v=v, three_out=out)
        energy(self._table, q, v, out)
        return out

    def momentum(self, q: Array, v: Array, out: Array, center_out: Array) -> Array:
        """Write the momentum [angular about the centre of mass; linear] (6,), and the centre of mass (3,)."""
        if q is not self._q or v is not self._v or out is not self._six_out or center_out is not self._three_out:
            self._fit(q=q, v=v, six_out=out, three_out=center_out)
        momentum(self._table, q, v, out, center_out)
        return out

    def integrate(self, q: Array, v: Array, dt: float, out: Array) -> Array:
        """Write the coordinates (n_q,) after moving with v for a time dt; `out` may be q itself."""
        if q is not self._q or v is not self._v or out is not self._q_other:
            self._fit(q=q, v=v, q_other=out)
        integrate(self._table, q, v, dt, out)
        return out

    def advance(
        self,
        q: Array,
        v: Array,
        tau: Array,
        dt: float,
        steps: int = 1,
        method: str = "rk4",
        closed: bool = True,
    ) -> None:
        """Move q and v in place by steps of dt [s], under constant tau (n_v,).

        `method` is "rk4", Runge-Kutta's of order four, or "euler", the semi-implicit one. All of it is compiled, on its
        first use. Loops are closed to 1e-12 or better after every step, their velocities to rounding. With
        `closed=False`, which Euler's steps alone know, each step leaves them open by some dt^2 Kdot v, and undoes what
        the one before it opened: it costs half as much, and openings do not add up.

        Raises:
            InputError: There is no such method, or its steps need closed loops; or no such steps.
        """
        if q is not self._q or v is not self._v or tau is not self._given:
            self._fit(q=q, v=v, given=tau)
        if method is not self._step_method:
            self._begin_steps(method)
        is_closed = 1 if closed is True else checked_closing(closed, method, dt)
        if advance(self._table, q, v, tau, dt, steps, is_closed, *self._step_memory):
            raise InputError(f"there must be 0 steps or more, each of a finite time, not {steps} of {dt:g} s")

    def _begin_steps(self, method: str) -> None:
        """Make the memory that steps of a method work in."""
        self._step_memory: tuple[Any, ...] = step_memory(self.n_q, self.n_v, checked_step_method(method))
        self._step_method = method

    def difference(self, q_from: Array, q_to: Array, out: Array) -> Array:
        """Write the velocity (n_v,) that leads from one configuration to the other in unit time."""
        if q_from is not self._q or q_to is not self._q_other or out is not self._out:
            self._fit(q=q_from, q_other=q_to, out=out)
        difference(self._table, q_from, q_to, out)
        return out

    def _set_shapes(self, n_independent: int) -> None:
        """Shape of an array by its role."""
        sizes = {"n_q": self.n_q, "n_v": self.n_v, "n_links": self.n_links, "n_rows": self.n_rows, "n_all": self.n_all}
        sizes |= {"n_actuated": self.n_actuated, "n_independent": n_independent}
        for role, shape in _ROLES.items():
            self._shapes[role] = tuple(x if isinstance(x, int) else sizes[x] for x in shape)

    def _fit(self, **given: Any) -> None:
        """Check shapes by role, and remember the arrays.

        Raises:
            ArrayError, InputError: An array has another shape, or there is no such link.
        """
        for role, array in given.items():
            shape = self._shapes[role]
            if role == "link":
                if not is_index(array, self.n_links):
                    raise InputError(f"link must be a row from 0 to {self.n_links - 1}, not {shown(array)}")
            elif not isinstance(array, np.ndarray):
                raise ArrayError(f"{role} must be an array of float64 of shape {shape}, not {shown(array)}")
            elif array.shape != shape:
                raise ArrayError(f"{role} must have the shape {shape}, not {array.shape}")
            setattr(self, f"_{role}", array)

    def _with_wrenches(
        self, kernel: jit.Function, q: Array, v: Array, given: Array, out: Array, forces: Array
    ) -> Array:
        if q is not self._q or v is not self._v or given is not self._given or out is not self._out:
            self._fit(q=q, v=v, given=given, out=out)
        if forces is not self._wrenches:
            self._fit(wrenches=forces)
        load_wrenches(self._table, q, forces)
        try:
            kernel(self._table, q, v, given, out)
        finally:  # a refused array must not leave the forces behind for the next call
            clear_wrenches(self._table)
        return out
