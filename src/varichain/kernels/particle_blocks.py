"""Block Cholesky factor of the equations of implicit steps: a block of 12 x 12 for two links that a spring joins.

A = U^T U by columns of blocks, in an order that keeps fill small: chains and trees have none, and the cost is linear.
"""

import math

from varichain.kernels.jit import routine

N = 12
"""Unknowns of a link: the rates of its centre and of its three arms."""


@routine
def _factor_diagonal(D):
    """U of D = U^T U, in place."""
    for p in range(N):
        k = 1.0 / math.sqrt(D[p, p])
        for c in range(p, N):
            D[p, c] *= k
        for r in range(p + 1, N):
            a = D[p, r]
            for c in range(r, N):
                D[r, c] -= a * D[p, c]


@routine
def _divide(U, B):
    """U^-T B, in place."""
    for p in range(N):
        k = 1.0 / U[p, p]
        for c in range(N):
            B[p, c] *= k
        for r in range(p + 1, N):
            a = U[p, r]
            for c in range(N):
                B[r, c] -= a * B[p, c]


@routine
def _subtract_product(A, B, out):
    """Take A^T B from a block."""
    for p in range(N):
        for r in range(N):
            a = A[p, r]
            for c in range(N):
                out[r, c] -= a * B[p, c]


@routine
def factor_blocks(columns, entries, updates, blocks):
    """Factor, in place, of a matrix that is given by the blocks of its upper half."""
    for j in range(len(columns)):
        column = columns[j]
        U = blocks[column.block]
        _factor_diagonal(U)
        for e in range(column.entries, column.end_entries):
            _divide(U, blocks[entries[e].block])
        k = column.updates
        for e in range(column.entries, column.end_entries):
            for f in range(e, column.end_entries):
                _subtract_product(blocks[entries[e].block], blocks[entries[f].block], blocks[updates[k]])
                k += 1


@routine
def solve_blocks(columns, entries, blocks, x):
    """Solution of A x = b, in place of b (n_columns, 12)."""
    for j in range(len(columns)):
        column, y = columns[j], x[j]
        U = blocks[column.block]
        for p in range(N):
            y[p] /= U[p, p]
            for r in range(p + 1, N):
                y[r] -= U[p, r] * y[p]
        for e in range(column.entries, column.end_entries):
            B, z = blocks[entries[e].block], x[entries[e].column]
            for p in range(N):
                for r in range(N):
                    z[r] -= B[p, r] * y[p]
    for j in range(len(columns) - 1, -1, -1):
        column, y = columns[j], x[j]
        for e in range(column.entries, column.end_entries):
            B, z = blocks[entries[e].block], x[entries[e].column]
            for p in range(N):
                for c in range(N):
                    y[p] -= B[p, c] * z[c]
        U = blocks[column.block]
        for p in range(N - 1, -1, -1):
            for c in range(p + 1, N):
                y[p] -= U[p, c] * y[c]
            y[p] /= U[p, p]
