"""Functions of the configuration: values, gradients, biases and Hessians of any expressions, by one kernel.

An expression is differentiated over the few numbers of leaves that it reads, then pulled back to the freedoms:
G = F_p G_p, H = F_p H_p + F_pq G_p^T G_q. Nothing is compiled for a function or for a structure.
"""

from varichain.kernels.function_curvature import add_curvature
from varichain.kernels.function_jets import node_size, run_steps
from varichain.kernels.function_leaves import leaf_gradient, leaf_motion, leaf_value
from varichain.kernels.function_records import (
    DIMENSIONS,
    GRADIENTS,
    HESSIANS,
    INPUTS,
    LEAF_SIZES,
    LEAVES,
    STEPS,
    TERMS,
    VALUES,
)
from varichain.kernels.jit import CUBE, INTEGER, MATRIX, TABLE, VECTOR, helper, kernel, routine
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
def _pull_back_gradient(dimension, inputs, slopes, gradients, G):
    """G (n_v): gradients of the inputs, weighted with the slopes of the expression."""
    G[:] = 0.0
    for i in range(dimension.n_inputs):
        number = inputs[dimension.input + i].number
        if slopes[i] != 0.0:
            for k in range(len(G)):
                G[k] += slopes[i] * gradients[number, k]


@routine
def _add_leaves(bodies, dofs, leaves, inputs, dimension, slopes, gradients, H, weights, ways):
    """Add F_p H_p, leaf by leaf: inputs are sorted, those of one leaf stand together.

    Needs: bodies placed.
    """
    i = 0
    while i < dimension.n_inputs:
        place = inputs[dimension.input + i].leaf
        leaf = leaves[place]
        weights[:] = 0.0
        while i < dimension.n_inputs and inputs[dimension.input + i].leaf == place:
            weights[inputs[dimension.input + i].number - leaf.number] = slopes[i]
            i += 1
        add_curvature(bodies, dofs, leaf, gradients[leaf.number :], weights, H, ways)


@routine
def _add_products(dimension, inputs, curves, gradients, H):
    """Add F_pq G_p^T G_q."""
    p, n = dimension.n_inputs, len(H)
    for a in range(p):
        for b in range(p):
            curve = curves[a * p + b]
            if curve == 0.0:
                continue
            left, right = inputs[dimension.input + a].number, inputs[dimension.input + b].number
            for j in range(n):
                factor = curve * gradients[left, j]
                if factor != 0.0:
                    for k in range(n):
                        H[j, k] += factor * gradients[right, k]


@kernel(
    TABLE,
    VECTOR,
    VECTOR,
    MATRIX,
    LEAVES,
    TERMS,
    INPUTS,
    STEPS,
    DIMENSIONS,
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
    dimensions,
    depth,
    # out (m), (m), (m), (m, n_v), (m, n_v, n_v): what the depth asks for
    value_out,
    rate_out,
    bias_out,
    G_out,
    H_out,
    # work: (3, n_numbers), (n_numbers, n_v), (n_bodies, 4), (2, n_v), nodes of the longest dimension, (4)
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
    if depth == VALUES:
        place_all(q, bodies, dofs)
    else:
        move_all(q, v, bodies, dofs)
        gather_composites(bodies)
    for i in range(len(leaves)):
        leaf = leaves[i]
        part = slice(leaf.number, leaf.number + LEAF_SIZES[leaf.kind])
        leaf_value(bodies, q, given, leaf, terms, numbers[0, part])
        if depth >= GRADIENTS:
            leaf_motion(bodies, v, given, leaf, terms, numbers[1, part], numbers[2, part])
            leaf_gradient(bodies, dofs, leaf, terms, gradients[part], moments, ways)
    for d in range(len(dimensions)):
        dimension = dimensions[d]
        p, size = dimension.n_inputs, node_size(dimension.n_inputs, depth)
        at = run_steps(dimension, inputs, steps, numbers, depth, jets)
        if not _is_sound(jets, at, size):
            return d + 1
        value_out[d] = jets[at]
        if depth >= GRADIENTS:
            rate_out[d], bias_out[d] = jets[at + 1], jets[at + 2]
            slopes = jets[at + 3 : at + 3 + p]
            _pull_back_gradient(dimension, inputs, slopes, gradients, G_out[d])
            if depth == HESSIANS:
                H_out[d, :, :] = 0.0
                _add_leaves(bodies, dofs, leaves, inputs, dimension, slopes, gradients, H_out[d], weights, ways)
                _add_products(dimension, inputs, jets[at + 3 + p : at + size], gradients, H_out[d])
    return 0
