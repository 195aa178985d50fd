"""The right-hand side of a simulation: torques, accelerations and powers of a state at a time."""

from varichain.kernels.constrained_dynamics import accelerate
from varichain.kernels.controls import control, drive, driving_power
from varichain.kernels.external_forces import load_forces
from varichain.kernels.forward_dynamics import load_torques, outward_bias
from varichain.kernels.jit import fragment, routine
from varichain.kernels.loop_joints import load_loop_forces
from varichain.kernels.orthogonal import count_dropped, largest_dropped
from varichain.kernels.restraints import aim_locks
from varichain.kernels.run_records import IMPLICIT, STEPPING, Powers
from varichain.kernels.soft_stops import load_soft_stops
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import length3

# Squares below this are rounding: their rows depend on others.
_ROUNDING = 1e-24


@fragment
def _add_forced(bodies, dofs, a_out):
    """Add the prescribed accelerations of locked freedoms."""
    for b in range(1, len(bodies)):
        body = bodies[b]
        if not body.locked:
            continue
        k = body.dof
        if body.turned:
            E = body.basis
            for j in range(3):
                if dofs[k + j].lock:
                    a_out[k] += E[j] * dofs[k + j].forced
                    a_out[k + 1] += E[3 + j] * dofs[k + j].forced
                    a_out[k + 2] += E[6 + j] * dofs[k + j].forced
        else:
            for j in range(body.n_dof):
                if dofs[k + j].lock:
                    a_out[k + j] = dofs[k + j].forced


@routine
def derivative_at(context, t, q, v, tau, a_out):
    """Accelerations at a time, with all loops closed and all locks kept; q and v of driven joints are set.

    tau receives the controllers' torques. Returns the powers of all energy accounts. The record of the run gets the
    squared singular value that is nearest to the bound of dependent rows.
    """
    table, restraints, run = context.table, context.restraints, context.run
    channels, motion = context.channels, context.motion
    bodies, dofs, loops = open_bodies(table), open_dofs(table), open_loops(table)
    if run.n_drives > 0:
        drive(channels, motion, run, t, q, v, a_out)
        for k in range(len(v)):  # locks that are no drives are aimed below
            if dofs[k].lock:
                dofs[k].forced = a_out[k]
    if run.is_controlled:
        control(channels, motion, context.controls, run, t, q, v, tau)
    else:
        tau[:] = 0.0
    controlled = 0.0
    for k in range(len(v)):
        controlled += tau[k] * v[k]
    if len(restraints) > 0:
        aim_locks(restraints, bodies, dofs, q, v)
    outward_bias(bodies, dofs, q, v)
    load_loop_forces(bodies, loops)
    forced = load_forces(table, context.forces, t)
    load_torques(dofs, tau)
    if run.method == IMPLICIT or run.method == STEPPING:
        for k in range(len(v)):
            dofs[k].u += context.extra[k]
    stopped = load_soft_stops(table, restraints, q, v) if run.has_soft_stops else 0.0
    kept, dropped = accelerate(table, context.rate, q, v, a_out)
    run.pivot = _nearest_to_dependence(table, run, kept, dropped)
    _add_forced(bodies, dofs, a_out)
    return Powers(
        controllers=controlled,
        joints=-_dissipation(bodies, loops, dofs, v),
        forces=forced,
        drives=driving_power(channels, run, dofs, v),
        soft_limits=stopped,
        contact=0.0,
    )


@routine
def _nearest_to_dependence(table, run, kept, dropped):
    """Squared singular value that is nearest to the bound of dependent rows, as a part of its row's own.

    Rows that depend for good have none: as many as were dropped where they had nothing of their own but rounding, or on
    both sides of a configuration.

    Needs: rows propagated.
    """
    n_dropped = count_dropped(open_rows(table))
    if n_dropped > run.n_redundant:
        if dropped > _ROUNDING:  # which may be rounding all the same, of squares of rows
            dropped = largest_dropped(table)
        if dropped > _ROUNDING:
            return dropped
    run.n_redundant = n_dropped
    return kept


@fragment
def _dissipation(bodies, loops, dofs, v):
    """Power taken by dampers and friction, in joints of the tree and of loops."""
    taken = 0.0
    for b in range(1, len(bodies)):
        body = bodies[b]
        if body.passive:
            for k in range(body.dof, body.dof + body.n_dof):
                taken += v[k] * (dofs[k].damping * v[k])
                if not body.isotropic:
                    taken += dofs[k].friction * abs(v[k])
            if body.isotropic:
                k = body.dof
                taken += dofs[k].friction * length3((v[k], v[k + 1], v[k + 2]))
    for i in range(len(loops)):
        taken += loops[i].dissipated
    return taken
