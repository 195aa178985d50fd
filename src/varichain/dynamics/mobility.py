"""Mobility: degrees of freedom, generalized coordinates and the papers' matrices H, W, S of a mechanism in a state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import Table, opened
from varichain.dynamics.assembly import close_loops
from varichain.dynamics.coordinates import Selection, select
from varichain.dynamics.lasting import lasting_freedoms
from varichain.dynamics.loops import closure_errors, constraint_bias, constraint_matrix, loop_bias, loop_jacobian
from varichain.dynamics.preferences import SLIDING, actuated_columns, check_preferred, classes, columns_of
from varichain.dynamics.rank import counting, kept_rows
from varichain.dynamics.resting import resting_columns
from varichain.errors import AssemblyError
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import flag, instance
from varichain.spatial.report import Listing, Report, Reported

Indices = NDArray[np.intp]

_NEARLY_CLOSED = 1e-6  # gaps above this are not rounding: the state is not assembled
_NEARLY_SINGULAR = 1e-4  # singular values below this part of the largest are worth a word


@dataclass(frozen=True, eq=False, repr=False)
class Mobility(Reported):
    """Degrees of freedom of a mechanism in a state, and its generalized coordinates.

    v_all are the velocities of all joints, virtual ones behind the tree's (theta_J); v of the tree (theta_O), v_act of
    the actuated (theta_A), v_ind of the independent (theta_G), v_dep of the dependent ones (theta_S). J_C v_all = 0;
    v_dep = H v_ind; v = W v_ind; v_act = S v_ind; a = W a_ind + w [NY, (4)-(23)].

    Attributes:
        n_all, n_tree, n_actuated: N_J, N_O, N_A.
        n_loops: N_L.
        n_couplings: Couplings, one row of J_C each.
        rank: m, rank of J_C.
        n_independent: N_F = N_J - m.
        n_lasting: Degrees of freedom that last, to second order; less than n_independent where some of them are only
            instantaneous (singular and shaky configurations).
        independent, dependent, actuated: Names of the freedoms.
        J_C: (6 N_L, N_J), [angular; linear] per loop, world axes; then a row for each coupling.
        H: (m, N_F). W: (N_O, N_F). S: (N_A, N_F). w: (N_O,).
        W_all: All joints' velocities, v_all = W_all v_ind (N_J, N_F).
        redundant_rows: Of each loop, by its joint's name, and of each coupling: rows that say nothing beyond what the
            others say.
        locked: Freedoms that cannot move.
        resting: Freedoms that are at rest at this instant only, as at dead centre; without `probe` they are locked.
        idle: Freedoms that no loop constrains.
        passive: Freedoms that can move and have no actuator.
        actuation: "fully actuated", "redundantly actuated" or "under-actuated".
        singular_values: Of the scaled J_C; `is_nearly_singular` if the rank was a close decision.
        conditioning: Smallest singular value of the scaled J_S.
        residual: Largest loop error at which the rank was decided [m or rad].
        switched: Why the independent set differs from the previous one; empty if it does not.
    """

    n_all: int
    n_tree: int
    n_actuated: int
    n_loops: int
    n_couplings: int
    rank: int
    n_independent: int
    n_lasting: int
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    actuated: tuple[str, ...]
    J_C: Array
    H: Array
    W: Array
    S: Array
    w: Array
    W_all: Array
    redundant_rows: dict[str, int]
    locked: tuple[str, ...]
    resting: tuple[str, ...]
    idle: tuple[str, ...]
    passive: tuple[str, ...]
    actuation: str
    singular_values: Array
    conditioning: float
    residual: float
    switched: str
    name: str
    rank_tolerance: float
    independent_columns: Indices = field(repr=False)
    dependent_columns: Indices = field(repr=False)

    @property
    def is_instantaneous(self) -> bool:
        """Whether some of the freedoms last for an instant only."""
        return self.n_lasting < self.n_independent

    @property
    def is_nearly_singular(self) -> bool:
        """Whether the rank was a close decision, or differs from that of configurations nearby."""
        sigma = self.singular_values
        close = self.rank > 0 and bool(sigma[self.rank - 1] < _NEARLY_SINGULAR * sigma[0])
        return close or self.is_instantaneous

    def report(self) -> Report:
        """The report that a mechanical engineer would want, one fact a row."""
        from varichain.dynamics.report import mobility_facts

        return f"mobility of {self.name!r}", (Listing(("", ""), mobility_facts(self)),)

    def __str__(self) -> str:
        """The report as text."""
        title, (listing,) = self.report()
        return "\n".join([title, *(f"  {fact:<22}{value}" for fact, value in listing.rows)])

    __repr__ = __str__


def mobility(
    m: Mechanism, s: State, prefer: Iterable[str] = (), previous: Mobility | None = None, probe: bool = True
) -> Mobility:
    """Degrees of freedom, generalized coordinates and their matrices.

    The rank is decided at closed loops: small gaps of the state are closed first, on a copy.

    Args:
        m: Mechanism.
        s: State with its loops closed to 1e-6.
        prefer: Joints ("knee") or freedoms ("pelvis.vx") that must be independent.
        previous: Mobility at an earlier state: its independent set is kept while it is well conditioned.
        probe: Whether to tell freedoms that last from those that are only instantaneous, and freedoms that rest for an
            instant from those that are locked.

    Raises:
        AssemblyError: The loops are open in this state.
        PreferenceError: The preferred freedoms depend on each other.
    """
    layout, table = opened(m, s)
    if previous is not None:
        instance(previous, Mobility, "previous")
    return mobility_of(layout, table, s, prefer, previous, flag(probe, "probe"))


def mobility_of(
    layout: Layout,
    table: Table,
    s: State,
    prefer: Iterable[str] = (),
    previous: Mobility | None = None,
    probe: bool = True,
) -> Mobility:
    """Mobility of a layout, which may be that of a structure of the past."""
    closed = s.copy()
    residual = close_loops(layout, table, closed.q)
    is_kept = kept_rows(layout, table, closed.q)
    if residual > _NEARLY_CLOSED:
        errors = counting(layout, closure_errors(layout, table, closed.q), is_kept)
        raise AssemblyError(
            f"the loops are open by {residual:.3g} [m or rad]: their mobility is not known; call assemble(m, s) first",
            {one.name: float(np.abs(errors[one.rows]).max(initial=0.0)) for one in layout.constraints},
        )
    J_C = loop_jacobian(layout, table, closed)
    scale_rows, scale_columns = _scales(layout, J_C)
    scaled = scale_rows[:, None] * J_C * scale_columns
    preferred = columns_of(layout, prefer)
    kept = previous.independent_columns if previous is not None and previous.n_all == layout.n_all else None
    contradicted = kept is not None and len(np.setdiff1d(preferred, kept)) > 0
    equations = _independent_equations(layout, table, closed, J_C, scale_columns, is_kept)
    selection, switched = select(
        equations[0] * scale_columns, classes(layout, preferred), None if contradicted else kept
    )
    if contradicted:
        switched = "the preferred freedoms are others"
    check_preferred(layout, selection, preferred)
    lasting = layout.n_all - selection.rank
    if probe and not layout.is_tree:
        lasting = lasting_freedoms(layout, table, closed, scaled, scale_rows, scale_columns, selection.rank)
    return _matrices(
        layout, table, closed, J_C, scaled, scale_columns, equations, selection, residual, switched, lasting, probe
    )


def _independent_equations(
    layout: Layout, table: Table, s: State, J_C: Array, scale_columns: Array, is_kept: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """J_C v_all = 0 without what is redundant, and Jdot_C v_all of these equations: the rows that dynamics keep.

    Beside the kept rows K v = 0 of the tree, each loop has the equations by which its virtual joint follows. With the
    columns scaled, every equation has length 1.
    """
    K = constraint_matrix(layout, table, s.q)[is_kept]
    rows = [np.hstack([K, np.zeros((len(K), layout.n_all - layout.n_v))])]
    biases = [constraint_bias(layout, table, s)[is_kept]]
    bias = loop_bias(layout, table, s)
    for i, loop in enumerate(layout.loops):
        six = slice(6 * i, 6 * i + 6)
        following = np.linalg.pinv(J_C[six, loop.slot.v])
        rows.append(following @ J_C[six])
        biases.append(following @ bias[six])
    J = np.vstack(rows)
    size = np.linalg.norm(J * scale_columns, axis=1)  # never zero: the rows are independent
    return J / size[:, None], np.concatenate(biases) / size


def _following(equations: tuple[Array, Array], selection: Selection, scale_columns: Array) -> tuple[Array, Array]:
    """H and Hdot v_ind: how dependent freedoms follow independent ones."""
    independent, dependent = selection.independent, selection.dependent
    J, bias = equations[0] * scale_columns, equations[1]
    # H = -J_S^-1 J_G [NY, (17)]; Hdot v_ind = -J_S^-1 (Jdot_Cm v_all) [NYN, (16)]
    solution = -np.linalg.solve(J[:, dependent], np.column_stack([J[:, independent], bias]))
    solution *= scale_columns[dependent, None]
    H, Hdot_v = solution[:, :-1] / scale_columns[independent], solution[:, -1]
    return np.asarray(H, dtype=np.float64), np.asarray(Hdot_v, dtype=np.float64)


def _matrices(
    layout: Layout,
    table: Table,
    s: State,
    J_C: Array,
    scaled: Array,
    scale_columns: Array,
    equations: tuple[Array, Array],
    selection: Selection,
    residual: float,
    switched: str,
    lasting: int,
    probe: bool,
) -> Mobility:
    """H, W, S, w and what the report says about joints."""
    independent, dependent = selection.independent, selection.dependent
    H, Hdot_v = _following(equations, selection, scale_columns)
    W_all = np.zeros((layout.n_all, len(independent)))
    W_all[independent] = np.eye(len(independent))
    W_all[dependent] = H
    w_all = np.zeros(layout.n_all)
    w_all[dependent] = Hdot_v
    actuated = actuated_columns(layout)
    S = W_all[actuated]
    names = [layout.freedom_name(k) for k in range(layout.n_all)]
    moves = np.abs(W_all * (1.0 / scale_columns)[:, None]).max(axis=1, initial=0.0) > 1e-9
    touched = np.abs(scaled).max(axis=0, initial=0.0) > 1e-12
    rests = np.zeros(layout.n_all, dtype=bool)
    if probe and not moves.all():
        rests = resting_columns(layout, table, s, W_all, (independent, dependent)) & ~moves
    drive = np.linalg.matrix_rank(S, tol=1e-9) if S.size else 0
    return Mobility(
        n_all=layout.n_all,
        n_tree=layout.n_v,
        n_actuated=len(actuated),
        n_loops=len(layout.loops),
        n_couplings=len(layout.couplings),
        rank=selection.rank,
        n_independent=len(independent),
        n_lasting=lasting,
        independent=tuple(names[k] for k in independent),
        dependent=tuple(names[k] for k in dependent),
        actuated=tuple(names[k] for k in actuated),
        J_C=J_C,
        H=H,
        W=W_all[: layout.n_v],
        S=S,
        w=w_all[: layout.n_v],
        W_all=W_all,
        redundant_rows=_redundant_rows(layout, scaled, selection.rank),
        locked=tuple(names[k] for k in range(layout.n_all) if not (moves[k] or rests[k])),
        resting=tuple(names[k] for k in range(layout.n_all) if rests[k]),
        idle=tuple(names[k] for k in range(layout.n_all) if not touched[k]),
        passive=tuple(names[k] for k in range(layout.n_all) if moves[k] and k not in set(actuated.tolist())),
        actuation=actuation_kind(drive, len(actuated), len(independent)),
        singular_values=np.asarray(np.linalg.svd(scaled, compute_uv=False) if scaled.size else (), dtype=np.float64),
        conditioning=selection.conditioning,
        residual=residual,
        switched=switched,
        name=layout.mechanism_name,
        rank_tolerance=layout.rank_tolerance,
        independent_columns=independent,
        dependent_columns=dependent,
    )


def _scales(layout: Layout, J_C: Array) -> tuple[Array, Array]:
    """Factors of rows and columns that make J_C dimensionless: metres are measured in the loops' own size."""
    slides = np.array([label in SLIDING for slot in layout.all_slots for label in slot.coordinates], dtype=bool)
    linear = np.array(([False] * 3 + [True] * 3) * len(layout.loops) + [False] * len(layout.ties), dtype=bool)
    arms = np.abs(J_C[np.ix_(linear, ~slides)])
    # arms that are rounding, as of two hinges on one axis, are no measure
    frames = [layout.arrays["bodies"]["p_PJ"], *(frame.p for loop in layout.loops for frame in (loop.on_A, loop.on_B))]
    size = max(float(np.abs(frame).max()) for frame in frames)
    length = (max(float(arms.max(initial=0.0)), 1e-6 * size) if layout.loops else 0.0) or 1.0
    rows, columns = np.where(linear, 1.0 / length, 1.0), np.where(slides, length, 1.0)
    first = 6 * len(layout.loops)
    rows[first:] = 1.0 / np.abs(J_C[first:] * columns).max(axis=1, initial=0.0)  # a coupling's row has no unit to go by
    return rows, columns


def _redundant_rows(layout: Layout, scaled: Array, rank: int) -> dict[str, int]:
    """Rows of each loop, of six, that all others imply: as many as combinations that vanish have parts in it."""
    vanishing = np.zeros((0, 0)) if layout.is_tree else np.linalg.svd(scaled)[0][:, rank:]
    parts = [slice(6 * i, 6 * i + 6) for i in range(len(layout.loops))]
    parts += [slice(row, row + 1) for row in range(6 * len(layout.loops), len(scaled))]
    return {
        one.name: int(np.linalg.matrix_rank(vanishing[part], tol=1e-7)) if vanishing.size else 0
        for one, part in zip(layout.constraints, parts, strict=True)
    }


def actuation_kind(drive: int, n_actuated: int, n_independent: int) -> str:
    """How actuators whose S has the rank `drive` stand to the degrees of freedom."""
    if drive < n_independent:
        return "under-actuated"
    return "fully actuated" if n_actuated == n_independent else "redundantly actuated"
