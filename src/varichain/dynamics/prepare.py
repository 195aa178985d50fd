"""The prepared handle: the same functions on plain arrays, for control loops."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import require_mass
from varichain.kernels import jit, links, manifold, projection, stepping, totals, velocity_jump, wrenches
from varichain.kernels.constrained_dynamics import constrained_forward_dynamics
from varichain.kernels.forward_dynamics import forward_dynamics
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.mass_matrix import mass_matrix
from varichain.layout.layout import layout_of
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array

# What a handle may call, compiled or loaded before its first call.
_TREE_KERNELS = (
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
    links.link_poses,
    links.link_velocities,
    links.link_jacobian,
    links.link_bias_acceleration,
    totals.center_of_mass,
    totals.center_of_mass_jacobian,
    totals.energy,
    totals.momentum,
    manifold.integrate,
    manifold.difference,
    wrenches.load_wrenches,
    wrenches.clear_wrenches,
)
_LOOP_KERNELS = (constrained_forward_dynamics, projection.project_position, velocity_jump.velocity_jump)


class Prepared:
    """Dynamics of one structure on plain arrays: no checks, no allocation, about a microsecond above the kernel.

    Arrays are float64, C-contiguous and writable, of the shapes named; quaternions have unit length; any other type of
    array is a TypeError. Results are written to `out`, which is returned. `wrenches` (n_links, 6) are external forces
    [moment; force] in world axes at the origins of the links, row 0 the ground. The order of q and v is `joints`, that
    of links is `links`.

    A handle belongs to the structure that it was prepared from: later edits of the mechanism do not reach it, and plain
    arrays do not show which structure they belong to. Compare `revision` with the mechanism's. A handle is for one
    thread at a time; prepare one for each.

    Attributes:
        n_q, n_v, n_links, n_rows: Lengths; links count the ground, rows are those of all loops, then of all couplings.
        joints: Names of the joints, in the order of q and v.
        links: Row of every link by name.
        revision: Revision of the mechanism that was prepared.
    """

    __slots__ = (
        "_forward_dynamics",
        "_memory",
        "_no_acceleration",
        "_table",
        "_workspace",
        "joints",
        "links",
        "n_links",
        "n_q",
        "n_rows",
        "n_v",
        "revision",
    )

    def __init__(self, mechanism: Mechanism) -> None:
        """Compile or load what is needed, and open a workspace."""
        layout = layout_of(mechanism)
        require_mass(layout)
        jit.seal(_TREE_KERNELS if layout.is_tree else _TREE_KERNELS + _LOOP_KERNELS)
        self._workspace = layout.new_workspace()  # owns the memory that the table's addresses mean
        self._table = self._workspace.table
        self._forward_dynamics = forward_dynamics if layout.is_tree else constrained_forward_dynamics
        self.n_rows = layout.n_rows
        self._memory = stepping.step_memory(layout.n_q, layout.n_v)
        self._no_acceleration = np.zeros(layout.n_v)
        self.n_q, self.n_v, self.n_links = layout.n_q, layout.n_v, len(layout.link_index)
        self.joints = tuple(slot.name for slot in layout.slots)
        self.links = dict(layout.link_index)
        self.revision = layout.revision

    def inverse_dynamics(self, q: Array, v: Array, a: Array, out: Array, wrenches: Array | None = None) -> Array:
        """Write tau = M a + bias (n_v,) of the tree; of loops, only springs and dampers in their joints take part."""
        if wrenches is not None:
            return self._with_wrenches(inverse_dynamics, q, v, a, out, wrenches)
        inverse_dynamics(self._table, q, v, a, out)
        return out

    def forward_dynamics(self, q: Array, v: Array, tau: Array, out: Array, wrenches: Array | None = None) -> Array:
        """Write the accelerations (n_v,) with all loops closed; NaN where something that can move has no inertia.

        q and v must be closed, as `project` leaves them.
        """
        if wrenches is not None:
            return self._with_wrenches(self._forward_dynamics, q, v, tau, out, wrenches)
        self._forward_dynamics(self._table, q, v, tau, out)
        return out

    def multipliers(self, out: Array) -> Array:
        """Write the rows' multipliers (n_rows,) of the last forward dynamics or projection: forces or impulses."""
        out[:] = self._workspace.array("multipliers")
        return out

    def project_position(self, q: Array, work: Array, tolerance: float = 1e-12, most_steps: int = 10) -> float:
        """Close the loops' positions in place, in the mass metric, with work (n_v,); returns the largest error left."""
        return float(projection.project_position(self._table, q, tolerance, most_steps, work))

    def velocity_jump(self, q: Array, v: Array, out: Array) -> Array:
        """Write the jump (n_v,) after which no loop opens: the impact of all loops at once."""
        velocity_jump.velocity_jump(self._table, q, v, out)
        return out

    def bias_force(self, q: Array, v: Array, out: Array, wrenches: Array | None = None) -> Array:
        """Write the bias (n_v,) in tau = M a + bias."""
        return self.inverse_dynamics(q, v, self._no_acceleration, out, wrenches)

    def mass_matrix(self, q: Array, out: Array) -> Array:
        """Write M (n_v, n_v)."""
        mass_matrix(self._table, q, out)
        return out

    def poses(self, q: Array, R_out: Array, p_out: Array) -> tuple[Array, Array]:
        """Write the world orientations (n_links, 9), by rows, and positions (n_links, 3) of all links."""
        links.link_poses(self._table, q, R_out, p_out)
        return R_out, p_out

    def velocities(self, q: Array, v: Array, out: Array) -> Array:
        """Write the velocities [angular; linear] (n_links, 6) of all links at their origins, world axes."""
        links.link_velocities(self._table, q, v, out)
        return out

    def jacobian(self, q: Array, link: int, point: Array, out: Array, local: bool = False) -> Array:
        """Write the Jacobian (6, n_v) of a point (3,), given in the link's frame, of the link in that row."""
        links.link_jacobian(self._table, q, link, point, int(local), out)
        return out

    def bias_acceleration(self, q: Array, v: Array, link: int, point: Array, out: Array, local: bool = False) -> Array:
        """Write Jdot v (6,) of the same point."""
        links.link_bias_acceleration(self._table, q, v, link, point, int(local), out)
        return out

    def center_of_mass(self, q: Array, out: Array) -> Array:
        """Write the world position (3,) of the centre of mass."""
        totals.center_of_mass(self._table, q, out)
        return out

    def center_of_mass_jacobian(self, q: Array, out: Array) -> Array:
        """Write the Jacobian (3, n_v) of the centre of mass."""
        totals.center_of_mass_jacobian(self._table, q, out)
        return out

    def energy(self, q: Array, v: Array, out: Array) -> Array:
        """Write the kinetic, gravitational and elastic energy (3,)."""
        totals.energy(self._table, q, v, out)
        return out

    def momentum(self, q: Array, v: Array, out: Array, center_out: Array) -> Array:
        """Write the momentum [angular about the centre of mass; linear] (6,), and the centre of mass (3,)."""
        totals.momentum(self._table, q, v, out, center_out)
        return out

    def integrate(self, q: Array, v: Array, dt: float, out: Array) -> Array:
        """Write the coordinates (n_q,) after moving with v for a time dt; `out` may be q itself."""
        manifold.integrate(self._table, q, v, dt, out)
        return out

    def advance(self, q: Array, v: Array, tau: Array, dt: float, steps: int = 1) -> None:
        """Move q and v in place by Runge-Kutta steps of order four of dt [s], under constant tau (n_v,).

        All of it is compiled, on its first use. Loops are closed to rounding after every step, in position and
        velocity.
        """
        stepping.advance(self._table, q, v, tau, dt, steps, *self._memory)

    def difference(self, q_from: Array, q_to: Array, out: Array) -> Array:
        """Write the velocity (n_v,) that leads from one configuration to the other in unit time."""
        manifold.difference(self._table, q_from, q_to, out)
        return out

    def _with_wrenches(
        self, kernel: jit.Function, q: Array, v: Array, given: Array, out: Array, forces: Array
    ) -> Array:
        wrenches.load_wrenches(self._table, q, forces)
        try:
            kernel(self._table, q, v, given, out)
        finally:  # a refused array must not leave the forces behind for the next call
            wrenches.clear_wrenches(self._table)
        return out
