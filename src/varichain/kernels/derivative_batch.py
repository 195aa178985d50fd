"""Derivatives over many states: row after row in one call; see `rows`."""

from varichain.kernels.jit import CUBE, INTEGER, MATRIX, TABLE, kernel
from varichain.kernels.rows import ROOM, call


@kernel(INTEGER, TABLE, MATRIX, MATRIX, MATRIX, CUBE, MATRIX, MATRIX, MATRIX, MATRIX, INTEGER, INTEGER)
def rows_of_inverse_derivatives(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    q,
    v,
    a,
    # out (3 n, n_v, n_v)
    out,
    # work: no loads, then as the kernel has it
    loads,
    body_work,
    dof_work,
    chain_work,
    # in
    first,
    end,
):
    """The kernel `inverse_dynamics_derivatives`."""
    for i in range(first, end):
        by = out[3 * i : 3 * i + 3]
        call(address, ROOM, (table, q[i], v[i], a[i], loads, by, body_work, dof_work, chain_work))


@kernel(
    INTEGER,
    TABLE,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    CUBE,
    CUBE,
    CUBE,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    INTEGER,
    INTEGER,
)
def rows_of_forward_derivatives(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    q,
    v,
    tau,
    # out (n, n_v), (3 n, n_v, n_v), (3 n, n_rows, n_v)
    a_out,
    out,
    multipliers_out,
    # work: equations, no loads, then as the kernel has it
    equations,
    loads,
    body_work,
    dof_work,
    chain_work,
    E,
    X,
    Y,
    # in
    first,
    end,
):
    """The kernel `forward_dynamics_derivatives`."""
    for i in range(first, end):
        by, carried = out[3 * i : 3 * i + 3], multipliers_out[3 * i : 3 * i + 3]
        work = (body_work, dof_work, chain_work, E, X, Y)
        call(address, ROOM, (table, q[i], v[i], tau[i], loads, a_out[i], by, carried, equations, *work))
