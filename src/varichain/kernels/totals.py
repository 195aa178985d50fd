"""Quantities of the whole mechanism: centre of mass and its Jacobian, energy, momentum."""

from varichain.kernels.jit import MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.links import velocity_at
from varichain.kernels.loop_joints import loop_spring_energy
from varichain.kernels.mass_matrix import gather_composites
from varichain.kernels.passive import spring_energy
from varichain.kernels.tables import open_bodies, open_dofs, open_loops
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    angular,
    cross3,
    dot3,
    join6,
    linear,
    load3,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    scale3,
    store3,
    store6,
    sub3,
    sym_vec,
)


@helper
def mass_and_center(bodies):
    """Total mass and the world position of the centre of mass.

    Needs: bodies placed.
    """
    mass = 0.0
    moment = ZERO3
    for i in range(1, len(bodies)):
        body = bodies[i]
        mass += body.mass
        moment = add3(moment, scale3(body.mass, add3(load3(bodies[body.root].reference), load3(body.c))))
    return mass, scale3(1.0 / mass if mass > 0.0 else 0.0, moment)


@kernel(TABLE, VECTOR, VECTOR)
def center_of_mass(
    # layout
    table,
    # in
    q,
    # out (3)
    c_out,
):
    """World position of the centre of mass."""
    bodies = open_bodies(table)
    place_all(q, bodies, open_dofs(table))
    _, center = mass_and_center(bodies)
    store3(c_out, center)


@kernel(TABLE, VECTOR, MATRIX)
def center_of_mass_jacobian(
    # layout
    table,
    # in
    q,
    # out (3, n_v)
    J_out,
):
    """J: velocity of the centre of mass is J v; a column is the momentum of all that the freedom carries, per mass."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    place_all(q, bodies, dofs)
    gather_composites(bodies)
    mass, _ = mass_and_center(bodies)
    for k in range(len(dofs)):
        s = load6(dofs[k].s)
        a = bodies[dofs[k].body].I_A
        momentum = add3(scale3(a[0], linear(s)), cross3(angular(s), (a[1], a[2], a[3])))
        for i in range(3):
            J_out[i, k] = momentum[i] / mass


@kernel(TABLE, VECTOR, VECTOR, VECTOR)
def energy(
    # layout
    table,
    # in
    q,
    v,
    # out (3): kinetic, gravitational, elastic
    energy_out,
):
    """Kinetic energy, armature included; potential energy in gravity, zero at the world's origin, and in springs."""
    move_all(q, v, open_bodies(table), open_dofs(table))
    store3(energy_out, energies(table, q, v))


@kernel(TABLE, VECTOR, VECTOR, VECTOR, VECTOR)
def momentum(
    # layout
    table,
    # in
    q,
    v,
    # out (6), (3)
    h_out,
    c_out,
):
    """Momentum [angular about the centre of mass; linear] of the whole mechanism, and the centre of mass."""
    bodies = open_bodies(table)
    move_all(q, v, bodies, open_dofs(table))
    _, center = mass_and_center(bodies)
    store6(h_out, momentum_about(bodies, center))
    store3(c_out, center)


@routine
def energies(table, q, v):
    """Energy of motion, in gravity and in springs [J].

    Needs: bodies moved.
    """
    bodies, dofs, loops = open_bodies(table), open_dofs(table), open_loops(table)
    elastic = loop_spring_energy(bodies, loops)
    for i in range(1, len(bodies)):
        if bodies[i].passive:
            elastic += spring_energy(bodies[i], q, dofs)
    return kinetic_energy(bodies, dofs, v), gravitational_energy(bodies), elastic


@routine
def gravitational_energy(bodies):
    """Energy in gravity [J], zero at the world's origin.

    Needs: bodies placed.
    """
    up, total = linear(load6(bodies[0].A)), 0.0  # minus gravity
    for i in range(1, len(bodies)):
        body = bodies[i]
        total += body.mass * dot3(up, add3(load3(bodies[body.root].reference), load3(body.c)))
    return total


@routine
def kinetic_energy(bodies, dofs, v):
    """Kinetic energy [J], armature included.

    Needs: bodies moved.
    """
    total = 0.0
    for i in range(1, len(bodies)):
        body = bodies[i]
        V = load6(body.V)
        v_c = velocity_at(V, load3(body.c))
        omega_B = mat_t_vec(load9(body.R), angular(V))
        total += 0.5 * (body.mass * dot3(v_c, v_c) + dot3(omega_B, sym_vec(load6(body.inertia), omega_B)))
    for k in range(len(dofs)):
        total += 0.5 * dofs[k].armature * v[k] * v[k]
    return total


@routine
def momentum_about(bodies, point):
    """Momentum [angular about a world point; linear].

    Needs: bodies moved.
    """
    turning, moving = ZERO3, ZERO3
    for i in range(1, len(bodies)):
        body = bodies[i]
        V, R, c = load6(body.V), load9(body.R), load3(body.c)
        p = scale3(body.mass, velocity_at(V, c))
        spin = mat_vec(R, sym_vec(load6(body.inertia), mat_t_vec(R, angular(V))))
        # the reference point first: both are far away when the figure is, their difference is small and exact
        arm = add3(sub3(load3(bodies[body.root].reference), point), c)
        turning = add3(turning, add3(spin, cross3(arm, p)))
        moving = add3(moving, p)
    return join6(turning, moving)
