"""Inverse dynamics: joint torques from accelerations, of open and closed chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.dynamics.actuation import Actuation, distribute, distribute_within
from varichain.dynamics.actuator_solve import ActuatorSolve, actuators_of
from varichain.dynamics.arguments import Table, joint_vector, opened_with_mass
from varichain.dynamics.forces import ExternalForce, applied
from varichain.dynamics.formulations import reaction
from varichain.dynamics.loop_forces import NO_LOOPS, LoopForces, loop_forces, require_closed
from varichain.dynamics.loop_limits import LoopLimits, checked_loop_limits
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.dynamics.mobility import mobility
from varichain.dynamics.report import joint_listing
from varichain.errors import AssemblyError, InputError, UnknownNameError
from varichain.kernels.constrained_dynamics import constrained_forward_dynamics
from varichain.kernels.inverse_dynamics import inverse_dynamics as _inverse_dynamics
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar, flag, listed, mapping
from varichain.spatial.report import Listing, Report, Reported, numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InverseDynamics(Reported):
    """Result of `inverse_dynamics`.

    Attributes:
        tau: Generalized forces of the tree joints (n_v,) [N m or N]; `result["knee"]` is the part of one joint, virtual
            ones included, np.asarray(result) is `tau`. With actuators: zero where there is none. Without: what every
            joint needs, free joints included, where it is what a support would have to give.
        a: The accelerations (n_v,).
        loop_forces: Force and moment at every loop.
        actuation: How the actuators share the load; None if they were not asked.
        is_nearly_singular: Whether which rows of the loops are independent was a close decision: torques and loop
            forces may then be huge, and mean that this configuration is to be avoided.
        correction: `a` less the accelerations that were asked for (n_v,): zero but with `nearest`.
        residuals: What freedoms that may carry a residual carry, by joint (its n_v,) [N m or N].
    """

    tau: Array
    a: Array
    loop_forces: LoopForces
    actuation: Actuation | None
    is_nearly_singular: bool
    layout: Layout
    correction: Array
    residuals: Mapping[str, Array]

    def __getitem__(self, joint: str) -> Array:
        """Generalized forces of one joint (its n_v,)."""
        if self.actuation is not None and joint in self.actuation.virtual:
            return self.actuation.virtual[joint]
        return self.tau[self.layout.slot(joint).v]

    def report(self) -> Report:
        """Torques joint by joint, then wrenches loop by loop."""
        by = "every joint driven" if self.actuation is None else f"{len(self.actuation.names)} actuated freedoms"
        note = "; nearly singular" if self.is_nearly_singular else ""
        if self.correction.any():
            largest = int(np.abs(self.correction).argmax())
            asked = f"{self.correction[largest]:.3g} at {self.layout.freedom_name(largest)!r}"
            note += f"; accelerations corrected, at most by {asked}"
        title = f"inverse dynamics of {self.layout.mechanism_name!r}: {by}{note}"
        virtual = {} if self.actuation is None else self.actuation.virtual
        torques = joint_listing(self.layout, self.tau, "tau [N m or N]")
        more = [(name, "closes a loop", numbers(tau)) for name, tau in virtual.items()]
        carried = [(name, numbers(residual)) for name, residual in self.residuals.items()]
        residuals = Listing(("joint", "residual [N m or N]"), carried)
        return title, (Listing(torques.head, [*torques.rows, *more]), residuals, self.loop_forces.listing())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The generalized forces of all tree joints."""
        return np.array(self.tau, dtype=dtype, copy=copy)


def inverse_dynamics(
    m: Mechanism,
    s: State,
    a: Any = None,
    forces: Iterable[ExternalForce] = (),
    *,
    actuators: bool | None = None,
    weights: Mapping[str, float] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    loop_limits: LoopLimits | None = None,
    nearest: bool = False,
    residuals: Iterable[str] = (),
) -> InverseDynamics:
    """Torques that give the accelerations a.

    Springs, dampers, friction and armature of the joints are overcome too, so that this is the inverse of
    `forward_dynamics`. In an open chain every joint is taken as driven: tau = M a + bias. In a closed one the actuated
    joints share the load, S^T tau_act = W^T tau_O [NY, (7)-(8)]: uniquely, or of least weighted norm if there are more
    actuators than degrees of freedom, or within limits by a quadratic programme.

    Args:
        m: Mechanism.
        s: State, its loops closed.
        a: Accelerations (n_v,) that keep the loops closed, or {joint: value}; None for none. In a closed chain the
            joints of a mapping are independent coordinates, others of them zero; dependent ones follow.
        forces: External forces on links.
        actuators: Whether only actuated joints may give torque; by default in closed chains, or with weights, limits.
        weights: Cost of a joint's torque squared, 1 if not named.
        limits: (lower, upper) torque of joints; needs the extra "qp".
        loop_limits: What loops can bear, by the names of their joints: `FrictionCone` or `WrenchLimits`; needs the
            extra "qp". Where loop forces are not unique, those that keep within are found too.
        nearest: Whether accelerations (n_v,) that would open the loops, as recorded ones do, are replaced by the
            nearest that do not, in the metric of the masses [Gauss]; the result has the `correction`.
        residuals: Names of tree joints that may carry what the actuators cannot, such as the free joint of a recorded
            figure; as little as possible, in the result's `residuals`.

    Raises:
        ActuationError: The actuators cannot drive this motion (within the limits).
        AssemblyError: The loops are open, or the accelerations would open them.
    """
    layout, table = opened_with_mass(m, s)
    mapping(weights, "weights"), mapping(limits, "limits"), flag(nearest, "nearest")
    bearing = checked_loop_limits(layout, loop_limits)
    carriers = [layout.slot(name) for name in listed(residuals, str, "residuals")]
    if actuators is not None:
        flag(actuators, "actuators")
        if carriers and not actuators:
            raise InputError(
                "residuals are what actuators cannot give; leave out actuators=False, which drives every joint"
            )
    else:
        actuators = not layout.is_tree or bool(loop_limits) or bool(weights) or bool(limits) or bool(carriers)
    if layout.is_tree and not actuators:
        acceleration = joint_vector(layout, a, "a")
        tau = np.empty(layout.n_v)
        with applied(layout, table, s, forces):
            _inverse_dynamics(table, s.q, s.v, acceleration, tau)
        return InverseDynamics(tau, acceleration, NO_LOOPS, None, False, layout, np.zeros(layout.n_v), {})
    require_closed(layout, table, s)
    if not layout.is_tree and (a is None or isinstance(a, Mapping)):
        a = _completed(m, layout, s, dict(a or {}))
    wished = acceleration = joint_vector(layout, a, "a")
    found = ActuatorSolve(layout, actuators_of(layout, weights))
    with applied(layout, table, s, forces):
        found.solve(table, s, acceleration)
        if found.is_open:
            if not nearest:
                raise _opening_error(layout, table, s, wished, found.independent)
            acceleration = _nearest(table, s, wished)
            found.solve(table, s, acceleration)
        correction, is_close = acceleration - wished, found.is_nearly_singular
        if not actuators:
            tau, none = np.empty(layout.n_v), reaction(layout, table, s, np.zeros(layout.n_v))
            _inverse_dynamics(table, s.q, s.v, acceleration, tau)
            return InverseDynamics(tau, acceleration, none, None, is_close, layout, correction, {})
        if bearing:
            actuation, carried, x = distribute_within(found, table, s, limits, bearing, carriers)
            forces_found = loop_forces(layout, table, x, False)
        else:
            actuation, carried = distribute(found, limits, carriers)
            forces_found = _reaction(layout, table, s, found, actuation, carried)
    tau = actuation.tree
    return InverseDynamics(tau, acceleration, forces_found, actuation, is_close, layout, correction, carried)


def _reaction(
    layout: Layout, table: Table, s: State, found: ActuatorSolve, actuation: Actuation, carried: Mapping[str, Array]
) -> LoopForces:
    """Loop forces beside torques of the actuators, which may be others than those found first."""
    change = -found.tau
    change[found.actuators.columns] += actuation.tau_act
    for name, residual in carried.items():
        change[layout.slot(name).v] += residual
    if not change.any():
        return found.loop_forces(table, s)
    return reaction(layout, table, s, found.unmet - found.given(change))


def _opening_error(layout: Layout, table: Table, s: State, a: Array, independent: tuple[str, ...]) -> AssemblyError:
    """Accelerations that would open loops, and by how much."""
    opening = constraint_matrix(layout, table, s.q) @ a + constraint_bias(layout, table, s)
    residuals = {one.name: float(np.abs(opening[one.rows]).max(initial=0.0)) for one in layout.constraints}
    return AssemblyError(
        f"these accelerations would open the loops by up to {np.abs(opening).max():.3g} [m/s^2 or rad/s^2]; "
        f"give those of independent joints alone, such as {list(independent)}, or nearest=True",
        residuals,
    )


def _nearest(table: Table, s: State, a: Array) -> Array:
    """Accelerations nearest to a in the metric of the masses that keep the loops closed.

    By Gauss's principle these are what the torques of the tree alone give when the loops act.
    """
    tau, closed = np.empty_like(a), np.empty_like(a)
    _inverse_dynamics(table, s.q, s.v, a, tau)
    constrained_forward_dynamics(table, s.q, s.v, tau, closed)
    return closed


def _completed(m: Mechanism, layout: Layout, s: State, given: dict[str, Any]) -> Array:
    """Accelerations from those of independent joints: a = W a_ind + w."""
    coordinates = mobility(m, s, prefer=list(given), probe=False)
    slots = {slot.name: slot for slot in layout.all_slots}
    column = {int(k): i for i, k in enumerate(coordinates.independent_columns)}
    a_ind = np.zeros(coordinates.n_independent)
    for name, value in given.items():
        if name not in slots:
            raise UnknownNameError("joint", name, slots)
        columns, what = range(slots[name].v.start, slots[name].v.stop), f"a of {slots[name].kind} joint {name!r}"
        is_number = np.ndim(value) == 0 and len(columns) == 1
        numbers = [finite_scalar(value, what)] if is_number else finite_array(value, (len(columns),), what)
        for k, number in zip(columns, numbers, strict=True):
            a_ind[column[k]] = number
    return coordinates.W @ a_ind + coordinates.w
