"""The right-hand side of a simulation: torques, accelerations and powers of a state at a time."""

from varichain.kernels.constraint_solve import factor, solve
from varichain.kernels.controls import CONTROLLED, DRIVES, SOFT, control, drive, driving_power
from varichain.kernels.couplings import forced_slip, load_slip_rates, load_slips
from varichain.kernels.forward_dynamics import inward_articulated, load_torques, outward_accelerations, outward_bias
from varichain.kernels.holds import aim, soft_torques
from varichain.kernels.jit import fragment, routine
from varichain.kernels.links import point_of_link, rotation_of_link
from varichain.kernels.loop_joints import load_loop_forces
from varichain.kernels.loops import loop_error, place_rows, relative, row_bias, row_error, row_velocity
from varichain.kernels.propagation import subtract_free
from varichain.kernels.records import COORDINATES
from varichain.kernels.tables import (
    open_bodies,
    open_dofs,
    open_links,
    open_loops,
    open_multipliers,
    open_propagated,
    open_rows,
    open_support,
)
from varichain.kernels.tuples import (
    add3,
    add_scaled6,
    angular,
    cross3,
    dot6,
    join6,
    linear,
    load3,
    load6,
    mat_vec,
    store6,
)

# Accounts of the energy: work of controllers, of dampers and friction in joints, of external forces, of drives, of
# soft stops.
N_ACCOUNTS = 5


@routine
def load_forces(table, forces):
    """Add external forces to the bias forces of bodies, which must have been moved; returns their power."""
    bodies, links = open_bodies(table), open_links(table)
    power = 0.0
    for i in range(len(forces)):
        force = forces[i]
        link = links[force.link]
        moment, push = angular(force.wrench), linear(force.wrench)
        if force.local:
            R = rotation_of_link(bodies, link)
            moment, push = mat_vec(R, moment), mat_vec(R, push)
        x = point_of_link(bodies, link, load3(force.point))
        wrench = join6(add3(moment, cross3(x, push)), push)
        body = bodies[link.body]
        store6(body.f, add_scaled6(load6(body.f), -1.0, wrench))
        power += dot6(wrench, load6(body.V))
    return power


@fragment
def _accelerate(table, rate, q, v, a_out):
    """Accelerations of bodies whose bias forces and torques have been loaded, with all loops closed.

    `rate` is 1 / h if a step of length h is to undo what loops have opened by, 0 if they are kept closed otherwise.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    inward_articulated(bodies, dofs)
    if len(loops) == 0:
        outward_accelerations(bodies, dofs, a_out)
        return
    multipliers = open_multipliers(table)
    place_rows(bodies, loops, rows)
    factor(table)
    if rate > 0.0:
        load_slips(bodies, loops, q)
        load_slip_rates(bodies, loops, v)
    for i in range(len(loops)):
        loop = loops[i]
        motion = relative(bodies, loop)
        for r in range(loop.row, loop.row + loop.n_rows):
            multipliers[r] = -row_bias(bodies, rows[r], loop, motion)
        if loop.orientation == COORDINATES:
            multipliers[loop.row] = -forced_slip(bodies, dofs, loop)
        if rate > 0.0:
            error = loop_error(bodies, loop)
            for r in range(loop.row, loop.row + loop.n_rows):
                opening = row_velocity(rows[r], loop, motion[2], motion[3])
                multipliers[r] -= rate * (opening + rate * row_error(rows[r], loop, error))
    subtract_free(loops, open_support(table), open_propagated(table), dofs, multipliers)
    solve(table, a_out)


@fragment
def _add_forced(bodies, dofs, a_out):
    """Add the given accelerations of held freedoms."""
    for b in range(1, len(bodies)):
        body = bodies[b]
        if not body.held:
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
def derivative(context, t, q, v, tau, a_out):
    """Accelerations at a time, with all loops closed and all holds held; q and v of driven joints are set.

    tau takes the controllers' torques. Returns the powers of the accounts of the energy.
    """
    table, holds, forces, channels, motion, gains, counts, rate = context
    bodies, dofs, loops = open_bodies(table), open_dofs(table), open_loops(table)
    n_drives = counts[DRIVES]
    if n_drives > 0:
        drive(channels, motion, counts, t, q, v, a_out)
        for k in range(len(v)):  # holds that are no drives are aimed below
            if dofs[k].lock:
                dofs[k].forced = a_out[k]
    if counts[CONTROLLED]:
        control(channels, motion, gains, counts, t, q, v, tau)
    else:
        tau[:] = 0.0
    controlled = 0.0
    for k in range(len(v)):
        controlled += tau[k] * v[k]
    if len(holds) > 0:
        aim(holds, bodies, dofs, q, v)
    outward_bias(bodies, dofs, q, v)
    load_loop_forces(bodies, loops)
    forced = load_forces(table, forces)
    load_torques(dofs, tau)
    stopped = _load_soft_stops(holds, dofs, q, v, a_out) if counts[SOFT] else 0.0
    _accelerate(table, rate, q, v, a_out)
    _add_forced(bodies, dofs, a_out)
    driven = driving_power(channels, counts, dofs, v)
    return controlled, -_dissipation(bodies, loops, dofs, v), forced, driven, stopped


@fragment
def _load_soft_stops(holds, dofs, q, v, work):
    """Add the torques of soft stops to the loaded ones; returns their power."""
    work[:] = 0.0
    power = soft_torques(holds, q, v, work)
    for k in range(len(dofs)):
        dofs[k].u += work[k]
    return power


@fragment
def _dissipation(bodies, loops, dofs, v):
    """Power that dampers and friction take, in the tree's joints and in the loops'."""
    taken = 0.0
    for b in range(1, len(bodies)):
        body = bodies[b]
        if body.passive:
            for k in range(body.dof, body.dof + body.n_dof):
                taken += v[k] * (dofs[k].damping * v[k]) + dofs[k].friction * abs(v[k])
    for i in range(len(loops)):
        taken += loops[i].dissipated
    return taken
