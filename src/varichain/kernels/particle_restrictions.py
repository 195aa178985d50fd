"""Restrictions: scalar functions of two links that spring-dampers keep at rest; a joint is 6 - n_v of them.

For a function g of the particles the force is -(k g + c dg/dt) grad g. All functions here are invariant: they do not
change when everything moves or turns together.
"""

from varichain.kernels.jit import routine
from varichain.kernels.particle_links import combined, point_of, point_rate, push_arms, push_point
from varichain.kernels.particle_records import ALONG, CROSSED
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
def _load(joint, force, moment):
    """Add to the load of a joint."""
    store3(joint.force, add3(load3(joint.force), force))
    store3(joint.moment, add3(load3(joint.moment), moment))


@routine
def _restrict_crossed(r, a, b, joint, run):
    d_a, d_b = load3(r.d_a), load3(r.d_b)
    x, y = combined(a.A, d_a), combined(b.A, d_b)
    r.error = r.arm * dot3(x, y) - r.rest
    rate = r.arm * (dot3(combined(a.A_rate, d_a), y) + dot3(x, combined(b.A_rate, d_b)))
    r.force = -r.stiffness * r.error - r.damping * rate
    push = scale3(r.force * r.arm, y)
    push_arms(a, d_a, push)
    push_arms(b, d_b, scale3(r.force * r.arm, x))
    _load(joint, (0.0, 0.0, 0.0), cross3(x, push))
    run.power[3] -= r.damping * rate * rate


@routine
def _restrict_apart(r, a, b, joint, run):
    p_a, p_b = load3(r.p_a), load3(r.p_b)
    e = sub3(point_of(a, p_a), point_of(b, p_b))
    length = length3(e)
    n = scale3(1.0 / length, e)
    r.error = length - r.rest
    rate = dot3(n, sub3(point_rate(a, p_a), point_rate(b, p_b)))
    r.force = -r.stiffness * r.error - r.damping * rate
    push = scale3(r.force, n)
    push_point(a, p_a, push)
    push_point(b, p_b, scale3(-1.0, push))
    _load(joint, push, (0.0, 0.0, 0.0))
    run.power[3] -= r.damping * rate * rate


@routine
def _restrict_along(r, a, b, freedoms, joint, run):
    p_a, p_b = load3(r.p_a), load3(r.p_b)
    d = load3(r.d_a) if r.on_a else load3(r.d_b)
    x, rate = displacement(a, b, r.on_a, p_a, p_b, d)
    r.error = x - r.rest
    if r.freedom >= 0:  # the thread of a screw
        turn = freedoms[r.freedom]
        r.error -= r.pitch * turn.x
        rate -= r.pitch * turn.rate
    r.force = -r.stiffness * r.error - r.damping * rate
    push = push_along(a, b, r.on_a, p_a, p_b, d, r.force)
    if r.freedom >= 0:
        freedoms[r.freedom].force -= r.pitch * r.force
    _load(joint, push, (0.0, 0.0, 0.0))
    run.power[3] -= r.damping * rate * rate


@routine
def restrict(restrictions, links, freedoms, joints, run):
    """Forces of all restrictions, on links and on joints' books.

    Needs: links gathered, freedoms measured.
    """
    for i in range(len(restrictions)):
        r = restrictions[i]
        a, b, joint = links[r.a], links[r.b], joints[r.joint]
        if r.kind == ALONG:
            _restrict_along(r, a, b, freedoms, joint, run)
        elif r.kind == CROSSED:
            _restrict_crossed(r, a, b, joint, run)
        else:
            _restrict_apart(r, a, b, joint, run)
        run.elastic += 0.5 * r.stiffness * r.error * r.error
