"""HYR's linear closure q = M y + b of all couplings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.errors import InputError
from varichain.layout.layout import Layout, layout_of
from varichain.mechanism.coupling import resolved
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.report import Listing, Report, Reported, names


@dataclass(frozen=True, eq=False, repr=False)
class CouplingMatrix(Reported):
    """q = M y + b, v = M v_ind, a = M a_ind [HYR, (16)], over the freedoms of the tree.

    For ball and free joints, which never follow, the rows are about velocities; b is zero there.

    Attributes:
        M: Multipliers (n_v, n_independent).
        b: Offsets (n_v,).
        M_u: Rows of M that are actuated (n_actuated, n_independent).
        independent: Names of the freedoms y, in the order of the columns.
        actuated: Names of the freedoms of M_u.
    """

    M: Array
    b: Array
    M_u: Array
    independent: tuple[str, ...]
    actuated: tuple[str, ...]

    def report(self) -> Report:
        """Size, and names of the freedoms that lead."""
        title = f"coupling matrix: {self.M.shape[0]} freedoms follow {self.M.shape[1]}"
        rows = [("independent", names(self.independent)), ("actuated", names(self.actuated))]
        return title, (Listing(("freedoms", "names"), rows),)


def coupling_matrix(m: Mechanism) -> CouplingMatrix:
    """M, b and M_u of a mechanism's couplings, chains of them resolved; the identity where there are none.

    Loops take no part: they are constraints on y.
    """
    if not isinstance(m, Mechanism):
        raise InputError(f"expected a Mechanism, not {type(m).__name__}")
    return coupling_matrix_of(layout_of(m))


def coupling_matrix_of(layout: Layout) -> CouplingMatrix:
    """The same of a layout."""
    follows = resolved(layout.ties)
    leading = [slot for slot in layout.slots if slot.name not in follows]
    columns = [k for slot in leading for k in range(slot.v.start, slot.v.stop)]
    column = {k: i for i, k in enumerate(columns)}
    M, b = np.zeros((layout.n_v, len(columns))), np.zeros(layout.n_v)
    M[columns, np.arange(len(columns))] = 1.0
    for joint, (leader, multiplier, offset) in follows.items():
        k = layout.slot(joint).v.start
        M[k, column[layout.slot(leader).v.start]], b[k] = multiplier, offset
    actuated = [k for slot in layout.slots if slot.actuated for k in range(slot.v.start, slot.v.stop)]
    names = [layout.freedom_name(k) for k in range(layout.n_v)]
    return CouplingMatrix(M, b, M[actuated], tuple(names[k] for k in columns), tuple(names[k] for k in actuated))
