"""Wrenches at the loops, from the multipliers of their rows."""

from varichain.kernels.jit import MATRIX, TABLE, VECTOR, kernel, routine
from varichain.kernels.loops import wrench_at
from varichain.kernels.records import COORDINATES
from varichain.kernels.tables import open_loops, open_rows
from varichain.kernels.tuples import ZERO3, add_scaled6, load3, load6, store6


@routine
def gather_wrenches(loops, rows, multipliers, wrenches_out):
    """Wrenches [moment; force] of rows and joints on bodies A, at the loops' points, of the loops that joints close.

    Stops and friction of a loop's joint are part of its wrench.

    Needs: rows placed.
    """
    for i in range(len(wrenches_out)):
        store6(wrenches_out[i], load6(loops[i].own))
    for i in range(len(loops)):
        loop = loops[i]
        place = loop.owner if loop.is_modal else i
        if loop.orientation == COORDINATES or not 0 <= place < len(wrenches_out):
            continue
        total = load6(wrenches_out[place])
        for r in range(loop.row, loop.row + loop.n_rows):
            unit = wrench_at(rows[r], loop, load3(rows[r].e), ZERO3)
            total = add_scaled6(total, multipliers[r], unit)
        store6(wrenches_out[place], total)


@kernel(TABLE, VECTOR, MATRIX)
def loop_wrenches(
    # layout
    table,
    # in (n_rows)
    multipliers,
    # out (n_loops, 6)
    wrenches_out,
):
    """Wrenches [moment; force] at the loops' points from multipliers.

    Needs: rows placed.
    """
    gather_wrenches(open_loops(table), open_rows(table), multipliers, wrenches_out)
