"""All forces on particles, in one sweep whose cost is linear in the number of restrictions.

Links come in chunks, with all that is between links of one chunk: threads may take a chunk each, and every sum has the
same order whoever takes it. What is between chunks, and particles that belong to no link, comes after all chunks.
"""

from varichain.kernels.callbacks import call_links
from varichain.kernels.jit import fragment, helper, routine
from varichain.kernels.motion import write_motion
from varichain.kernels.particle_freedoms import act_in_freedoms, couple_freedoms, measure_freedoms
from varichain.kernels.particle_ground import touch_ground
from varichain.kernels.particle_links import (
    brace_link,
    gather_link,
    orient_link,
    point_of,
    point_rate,
    push_couple,
    push_point,
    scatter_link,
)
from varichain.kernels.particle_records import BY_FORCES, REACHED, Drive
from varichain.kernels.particle_restrictions import restrict
from varichain.kernels.particle_springs import bend_trios, flatten_trios, stretch_springs
from varichain.kernels.tuples import (
    add3,
    add6,
    cross3,
    dot3,
    join6,
    load3,
    load6,
    load9,
    mat_vec,
    scale3,
    store3,
    store6,
)


@fragment
def open_books(particles):
    """Empty the books of all chunks, and find out what the motion wants of driven joints."""
    run, books = particles.runs[0], particles.books
    for c in range(len(books)):
        book = books[c]
        book.time, book.step, book.is_measured = run.time, run.step, run.is_measured
        book.status, book.culprit, book.elastic = REACHED, 0, 0.0
        store3(book.gravity, load3(run.gravity))
        store3(book.ground_force, (0.0, 0.0, 0.0))
        for k in range(len(book.power)):
            book.power[k] = 0.0
        for k in range(6):
            book.outside[k] = 0.0
    drives, motion, q, v, a = (
        particles.drives,
        particles.motion,
        particles.q_drive,
        particles.v_drive,
        particles.a_drive,
    )
    for i in range(len(drives)):
        write_motion(drives[i], motion, run.time, q, v, a)


@fragment
def close_books(particles):
    """Add up the books of all chunks, in their order."""
    run, books = particles.runs[0], particles.books
    run.elastic, outside = 0.0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(len(run.power)):
        run.power[k] = 0.0
    for c in range(len(books)):
        book = books[c]
        run.elastic += book.elastic
        outside = add6(outside, load6(book.outside))
        for k in range(len(run.power)):
            run.power[k] += book.power[k]
        if run.status == REACHED:
            run.status, run.culprit = book.status, book.culprit
    store6(run.outside, outside)
    store3(run.ground_force, load3(books[len(books) - 1].ground_force))


@fragment
def load_chunk(particles, c):
    """Forces on the links of a chunk by all that is between them, in the links' records."""
    chunk, run = particles.chunks[c], particles.books[c]
    links, joints, freedoms, x, v = (
        particles.links,
        particles.joints,
        particles.freedoms,
        particles.x,
        particles.v,
    )
    for j in range(chunk.joints, chunk.end_joints):
        for k in range(3):
            joints[j].force[k] = joints[j].moment[k] = 0.0
    for i in range(chunk.links, chunk.end_links):
        gather_link(links[i], x, v)
        if not links[i].fixed:
            brace_link(links[i], i, run)
        if run.is_measured:
            orient_link(links[i])
    if run.is_measured:
        measure_freedoms(freedoms, chunk.freedoms, chunk.end_freedoms, links, particles.q, particles.rates)
    restrict(particles.restrictions, chunk.restrictions, chunk.end_restrictions, links, freedoms, joints, run)
    if run.is_measured:
        drive = Drive(particles.q_drive, particles.v_drive, particles.holding)
        first, end = chunk.freedoms, chunk.end_freedoms
        act_in_freedoms(freedoms, first, end, links, particles.q, particles.rates, particles.tau, drive, run)


@helper
def _from_outside(run, x, i, force):
    """Note a force from outside on a particle."""
    whole = join6(cross3((x[i, 0], x[i, 1], x[i, 2]), force), force)
    store6(run.outside, add6(load6(run.outside), whole))


@routine
def _ask_functions(links, pushes, run):
    """Let functions of the user set the wrenches on their links, whose poses and velocities they see.

    Needs: links oriented.
    """
    for i in range(len(pushes)):
        if pushes[i].function == 0:
            continue
        end = i + pushes[i].n_links
        for j in range(i, end):
            push = pushes[j]
            link, k = links[push.link], load3(push.point)
            for row in range(3):
                push.R[row, 0] = link.R[3 * row]
                push.R[row, 1] = link.R[3 * row + 1]
                push.R[row, 2] = link.R[3 * row + 2]
            store3(push.p, point_of(link, k))
            store6(push.V, join6(load3(link.w), point_rate(link, k)))
            store6(push.wrench, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        call_links(pushes[i].function, run.time, pushes[i:end])


@routine
def _push_links(links, pushes, run):
    """External forces on links; a point is given by numbers that multiply the arms.

    Needs: links oriented.
    """
    _ask_functions(links, pushes, run)
    for i in range(len(pushes)):
        push = pushes[i]
        link, k = links[push.link], load3(push.point)
        wrench = load6(push.wrench)
        moment, force = (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5])
        if push.local:
            R = load9(link.R)
            moment, force = mat_vec(R, moment), mat_vec(R, force)
        push_point(link, k, force)
        push_couple(link, moment)
        run.power[BY_FORCES] += dot3(force, point_rate(link, k)) + dot3(moment, load3(link.w))
        whole = join6(add3(moment, cross3(point_of(link, k), force)), force)
        store6(run.outside, add6(load6(run.outside), whole))


@fragment
def _weigh_loose(particles, run):
    """Weight of all particles that belong to no link, and nothing else."""
    force, x, loose, inverse_mass = particles.force, particles.x, particles.loose, particles.inverse_mass
    g = load3(run.gravity)
    for n in range(len(loose)):
        i = loose[n]
        m_inverse = inverse_mass[i]
        weight = scale3(1.0 / m_inverse, g) if m_inverse > 0.0 else (0.0, 0.0, 0.0)
        force[i, 0], force[i, 1], force[i, 2] = weight
        _from_outside(run, x, i, weight)


@fragment
def join_chunks(particles):
    """Forces of all that is in no chunk: couplings, pushes, ground, loose particles.

    Needs: freedoms measured, links oriented.
    """
    c = len(particles.chunks) - 1
    run, links, x, v, force = particles.books[c], particles.links, particles.x, particles.v, particles.force
    couple_freedoms(particles.couplings, particles.freedoms, links, run)
    _push_links(links, particles.pushes, run)
    touch_ground(
        particles.contacts,
        particles.grounds,
        particles.terrains,
        particles.heights,
        particles.ruts,
        particles.law,
        links,
        run,
    )
    _weigh_loose(particles, run)
    stretch_springs(particles.springs, x, v, force, run)
    bend_trios(particles.trios, x, v, force, run)
    flatten_trios(particles.trios, x, force)
    loose, inverse_mass = particles.loose, particles.inverse_mass
    for n in range(len(loose)):
        i = loose[n]
        if inverse_mass[i] == 0.0:  # the world carries what acts on it
            _from_outside(run, x, i, (-force[i, 0], -force[i, 1], -force[i, 2]))


@fragment
def spread_chunk(particles, c):
    """Forces on the particles of a chunk's links, their weight included."""
    chunk, run, force, x = particles.chunks[c], particles.books[c], particles.force, particles.x
    links, inverse_mass = particles.links, particles.inverse_mass
    g, outside = load3(run.gravity), load6(run.outside)
    for i in range(chunk.links, chunk.end_links):
        link = links[i]
        scatter_link(link, force)
        for n in range(link.first, link.first + 4):
            if inverse_mass[n] > 0.0:
                push = scale3(1.0 / inverse_mass[n], g)
                force[n, 0] += push[0]
                force[n, 1] += push[1]
                force[n, 2] += push[2]
            else:  # the world carries what acts on it
                push = (-force[n, 0], -force[n, 1], -force[n, 2])
            outside = add6(outside, join6(cross3((x[n, 0], x[n, 1], x[n, 2]), push), push))
    store6(run.outside, outside)
