"""Wrenches at the loops, from the multipliers of their rows."""

from varichain.kernels.jit import MATRIX, TABLE, VECTOR, kernel, routine
from varichain.kernels.loops import wrench_at
from varichain.kernels.records import COORDINATES
from varichain.kernels.tables import open_loops, open_rows
from varichain.kernels.tuples import ZERO3, add_scaled6, load3, load6, store6


@routine
def gather_wrenches(loops, rows, multipliers, wrenches_out):
    """Wrenches [moment; force] of rows and joints on bodies A, at the loops' points, of the first loops.

    A coupling, if there is room for it, has its one force in the first place. Rows must be placed.
    """
    for i in range(len(wrenches_out)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            store6(wrenches_out[i], (multipliers[loop.row], 0.0, 0.0, 0.0, 0.0, 0.0))
            continue
        total = load6(loop.own)
        for r in range(loop.row, loop.row + loop.n_rows):
            unit = wrench_at(rows[r], loop, load3(rows[r].e), ZERO3)
            total = add_scaled6(total, multipliers[r], unit)
        store6(wrenches_out[i], total)


@kernel(TABLE, VECTOR, MATRIX)
def loop_wrenches(
    # layout
    table,
    # in (n_rows)
    multipliers,
    # out (n_loops, 6)
    wrenches_out,
):
    """Wrenches [moment; force] at the loops' points from multipliers; the rows must be placed."""
    gather_wrenches(open_loops(table), open_rows(table), multipliers, wrenches_out)
