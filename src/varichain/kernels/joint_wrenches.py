"""Forces and moments that tree joints carry, fixed ones included, from known accelerations [Newton-Euler]."""

from varichain.kernels.external_forces import ask_functions, wrench_about_reference
from varichain.kernels.freedoms import joint_motion
from varichain.kernels.inertias import inertial_force
from varichain.kernels.jit import CUBE, FORCES, MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move, place
from varichain.kernels.links import point_of_link, rotation_of_link
from varichain.kernels.loops import place_loop
from varichain.kernels.tables import open_bodies, open_links, open_loops
from varichain.kernels.tuples import (
    ZERO3,
    ZERO6,
    add3,
    add6,
    add_scaled6,
    angular,
    cross3,
    join6,
    linear,
    load3,
    load6,
    store6,
    sub3,
)


@routine
def _inertial_wrench(bodies, link):
    """What the motion and the weight of a link ask for, about the reference point of its tree.

    Needs: bodies moved.
    """
    body = bodies[link.body]
    c = point_of_link(bodies, link, load3(link.com))
    # A has gravity in it, as an acceleration of the ground
    return inertial_force(link, rotation_of_link(bodies, link), c, load6(body.V), load6(body.A))


@helper
def _moved(wrench, x):
    """A wrench at the point x, about the reference point."""
    return join6(add3(angular(wrench), cross3(x, linear(wrench))), linear(wrench))


@routine
def _subtract_loops(table, loop_forces, wrenches):
    """Subtract forces of loops from what their links need: they act on link A, their opposites on link B.

    Needs: bodies placed.
    """
    bodies, loops = open_bodies(table), open_loops(table)
    for i in range(len(loop_forces) // 6):
        loop, f = loops[i], load6(loop_forces[6 * i : 6 * i + 6])
        place_loop(bodies, loop)
        on_A, on_B = wrenches[loop.link_A], wrenches[loop.link_B]
        store6(on_A, add_scaled6(load6(on_A), -1.0, _moved(f, load3(loop.x_A))))
        store6(on_B, add_scaled6(load6(on_B), 1.0, _moved(f, load3(loop.x_B))))


@routine
def _pass_inward(bodies, links, wrenches):
    """Add what each link needs to what its parent needs, and move it to the link's own origin.

    Needs: bodies placed.
    """
    for i in range(len(links) - 1, 0, -1):
        row = links[i].outward
        link, wrench = links[row], load6(wrenches[row])
        if link.parent > 0:
            store6(wrenches[link.parent], add6(load6(wrenches[link.parent]), wrench))
        x = point_of_link(bodies, link, ZERO3)
        store6(wrenches[row], join6(sub3(angular(wrench), cross3(x, linear(wrench))), linear(wrench)))


@kernel(TABLE, VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, FORCES, CUBE)
def joint_wrenches(
    # layout
    table,
    # in, a row a state: times, coordinates, velocities, accelerations, wrenches of loops (6 each)
    times,
    q,
    v,
    a,
    loop_forces,
    # in and out: wrenches of functions
    forces,
    # out (n, n_links, 6)
    wrenches_out,
):
    """Wrenches [moment; force] that the parents of links exert on them, at the links' origins, world axes."""
    bodies, links = open_bodies(table), open_links(table)
    for i in range(len(times)):
        wrenches = wrenches_out[i]
        for b in range(1, len(bodies)):
            R, p = place(bodies, b, q[i])
            _, A = move(bodies, b, R, p, v[i])
            store6(bodies[b].A, add6(A, joint_motion(bodies[b], R, p, a[i])))
        store6(wrenches[0], ZERO6)
        for l in range(1, len(links)):
            store6(wrenches[l], _inertial_wrench(bodies, links[l]))
        ask_functions(table, forces, times[i])
        for k in range(len(forces)):
            on_link = wrenches[forces[k].link]
            store6(on_link, add_scaled6(load6(on_link), -1.0, wrench_about_reference(bodies, links, forces[k])))
        _subtract_loops(table, loop_forces[i], wrenches)
        _pass_inward(bodies, links, wrenches)
