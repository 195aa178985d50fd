"""Working memory of a step: its two nodes, states whose accelerations and powers are known."""

from __future__ import annotations

from typing import Any, NamedTuple

from varichain.kernels.jit import helper
from varichain.kernels.run_records import N_ACCOUNTS


class Node(NamedTuple):
    """The present node and the next one; q and v of the present node are the run's own."""

    tau: Any  # torques of the controllers (n_v)
    a: Any  # accelerations (n_v)
    powers: Any  # of the accounts
    q_end: Any
    v_end: Any
    tau_end: Any
    a_end: Any
    powers_end: Any
    work_done: Any  # in the step, by accounts
    bend: Any  # see `passages.foresee_opening` (n_v)
    step: Any  # scratch (n_v)
    scratch: Any  # scratch (n_q + n_v)


N_NODE = len(Node._fields) + 1  # `scratch` takes two rows


def node_shape(n_q: int, n_v: int) -> tuple[int, int]:
    """Shape of the matrix of a Node."""
    return N_NODE, max(n_q, n_v, N_ACCOUNTS)


@helper
def open_node(matrix, n_q, n_v):
    """Rows of a matrix, of shape `node_shape`, as a Node."""
    return Node(
        tau=matrix[0, :n_v],
        a=matrix[1, :n_v],
        powers=matrix[2, :N_ACCOUNTS],
        q_end=matrix[3, :n_q],
        v_end=matrix[4, :n_v],
        tau_end=matrix[5, :n_v],
        a_end=matrix[6, :n_v],
        powers_end=matrix[7, :N_ACCOUNTS],
        work_done=matrix[8, :N_ACCOUNTS],
        bend=matrix[9, :n_v],
        step=matrix[10, :n_v],
        scratch=matrix[11:].reshape(-1),
    )
