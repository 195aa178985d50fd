"""Whether the articulated-body sweep met a freedom that moves nothing."""

import math

from varichain.kernels.jit import TABLE, helper, kernel
from varichain.kernels.mass_matrix import gather_composites
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import angular, dot3, linear, load6

# A pivot is a sum over all that the freedom carries: smaller than this part of its terms it is their rounding.
_ROUNDING = 1e-13


@helper
def _largest_pivot(a, s):
    """Bound of s . I s for the composite inertia `a` in whichever direction s points, by the lengths of its halves."""
    turning, moving = math.sqrt(dot3(angular(s), angular(s))), math.sqrt(dot3(linear(s), linear(s)))
    moment = math.sqrt(a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return turning * turning * (a[4] + a[7] + a[9]) + 2.0 * turning * moving * moment + moving * moving * a[0]


@kernel(TABLE)
def massless_freedom(
    # layout
    table,
):
    """Index of the first freedom without inertia in the last forward dynamics; -1 if all have some."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    gather_composites(bodies)
    for k in range(len(dofs)):
        dof = dofs[k]
        size = dof.armature + _largest_pivot(bodies[dof.body].I_A, load6(dof.s))
        if not (dof.d_inverse > 0.0 and 1.0 > _ROUNDING * size * dof.d_inverse):
            return k
    return -1
