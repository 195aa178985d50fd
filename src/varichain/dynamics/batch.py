"""Functions of the dynamics over many states at once, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.actuator_solve import ActuatorSolve, actuators_of, is_sound
from varichain.dynamics.arguments import checked_closing, checked_step_method, require_mass
from varichain.dynamics.assembly import CLOSED
from varichain.dynamics.sharing import checked_threads, share
from varichain.errors import InputError
from varichain.kernels import closure, links, manifold, projection, rows, stepping, totals, velocity_jump
from varichain.kernels.actuator_torques import actuator_torques
from varichain.kernels.closure import row_jacobian
from varichain.kernels.constrained_dynamics import constrained_forward_dynamics
from varichain.kernels.derivative_batch import rows_of_forward_derivatives, rows_of_inverse_derivatives
from varichain.kernels.derivative_forward import derivative_memory, forward_dynamics_derivatives
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives
from varichain.kernels.derivative_loads import LOAD
from varichain.kernels.faults import LARGEST, first_fault
from varichain.kernels.forward_dynamics import forward_dynamics
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.mass_matrix import mass_matrix
from varichain.layout.layout import layout_of
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import array_of, count_number, is_one_of, shown, time_step
from varichain.spatial.notebook import html_table

_AT_ONCE = 64  # rows that a thread takes at a time: a fraction of a millisecond of work
_MOST_STEPS = 30  # of Newton's method, as in `vc.project`
_NEARLY_SINGULAR = 1e-4  # singular values below this part of the largest, as in `mobility`


class Batch:
    """Dynamics of one structure over n states at a time: q (n, n_q), v (n, n_v), one state a row.

    Every row of a result has the same bits as a call for that state alone, whatever the number of threads. A state with
    numbers that are not finite, or not smaller than 1e100, gives results that are not finite, and leaves the other rows
    alone; `faults` finds it. Results are new arrays, or `out`, float64, C-contiguous and writable, which is then
    returned.

    A batch belongs to the structure that it was made from: later edits of the mechanism do not reach it, and plain
    arrays do not show which structure they belong to. Compare `revision` with the mechanism's. Calls from several
    threads wait for each other.

    Attributes:
        n_q, n_v, n_rows: Lengths; rows are those of all loops, then of all couplings.
        joints: Names of the joints, in the order of q and v.
        links: Place of every link by name, ground first.
        threads: Number of threads.
        revision: Revision of the mechanism that the batch was made from.
    """

    def __init__(self, m: Mechanism, threads: int | None = None) -> None:
        """Open a workspace for each thread; one thread a core if not said otherwise.

        Raises:
            SingularMassError: Something that can move has no mass.
        """
        if not isinstance(m, Mechanism):
            raise InputError(f"expected a Mechanism, not {type(m).__name__}")
        self._layout = layout = layout_of(m)
        require_mass(layout)
        self.threads = checked_threads(threads)
        self._workspaces = [layout.new_workspace() for _ in range(self.threads)]
        self._forward_dynamics = forward_dynamics if layout.is_tree else constrained_forward_dynamics
        self._lock = Lock()
        self.n_q, self.n_v, self.n_rows = layout.n_q, layout.n_v, layout.n_rows
        self.joints = tuple(slot.name for slot in layout.slots)
        self.links = dict(layout.link_index)
        self.revision = layout.revision
        self._touching = m.copy() if m.surfaces else None  # as it is now, for steps with contacts

    def __repr__(self) -> str:
        """Sizes, threads and revision."""
        sizes = f"{len(self.links) - 1} links, {self.n_v} freedoms, {self.n_rows} rows"
        return f"<Batch: {sizes}, {self.threads} threads, revision {self.revision}>"

    def _repr_html_(self) -> str:
        head = ("links", "freedoms", "rows of loops", "threads", "revision")
        numbers = (len(self.links) - 1, self.n_v, self.n_rows, self.threads, self.revision)
        return html_table("batch", head, [tuple(map(str, numbers))])

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Accelerations (n, n_v) under torques (n, n_v), zero by default, with all loops closed.

        q and v must be closed, as `project` leaves them. NaN where something that can move has no inertia.
        """
        return self._of_motion(self._forward_dynamics, q, v, tau, "tau", out)

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """tau = M a + bias (n, n_v) of the tree, for accelerations (n, n_v), zero by default.

        Of loops, only springs and dampers in their joints take part; `actuator_torques` are those of a closed chain.
        """
        return self._of_motion(inverse_dynamics, q, v, a, "a", out)

    def actuator_torques(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, weights: Mapping[str, float] | None = None
    ) -> tuple[Array, Array]:
        """Torques of the actuators (n, n_all) for accelerations (n, n_v), and multipliers (n, n_rows) of the loops.

        As `Prepared.actuator_torques`: the joints of the tree first, then those that close loops, zero where there is
        no actuator. NaN where accelerations would open a loop, or actuators cannot drive them.
        """
        q, v = self._states(q, v)
        given = self._matrix(a, (self.n_v,), "a", len(q))
        solves = [ActuatorSolve(self._layout, actuators_of(self._layout, weights)) for _ in range(self.threads)]
        tau, x = np.empty((len(q), self._layout.n_all)), np.empty((len(q), self.n_rows))
        report = np.empty((len(q), 6))
        address = rows.address_of_kernel(actuator_torques, rows.REPORT)

        def drive(thread: int, first: int, end: int) -> None:
            table, one = self._workspaces[thread].table, solves[thread]
            arrays = (*one.actuators.arrays, *one.work, tau, x, report)
            rows.rows_driven(address, table, q, v, given, *arrays, first, end)

        self._do(drive, len(q))
        bad = ~is_sound(report[:, 1], report[:, 2], report[:, 3], np.abs(given).max(axis=1, initial=0.0))
        tau[bad], x[bad] = np.nan, np.nan
        return tau, x

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Derivatives (n, 3, n_v, n_v) of `inverse_dynamics`: by q, by v, and by a, which is M."""
        q, v = self._states(q, v)
        given = self._matrix(a, (self.n_v,), "a", len(q))
        out = _result(out, (len(q), 3, self.n_v, self.n_v))
        flat, address = (
            out.reshape(-1, self.n_v, self.n_v),
            rows.address_of_kernel(inverse_dynamics_derivatives, rows.ROOM),
        )
        memory = [self._derivative_memory() for _ in range(self.threads)]

        def work(thread: int, first: int, end: int) -> None:
            table, (loads, _, *own) = self._workspaces[thread].table, memory[thread]
            rows_of_inverse_derivatives(address, table, q, v, given, flat, loads, *own[:3], first, end)  # type: ignore[call-arg]

        self._do(work, len(q))
        return out

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Derivatives (n, 3, n_v, n_v) of `forward_dynamics`: by q, by v and by tau, with all loops closed.

        Of closed chains only products with directions that keep the loops closed have a meaning; see `Prepared`.
        `is_nearly_singular(q)` finds states in which the numbers may be huge, and mean nothing but that.
        """
        q, v = self._states(q, v)
        given = self._matrix(tau, (self.n_v,), "tau", len(q))
        out = _result(out, (len(q), 3, self.n_v, self.n_v))
        flat, address = (
            out.reshape(-1, self.n_v, self.n_v),
            rows.address_of_kernel(forward_dynamics_derivatives, rows.ROOM),
        )
        a, carried = np.empty((len(q), self.n_v)), np.empty((3 * len(q), self.n_rows, self.n_v))
        memory = [self._derivative_memory() for _ in range(self.threads)]

        def work(thread: int, first: int, end: int) -> None:
            table, (loads, equations, *own) = self._workspaces[thread].table, memory[thread]
            results = (a, flat, carried, equations)
            rows_of_forward_derivatives(address, table, q, v, given, *results, loads, *own, first, end)  # type: ignore[call-arg]

        self._do(work, len(q))
        return out

    def is_nearly_singular(self, q: ArrayLike) -> NDArray[np.bool_]:
        """Whether rows of the loops nearly depend on each other (n,)."""
        q = self._positions(q)
        if not self.n_rows:
            return np.zeros(len(q), dtype=bool)
        K = np.empty((len(q), self.n_rows, self.n_v))
        self._share(rows.rows_to_matrices, row_jacobian, q, K)
        sigma = np.linalg.svd(K, compute_uv=False)
        small = sigma < _NEARLY_SINGULAR * sigma[:, :1]
        return np.asarray((small & (sigma > self._layout.rank_tolerance * sigma[:, :1])).any(axis=1))

    def mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """M (n, n_v, n_v)."""
        q = self._positions(q)
        out = _result(out, (len(q), self.n_v, self.n_v))
        self._share(rows.rows_to_matrices, mass_matrix, q, out)
        return out

    def energy(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Kinetic, gravitational and elastic energy (n, 3) [J]."""
        q, v = self._states(q, v)
        out = _result(out, (len(q), 3))
        self._share(rows.rows_of_two, totals.energy, q, v, out)
        return out

    def momentum(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Momentum [angular about the centre of mass; linear] (n, 6), and the centre of mass (n, 3)."""
        q, v = self._states(q, v)
        out, center = np.empty((len(q), 6)), np.empty((len(q), 3))
        self._share(rows.rows_of_three, totals.momentum, q, v, out, center)
        return out, center

    def poses(self, q: ArrayLike) -> tuple[Array, Array]:
        """World orientations (n, n_links, 3, 3) and positions (n, n_links, 3) of all links, in the order of `links`."""
        q = self._positions(q)
        R, p = np.empty((len(q), len(self.links), 9)), np.empty((len(q), len(self.links), 3))
        self._share(rows.rows_to_pairs, links.link_poses, q, R, p)
        return R.reshape(len(q), -1, 3, 3), p

    def velocity_jump(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Jumps (n, n_v) after which no loop opens: the impact of all loops at once."""
        q, v = self._states(q, v)
        out = _result(out, (len(q), self.n_v))
        if self._layout.is_tree:
            out[:] = 0.0
            return out
        self._share(rows.rows_of_two, velocity_jump.velocity_jump, q, v, out)
        return out

    def project(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array]:
        """Nearest states with all loops closed: q, v, and what stays open of each (n,) [m or rad].

        Positions first, then velocities, as `vc.project` does; more than 1e-9 left means that Newton's method did not
        close the loops from there.
        """
        q, v = (np.array(x) for x in self._states(q, v))
        left = np.zeros(len(q))
        if not self._layout.is_tree:
            work = [np.empty(self.n_v) for _ in range(self.threads)]
            address = rows.address_of_kernel(projection.project_position, 0.0)

            def close(thread: int, first: int, end: int) -> None:
                table = self._workspaces[thread].table
                rows.rows_closed(address, table, q, CLOSED, _MOST_STEPS, work[thread], left, first, end)

            self._do(close, len(q))
            v += self.velocity_jump(q, v)
        return q, v, left

    def advance(
        self,
        q: Array,
        v: Array,
        tau: ArrayLike | None,
        dt: float,
        steps: int = 1,
        method: str = "rk4",
        contacts: str = "off",
        closed: bool = True,
    ) -> None:
        """Move q and v in place by steps of dt [s], under constant tau (n, n_v); `method` is "rk4" or "euler".

        Loops are closed to 1e-12 or better after every step; with `closed=False` Euler's steps leave that to the next
        one, as those of `Prepared.advance`. `vc.rollout` knows limits, friction and events; this does not.
        With `contacts="stepping"` links touch surfaces, as in runs of `vc.simulate` with `limits="off"`, and `method`
        has no effect; the threads then share Python.

        Raises:
            PenetrationError: With contacts: links are in surfaces at the start.
            SimulationError: With contacts: a step fails. Nothing has moved then.
        """
        dt, steps = time_step(dt, "dt"), count_number(steps, "steps", 10**9, 0)
        method = checked_step_method(method)
        is_closed = checked_closing(closed, method, dt)
        for name, array in (("q", q), ("v", v)):
            is_array = isinstance(array, np.ndarray) and array.ndim == 2
            if not is_array or array is not self._matrix(array, array.shape[-1:], name, len(array)):
                raise InputError(f"{name} is moved in place: it must be a float64, C-contiguous, writable array")
        q[:], v[:] = self._states(q, v)
        torques = self._matrix(tau, (self.n_v,), "tau", len(q))
        if not is_one_of(contacts, ("off",)):
            self._advance_touching(q, v, torques, dt, steps, contacts)
            return
        memory = [stepping.step_memory(self.n_q, self.n_v, method) for _ in range(self.threads)]
        address = rows.address_of_kernel(stepping.advance, rows.ROOM)

        def move(thread: int, first: int, end: int) -> None:
            table = self._workspaces[thread].table
            rows.rows_advanced(address, table, q, v, torques, dt, steps, is_closed, *memory[thread], first, end)  # type: ignore[call-arg]

        self._do(move, len(q))

    def _advance_touching(self, q: Array, v: Array, tau: Array, dt: float, steps: int, contacts: Any) -> None:
        from varichain.simulation.rollouts import rollout

        if not is_one_of(contacts, ("stepping",)):
            raise InputError(f"contacts must be 'off' or 'stepping', not {shown(contacts)}")
        if self._touching is None:
            raise InputError("contacts need a surface, which the mechanism of this batch has none of: m.add_surface")
        if steps == 0 or len(q) == 0:
            return
        options: dict[str, Any] = {"step": dt, "sample": steps * dt, "limits": "off", "threads": self.threads}
        found = rollout(self._touching, (q, v), steps=steps, torques=tau, contacts="stepping", **options)
        for i, error in found.faults.items():
            error.add_note(f"in state {i} of the batch")
            raise error
        q[:], v[:] = found.q[:, -1], found.v[:, -1]

    def difference(self, q_from: ArrayLike, q_to: ArrayLike) -> Array:
        """Velocities (n, n_v) that lead from each configuration to the other in unit time."""
        q = self._positions(q_from)
        if q_to is None:
            raise InputError("q_to must be numbers, one state a row, not None")
        other = _bounded(self._matrix(q_to, (self.n_q,), "q_to", len(q)))
        out = np.empty((len(q), self.n_v))
        self._share(rows.rows_of_two, manifold.difference, q, other, out)
        return out

    def row_velocities(self, q: ArrayLike, v: ArrayLike) -> Array:
        """K v (n, n_rows): how fast every row of the loops opens [m/s or rad/s]."""
        q, v = self._states(q, v)
        out = np.empty((len(q), self.n_rows))
        self._share(rows.rows_of_two, closure.row_velocities, q, v, out)
        return out

    def faults(self, q: ArrayLike, v: ArrayLike) -> NDArray[np.int64]:
        """What is wrong with each state (n,): 0 for nothing.

        i + 1 if number i of its (q, v) is not finite or not smaller than 1e100, -(i + 1) if its q[i : i + 4] is no unit
        quaternion.
        """
        q = self._matrix(q, (self.n_q,), "q")
        v = self._matrix(v, (self.n_v,), "v", len(q))
        return self._faults(q, v)

    # Inside

    def _derivative_memory(self) -> tuple[Array, ...]:
        """What kernels of derivatives work in: no loads, equations, and their work arrays."""
        work = derivative_memory(self._workspaces[0].length("bodies"), self.n_v, self.n_rows)
        return (np.zeros((0, LOAD)), np.zeros((4, self.n_rows, self.n_v)), *work)

    def _of_motion(self, kernel: Any, q: Any, v: Any, given: Any, name: str, out: Array | None) -> Array:
        q, v = self._states(q, v)
        given = self._matrix(given, (self.n_v,), name, len(q))
        out = _result(out, (len(q), self.n_v))
        self._share(rows.rows_of_three, kernel, q, v, given, out)
        return out

    def _positions(self, q: Any) -> Array:
        positions = self._matrix(q, (self.n_q,), "q")
        self._require_quaternions(positions, np.zeros((len(positions), self.n_v)))
        return _bounded(positions)

    def _states(self, q: Any, v: Any) -> tuple[Array, Array]:
        q = self._matrix(q, (self.n_q,), "q")
        v = self._matrix(v, (self.n_v,), "v", len(q))
        self._require_quaternions(q, v)
        return _bounded(q), _bounded(v)

    def _matrix(self, value: Any, width: tuple[int, ...], name: str, n: int | None = None) -> Array:
        """Float array (n, width) that kernels take; None is zeros."""
        if value is None and n is not None:
            return np.zeros((n, *width))
        array = array_of(value)
        if array is None:
            raise InputError(f"{name} must be numbers, one state a row, not {shown(value)}")
        shape = (n if n is not None else (len(array) if array.ndim else 0), *width)
        if array.shape != shape:
            expected = f"(n, {shape[1]})" if n is None else str(shape)
            raise InputError(
                f"{name} must be numbers of shape {expected}, one state a row, not an array of shape {array.shape} and "
                f"type {array.dtype}"
            )
        clean: Array = np.require(array, np.float64, ["C", "W", "A"])
        return clean

    def _require_quaternions(self, q: Array, v: Array) -> None:
        """Raise if a quaternion is not of unit length: it would silently scale rotations."""
        faults = self._faults(q, v)
        bad = np.flatnonzero(faults < 0)
        if len(bad):
            i = int(bad[0])
            index = -int(faults[i]) - 1
            slot = next(slot for slot in self._layout.slots if slot.q.start <= index < slot.q.stop)
            length = np.linalg.norm(q[i, index : index + 4])
            raise InputError(f"quaternion of joint {slot.name!r} in state {i} has length {length:.12g}, must be 1")

    def _faults(self, q: Array, v: Array) -> NDArray[np.int64]:
        codes = np.zeros(len(q), np.int64)
        self._share(rows.rows_to_codes, first_fault, q, v, codes, like=0)
        return codes

    def _share(self, driver: Callable[..., object], kernel: Any, *arrays: NDArray[Any], like: Any = rows.ROOM) -> None:
        """Let the threads call a kernel, which returns something like `like`, for all rows of the arrays."""
        address = rows.address_of_kernel(kernel, like)

        def work(thread: int, first: int, end: int) -> None:
            driver(address, self._workspaces[thread].table, *arrays, first, end)

        self._do(work, len(arrays[0]))

    def _do(self, work: Callable[[int, int, int], object], n: int) -> None:
        with self._lock:
            share(work, n, self.threads, _AT_ONCE)


def _bounded(states: Array) -> Array:
    """The rows, but NaN for those whose squares are no numbers: no result of theirs is to look sound."""
    if states.size and not np.abs(states).max() < LARGEST:
        return np.where((np.abs(states) < LARGEST).all(axis=1, keepdims=True), states, np.nan)
    return states


def _result(out: Array | None, shape: tuple[int, ...]) -> Array:
    """An array for the result: the given one, if it fits."""
    if out is None:
        return np.empty(shape)
    is_fit = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.shape == shape
    if not is_fit or not (out.flags.c_contiguous and out.flags.writeable):
        raise InputError(f"out must be a float64, C-contiguous, writable array of shape {shape}, not {_described(out)}")
    return out


def _described(out: Any) -> str:
    return f"shape {out.shape}, type {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
