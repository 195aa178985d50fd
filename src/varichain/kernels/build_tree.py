"""Bodies and freedoms from the specs of links: fixed joints fused, other joints as elementary freedoms.

Compiled, since a structure that changes while it moves is laid out anew at every change. Body frames are turned so that
a freedom's axis is its z axis: a turn about z changes two columns of a matrix, a turn about any axis would cost a
matrix product. The links keep their own frames, at constant poses in their bodies.
"""

import math

import numpy as np

from varichain.kernels.jit import BYTES, SPECS, TABLE, VECTOR, allocates, helper, kernel
from varichain.kernels.records import FREE, GROUND, SPHERICAL
from varichain.kernels.tables import (
    FIRST_OF_LOOPS,
    Entity,
    open_bodies,
    open_dofs,
    open_links,
    open_specs,
    set_addresses,
    set_length,
    size_of,
)
from varichain.kernels.tuples import (
    add3,
    load3,
    load6,
    load9,
    mat_mul,
    mat_vec,
    rotate_sym,
    scale3,
    store3,
    store6,
    store9,
    sub3,
)

_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

# Part of the smallest inertia in the mechanism that massless freedoms borrow: each correction leaves about this part.
_BORROWED = 1e-3


@helper
def n_q_of(kind):
    """Number of coordinates of an elementary freedom."""
    if kind == SPHERICAL:
        return 4
    return 7 if kind == FREE else 1


@helper
def n_v_of(kind):
    """Number of velocities of an elementary freedom."""
    if kind == SPHERICAL:
        return 3
    return 6 if kind == FREE else 1


@helper
def _transposed(R):
    return R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]


@helper
def _axes_of(spec, k):
    a, i = spec.axes, 9 * k
    return a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7], a[i + 8]


@helper
def add_inertia(body, mass, com, inertia):
    """Join a rigid inertia, given in the body's frame, to the body's own.

    About the common centre of mass, I = I_1 + I_2 + mu (d.d 1 - d d^T) with the reduced mass mu: no large numbers are
    subtracted, however far from the origin the parts are.
    """
    total = body.mass + mass
    if total == 0.0:
        return
    d = sub3(com, load3(body.com))
    mu = body.mass * mass / total
    x, y, z = mu * d[0], mu * d[1], mu * d[2]
    I = load6(body.inertia)
    store6(
        body.inertia,
        (
            I[0] + inertia[0] + y * d[1] + z * d[2],
            I[1] + inertia[1] - x * d[1],
            I[2] + inertia[2] - x * d[2],
            I[3] + inertia[3] + x * d[0] + z * d[2],
            I[4] + inertia[4] - y * d[2],
            I[5] + inertia[5] + x * d[0] + y * d[1],
        ),
    )
    store3(body.com, add3(load3(body.com), scale3(mass / total, d)))
    body.mass = total


@helper
def _add_dofs(spec, link_row, body_index, offset, body, before, dofs):
    """Freedoms of a new body, each a child of the one before it."""
    passive = 0
    for j in range(body.n_dof):
        k = body.dof + j
        dof = dofs[k]
        dof.parent = before
        dof.body = body_index
        dof.armature = dof.inertia = spec.armature[offset + j]
        dof.damping = spec.damping[offset + j]
        dof.friction = spec.friction[offset + j]
        dof.stiffness = spec.stiffness[offset + j]
        if dof.damping != 0.0 or dof.friction != 0.0 or dof.stiffness != 0.0:
            passive = 1
        before = k
    body.passive = passive
    body.isotropic = spec.isotropic
    body.link = link_row
    # joints of several elementary freedoms have one coordinate for each
    n_q = n_q_of(body.kind)
    for j in range(n_q):
        body.rest[j] = spec.rest[offset + j] if n_q == 1 else spec.rest[j]


@helper
def _add_link(specs, row, bodies, dofs, links, n_bodies, n_q, n_dofs):
    """Lay out one link after its parent, from a coordinate and a freedom on; returns the number of bodies."""
    spec, parent = specs[row], links[specs[row].parent]
    index = parent.body
    R_P, p_P = load9(parent.R), load3(parent.p)
    R, p = mat_mul(R_P, load9(spec.R)), add3(p_P, mat_vec(R_P, load3(spec.p)))
    offset = 0
    for k in range(spec.n_primitives):
        body = bodies[n_bodies]
        axes = _axes_of(spec, k)
        before = bodies[index].dof + bodies[index].n_dof - 1
        body.parent = index
        body.kind = spec.kinds[k]
        body.q = n_q
        body.dof = n_dofs
        body.n_dof = n_v_of(body.kind)
        body.pitch = spec.pitch
        body.root = n_bodies if index == 0 else bodies[index].root
        R_PJ = mat_mul(R, axes)
        store9(body.R_PJ, R_PJ)
        body.aligned = 1 if R_PJ == _IDENTITY else 0
        store3(body.p_PJ, p)
        _add_dofs(spec, row, n_bodies, offset, body, before, dofs)
        index = n_bodies
        R, p = _transposed(axes), (0.0, 0.0, 0.0)
        n_bodies += 1
        n_q += n_q_of(body.kind)
        n_dofs += body.n_dof
        offset += body.n_dof
    link = links[row]
    link.body = index
    store9(link.R, R)
    store3(link.p, p)
    link.parent = spec.parent
    link.mass = spec.mass
    store3(link.com, load3(spec.com))
    store6(link.inertia, load6(spec.inertia))
    if index > 0:
        com = add3(p, mat_vec(R, load3(spec.com)))
        add_inertia(bodies[index], spec.mass, com, rotate_sym(R, load6(spec.inertia)))
    return n_bodies


@helper
@allocates
def _nearest_first(records):
    """Rows of all links, those nearest to the ground first, and where the coordinates and freedoms of each begin.

    Bodies of one depth do not depend on each other: a processor works on two or three of them at a time; bodies in
    sequence along a limb would keep it waiting.
    """
    n = len(records)
    depth, order = np.zeros(n, np.int64), np.zeros(n, np.int64)
    q, v, start = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for row in range(1, n):
        depth[row] = depth[records[row].parent] + 1
        start[depth[row] + 1] += 1
        q[row + 1], v[row + 1] = q[row], v[row]
        for k in range(records[row].n_primitives):
            q[row + 1] += n_q_of(records[row].kinds[k])
            v[row + 1] += n_v_of(records[row].kinds[k])
    start[1] = 1  # the ground
    for i in range(1, n + 1):
        start[i] += start[i - 1]
    for row in range(1, n):
        order[start[depth[row]]] = row
        start[depth[row]] += 1
    return order, q, v


@kernel(TABLE, SPECS)
def size_tree(
    # out
    table,
    # in
    specs,
):
    """Write the numbers of bodies, freedoms and links of a tree into an address table; returns their bytes."""
    records = open_specs(specs)
    n_bodies, n_dofs = 1, 0
    for row in range(1, len(records)):
        n_bodies += records[row].n_primitives
        for k in range(records[row].n_primitives):
            n_dofs += n_v_of(records[row].kinds[k])
    set_length(table, Entity.BODIES, n_bodies)
    set_length(table, Entity.DOFS, n_dofs)
    set_length(table, Entity.LINKS, len(records))
    return size_of(table, 0, FIRST_OF_LOOPS)


@kernel(TABLE, SPECS, VECTOR, BYTES)
@allocates
def build_tree(
    # in and out: as counted
    table,
    # in
    specs,
    gravity,
    # work: zeros, as many as counted; the table has their addresses
    data,
):
    """Bodies, freedoms and links of a tree in memory, parents before children; row 0 is the ground.

    Returns the row of a link that can move although it and all links that it carries have neither mass nor armature,
    0 if there is none.
    """
    records = open_specs(specs)
    set_addresses(table, 0, FIRST_OF_LOOPS, data)
    bodies, dofs, links = open_bodies(table), open_dofs(table), open_links(table)
    ground = bodies[0]
    ground.kind = GROUND
    store9(ground.R, _IDENTITY)
    store9(links[0].R, _IDENTITY)
    for i in range(3):
        ground.A[3 + i] = -gravity[i]  # gravity is an upward acceleration of the ground
    n_bodies = 1
    order, first_q, first_v = _nearest_first(records)
    for i in range(1, len(records)):
        row = order[i]
        links[i].outward = row
        n_bodies = _add_link(records, row, bodies, dofs, links, n_bodies, first_q[row], first_v[row])
    return _massless_link(bodies, dofs)


@helper
def _least_inertia(bodies):
    """Smallest mass or moment of inertia of a body, but zero; 1 if there is none."""
    least = math.inf
    for i in range(1, len(bodies)):
        body = bodies[i]
        for x in (body.mass, body.inertia[0] + body.inertia[1] + body.inertia[2]):
            if 0.0 < x < least:
                least = x
    return least if least < math.inf else 1.0


@helper
def _massless_link(bodies, dofs):
    """Row of a link whose body and all that it carries weigh nothing; f[0] counts mass and armature from the leaves.

    Freedoms of such bodies borrow some inertia, which the solution gives back: loops may determine how they move.
    """
    for i in range(1, len(bodies)):
        bodies[i].f[0] = bodies[i].mass
    for k in range(len(dofs)):
        bodies[dofs[k].body].f[0] += dofs[k].armature
    found = 0
    lent = _BORROWED * _least_inertia(bodies)
    for i in range(len(bodies) - 1, 0, -1):
        if bodies[i].f[0] == 0.0:
            found = bodies[i].link
            for k in range(bodies[i].dof, bodies[i].dof + bodies[i].n_dof):
                dofs[k].inertia = lent
                bodies[0].borrows = 1
        bodies[bodies[i].parent].f[0] += bodies[i].f[0]
    for i in range(len(bodies)):
        bodies[i].f[0] = 0.0
    return found
