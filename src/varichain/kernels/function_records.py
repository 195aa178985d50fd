"""Records of functions of the configuration: leaves, the terms of leaves, and steps that compute numbers from leaves.

A function is a list of *dimensions*, one number each. Dimensions that read the same leaves are a *block*: it reads
numbers of leaves (its inputs) and computes values in steps, each from one or two earlier nodes; inputs are the first
nodes. The *support* of a leaf or a block is the list of freedoms that can move it, in their order.
"""

import numpy as np

from varichain.kernels.jit import Kind

_I, _F = np.int64, np.float64

# Kinds of leaves. SUM: three numbers, a sum of weighted points and directions that bodies carry. ROTATION: the four
# numbers of the quaternion between two frames, w >= 0. COORDINATE: one number of q. GIVEN: a number that the caller
# has, with its rate and acceleration, such as the time. TURNING and SPINNING are rates without a position: angular
# velocity of one body against another, angular momentum about the centre of mass.
SUM, ROTATION, COORDINATE, GIVEN, TURNING, SPINNING = 0, 1, 2, 3, 4, 5
LEAF_SIZES = (3, 4, 1, 1, 3, 3)

LEAF = np.dtype(
    [
        ("kind", _I),
        ("number", _I),  # first of its numbers
        ("term", _I),  # of a sum: first term
        ("n_terms", _I),
        ("place", _I),  # of a coordinate in q, of a given number among those that are given
        ("dof", _I),  # of a coordinate
        ("body_A", _I),  # of rotations: frame that is looked from, and frame that is looked at
        ("body_B", _I),
        ("support", _I),  # first of its freedoms among those of all leaves and blocks
        ("n_support", _I),
        ("R_A", _F, 9),  # orientations of the frames in their bodies
        ("R_B", _F, 9),
    ],
    align=True,
)

# Weighted point of a body, or, if the weight is zero, a direction: weight * (origin of the body) + R offset.
TERM = np.dtype([("body", _I), ("weight", _F), ("offset", _F, 3)], align=True)

# One number that a block reads.
INPUT = np.dtype([("number", _I), ("leaf", _I)], align=True)

# One operation on nodes a and b, or on a and a constant.
STEP = np.dtype([("operation", _I), ("a", _I), ("b", _I), ("constant", _F)], align=True)

BLOCK = np.dtype(
    [
        ("input", _I),
        ("n_inputs", _I),
        ("step", _I),
        ("n_steps", _I),
        ("dimension", _I),  # first of its dimensions
        ("n_dimensions", _I),
        ("support", _I),
        ("n_support", _I),
    ],
    align=True,
)

# Operations. HALF_LOG is 2 acos(w) / sqrt(1 - w^2): times the vector part of a unit quaternion, the rotation vector.
OPERATIONS = (
    "constant",
    "add",
    "subtract",
    "multiply",
    "divide",
    "arctan2",
    "power",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "exp",
    "log",
    "tanh",
    "half_log",
)
(
    CONSTANT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    ARCTAN2,
    POWER,
    SIN,
    COS,
    TAN,
    ARCSIN,
    ARCCOS,
    ARCTAN,
    EXP,
    LOG,
    TANH,
    HALF_LOG,
) = range(len(OPERATIONS))

# What is computed: values; values, gradients and biases; Hessians too.
VALUES, GRADIENTS, HESSIANS = 0, 1, 2

LEAVES, TERMS, INPUTS, STEPS, BLOCKS = [Kind(record) for record in (LEAF, TERM, INPUT, STEP, BLOCK)]
