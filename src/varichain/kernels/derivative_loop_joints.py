"""Derivatives of springs, dampers and friction in joints that close loops."""

from varichain.kernels.derivative_chains import add_wrench_change, freedom_at, write_chain
from varichain.kernels.derivative_elements import add_element_derivatives
from varichain.kernels.derivative_passive import friction_spread, vector_rate
from varichain.kernels.derivative_rows import wrench_change
from varichain.kernels.jit import helper, routine
from varichain.kernels.loop_joints import (
    _from_rest,
    freedom_direction,
    freedom_rate,
    freedom_wrench,
    pose_of_A,
)
from varichain.kernels.loops import place_loop, relative
from varichain.kernels.passive import sliding
from varichain.kernels.records import CARRIED, EACH, TURNED
from varichain.kernels.row_kinds import pick
from varichain.kernels.tables import open_bodies, open_dofs, open_loops
from varichain.kernels.tuples import (
    ZERO3,
    angular,
    cross3,
    dot3,
    dot6,
    linear,
    load3,
    load6,
    mat_t_vec,
    mat_vec,
    sub3,
)


@helper
def _coordinate_rate(loop, k, e, f, pose, R_WA, R_WB, twist):
    """Rate of the displacement of freedom k from the rest position of its spring, while A moves by a twist."""
    if loop.free_kinds[k] == TURNED:
        turn = (_from_rest(loop, 0, pose), _from_rest(loop, 1, pose), _from_rest(loop, 2, pose))
        return pick(vector_rate(turn, mat_t_vec(R_WA, angular(twist))), loop.free_axes[k])
    if loop.free_kinds[k] == CARRIED:
        rest = (loop.rest[4], loop.rest[5], loop.rest[6])
        shift = sub3(load3(loop.d), mat_vec(R_WB, rest))
        return dot3(e, linear(twist)) + dot3(cross3(angular(twist), e), shift)
    return dot6(f, twist)


@routine
def _add_joint(bodies, dofs, loop, by_q, by_v, chain_work):
    """Add the derivatives of one loop's joint.

    Needs: bodies moved.
    """
    R_WA, R_WB = place_loop(bodies, loop)
    X, _, ends = write_chain(bodies, dofs, loop, chain_work)
    _, _, w_rel, v_rel = relative(bodies, loop)
    pose = pose_of_A(loop, R_WA, R_WB)
    turning, spread = ZERO3, 0.0
    if loop.isotropic:
        slides = (loop.slide[0], loop.slide[1], loop.slide[2])
        turning, spread = friction_spread(slides, mat_t_vec(R_WA, w_rel))
    n = ends[1]
    for k in range(loop.n_free):
        kind, axis = loop.free_kinds[k], loop.free_axes[k]
        e = freedom_direction(loop, k, R_WA, R_WB)
        f = freedom_wrench(loop, k, e, ZERO3)
        v = freedom_rate(loop, k, e, w_rel, v_rel)
        direction = pick(turning, k) if loop.isotropic else sliding(loop.slide[k], v)
        force = loop.damping[k] * v + loop.friction[k] * direction
        stiffness = loop.stiffness[k]
        if stiffness > 0.0:
            force += stiffness * _from_rest(loop, k, pose)
        for j in range(n):
            row, j_dof = chain_work[j], freedom_at(chain_work, j)
            twist = load6(row[0:6])
            change = wrench_change(kind, axis, loop, e, R_WB, twist)
            add_wrench_change(dofs, chain_work, ends, j, f, change, force, by_q)
            by_position = 0.0
            if stiffness > 0.0:
                by_position = stiffness * _coordinate_rate(loop, k, e, f, pose, R_WA, R_WB, twist)
            by_rate = loop.damping[k] + (loop.friction[k] * spread if loop.isotropic else 0.0)
            rate = dot6(f, load6(row[12:18])) + dot6(change, X)
            by_position += by_rate * rate
            by_speed = by_rate * dot6(f, twist)
            if loop.isotropic:  # its direction turns with all three rates
                taken = loop.friction[k] * spread * direction
                for l in range(3):
                    e_l = freedom_direction(loop, l, R_WA, R_WB)
                    f_l = freedom_wrench(loop, l, e_l, ZERO3)
                    change_l = wrench_change(loop.free_kinds[l], loop.free_axes[l], loop, e_l, R_WB, twist)
                    part = taken * pick(turning, l)
                    by_position -= part * (dot6(f_l, load6(row[12:18])) + dot6(change_l, X))
                    by_speed -= part * dot6(f_l, twist)
            for i in range(n):
                entry = dot6(f, load6(chain_work[i, 0:6]))
                by_q[freedom_at(chain_work, i), j_dof] += entry * by_position
                by_v[freedom_at(chain_work, i), j_dof] += entry * by_speed


@routine
def add_loop_joint_derivatives(table, by_q, by_v, chain_work):
    """Add the derivatives of what springs, dampers and friction in joints that close loops ask for, and force elements.

    Needs: bodies moved.
    """
    bodies, dofs, loops = open_bodies(table), open_dofs(table), open_loops(table)
    for i in range(len(loops)):
        if loops[i].passive != 0 and loops[i].law != EACH:
            add_element_derivatives(bodies, dofs, loops[i], by_q, by_v, chain_work)
        elif loops[i].passive != 0:
            _add_joint(bodies, dofs, loops[i], by_q, by_v, chain_work)
