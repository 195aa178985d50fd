"""All forces on particles, in one sweep whose cost is linear in the number of restrictions."""

from varichain.kernels.jit import routine
from varichain.kernels.particle_freedoms import act_in_freedoms, measure_freedoms
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
from varichain.kernels.particle_restrictions import restrict
from varichain.kernels.particle_springs import bend_trios, flatten_trios, stretch_springs
from varichain.kernels.tuples import add3, add6, cross3, dot3, join6, load3, load6, load9, mat_vec, scale3, store6


@routine
def _weigh(x, inverse_mass, run, force_out):
    """Weight of all particles that are not fixed, and nothing else."""
    g, outside = load3(run.gravity), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(len(x)):
        weight = scale3(1.0 / inverse_mass[i], g) if inverse_mass[i] > 0.0 else (0.0, 0.0, 0.0)
        force_out[i, 0], force_out[i, 1], force_out[i, 2] = weight
        outside = add6(outside, join6(cross3((x[i, 0], x[i, 1], x[i, 2]), weight), weight))
    store6(run.outside, outside)


@routine
def _push_links(links, pushes, run):
    """External forces on links; a point is given by numbers that multiply the arms."""
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
        run.power[2] += dot3(force, point_rate(link, k)) + dot3(moment, load3(link.w))
        whole = join6(add3(moment, cross3(point_of(link, k), force)), force)
        store6(run.outside, add6(load6(run.outside), whole))


@routine
def _carry(x, inverse_mass, run, force):
    """Let the world carry what acts on fixed particles."""
    for i in range(len(x)):
        if inverse_mass[i] == 0.0:
            f = (-force[i, 0], -force[i, 1], -force[i, 2])
            whole = join6(cross3((x[i, 0], x[i, 1], x[i, 2]), f), f)
            store6(run.outside, add6(load6(run.outside), whole))


@routine
def load_particles(particles):
    """Forces on all particles, powers of all accounts, elastic energy, loads of joints."""
    run, x, v, force = particles.runs[0], particles.x, particles.v, particles.force
    links, joints, freedoms = particles.links, particles.joints, particles.freedoms
    for k in range(len(run.power)):
        run.power[k] = 0.0
    run.elastic = 0.0
    _weigh(x, particles.inverse_mass, run, force)
    stretch_springs(particles.springs, x, v, force, run)
    bend_trios(particles.trios, x, v, force, run)
    for j in range(len(joints)):
        for k in range(3):
            joints[j].force[k] = joints[j].moment[k] = 0.0
    for i in range(len(links)):
        gather_link(links[i], x, v)
        if not links[i].fixed:
            brace_link(links[i], i, run)
        if run.is_measured:
            orient_link(links[i])
    if run.is_measured:
        measure_freedoms(freedoms, links, particles.q, particles.rates)
    restrict(particles.restrictions, links, freedoms, joints, run)
    if run.is_measured:
        act_in_freedoms(freedoms, links, particles.q, particles.rates, particles.tau, run)
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
    for i in range(len(links)):
        scatter_link(links[i], force)
    flatten_trios(particles.trios, x, force)
    _carry(x, particles.inverse_mass, run, force)
