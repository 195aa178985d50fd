"""Runs of particles: velocity Verlet steps, and what there is to be known of particles at one time."""

from varichain.kernels.jit import (
    CHANNELS,
    FORCES,
    INTEGER,
    INTEGERS,
    MATRIX,
    NUMBER,
    VECTOR,
    fragment,
    helper,
    kernel,
    routine,
)
from varichain.kernels.particle_forces import (
    close_books,
    join_chunks,
    load_chunk,
    open_books,
    spread_chunk,
)
from varichain.kernels.particle_freedoms import drift_rotors, measure_freedoms, speed_up_rotors
from varichain.kernels.particle_links import combined, gather_link, orient_link
from varichain.kernels.particle_records import (
    BROKEN_JOINT,
    CHUNKS,
    CONTACTS,
    GROUNDS,
    JOIN,
    LOAD,
    OPEN,
    PARTICLE_COUPLINGS,
    PARTICLE_FREEDOMS,
    PARTICLE_JOINTS,
    PARTICLE_LINKS,
    PARTICLE_RUNS,
    REACHED,
    RESTRICTIONS,
    SPREAD,
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


@helper
def _drift(x, v, force, m_inverse, half, i, dt):
    """Half of the old acceleration and the way of a particle.

    Dampers see the velocity that the last forces would lead to at the end of the step, which is right to second order.
    """
    k = 0.5 * dt * m_inverse
    for axis in range(3):
        h = v[i, axis] + k * force[i, axis]
        half[i, axis] = h
        x[i, axis] += dt * h
        v[i, axis] = h + k * force[i, axis]


@helper
def _speed_up(v, force, m_inverse, half, i, dt):
    """Half of the new acceleration of a particle."""
    k = 0.5 * dt * m_inverse
    for axis in range(3):
        v[i, axis] = half[i, axis] + k * force[i, axis]


# Arrays are taken out of `particles` before loops: Numba counts references, which takes longer than what a loop does.


@fragment
def _open(particles, half, dt, is_step):
    """What comes before the chunks: books, the clock, drives, and loose particles."""
    run, loose, inverse_mass = particles.runs[0], particles.loose, particles.inverse_mass
    x, v, force = particles.x, particles.v, particles.force
    if is_step:
        _book(run, dt)
        run.time += dt
        run.steps += 1
    open_books(particles)
    if run.has_rotors:
        drift_rotors(particles.freedoms, dt)
    for n in range(len(loose)):
        _drift(x, v, force, inverse_mass[loose[n]], half, loose[n], dt)


@fragment
def _load(particles, half, dt, first, end):
    """Move and load chunks, from `first` to (not including) `end`."""
    chunks, links, inverse_mass = particles.chunks, particles.links, particles.inverse_mass
    x, v, force = particles.x, particles.v, particles.force
    for c in range(first, end):
        for i in range(chunks[c].links, chunks[c].end_links):
            place = links[i].first
            for n in range(place, place + 4):
                _drift(x, v, force, inverse_mass[n], half, n, dt)
        load_chunk(particles, c)


@fragment
def _spread(particles, half, dt, first, end):
    """Forces on particles of chunks, and velocities."""
    chunks, links, inverse_mass = particles.chunks, particles.links, particles.inverse_mass
    v, force = particles.v, particles.force
    for c in range(first, end):
        spread_chunk(particles, c)
        for i in range(chunks[c].links, chunks[c].end_links):
            place = links[i].first
            for n in range(place, place + 4):
                _speed_up(v, force, inverse_mass[n], half, n, dt)


@fragment
def _finish(particles, half, dt, is_step):
    """What comes after the chunks: loose particles, books, breaks."""
    run, loose, inverse_mass = particles.runs[0], particles.loose, particles.inverse_mass
    v, force = particles.v, particles.force
    for n in range(len(loose)):
        _speed_up(v, force, inverse_mass[loose[n]], half, loose[n], dt)
    if run.has_rotors:
        speed_up_rotors(particles.freedoms, dt)
    close_books(particles)
    if is_step:
        _book(run, dt)
        if run.has_breaks and run.status == REACHED:
            _find_break(particles.links, particles.joints, run)


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
    PARTICLE_COUPLINGS,
    CONTACTS,
    GROUNDS,
    TERRAINS,
    MATRIX,
    MATRIX,
    MATRIX,
    FORCES,
    VECTOR,
    CHANNELS,
    VECTOR,
    PARTICLE_RUNS,
    PARTICLE_RUNS,
    CHUNKS,
    INTEGERS,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    INTEGER,
    NUMBER,
    INTEGER,
    INTEGER,
    INTEGER,
    INTEGER,
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
    couplings,
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
    drives,
    motion,
    # in and out
    runs,
    # work
    books,
    # layout
    chunks,
    loose,
    # out
    q,
    rates,
    # work
    q_drive,
    v_drive,
    a_drive,
    # out
    holding,
    # in and out
    force,
    # work
    half,
    # in
    n_steps,
    dt,
    from_part,
    to_part,
    first,
    end,
):
    """Advance by velocity Verlet steps: half of the old acceleration, the way, then half of the new one.

    Forces are computed before the first step unless they are known; without any step, that is all. The call returns
    early with a status if a link is torn, a number is lost, or something breaks.

    A step is all parts from OPEN to (not including) CLOSE, and all chunks from 0 to (not including) their number.
    Threads call for some parts of one step, with some of the chunks.
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
        couplings,
        contacts,
        grounds,
        terrains,
        heights,
        ruts,
        law,
        pushes,
        tau,
        drives,
        motion,
        runs,
        books,
        chunks,
        loose,
        q,
        rates,
        q_drive,
        v_drive,
        a_drive,
        holding,
        force,
    )
    run = runs[0]
    if from_part == OPEN:
        run.status, run.step = REACHED, dt
    for n in range(0 if run.is_evaluated else -1, n_steps):
        is_step = n >= 0
        h = dt if is_step else 0.0
        for part in range(from_part, to_part):
            if part == OPEN:
                _open(particles, half, h, is_step)
            elif part == LOAD:
                _load(particles, half, h, first, end)
            elif part == JOIN:
                join_chunks(particles)
            elif part == SPREAD:
                _spread(particles, half, h, first, end)
            else:
                _finish(particles, half, h, is_step)
        run.is_evaluated = 1
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
    measure_freedoms(freedoms, 0, len(freedoms), links, q, rates)


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
