"""Torques of actuators by dense linear algebra: the papers' W and S, least squares, singular values."""

import numpy as np

import varichain as vc
from varichain.dynamics.loop_forces import virtual_map
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.rank import kept_rows, least_norm

_RANK = 1e-9


def actuator_torques(m, s, a, weights=None):
    """Torques of all joints (n_all,) of least cost with S^T tau = W^T tau_O, and multipliers of least norm.

    Returns None if no torques do.
    """
    layout = s.layout
    table = layout.workspaces.of_thread.table
    found = vc.mobility(m, s, probe=False)
    tau_O = vc.mass_matrix(m, s) @ a + vc.bias_force(m, s)
    load = found.W.T @ tau_O
    joints = [name.rsplit(".", 1)[0] if name not in (weights or {}) else name for name in found.actuated]
    root = np.sqrt([(weights or {}).get(name, 1.0) for name in joints])
    tau_act = np.linalg.lstsq((found.S / root[:, None]).T, load, rcond=_RANK)[0] / root if found.S.size else root
    if np.abs(found.S.T @ tau_act - load).max(initial=0.0) > 1e-9 * max(1.0, np.abs(load).max(initial=0.0)):
        return None
    tau = np.zeros(layout.n_all)
    columns = [k for slot in layout.all_slots if slot.actuated for k in range(slot.v.start, slot.v.stop)]
    tau[columns] = tau_act
    missing = tau_O - tau[: layout.n_v]
    for loop in layout.loops:
        missing -= virtual_map(layout, table, s, loop).T @ tau[loop.slot.v]
    if layout.is_tree:
        return tau, np.zeros(0)
    K = constraint_matrix(layout, table, s.q)
    return tau, least_norm(K.T, missing, int(kept_rows(layout, table, s.q).sum()))
