"""Derivatives of external forces: rows of `loads` are link, 1 for the link's axes or 0 for the world's, point, wrench.

The point (3) is in the link's frame, the wrench [moment; force] (6) acts there. A force in world axes stays as it is
while its point moves with the link; one in the link's axes turns with the link.
"""

from varichain.kernels.function_leaves import last_dof
from varichain.kernels.jit import helper, routine
from varichain.kernels.links import point_of_link, rotation_of_link
from varichain.kernels.tables import open_bodies, open_dofs, open_links
from varichain.kernels.tuples import (
    ZERO6,
    add3,
    add6,
    angular,
    cross3,
    dot3,
    join6,
    linear,
    load3,
    load6,
    mat_vec,
    store6,
    sub3,
)

LOAD = 11  # columns of `loads`


@helper
def _placed(bodies, links, load):
    """Body that a load acts on, its point from the reference point of the link's tree, moment and force in world axes.

    Needs: bodies placed.
    """
    link = links[int(load[0])]
    moment, force = load3(load[5:8]), load3(load[8:11])
    if load[1] != 0.0:
        R = rotation_of_link(bodies, link)
        moment, force = mat_vec(R, moment), mat_vec(R, force)
    return link.body, point_of_link(bodies, link, load3(load[2:5])), moment, force


@routine
def put_on_loads(table, loads):
    """Let external forces act on the bodies, until `take_off_loads`.

    Needs: bodies placed.
    """
    bodies, links = open_bodies(table), open_links(table)
    for i in range(len(loads)):
        b, x, moment, force = _placed(bodies, links, loads[i])
        body = bodies[b]
        arm = sub3(x, load3(body.p))
        store6(body.wrench, add6(load6(body.wrench), join6(add3(moment, cross3(arm, force)), force)))


@helper
def take_off_loads(table, loads):
    """No external force on any body that a load acts on."""
    bodies, links = open_bodies(table), open_links(table)
    for i in range(len(loads)):
        store6(bodies[links[int(loads[i, 0])].body].wrench, ZERO6)


@helper
def _speed(s, x):
    """Velocity of the point x that the motion vector s gives."""
    return add3(linear(s), cross3(angular(s), x))


@routine
def add_load_derivatives(table, loads, by_q_out):
    """Subtract the derivatives of the generalized forces J^T [moment; force] of all loads.

    E_j(J_k) = w_j x J_k if j carries k or both are of one joint; if k carries j, the point moves: w_k x J_j.

    Needs: bodies placed.
    """
    bodies, dofs, links = open_bodies(table), open_dofs(table), open_links(table)
    for i in range(len(loads)):
        b, x, moment, force = _placed(bodies, links, loads[i])
        follows = loads[i, 1] != 0.0
        k = last_dof(bodies[b])
        while k >= 0:
            s_k = load6(dofs[k].s)
            w_k, u_k = angular(s_k), _speed(s_k, x)
            j = last_dof(bodies[b])
            while j >= 0:
                s_j = load6(dofs[j].s)
                w_j, u_j = angular(s_j), _speed(s_j, x)
                is_carried = j <= k or dofs[j].body == dofs[k].body  # of two on one way, the inner one comes first
                if is_carried:
                    change = dot3(cross3(w_j, u_k), force) + dot3(cross3(w_j, w_k), moment)
                else:
                    change = dot3(cross3(w_k, u_j), force)
                if follows:
                    change += dot3(u_k, cross3(w_j, force)) + dot3(w_k, cross3(w_j, moment))
                by_q_out[k, j] -= change
                j = dofs[j].parent
            k = dofs[k].parent
