"""Rows, supporting freedoms, and pairs of loops that share freedoms, from the specs of loops.

Compiled for the same reason as `build_tree`.
"""

import numpy as np

from varichain.kernels.jit import BYTES, NUMBER, SPECS, TABLE, allocates, helper, kernel
from varichain.kernels.propagation import groups_of
from varichain.kernels.tables import (
    FIRST_OF_LOOPS,
    N_ENTITIES,
    Entity,
    open_bodies,
    open_dofs,
    open_groups,
    open_links,
    open_loop_specs,
    open_loops,
    open_pairs,
    open_rows,
    open_shared,
    open_support,
    set_addresses,
    set_length,
    size_of,
)
from varichain.kernels.tuples import add3, load3, load9, mat_mul, mat_vec, store3, store9


@helper
def _ends(spec, bodies, links):
    """Last freedoms of a loop's two bodies; -1 if the loop has no rows and needs no freedom."""
    if spec.n_rows == 0:
        return -1, -1
    A, B = bodies[links[spec.link_A].body], bodies[links[spec.link_B].body]
    return A.dof + A.n_dof - 1, B.dof + B.n_dof - 1


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
def _mark_way(dofs, k, end, mark, value):
    """Mark the freedoms from k to (not including) `end`; returns their number."""
    count = 0
    while k != end:
        mark[k] = value
        count += 1
        k = dofs[k].parent
    return count


@helper
def _count_marked(dofs, k, end, mark, value):
    """Number of freedoms from k to (not including) `end` that have the mark."""
    count = 0
    while k != end:
        if mark[k] == value:
            count += 1
        k = dofs[k].parent
    return count


@kernel(TABLE, SPECS)
@allocates
def size_loops(
    # layout of the tree, and out
    table,
    # in
    specs,
):
    """Write the lengths of the arrays of loops into an address table; returns their bytes."""
    records = open_loop_specs(specs)
    bodies, dofs, links = open_bodies(table), open_dofs(table), open_links(table)
    mark, meetings = np.zeros(len(dofs), np.int64), np.empty(len(records), np.int64)
    all_rows, n_pairs, all_support, n_shared, n_propagated, n_groups, n_tiles = 0, 0, 0, 0, 0, 0, 0
    for i in range(len(records)):
        k_A, k_B = _ends(records[i], bodies, links)
        meetings[i] = _meeting(dofs, k_A, k_B)
        n_support = _mark_way(dofs, k_A, -1, mark, i + 1) + _mark_way(dofs, k_B, meetings[i], mark, i + 1)
        width = 0  # groups before the loop's own in the Gram matrix's envelope
        for j in range(i):
            k_A, k_B = _ends(records[j], bodies, links)
            n = _count_marked(dofs, k_A, -1, mark, i + 1) + _count_marked(dofs, k_B, meetings[j], mark, i + 1)
            if n > 0:
                n_pairs += 1
                n_shared += 3 * n
            if n > 0 or width > 0:
                width += groups_of(records[j].n_rows)
        n_rows = records[i].n_rows
        all_rows += n_rows
        all_support += n_support
        own = groups_of(n_rows)
        n_propagated += n_support * 4 * own
        n_groups += own
        n_tiles += own * width + own * (own + 1) // 2
    set_length(table, Entity.LOOPS, len(records))
    set_length(table, Entity.ROWS, all_rows)
    set_length(table, Entity.PAIRS, n_pairs)
    set_length(table, Entity.SUPPORT, all_support)
    set_length(table, Entity.SHARED, n_shared)
    set_length(table, Entity.PROPAGATED, n_propagated)
    set_length(table, Entity.GRAM, 16 * n_tiles)
    set_length(table, Entity.MULTIPLIERS, all_rows)
    set_length(table, Entity.GROUPS, n_groups)
    set_length(table, Entity.ANSWERS, 4 * n_groups)
    return size_of(table, FIRST_OF_LOOPS, N_ENTITIES)


@helper
def _write_way(dofs, k, end, support, place):
    """Write the freedoms from k to (not including) `end`; returns the place after them."""
    while k != end:
        support[place] = k
        place += 1
        k = dofs[k].parent
    return place


@helper
def _fill_freedoms(spec, loop):
    """Freedoms of a loop's own joint, with springs, dampers and friction."""
    loop.n_free = spec.n_free
    loop.passive = spec.passive
    for k in range(6):
        loop.free_kinds[k] = spec.free_kinds[k]
        loop.free_axes[k] = spec.free_axes[k]
        loop.damping[k] = spec.damping[k]
        loop.friction[k] = spec.friction[k]
        loop.stiffness[k] = spec.stiffness[k]
    for i in range(7):
        loop.rest[i] = spec.rest[i]


@helper
def _fill_loop(spec, loop, bodies, dofs, links, support):
    """Frames and supporting freedoms of one loop."""
    A, B = links[spec.link_A], links[spec.link_B]
    axes = load9(spec.axes)
    loop.body_A = A.body
    loop.body_B = B.body
    loop.link_A = spec.link_A
    loop.link_B = spec.link_B
    loop.orientation = spec.orientation
    loop.n_rows = spec.n_rows
    store9(loop.R_A, mat_mul(mat_mul(load9(A.R), load9(spec.R_A)), axes))
    store3(loop.p_A, add3(load3(A.p), mat_vec(load9(A.R), load3(spec.p_A))))
    store9(loop.R_B, mat_mul(mat_mul(load9(B.R), load9(spec.R_B)), axes))
    store3(loop.p_B, add3(load3(B.p), mat_vec(load9(B.R), load3(spec.p_B))))
    store3(loop.axis_A, load3(spec.axis_A))
    loop.angle = spec.angle
    loop.pitch = spec.pitch
    loop.length = spec.length
    loop.law = spec.law
    loop.is_slack = spec.is_slack
    loop.pull = spec.pull
    loop.function = spec.function
    _fill_freedoms(spec, loop)
    loop.isotropic = spec.isotropic
    loop.is_modal = spec.is_modal
    loop.is_soft = spec.is_soft
    loop.owner = spec.owner
    k_A, k_B = _ends(spec, bodies, links)
    meet = _meeting(dofs, k_A, k_B)
    end_A = _write_way(dofs, k_A, meet, support, loop.support)
    end_B = _write_way(dofs, k_B, meet, support, end_A)
    loop.n_support_A = end_A - loop.support
    loop.n_support_B = end_B - end_A
    loop.n_support = _write_way(dofs, meet, -1, support, end_B) - loop.support


@helper
def _mark_places(loop, support, mark, marking):
    """Note the place of each of a loop's supporting freedoms, from 1 on; zeros clear the notes."""
    for x in range(loop.n_support):
        mark[support[loop.support + x]] = x + 1 if marking else 0


@helper
def _write_shared(loop, earlier, support, mark, shared, place):
    """Write freedom, place in the later and place in the earlier loop's propagated rows; returns the next place."""
    stride, stride_earlier = 4 * groups_of(loop.n_rows), 4 * groups_of(earlier.n_rows)
    for y in range(earlier.n_support):
        k = support[earlier.support + y]
        if mark[k]:
            shared[place] = k
            shared[place + 1] = loop.propagated + (mark[k] - 1) * stride
            shared[place + 2] = earlier.propagated + y * stride_earlier
            place += 3
    return place


@helper
def _fill_pairs(i, loops, support, mark, pairs, shared, n_pairs, place):
    """Pairs of loop i with earlier ones; returns its first group in the Gram matrix, and the next places."""
    loop = loops[i]
    loop.pair = n_pairs
    first, met = loop.group, 0
    _mark_places(loop, support, mark, True)
    for j in range(i):
        after = _write_shared(loop, loops[j], support, mark, shared, place)
        if after > place:
            pairs[n_pairs].loop = j
            pairs[n_pairs].shared = place
            pairs[n_pairs].n_shared = (after - place) // 3
            first = min(first, loops[j].group)
            met += groups_of(loops[j].n_rows)
            n_pairs += 1
            place = after
    _mark_places(loop, support, mark, False)
    loop.n_pairs = n_pairs - loop.pair
    loop.is_sparse = 1 if met < loop.group - first else 0
    return first, n_pairs, place


@kernel(TABLE, SPECS, NUMBER, BYTES)
@allocates
def build_loops(
    # layout of the tree, in and out: as counted
    table,
    # in
    specs,
    rank_tolerance,
    # work: zeros, as many as counted; the table has their addresses
    data,
):
    """Loops, rows, pairs and their working arrays in memory."""
    records = open_loop_specs(specs)
    set_addresses(table, FIRST_OF_LOOPS, N_ENTITIES, data)
    bodies, dofs, links = open_bodies(table), open_dofs(table), open_links(table)
    loops, rows, groups, pairs = open_loops(table), open_rows(table), open_groups(table), open_pairs(table)
    support, shared = open_support(table), open_shared(table)
    mark = np.zeros(len(dofs), np.int64)
    row, group, place, propagated, n_pairs, n_shared, entry = 0, 0, 0, 0, 0, 0, 0
    for i in range(len(records)):
        spec, loop = records[i], loops[i]
        loop.row = row
        loop.group = group
        loop.support = place
        loop.propagated = propagated
        loop.rank_tolerance = rank_tolerance
        _fill_loop(spec, loop, bodies, dofs, links, support)
        first, n_pairs, n_shared = _fill_pairs(i, loops, support, mark, pairs, shared, n_pairs, n_shared)
        for j in range(spec.n_rows):
            rows[row + j].kind = spec.row_kinds[j]
            rows[row + j].axis = spec.row_axes[j]
            rows[row + j].is_open = spec.is_modal
            rows[row + j].kept = 1
        for j in range(groups_of(spec.n_rows)):
            groups[group].row = row + 4 * j
            groups[group].n_rows = min(4, spec.n_rows - 4 * j)
            groups[group].first = first
            groups[group].entry = entry
            entry += 16 * (group - first + 1)
            group += 1
        row += spec.n_rows
        place += loop.n_support
        propagated += loop.n_support * 4 * groups_of(spec.n_rows)
