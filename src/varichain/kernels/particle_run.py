"""Runs of particles: velocity Verlet steps, and what there is to be known of particles at one time."""

from varichain.kernels.jit import FORCES, INTEGER, MATRIX, NUMBER, VECTOR, fragment, helper, kernel, routine
from varichain.kernels.particle_forces import load_particles
from varichain.kernels.particle_freedoms import measure_freedoms
from varichain.kernels.particle_links import combined, gather_link, orient_link
from varichain.kernels.particle_records import (
    BROKEN_JOINT,
    CONTACTS,
    GROUNDS,
    PARTICLE_FREEDOMS,
    PARTICLE_JOINTS,
    PARTICLE_LINKS,
    PARTICLE_RUNS,
    REACHED,
    RESTRICTIONS,
    SPRINGS,
    TERRAINS,
    TRIOS,
    Particles,
)
from varichain.kernels.tuples import add3, add6, cross3, dot3, join6, load3, scale3, store3, store6


@routine
def _find_break(links, joints, run):
    """Note the first joint whose load is beyond what it bears."""
    for j in range(len(joints)):
        joint = joints[j]
        if not joint.watched:
            continue
        force, moment = load3(joint.force), load3(joint.moment)
        broken = dot3(force, force) > joint.largest_force**2 or dot3(moment, moment) > joint.largest_moment**2
        if joint.one_sided:
            broken = broken or dot3(force, combined(links[joint.b].A, joint.direction)) < 0.0
        if broken:
            run.status, run.culprit = BROKEN_JOINT, j
            return


@helper
def _book(run, dt):
    """Half a step of the present powers and forces from outside."""
    for k in range(len(run.power)):
        run.work[k] += 0.5 * dt * run.power[k]
    for k in range(6):
        run.impulse[k] += 0.5 * dt * run.outside[k]


@fragment
def _step(particles, half, dt):
    """One step of velocity Verlet.

    Dampers see the velocity that the last forces would lead to at the end of the step, which is right to second order.
    """
    x, v, inverse_mass, force, run = (
        particles.x,
        particles.v,
        particles.inverse_mass,
        particles.force,
        particles.runs[0],
    )
    _book(run, dt)
    for i in range(len(x)):
        k = 0.5 * dt * inverse_mass[i]
        for axis in range(3):
            h = v[i, axis] + k * force[i, axis]
            half[i, axis] = h
            x[i, axis] += dt * h
            v[i, axis] = h + k * force[i, axis]
    load_particles(particles)
    for i in range(len(x)):
        k = 0.5 * dt * inverse_mass[i]
        for axis in range(3):
            v[i, axis] = half[i, axis] + k * force[i, axis]
    _book(run, dt)


@kernel(
    MATRIX,
    MATRIX,
    VECTOR,
    SPRINGS,
    TRIOS,
    PARTICLE_LINKS,
    RESTRICTIONS,
    PARTICLE_FREEDOMS,
    PARTICLE_JOINTS,
    CONTACTS,
    GROUNDS,
    TERRAINS,
    MATRIX,
    MATRIX,
    MATRIX,
    FORCES,
    VECTOR,
    PARTICLE_RUNS,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    INTEGER,
    NUMBER,
)
def verlet(
    # in and out
    x,
    v,
    # layout
    inverse_mass,
    # in and out
    springs,
    trios,
    links,
    restrictions,
    freedoms,
    joints,
    contacts,
    # in
    grounds,
    terrains,
    heights,
    # in and out
    ruts,
    # work
    law,
    # in
    pushes,
    tau,
    # in and out
    runs,
    # out
    q,
    rates,
    # in and out
    force,
    # work
    half,
    # in
    n_steps,
    dt,
):
    """Advance by velocity Verlet steps: half of the old acceleration, the way, then half of the new one.

    Forces are computed before the first step unless they are known; without any step, that is all. The call returns
    early with a status if a link is torn, a number is lost, or something breaks.
    """
    particles = Particles(
        x,
        v,
        inverse_mass,
        springs,
        trios,
        links,
        restrictions,
        freedoms,
        joints,
        contacts,
        grounds,
        terrains,
        heights,
        ruts,
        law,
        pushes,
        tau,
        runs,
        q,
        rates,
        force,
    )
    run = runs[0]
    run.status, run.step = REACHED, dt
    if not run.is_evaluated:
        load_particles(particles)
        run.is_evaluated = 1
    for _ in range(n_steps):
        _step(particles, half, dt)
        run.time += dt
        run.steps += 1
        if run.has_breaks:
            _find_break(links, joints, run)
        if run.status != REACHED:
            return


@kernel(MATRIX, MATRIX, PARTICLE_LINKS, PARTICLE_FREEDOMS, VECTOR, VECTOR)
def particle_coordinates(
    # in
    x,
    v,
    # in and out
    links,
    freedoms,
    # out
    q,
    rates,
):
    """Poses of all links, and joint coordinates and velocities."""
    for i in range(len(links)):
        gather_link(links[i], x, v)
        orient_link(links[i])
    measure_freedoms(freedoms, links, q, rates)


@kernel(MATRIX, MATRIX, VECTOR, PARTICLE_RUNS, VECTOR, VECTOR, VECTOR)
def particle_totals(
    # in
    x,
    v,
    inverse_mass,
    runs,
    # out
    energy_out,
    momentum_out,
    center_out,
):
    """Kinetic energy and that of gravity; [angular; linear] momentum about the centre of mass; the centre of mass."""
    mass, moment = 0.0, (0.0, 0.0, 0.0)
    kinetic, momentum = 0.0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(len(x)):
        if inverse_mass[i] > 0.0:
            m, r, u = 1.0 / inverse_mass[i], (x[i, 0], x[i, 1], x[i, 2]), (v[i, 0], v[i, 1], v[i, 2])
            mass += m
            moment = add3(moment, scale3(m, r))
            kinetic += 0.5 * m * dot3(u, u)
            momentum = add6(momentum, join6(scale3(m, cross3(r, u)), scale3(m, u)))
    center = scale3(1.0 / mass if mass > 0.0 else 0.0, moment)
    linear = (momentum[3], momentum[4], momentum[5])
    shift = cross3(center, linear)
    energy_out[0] = kinetic
    energy_out[1] = -dot3(load3(runs[0].gravity), moment)
    store6(momentum_out, join6((momentum[0] - shift[0], momentum[1] - shift[1], momentum[2] - shift[2]), linear))
    store3(center_out, center)
