"""Ground under particles and links: hard, soft, sandy, muddy, or by a law of the user.

The ground is a surface z = h(x, y); a contact is a ball or a plate at a point of a link, at a depth z > 0 along the
normal. Tangential forces pull towards an anchor, where the contact has touched the ground, and slip at a largest force:
what rests, rests.
"""

import math

from varichain.kernels.callbacks import call_controller
from varichain.kernels.jit import helper, routine
from varichain.kernels.particle_links import point_of, point_rate, push_point
from varichain.kernels.particle_records import BY_GROUND, BY_LAW, HARD, MUDDY, SANDY, SOFT
from varichain.kernels.tuples import (
    add3,
    add6,
    cross3,
    dot3,
    join6,
    length3,
    load3,
    load6,
    scale3,
    store3,
    store6,
    sub3,
)


@routine
def _surface(terrain, heights, x, y):
    """Height and unit normal of the ground at a place: a plane, and a bilinear height field on it."""
    h = terrain.height + terrain.slope[0] * x + terrain.slope[1] * y
    h_x, h_y = terrain.slope[0], terrain.slope[1]
    n_x, n_y = heights.shape
    if n_x > 1 and n_y > 1:
        u, w = (x - terrain.origin[0]) / terrain.spacing[0], (y - terrain.origin[1]) / terrain.spacing[1]
        i, j = min(max(int(u), 0), n_x - 2), min(max(int(w), 0), n_y - 2)
        u, w = min(max(u - i, 0.0), 1.0), min(max(w - j, 0.0), 1.0)
        a, b, c, d = heights[i, j], heights[i + 1, j], heights[i, j + 1], heights[i + 1, j + 1]
        h += (1 - u) * (1 - w) * a + u * (1 - w) * b + (1 - u) * w * c + u * w * d
        h_x += ((1 - w) * (b - a) + w * (d - c)) / terrain.spacing[0]
        h_y += ((1 - u) * (c - a) + u * (d - b)) / terrain.spacing[1]
    k = 1.0 / math.sqrt(1.0 + h_x * h_x + h_y * h_y)
    return h, (-k * h_x, -k * h_y, k)


@helper
def _ground_at(grounds, x, y):
    """The first ground whose region has a place; -1 if none has."""
    for i in range(len(grounds)):
        g = grounds[i]
        if g.low[0] <= x <= g.high[0] and g.low[1] <= y <= g.high[1]:
            return i
    return -1


@helper
def _sunk(ground, contact, z):
    """Pressure of ground that is pressed for good: k z^n at the deepest, and an elastic way back."""
    k = ground.cohesive / contact.width + ground.frictional
    if z > contact.deepest:
        contact.deepest = z
        return k * z**ground.exponent
    return k * contact.deepest**ground.exponent - ground.unloading * (contact.deepest - z)


@routine
def _normal(ground, contact, z, rate):
    """Normal force on a contact at a depth z > 0 that grows with a rate."""
    if ground.kind == HARD:  # [Hunt and Crossley 1975]
        return max(ground.stiffness * z**1.5 * (1.0 + 1.5 * ground.damping * rate), 0.0)
    if ground.kind == SOFT:
        return max(contact.area * (ground.stiffness * z + ground.damping * rate), 0.0)
    pressure = _sunk(ground, contact, z)
    if ground.kind == SANDY:
        return contact.area * max(pressure + ground.damping * rate, 0.0)
    pressure = max(pressure, -ground.suction * (1.0 - math.exp(-z / contact.width)))
    return contact.area * (pressure + ground.viscosity * rate / contact.width)


@routine
def _largest_shear(ground, contact, force, slip):
    """Largest tangential force: Coulomb's, Janosi and Hanamoto's of sand, the yield of mud."""
    if ground.kind == SANDY:
        limit = contact.area * ground.cohesion + max(force, 0.0) * ground.friction
        return limit * (1.0 - math.exp(-slip / ground.shear))
    if ground.kind == MUDDY:
        return contact.area * ground.cohesion
    return ground.friction * max(force, 0.0)


@routine
def _by_law(ground, contact, z, rate, slip, speed, time, law):
    """Normal force and largest tangential force by the user's compiled function."""
    contact.deepest = max(contact.deepest, z)
    law[0, 0], law[0, 1], law[0, 2], law[0, 3], law[0, 4] = z, rate, contact.deepest, contact.area, contact.width
    law[1, 0], law[1, 1] = slip, speed
    law[2, 0] = law[2, 1] = 0.0
    call_controller(ground.law, time, law[0], law[1], law[2])
    return law[2, 0], law[2, 1]


@routine
def _tangential(ground, contact, p, rate, n, force, largest):
    """Tangential force towards the anchor, at most `largest`; an anchor that is pulled harder follows.

    Sand's force is the law's at once: its shear grows with the way from the anchor.
    """
    e = sub3(p, load3(contact.anchor))
    e = sub3(e, scale3(dot3(e, n), n))
    if ground.kind == SANDY:
        way = length3(e)
        if way > 4.0 * ground.shear:  # nearly all of the limit: the anchor follows
            store3(contact.anchor, sub3(p, scale3(4.0 * ground.shear / way, e)))
        return scale3(-largest / way, e) if way > 0.0 else (0.0, 0.0, 0.0)
    pull = add3(scale3(-contact.stick, e), scale3(-contact.stick_damping, rate))
    size = length3(pull)
    if size > largest:
        pull = scale3(largest / size, pull)
        store3(contact.anchor, add3(p, scale3(1.0 / contact.stick, pull)))
    if ground.kind == MUDDY:
        pull = add3(pull, scale3(-contact.area * ground.viscosity / contact.width, rate))
    return pull


@routine
def _mark(terrain, ruts, contact):
    """Keep the deepest place of a contact that has left the ground, in the cells that it covered."""
    n_x, n_y = ruts.shape
    if contact.deepest <= 0.0 or n_x == 0:
        return
    x, y, r = contact.place[0], contact.place[1], 0.5 * contact.width
    low_i, high_i = (
        int((x - r - terrain.rut_origin[0]) / terrain.cell),
        int((x + r - terrain.rut_origin[0]) / terrain.cell),
    )
    low_j, high_j = (
        int((y - r - terrain.rut_origin[1]) / terrain.cell),
        int((y + r - terrain.rut_origin[1]) / terrain.cell),
    )
    for i in range(max(low_i, 0), min(high_i + 1, n_x)):
        for j in range(max(low_j, 0), min(high_j + 1, n_y)):
            ruts[i, j] = max(ruts[i, j], contact.deepest)


@helper
def _rut(terrain, ruts, x, y):
    """Depth of the footprint at a place."""
    i, j = (
        math.floor((x - terrain.rut_origin[0]) / terrain.cell),
        math.floor((y - terrain.rut_origin[1]) / terrain.cell),
    )
    if 0 <= i < ruts.shape[0] and 0 <= j < ruts.shape[1]:
        return ruts[int(i), int(j)]
    return 0.0


@routine
def touch_ground(contacts, grounds, terrains, heights, ruts, law, links, run):
    """Forces of the ground on all contacts.

    Needs: links gathered.
    """
    terrain = terrains[0]
    store3(run.ground_force, (0.0, 0.0, 0.0))
    for i in range(len(contacts)):
        contact = contacts[i]
        link, k = links[contact.link], load3(contact.point)
        p, rate = point_of(link, k), point_rate(link, k)
        h, n = _surface(terrain, heights, p[0], p[1])
        z = contact.radius - (p[2] - h) * n[2]
        which = _ground_at(grounds, p[0], p[1])
        if z <= 0.0 or which < 0:
            if contact.touches:
                _mark(terrain, ruts, contact)
            contact.touches, contact.depth = 0, 0.0
            store3(contact.force, (0.0, 0.0, 0.0))
            continue
        ground = grounds[which]
        if not contact.touches:
            contact.touches = 1
            store3(contact.anchor, p)
            contact.deepest = _rut(terrain, ruts, p[0], p[1])
        store3(contact.place, p)
        contact.depth = z
        sinking = -dot3(rate, n)
        along = add3(rate, scale3(sinking, n))
        e = sub3(p, load3(contact.anchor))
        slip = length3(sub3(e, scale3(dot3(e, n), n)))
        if ground.kind == BY_LAW:
            push, largest = _by_law(ground, contact, z, sinking, slip, length3(along), run.time, law)
        else:
            push = _normal(ground, contact, z, sinking)
            largest = _largest_shear(ground, contact, push, slip)
        force = add3(scale3(push, n), _tangential(ground, contact, p, along, n, push, largest))
        store3(contact.force, force)
        push_point(link, k, force)
        run.power[BY_GROUND] += dot3(force, rate)
        store3(run.ground_force, add3(load3(run.ground_force), force))
        store6(run.outside, add6(load6(run.outside), join6(cross3(p, force), force)))
