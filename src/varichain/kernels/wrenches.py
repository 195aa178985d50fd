"""External wrenches on links: set before a dynamics kernel, cleared after it."""

from varichain.kernels.jit import INTEGER, MATRIX, TABLE, VECTOR, kernel
from varichain.kernels.kinematics import place_all
from varichain.kernels.links import point_of_link, rotation_of_link
from varichain.kernels.tables import open_bodies, open_dofs, open_links
from varichain.kernels.tuples import (
    ZERO6,
    add3,
    add6,
    angular,
    cross3,
    join6,
    linear,
    load3,
    load6,
    mat_vec,
    store6,
    sub3,
)


@kernel(TABLE, VECTOR, MATRIX)
def load_wrenches(
    # layout
    table,
    # in: (n_links, 6) [moment; force] in world axes, at each link's origin
    q,
    wrenches,
):
    """Gather the wrenches on all links of a body at the body's origin."""
    bodies, links = open_bodies(table), open_links(table)
    place_all(q, bodies, open_dofs(table))
    for i in range(len(links)):
        body = bodies[links[i].body]
        row = wrenches[i]
        moment, force = (row[0], row[1], row[2]), (row[3], row[4], row[5])
        arm = sub3(point_of_link(bodies, links[i], (0.0, 0.0, 0.0)), load3(body.p))
        store6(body.wrench, add6(load6(body.wrench), join6(add3(moment, cross3(arm, force)), force)))


@kernel(TABLE, VECTOR, INTEGER, VECTOR, VECTOR, INTEGER)
def add_wrench(
    # layout
    table,
    # in: link, point (3) in its frame, [moment; force] (6) there, in the link's axes instead of the world's
    q,
    link_index,
    point,
    wrench,
    local,
):
    """Add a wrench at a point of a link to the body that carries it."""
    bodies = open_bodies(table)
    link = open_links(table)[link_index]
    place_all(q, bodies, open_dofs(table))
    body = bodies[link.body]
    moment, force = angular(wrench), linear(wrench)
    if local:
        R = rotation_of_link(bodies, link)
        moment, force = mat_vec(R, moment), mat_vec(R, force)
    arm = sub3(point_of_link(bodies, link, load3(point)), load3(body.p))
    store6(body.wrench, add6(load6(body.wrench), join6(add3(moment, cross3(arm, force)), force)))


@kernel(TABLE)
def clear_wrenches(
    # layout
    table,
):
    """No wrench on any body."""
    bodies = open_bodies(table)
    for i in range(len(bodies)):
        store6(bodies[i].wrench, ZERO6)
