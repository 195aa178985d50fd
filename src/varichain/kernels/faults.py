"""First fault of a state, found in one pass before any computation with it."""

from varichain.kernels.jit import TABLE, VECTOR, kernel
from varichain.kernels.records import FREE, SPHERICAL
from varichain.kernels.tables import open_bodies

# A quaternion off unit length by x bends a rotation by about 2 x; setters and steps leave rounding only.
QUATERNION_TOLERANCE = 1e-9
# A number beyond this may overflow in products.
LARGEST = 1e100


@kernel(TABLE, VECTOR, VECTOR)
def first_fault(
    # layout
    table,
    # in
    q,
    v,
):
    """Code of the first fault.

    0 if the state is sound; i + 1 if number i of (q, v) is not finite or too large; -(i + 1) if q[i : i + 4] is no
    unit quaternion.
    """
    for i in range(len(q)):
        if not abs(q[i]) < LARGEST:
            return i + 1
    for k in range(len(v)):
        if not abs(v[k]) < LARGEST:
            return len(q) + k + 1
    bodies = open_bodies(table)
    for b in range(1, len(bodies)):
        body = bodies[b]
        if body.kind == SPHERICAL or body.kind == FREE:
            i = body.q
            length = q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3]
            if abs(length - 1.0) > 2.0 * QUATERNION_TOLERANCE:
                return -(i + 1)
    return 0
