"""Jets of a block: value, rate, bias, gradient and Hessian of each node over the numbers that the block reads.

A node takes 3 + P numbers, or 3 + P + P^2 with its Hessian: P is the number of inputs.
"""

from varichain.kernels.function_operations import partials
from varichain.kernels.function_records import GRADIENTS, HESSIANS, VALUES
from varichain.kernels.jit import helper, routine


@helper
def node_size(n_inputs, depth):
    """Numbers of one node."""
    if depth == VALUES:
        return 1
    return 3 + n_inputs + (n_inputs * n_inputs if depth == HESSIANS else 0)


@routine
def _second_order(jets, a, b, out, p, f):
    """Hessian of a node: f_x a_ij + f_y b_ij + f_xx a_i a_j + f_xy (a_i b_j + b_i a_j) + f_yy b_i b_j."""
    _, f_x, f_y, f_xx, f_xy, f_yy = f
    a, b, out = a + 3, b + 3, out + 3
    for i in range(p):
        left, right = f_xx * jets[a + i] + f_xy * jets[b + i], f_xy * jets[a + i] + f_yy * jets[b + i]
        for j in range(p):
            place = p + i * p + j
            own = f_x * jets[a + place] + f_y * jets[b + place]
            jets[out + place] = own + left * jets[a + j] + right * jets[b + j]


@routine
def run_steps(
    # in: numbers (3, n) of leaves: values, rates, biases
    block,
    inputs,
    steps,
    numbers,
    depth,
    # out
    jets,
):
    """Compute all nodes of a block."""
    p = block.n_inputs
    size = node_size(p, depth)
    for i in range(p):
        number, at = inputs[block.input + i].number, i * size
        jets[at] = numbers[0, number]
        if depth >= GRADIENTS:
            jets[at + 1 : at + size] = 0.0
            jets[at + 1], jets[at + 2], jets[at + 3 + i] = numbers[1, number], numbers[2, number], 1.0
    for i in range(block.n_steps):
        step, out = steps[block.step + i], (p + i) * size
        a, b = step.a * size, step.b * size
        f = partials(step.operation, jets[a], jets[b], step.constant)
        jets[out] = f[0]
        if depth >= GRADIENTS:
            a_dot, b_dot = jets[a + 1], jets[b + 1]
            jets[out + 1] = f[1] * a_dot + f[2] * b_dot
            turn = f[3] * a_dot * a_dot + 2.0 * f[4] * a_dot * b_dot + f[5] * b_dot * b_dot
            jets[out + 2] = f[1] * jets[a + 2] + f[2] * jets[b + 2] + turn
            for j in range(p):
                jets[out + 3 + j] = f[1] * jets[a + 3 + j] + f[2] * jets[b + 3 + j]
        if depth == HESSIANS:
            _second_order(jets, a, b, out, p, f)
