"""Spring-dampers between two particles, and joints of three particles [TS]."""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.particle_records import BROKEN_SPRING, BY_CONTROLLERS, IN_DAMPERS, IN_JOINTS, LOST
from varichain.kernels.tuples import add3, cross3, dot3, length3, scale3, sub3

# [m] Beyond this distance numbers have lost what a spring is about.
_FAR = 1e9
# Sine below which three particles are in line: they have no plane.
_STRAIGHT = 1e-12


@helper
def _of(x, i):
    return x[i, 0], x[i, 1], x[i, 2]


@helper
def _push(force, i, f):
    force[i, 0] += f[0]
    force[i, 1] += f[1]
    force[i, 2] += f[2]


@routine
def stretch_springs(springs, x, v, force, run):
    """Forces of all springs [TS, (4)-(10)] with the force K dl of the potential K dl^2 / 2, not the printed 2 K dl."""
    for k in range(len(springs)):
        s = springs[k]
        e = sub3(_of(x, s.j), _of(x, s.i))
        length = length3(e)
        if not length < _FAR:
            run.status, run.culprit = LOST, k
            return
        n = scale3(1.0 / length, e) if length > 0.0 else e
        rate = dot3(n, sub3(_of(v, s.j), _of(v, s.i)))
        excess = length - s.length
        s.force = s.stiffness * excess + s.damping * rate
        f = scale3(s.force, n)
        _push(force, s.i, f)
        _push(force, s.j, scale3(-1.0, f))
        run.elastic += 0.5 * s.stiffness * excess * excess
        run.power[IN_DAMPERS] -= s.damping * rate * rate
        if abs(s.force) > s.breaks:
            run.status, run.culprit = BROKEN_SPRING, k


@routine
def bend_trios(trios, x, v, force, run):
    """Torque and dry friction of joints of three particles: couples f = tau / l at the ends, reaction in the middle."""
    for k in range(len(trios)):
        t = trios[k]
        a, b = sub3(_of(x, t.i), _of(x, t.middle)), sub3(_of(x, t.j), _of(x, t.middle))
        normal = cross3(a, b)
        size = length3(normal)
        if size <= _STRAIGHT * math.sqrt(dot3(a, a) * dot3(b, b)):
            continue
        n = scale3(1.0 / size, normal)
        # gradient of the angle between a and b: away from each other, over the lengths
        at_a, at_b = scale3(-1.0 / dot3(a, a), cross3(n, a)), scale3(1.0 / dot3(b, b), cross3(n, b))
        mid = _of(v, t.middle)
        rate = dot3(at_a, sub3(_of(v, t.i), mid)) + dot3(at_b, sub3(_of(v, t.j), mid))
        lost = 0.0
        if t.friction > 0.0:
            t.bend += rate * run.step
            lost = -t.stiffness * t.bend - t.damping * rate
            if abs(lost) > t.friction:
                lost = math.copysign(t.friction, lost)
                t.bend = -lost / t.stiffness
        run.power[BY_CONTROLLERS] += t.torque * rate
        run.power[IN_JOINTS] += lost * rate
        f_a, f_b = scale3(t.torque + lost, at_a), scale3(t.torque + lost, at_b)
        _push(force, t.i, f_a)
        _push(force, t.j, f_b)
        _push(force, t.middle, scale3(-1.0, add3(f_a, f_b)))


@routine
def flatten_trios(trios, x, force):
    """The paper's rule, taken literally: accelerations of the three lose their part across the plane of the three.

    It deletes external forces, has no reaction and no plane where the three are in line: for comparison only.
    """
    for k in range(len(trios)):
        t = trios[k]
        if not t.paper:
            continue
        mid = _of(x, t.middle)
        normal = cross3(sub3(_of(x, t.i), mid), sub3(_of(x, t.j), mid))
        size = length3(normal)
        if size == 0.0:
            continue
        n = scale3(1.0 / size, normal)
        for i in (t.i, t.middle, t.j):
            _push(force, i, scale3(-dot3(n, _of(force, i)), n))
