"""Restrictions: scalar functions of two links that spring-dampers keep at rest; a joint is 6 - n_v of them.

For a function g of the particles the force is -(k g + c dg/dt) grad g. All functions here are invariant: they do not
change when everything moves or turns together.
"""

from varichain.kernels.jit import helper, routine
from varichain.kernels.particle_links import combined, point_of, point_rate, push_arms, push_point
from varichain.kernels.particle_records import ALONG, APART, CROSSED, IN_DAMPERS
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


@helper
def _push_crossed(a, b, d_a, d_b, x, y, force):
    """Force along the gradient of x . y, directions of link a and of link b; the moment on link a."""
    push = scale3(force, y)
    push_arms(a, d_a, push)
    push_arms(b, d_b, scale3(force, x))
    return cross3(x, push)


@helper
def _push_apart(a, b, p_a, p_b, push):
    """A force at the points of both links."""
    push_point(a, p_a, push)
    push_point(b, p_b, scale3(-1.0, push))


@helper
def _load(joint, force, moment):
    """Add to the load of a joint."""
    store3(joint.force, add3(load3(joint.force), force))
    store3(joint.moment, add3(load3(joint.moment), moment))


@helper
def _spring(r, error, rate, run):
    """Force of a restriction's spring-damper, in the books."""
    r.error, r.force = error, -r.stiffness * error - r.damping * rate
    run.power[IN_DAMPERS] -= r.damping * rate * rate
    run.elastic += 0.5 * r.stiffness * error * error
    return r.force


@routine
def _restrict_crossed(r, a, b, joint, run):
    d_a, d_b, arm = load3(r.d_a), load3(r.d_b), r.arm
    x, y = combined(a.A, d_a), combined(b.A, d_b)
    rate = arm * (dot3(combined(a.A_rate, d_a), y) + dot3(x, combined(b.A_rate, d_b)))
    force = arm * _spring(r, arm * dot3(x, y) - r.rest, rate, run)
    _load(joint, (0.0, 0.0, 0.0), _push_crossed(a, b, d_a, d_b, x, y, force))


@routine
def _restrict_apart(r, a, b, joint, run):
    p_a, p_b = load3(r.p_a), load3(r.p_b)
    e = sub3(point_of(a, p_a), point_of(b, p_b))
    length = length3(e)
    n = scale3(1.0 / length, e)
    rate = dot3(n, sub3(point_rate(a, p_a), point_rate(b, p_b)))
    push = scale3(_spring(r, length - r.rest, rate, run), n)
    _push_apart(a, b, p_a, p_b, push)
    _load(joint, push, (0.0, 0.0, 0.0))


@routine
def _restrict_along(r, a, b, thread, joint, run):
    p_a, p_b = load3(r.p_a), load3(r.p_b)
    d = load3(r.d_a) if r.on_a else load3(r.d_b)
    x, rate = displacement(a, b, r.on_a, p_a, p_b, d)
    force = _spring(r, x - thread[0] - r.rest, rate - thread[1], run)
    push = push_along(a, b, r.on_a, p_a, p_b, d, force)
    _load(joint, push, (0.0, 0.0, 0.0))


@routine
def _push_thread(r, links, freedoms, force):
    """The part of a force along the thread of a screw that turns it."""
    thread = freedoms[r.freedom]
    turn(thread, links[thread.a], links[thread.b], -r.pitch * force)


@routine
def restrict(restrictions, first, end, links, freedoms, joints, run):
    """Forces of restrictions, on links and on joints' books.

    Needs: links gathered, freedoms measured.
    """
    for i in range(first, end):
        r = restrictions[i]
        a, b, joint = links[r.a], links[r.b], joints[r.joint]
        if r.kind == ALONG:
            if r.freedom < 0:
                _restrict_along(r, a, b, (0.0, 0.0), joint, run)
            else:  # the thread of a screw
                F = freedoms[r.freedom]
                _restrict_along(r, a, b, (r.pitch * F.x, r.pitch * F.rate), joint, run)
                _push_thread(r, links, freedoms, r.force)
        elif r.kind == CROSSED:
            _restrict_crossed(r, a, b, joint, run)
        else:
            _restrict_apart(r, a, b, joint, run)


@routine
def push_gradient(r, a, b, links, freedoms):
    """A force of one along the gradient of a restriction.

    Needs: links gathered.
    """
    if r.kind == CROSSED:
        d_a, d_b = load3(r.d_a), load3(r.d_b)
        _push_crossed(a, b, d_a, d_b, combined(a.A, d_a), combined(b.A, d_b), r.arm)
    elif r.kind == APART:
        p_a, p_b = load3(r.p_a), load3(r.p_b)
        e = sub3(point_of(a, p_a), point_of(b, p_b))
        _push_apart(a, b, p_a, p_b, scale3(1.0 / length3(e), e))
    else:
        d = load3(r.d_a) if r.on_a else load3(r.d_b)
        push_along(a, b, r.on_a, load3(r.p_a), load3(r.p_b), d, 1.0)
        if r.freedom >= 0:
            _push_thread(r, links, freedoms, 1.0)
