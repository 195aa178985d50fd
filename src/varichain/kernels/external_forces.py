"""External forces on links: of the user's records, and of the user's functions, which see how their links move."""

from varichain.kernels.callbacks import call_links
from varichain.kernels.jit import FORCES, NUMBER, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.links import point_of_link, reference_of_link, rotation_of_link, velocity_at
from varichain.kernels.tables import open_bodies, open_dofs, open_links
from varichain.kernels.tuples import (
    ZERO3,
    ZERO6,
    add3,
    add6,
    add_scaled6,
    angular,
    cross3,
    dot6,
    join6,
    linear,
    load3,
    load6,
    mat_vec,
    store3,
    store6,
    sub3,
)


@routine
def ask_functions(table, forces, t):
    """Let functions of the user set the wrenches on their links.

    Needs: bodies moved.
    """
    bodies, links = open_bodies(table), open_links(table)
    for i in range(len(forces)):
        if forces[i].function == 0:
            continue
        end = i + forces[i].n_links
        for j in range(i, end):
            force = forces[j]
            link = links[force.link]
            R, x, V = rotation_of_link(bodies, link), point_of_link(bodies, link, ZERO3), load6(bodies[link.body].V)
            for row in range(3):
                force.R[row, 0] = R[3 * row]
                force.R[row, 1] = R[3 * row + 1]
                force.R[row, 2] = R[3 * row + 2]
            store3(force.p, add3(reference_of_link(bodies, link), x))
            store6(force.V, join6(angular(V), velocity_at(V, x)))
            store6(force.wrench, ZERO6)
        call_links(forces[i].function, t, forces[i:end])


@helper
def wrench_about_reference(bodies, links, force):
    """Wrench of an external force about the reference point of its link's tree.

    Needs: bodies placed.
    """
    link = links[force.link]
    moment, push = angular(force.wrench), linear(force.wrench)
    if force.local:
        R = rotation_of_link(bodies, link)
        moment, push = mat_vec(R, moment), mat_vec(R, push)
    return join6(add3(moment, cross3(point_of_link(bodies, link, load3(force.point)), push)), push)


@routine
def load_forces(table, forces, t):
    """Add external forces to the bias forces of bodies; returns their power.

    Needs: bodies moved.
    """
    bodies, links = open_bodies(table), open_links(table)
    ask_functions(table, forces, t)
    power = 0.0
    for i in range(len(forces)):
        wrench = wrench_about_reference(bodies, links, forces[i])
        body = bodies[links[forces[i].link].body]
        store6(body.f, add_scaled6(load6(body.f), -1.0, wrench))
        power += dot6(wrench, load6(body.V))
    return power


@kernel(TABLE, VECTOR, VECTOR, NUMBER, FORCES)
def add_forces(
    # layout
    table,
    # in
    q,
    v,
    t,
    # in and out: wrenches of functions
    forces,
):
    """Add external forces to the wrenches on bodies, until `clear_wrenches`."""
    bodies, links = open_bodies(table), open_links(table)
    move_all(q, v, bodies, open_dofs(table))
    ask_functions(table, forces, t)
    for i in range(len(forces)):
        wrench = wrench_about_reference(bodies, links, forces[i])
        body = bodies[links[forces[i].link].body]
        push = linear(wrench)
        here = join6(sub3(angular(wrench), cross3(load3(body.p), push)), push)
        store6(body.wrench, add6(load6(body.wrench), here))
