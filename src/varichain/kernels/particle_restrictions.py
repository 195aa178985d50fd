"""Restrictions: scalar functions of two links that spring-dampers keep at rest; a joint is 6 - n_v of them.

For a function g of the particles the force is -(k g + c dg/dt) grad g. All functions here are invariant: they do not
change when everything moves or turns together.
"""

from varichain.kernels.jit import routine
from varichain.kernels.particle_links import combined, point_of, point_rate, push_arms, push_point
from varichain.kernels.particle_records import APART, CROSSED, IN_DAMPERS
from varichain.kernels.tuples import add3, cross3, dot3, length3, load3, scale3, store3, sub3


@routine
def push_along(a, b, on_a, p_a, p_b, d, force):
    """Force along the gradient of (p_a - p_b) . d, where d is a direction of link a or of link b."""
    owner = a if on_a else b
    push = scale3(force, combined(owner.A, d))
    e = sub3(point_of(a, p_a), point_of(b, p_b))
    push_point(a, p_a, push)
    push_point(b, p_b, scale3(-1.0, push))
    push_arms(owner, d, scale3(force, e))
    return push


@routine
def displacement(a, b, on_a, p_a, p_b, d):
    """(p_a - p_b) . d and its rate, where d is a direction of link a or of link b."""
    owner = a if on_a else b
    e, e_rate = sub3(point_of(a, p_a), point_of(b, p_b)), sub3(point_rate(a, p_a), point_rate(b, p_b))
    n, n_rate = combined(owner.A, d), combined(owner.A_rate, d)
    return dot3(e, n), dot3(e_rate, n) + dot3(e, n_rate)


@routine
def turn(F, a, b, torque):
    """A torque along the gradient of an angle."""
    pointer, u, w = combined(a.A, F.pointer), combined(b.A, F.u), combined(b.A, F.w)
    c, s = dot3(pointer, u), dot3(pointer, w)
    k = F.sign * torque / (c * c + s * s)
    push_arms(a, F.pointer, add3(scale3(k * c, w), scale3(-k * s, u)))
    push_arms(b, F.w, scale3(k * c, pointer))
    push_arms(b, F.u, scale3(-k * s, pointer))


@routine
def _measure(r, a, b, freedoms):
    """Error of a restriction and its rate."""
    if r.kind == CROSSED:
        x, y = combined(a.A, r.d_a), combined(b.A, r.d_b)
        rate = r.arm * (dot3(combined(a.A_rate, r.d_a), y) + dot3(x, combined(b.A_rate, r.d_b)))
        return r.arm * dot3(x, y) - r.rest, rate
    if r.kind == APART:
        e = sub3(point_of(a, r.p_a), point_of(b, r.p_b))
        length = length3(e)
        rate = dot3(scale3(1.0 / length, e), sub3(point_rate(a, r.p_a), point_rate(b, r.p_b)))
        return length - r.rest, rate
    d = load3(r.d_a) if r.on_a else load3(r.d_b)
    x, rate = displacement(a, b, r.on_a, load3(r.p_a), load3(r.p_b), d)
    if r.freedom >= 0:  # the thread of a screw
        x -= r.pitch * freedoms[r.freedom].x
        rate -= r.pitch * freedoms[r.freedom].rate
    return x - r.rest, rate


@routine
def push_restriction(r, a, b, links, freedoms, force):
    """A force along the gradient of a restriction; force and moment on link a.

    Needs: links gathered.
    """
    if r.kind == CROSSED:
        x, y = combined(a.A, r.d_a), combined(b.A, r.d_b)
        push = scale3(force * r.arm, y)
        push_arms(a, r.d_a, push)
        push_arms(b, r.d_b, scale3(force * r.arm, x))
        return (0.0, 0.0, 0.0), cross3(x, push)
    if r.kind == APART:
        e = sub3(point_of(a, r.p_a), point_of(b, r.p_b))
        push = scale3(force / length3(e), e)
        push_point(a, r.p_a, push)
        push_point(b, r.p_b, scale3(-1.0, push))
        return push, (0.0, 0.0, 0.0)
    d = load3(r.d_a) if r.on_a else load3(r.d_b)
    push = push_along(a, b, r.on_a, load3(r.p_a), load3(r.p_b), d, force)
    if r.freedom >= 0:
        thread = freedoms[r.freedom]
        turn(thread, links[thread.a], links[thread.b], -r.pitch * force)
    return push, (0.0, 0.0, 0.0)


@routine
def restrict(restrictions, first, end, links, freedoms, joints, run):
    """Forces of restrictions, on links and on joints' books.

    Needs: links gathered, freedoms measured.
    """
    for i in range(first, end):
        r = restrictions[i]
        a, b, joint = links[r.a], links[r.b], joints[r.joint]
        error, rate = _measure(r, a, b, freedoms)
        r.error, r.force = error, -r.stiffness * error - r.damping * rate
        force, moment = push_restriction(r, a, b, links, freedoms, r.force)
        store3(joint.force, add3(load3(joint.force), force))
        store3(joint.moment, add3(load3(joint.moment), moment))
        run.power[IN_DAMPERS] -= r.damping * rate * rate
        run.elastic += 0.5 * r.stiffness * error * error
