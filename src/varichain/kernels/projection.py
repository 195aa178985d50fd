"""Closing loops far from closed: Newton's method with a new factor at every step."""

from varichain.kernels.closing import close_positions
from varichain.kernels.jit import INTEGER, NUMBER, TABLE, VECTOR, kernel
from varichain.kernels.run_records import RESTRAINT
from varichain.kernels.tables import no_records


@kernel(TABLE, VECTOR, NUMBER, INTEGER, VECTOR)
def project_position(
    # layout
    table,
    # in and out
    q,
    # in
    tolerance,
    most_steps,
    # work (n_v)
    step,
):
    """Close all loops by Newton's method in the mass metric; returns the largest error left [m or rad].

    Meant for small errors, such as a step of integration leaves.
    """
    return close_positions(table, no_records(RESTRAINT), q, step, step, tolerance, False, 0, most_steps)
