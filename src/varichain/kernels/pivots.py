"""Whether the articulated-body sweep met a freedom that moves nothing.

Its pivot d is then not zero but rounding of the subtracted numbers: of the inertia that the freedom carries, and
for a ball or a free joint of the pivots before it, enlarged by the factors l of the elimination.
"""

import math

from varichain.kernels.jit import TABLE, helper, kernel
from varichain.kernels.mass_matrix import gather_composites
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import angular, dot3, dot6, linear, load6

# Some ten roundings.
_ROUNDING = 1e-14


@helper
def _root_of_size(a, s):
    """Square root of a bound of s . I s for the composite inertia `a`, from the lengths of s's halves alone."""
    turning, moving = math.sqrt(dot3(angular(s), angular(s))), math.sqrt(dot3(linear(s), linear(s)))
    moment = math.sqrt(a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return math.sqrt(
        turning * turning * (a[4] + a[7] + a[9]) + 2.0 * turning * moving * moment + moving * moving * a[0]
    )


@kernel(TABLE)
def massless_freedom(
    # layout
    table,
):
    """Index of the first freedom without inertia that the last forward dynamics met, from the leaves; -1 if none.

    Needs: inertias articulated.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    gather_composites(bodies)  # overwrites the articulated inertias, which are not needed any more
    for k in range(len(dofs) - 1, -1, -1):  # as they were eliminated: those after it are spoilt by it
        dof = dofs[k]
        if dof.lock:
            continue
        body = bodies[dof.body]
        s = load6(dof.s)
        size = _root_of_size(body.I_A, s)
        rounding = dof.armature + size * size
        for j in range(k + 1, body.dof + body.n_dof):
            l = abs(dot6(s, load6(dofs[j].U)) * dofs[j].d_inverse)
            enlarged = size + l * _root_of_size(body.I_A, load6(dofs[j].s))
            rounding += enlarged * enlarged
        if not (dof.d_inverse > 0.0 and _ROUNDING * rounding * dof.d_inverse < 1.0):
            return k
    return -1
