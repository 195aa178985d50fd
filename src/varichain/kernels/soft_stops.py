"""Soft stops: restoring forces beyond the limits of joints."""

from varichain.kernels.jit import routine
from varichain.kernels.loops import place_loop
from varichain.kernels.restraints import ball_angles, measure
from varichain.kernels.row_kinds import direction, unit_wrench
from varichain.kernels.run_records import COORDINATE, ROW_OF_LOOP, SWING
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import add_scaled6, load3, load6, store6


@routine
def _soft_force(restraint):
    """Restoring force of a soft stop.

    [NY] k times the excess, and a damper that acts while the joint is beyond the stop but never pulls it back out.
    """
    excess = min(restraint.x - restraint.lower, 0.0) + max(restraint.x - restraint.upper, 0.0)
    if excess == 0.0:
        return 0.0
    force = -restraint.stiffness * excess - restraint.damping * restraint.rate
    return min(force, 0.0) if excess > 0.0 else max(force, 0.0)


@routine
def load_soft_stops(table, restraints, q, v):
    """Add the forces of soft stops to the loaded torques and bias forces; returns their power.

    Needs: bodies moved, torques loaded.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    measure(table, restraints, q, v)
    power = 0.0
    for i in range(len(restraints)):
        restraint = restraints[i]
        force = _soft_force(restraint) if restraint.soft else 0.0
        if force == 0.0:
            continue
        power += force * restraint.rate
        if restraint.kind == COORDINATE:
            dofs[restraint.dof].u += force
        elif restraint.kind == ROW_OF_LOOP:
            loop, row = loops[restraint.loop], rows[restraint.row]
            R_WA, R_WB = place_loop(bodies, loop)
            e = direction(row.kind, row.axis, loop, R_WA, R_WB)
            A, B = bodies[loop.body_A], bodies[loop.body_B]
            store6(A.f, add_scaled6(load6(A.f), -force, unit_wrench(row.kind, loop, e, load3(loop.x_A))))
            store6(B.f, add_scaled6(load6(B.f), force, unit_wrench(row.kind, loop, e, load3(loop.x_B))))
        else:
            _, _, _, _, n, m = ball_angles(restraint, q)
            k, e = (restraint.dof, n) if restraint.kind == SWING else (restraint.dof - 1, m)
            dofs[k].u += force * e[0]
            dofs[k + 1].u += force * e[1]
            dofs[k + 2].u += force * e[2]
    return power
