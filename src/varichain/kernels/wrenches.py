"""External wrenches on links: set before a dynamics kernel, cleared after it."""

from varichain.kernels.jit import MATRIX, TABLE, VECTOR, kernel
from varichain.kernels.kinematics import place_all
from varichain.kernels.links import point_of_link
from varichain.kernels.tables import open_bodies, open_dofs, open_links
from varichain.kernels.tuples import (
    ZERO6,
    add3,
    add6,
    cross3,
    join6,
    load3,
    load6,
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


@kernel(TABLE)
def clear_wrenches(
    # layout
    table,
):
    """No wrench on any body."""
    bodies = open_bodies(table)
    for i in range(len(bodies)):
        store6(bodies[i].wrench, ZERO6)
