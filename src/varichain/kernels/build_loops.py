"""From what the user said of loops to rows, supporting freedoms, and pairs of loops that share freedoms.

Compiled for the same reason as `build_tree`. Two kernels: one counts, so that Python can make the arrays, one fills.
"""

from varichain.kernels.gram import padded
from varichain.kernels.jit import (
    BODIES,
    DOFS,
    INTEGERS,
    LINKS,
    LOOP_SPECS,
    LOOPS,
    PAIRS,
    ROWS,
    helper,
    kernel,
)
from varichain.kernels.tuples import add3, load3, load9, mat_mul, mat_vec, store3, store9


@helper
def _last_dof(bodies, body):
    return bodies[body].dof + bodies[body].n_dof - 1


@helper
def _meeting(dofs, k_A, k_B):
    """First freedom that two ways to the ground share, -1 if they never meet; a freedom's parent has a lower index."""
    while k_A != k_B:
        if k_A > k_B:
            k_A = dofs[k_A].parent
        else:
            k_B = dofs[k_B].parent
    return k_A


@helper
def _way(dofs, k, end, support, place):
    """Write the freedoms from k to (not including) `end`; returns the place behind them."""
    while k != end:
        support[place] = k
        place += 1
        k = dofs[k].parent
    return place


@helper
def _way_length(dofs, k, end):
    length = 0
    while k != end:
        length += 1
        k = dofs[k].parent
    return length


@kernel(LOOP_SPECS, BODIES, DOFS, LINKS, INTEGERS)
def count_loops(
    # in
    specs,
    bodies,
    dofs,
    links,
    # out: numbers of rows, supporting freedoms, propagated entries
    counts,
):
    """Sizes of the loops' arrays."""
    for i in range(len(specs)):
        if specs[i].n_rows == 0:
            continue
        k_A = _last_dof(bodies, links[specs[i].link_A].body)
        k_B = _last_dof(bodies, links[specs[i].link_B].body)
        meet = _meeting(dofs, k_A, k_B)
        n = _way_length(dofs, k_A, meet) + _way_length(dofs, k_B, meet) + _way_length(dofs, meet, -1)
        counts[0] += specs[i].n_rows
        counts[1] += n
        counts[2] += n * padded(specs[i].n_rows)


@helper
def _fill_loop(spec, loop, bodies, dofs, links, support, row, place, entry):
    """Frames and supporting freedoms of one loop."""
    A, B = links[spec.link_A], links[spec.link_B]
    axes = load9(spec.axes)
    loop.body_A = A.body
    loop.body_B = B.body
    loop.orientation = spec.orientation
    loop.row = row
    loop.n_rows = spec.n_rows
    loop.support = place
    loop.propagated = entry
    store9(loop.R_A, mat_mul(mat_mul(load9(A.R), load9(spec.R_A)), axes))
    store3(loop.p_A, add3(load3(A.p), mat_vec(load9(A.R), load3(spec.p_A))))
    store9(loop.R_B, mat_mul(mat_mul(load9(B.R), load9(spec.R_B)), axes))
    store3(loop.p_B, add3(load3(B.p), mat_vec(load9(B.R), load3(spec.p_B))))
    store3(loop.axis_A, load3(spec.axis_A))
    loop.angle = spec.angle
    loop.pitch = spec.pitch
    if spec.n_rows == 0:
        return
    k_A, k_B = _last_dof(bodies, A.body), _last_dof(bodies, B.body)
    meet = _meeting(dofs, k_A, k_B)
    end_A = _way(dofs, k_A, meet, support, place)
    end_B = _way(dofs, k_B, meet, support, end_A)
    loop.n_support_A = end_A - place
    loop.n_support_B = end_B - end_A
    loop.n_support = _way(dofs, meet, -1, support, end_B) - place


@kernel(LOOP_SPECS, BODIES, DOFS, LINKS, LOOPS, ROWS, INTEGERS)
def build_loops(
    # in
    specs,
    bodies,
    dofs,
    links,
    # out: zeros
    loops,
    rows,
    support,
):
    """Loops with their frames and supporting freedoms, and the kinds of their rows."""
    row, place, entry = 0, 0, 0
    for i in range(len(specs)):
        spec, loop = specs[i], loops[i]
        _fill_loop(spec, loop, bodies, dofs, links, support, row, place, entry)
        for j in range(spec.n_rows):
            rows[row + j].kind = spec.row_kinds[j]
            rows[row + j].axis = spec.row_axes[j]
        row += spec.n_rows
        place += loop.n_support
        entry += loop.n_support * padded(spec.n_rows)


@helper
def _mark(loop, support, mark, marking):
    """Note where each of a loop's supporting freedoms stands, from 1 on; or zeros, to forget it."""
    for x in range(loop.n_support):
        mark[support[loop.support + x]] = x + 1 if marking else 0


@helper
def _n_shared(loop, support, mark):
    """Number of a loop's freedoms that are marked."""
    count = 0
    for y in range(loop.n_support):
        if mark[support[loop.support + y]]:
            count += 1
    return count


@kernel(LOOPS, INTEGERS, INTEGERS, INTEGERS)
def count_pairs(
    # in
    loops,
    support,
    # work (n_dofs): zeros
    mark,
    # out: numbers of pairs and of shared freedoms
    counts,
):
    """Sizes of the arrays of pairs."""
    for i in range(len(loops)):
        _mark(loops[i], support, mark, True)
        for j in range(i):
            n = _n_shared(loops[j], support, mark)
            if n > 0:
                counts[0] += 1
                counts[1] += n
        _mark(loops[i], support, mark, False)


@kernel(LOOPS, INTEGERS, INTEGERS, ROWS, PAIRS, INTEGERS)
def build_pairs(
    # in
    loops,
    support,
    # work (n_dofs): zeros
    mark,
    # out
    rows,
    pairs,
    shared,
):
    """Pairs of loops that share freedoms, and where each row begins in the packed Gram matrix; returns its length."""
    n_pairs, place, entry = 0, 0, 0
    for i in range(len(loops)):
        loop = loops[i]
        loop.pair = n_pairs
        first = loop.row
        _mark(loop, support, mark, True)
        for j in range(i):
            n = _n_shared(loops[j], support, mark)
            if n > 0:
                pairs[n_pairs].loop = j
                pairs[n_pairs].shared = place
                pairs[n_pairs].n_shared = n
                place = _write_shared(loop, loops[j], support, mark, shared, place)
                first = min(first, loops[j].row)
                n_pairs += 1
        _mark(loop, support, mark, False)
        loop.n_pairs = n_pairs - loop.pair
        for r in range(loop.row, loop.row + loop.n_rows):
            rows[r].first = first
            rows[r].entry = entry
            entry += r - first + 1
    return entry


@helper
def _write_shared(loop, earlier, support, mark, shared, place):
    """Write freedom, place in the later and place in the earlier loop's propagated rows; returns the next place."""
    stride, stride_earlier = padded(loop.n_rows), padded(earlier.n_rows)
    for y in range(earlier.n_support):
        k = support[earlier.support + y]
        if mark[k]:
            shared[place] = k
            shared[place + 1] = loop.propagated + (mark[k] - 1) * stride
            shared[place + 2] = earlier.propagated + y * stride_earlier
            place += 3
    return place
