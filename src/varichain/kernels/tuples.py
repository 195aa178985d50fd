"""Vectors and matrices as tuples: the arithmetic of all kernels, compiled to plain scalar code.

3-vectors and 6-vectors [angular; linear] are tuples of 3 and 6; matrices 3x3 are 9 numbers by rows; symmetric ones
are (xx, xy, xz, yy, yz, zz). Indices are constants: a loop with a variable index over a tuple costs a fifth more.
"""

import math

from varichain.kernels.jit import helper

ZERO3 = (0.0, 0.0, 0.0)
ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@helper
def load3(a):
    return a[0], a[1], a[2]


@helper
def load6(a):
    return a[0], a[1], a[2], a[3], a[4], a[5]


@helper
def load9(a):
    return a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]


@helper
def store3(a, x):
    a[0] = x[0]
    a[1] = x[1]
    a[2] = x[2]


@helper
def store6(a, x):
    a[0] = x[0]
    a[1] = x[1]
    a[2] = x[2]
    a[3] = x[3]
    a[4] = x[4]
    a[5] = x[5]


@helper
def store9(a, x):
    a[0] = x[0]
    a[1] = x[1]
    a[2] = x[2]
    a[3] = x[3]
    a[4] = x[4]
    a[5] = x[5]
    a[6] = x[6]
    a[7] = x[7]
    a[8] = x[8]


@helper
def add3(x, y):
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]


@helper
def sub3(x, y):
    return x[0] - y[0], x[1] - y[1], x[2] - y[2]


@helper
def scale3(k, x):
    return k * x[0], k * x[1], k * x[2]


@helper
def dot3(x, y):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@helper
def length3(x):
    return math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


@helper
def cross3(x, y):
    return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]


@helper
def add6(x, y):
    return x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5]


@helper
def dot6(x, y):
    # two short sums: half as long a wait for the processor as one long sum
    return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5])


@helper
def add_scaled6(x, k, y):
    """Return x + k y."""
    return (
        x[0] + k * y[0],
        x[1] + k * y[1],
        x[2] + k * y[2],
        x[3] + k * y[3],
        x[4] + k * y[4],
        x[5] + k * y[5],
    )


@helper
def join6(angular, linear):
    return angular[0], angular[1], angular[2], linear[0], linear[1], linear[2]


@helper
def angular(x):
    return x[0], x[1], x[2]


@helper
def linear(x):
    return x[3], x[4], x[5]


@helper
def cross_motion(V, S):
    """Rate of change of a motion vector S that moves with velocity V: V x S."""
    return join6(cross3(angular(V), angular(S)), add3(cross3(angular(V), linear(S)), cross3(linear(V), angular(S))))


@helper
def mat_vec(R, x):
    return (
        R[0] * x[0] + R[1] * x[1] + R[2] * x[2],
        R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
        R[6] * x[0] + R[7] * x[1] + R[8] * x[2],
    )


@helper
def mat_t_vec(R, x):
    """Return R^T x."""
    return (
        R[0] * x[0] + R[3] * x[1] + R[6] * x[2],
        R[1] * x[0] + R[4] * x[1] + R[7] * x[2],
        R[2] * x[0] + R[5] * x[1] + R[8] * x[2],
    )


@helper
def mat_mul(A, B):
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@helper
def column(R, k):
    """Column k of a matrix; k is a constant at every call."""
    return R[k], R[3 + k], R[6 + k]


@helper
def turn_about_z(R, cosine, sine):
    """Return R Rz(angle): only the first two columns change."""
    return (
        cosine * R[0] + sine * R[1],
        cosine * R[1] - sine * R[0],
        R[2],
        cosine * R[3] + sine * R[4],
        cosine * R[4] - sine * R[3],
        R[5],
        cosine * R[6] + sine * R[7],
        cosine * R[7] - sine * R[6],
        R[8],
    )


@helper
def matrix_from_quaternion(w, x, y, z):
    """Rotation matrix of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@helper
def quaternion_from_matrix(R):
    """Unit quaternion (w, x, y, z), w >= 0, of a rotation matrix.

    The column of 4 q q^T, linear in R, with the largest diagonal entry, normalised [Shepperd 1978].
    """
    w, x, y, z = 1.0 + R[0] + R[4] + R[8], 1.0 + R[0] - R[4] - R[8], 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8]
    if w >= x and w >= y and w >= z:
        q = (w, R[7] - R[5], R[2] - R[6], R[3] - R[1])
    elif x >= y and x >= z:
        q = (R[7] - R[5], x, R[1] + R[3], R[2] + R[6])
    elif y >= z:
        q = (R[2] - R[6], R[1] + R[3], y, R[5] + R[7])
    else:
        q = (R[3] - R[1], R[2] + R[6], R[5] + R[7], z)
    k = math.copysign(1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), q[0])
    return k * q[0], k * q[1], k * q[2], k * q[3]


@helper
def sym_vec(S, x):
    """Product of a symmetric matrix (xx, xy, xz, yy, yz, zz) and a vector."""
    return (
        S[0] * x[0] + S[1] * x[1] + S[2] * x[2],
        S[1] * x[0] + S[3] * x[1] + S[4] * x[2],
        S[2] * x[0] + S[4] * x[1] + S[5] * x[2],
    )


@helper
def rotate_sym(R, S):
    """Return R S R^T of a symmetric S."""
    a = sym_vec(S, (R[0], R[1], R[2]))
    b = sym_vec(S, (R[3], R[4], R[5]))
    c = sym_vec(S, (R[6], R[7], R[8]))
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
        R[3] * b[0] + R[4] * b[1] + R[5] * b[2],
        R[6] * b[0] + R[7] * b[1] + R[8] * b[2],
        R[6] * c[0] + R[7] * c[1] + R[8] * c[2],
    )
