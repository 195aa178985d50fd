"""Functions of the configuration: values, gradients, biases and Hessians of any expressions, by one kernel.

An expression is differentiated over the few numbers of leaves that it reads, then pulled back to the freedoms:
G = F_p G_p, H = F_p H_p + F_pq G_p^T G_q. Nothing is compiled for a function or for a structure.
"""

from varichain.kernels.function_curvature import add_curvature
from varichain.kernels.function_jets import node_size, run_steps
from varichain.kernels.function_leaves import leaf_gradient, leaf_motion, leaf_value
from varichain.kernels.function_records import (
    BLOCKS,
    GRADIENTS,
    HESSIANS,
    INPUTS,
    LEAVES,
    SPINNING,
    STEPS,
    TERMS,
    VALUES,
)
from varichain.kernels.jit import CUBE, INTEGER, INTEGERS, MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.mass_matrix import gather_composites
from varichain.kernels.tables import open_bodies, open_dofs


@helper
def _is_sound(jets, at, size):
    """Whether all numbers of a node are finite."""
    total = 0.0
    for i in range(at, at + size):
        total += 0.0 * jets[i]  # NaN for NaN and for infinity
    return total == 0.0


@routine
def fill_leaves(
    # in
    q,
    v,
    given,
    leaves,
    terms,
    support,
    depth,
    # in and out
    bodies,
    dofs,
    # out: (3, n_numbers), (n_numbers, n_v), zero outside of the supports
    numbers,
    gradients,
    # work: (n_bodies, 4)
    moments,
):
    """Numbers of all leaves, with rates, biases and gradients if the depth asks for them.

    Gives: bodies placed.
    """
    if depth == VALUES:
        place_all(q, bodies, dofs)
    else:
        move_all(q, v, bodies, dofs)
        for i in range(len(leaves)):
            if leaves[i].kind == SPINNING:
                gather_composites(bodies)
                break
    for i in range(len(leaves)):
        leaf = leaves[i]
        leaf_value(bodies, q, given, leaf, terms, numbers)
        if depth >= GRADIENTS:
            leaf_motion(bodies, v, given, leaf, terms, numbers)
            leaf_gradient(bodies, dofs, leaf, terms, support, gradients, moments)


@routine
def _pull_back_gradient(block, inputs, support, gradients, jets, at, d, G):
    """Row d of G: gradients of the inputs, weighted with the slopes of a node; written where the support is."""
    first, end = block.support, block.support + block.n_support
    n_before = 0
    for i in range(block.n_inputs):
        number, slope = inputs[block.input + i].number, jets[at + 3 + i]
        if slope != 0.0 and n_before == 0:
            for j in range(first, end):
                G[d, support[j]] = slope * gradients[number, support[j]]
            n_before += 1
        elif slope != 0.0:
            for j in range(first, end):
                G[d, support[j]] += slope * gradients[number, support[j]]
    if n_before == 0:
        for j in range(first, end):
            G[d, support[j]] = 0.0


@routine
def fill_block(
    # in
    block,
    inputs,
    steps,
    results,
    support,
    numbers,
    gradients,
    depth,
    # out (m), (m), (m), (m, n_v), zero outside of the supports
    value_out,
    rate_out,
    bias_out,
    G_out,
    # work
    jets,
):
    """Values, and rates, biases and gradients if the depth asks for them, of the dimensions of a block.

    Returns the number of the first dimension that has none, counted from 1; 0 if all have.
    """
    size = node_size(block.n_inputs, depth)
    run_steps(block, inputs, steps, numbers, depth, jets)
    for d in range(block.dimension, block.dimension + block.n_dimensions):
        at = results[d] * size
        if not _is_sound(jets, at, size):
            return d + 1
        value_out[d] = jets[at]
        if depth >= GRADIENTS:
            rate_out[d], bias_out[d] = jets[at + 1], jets[at + 2]
            _pull_back_gradient(block, inputs, support, gradients, jets, at, d, G_out)
    return 0


@routine
def _add_leaves(bodies, dofs, leaves, inputs, block, slopes, gradients, H, weights, ways):
    """Add F_p H_p, leaf by leaf: inputs are sorted, those of one leaf stand together.

    Needs: bodies placed.
    """
    i = 0
    while i < block.n_inputs:
        place = inputs[block.input + i].leaf
        leaf = leaves[place]
        weights[:] = 0.0
        is_flat = True
        while i < block.n_inputs and inputs[block.input + i].leaf == place:
            weights[inputs[block.input + i].number - leaf.number] = slopes[i]
            is_flat = is_flat and slopes[i] == 0.0
            i += 1
        if not is_flat:
            add_curvature(bodies, dofs, leaf, gradients[leaf.number :], weights, H, ways)


@routine
def _add_products(block, inputs, curves, support, gradients, H):
    """Add F_pq G_p^T G_q."""
    p = block.n_inputs
    for a in range(p):
        for b in range(p):
            curve = curves[a * p + b]
            if curve == 0.0:
                continue
            left, right = inputs[block.input + a].number, inputs[block.input + b].number
            for i in range(block.support, block.support + block.n_support):
                factor = curve * gradients[left, support[i]]
                if factor != 0.0:
                    for j in range(block.support, block.support + block.n_support):
                        H[support[i], support[j]] += factor * gradients[right, support[j]]


@kernel(
    TABLE,
    VECTOR,
    VECTOR,
    MATRIX,
    LEAVES,
    TERMS,
    INPUTS,
    STEPS,
    BLOCKS,
    INTEGERS,
    INTEGERS,
    INTEGER,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    CUBE,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    VECTOR,
    VECTOR,
)
def evaluate_functions(
    # layout
    table,
    # in: given numbers (n_given, 3) with rates and accelerations; depth VALUES, GRADIENTS or HESSIANS
    q,
    v,
    given,
    leaves,
    terms,
    inputs,
    steps,
    blocks,
    results,
    support,
    depth,
    # out (m), (m), (m), (m, n_v), (m, n_v, n_v): what the depth asks for; G comes as zeros
    value_out,
    rate_out,
    bias_out,
    G_out,
    H_out,
    # work: (3, n_numbers), zeros (n_numbers, n_v), (n_bodies, 4), (2, n_v), nodes of the longest block, (4)
    numbers,
    gradients,
    moments,
    ways,
    jets,
    weights,
):
    """Values u, rates udot, biases, gradients G and Hessians H: udot = G v + df/dt, uddot = G a + bias.

    Returns the number of the first dimension that has no value, or no derivative, here, counted from 1; 0 if all have.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    fill_leaves(q, v, given, leaves, terms, support, depth, bodies, dofs, numbers, gradients, moments)
    for b in range(len(blocks)):
        block = blocks[b]
        fault = fill_block(
            block, inputs, steps, results, support, numbers, gradients, depth,
            value_out, rate_out, bias_out, G_out, jets,
        )  # fmt: skip
        if fault:
            return fault
        if depth == HESSIANS:
            p, size = block.n_inputs, node_size(block.n_inputs, depth)
            for d in range(block.dimension, block.dimension + block.n_dimensions):
                slopes = jets[results[d] * size + 3 : results[d] * size + 3 + p]
                curves = jets[results[d] * size + 3 + p : results[d] * size + size]
                H_out[d, :, :] = 0.0
                _add_leaves(bodies, dofs, leaves, inputs, block, slopes, gradients, H_out[d], weights, ways)
                _add_products(block, inputs, curves, support, gradients, H_out[d])
    return 0
