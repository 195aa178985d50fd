"""Functions over independent velocities: gradients and Hessians that have the loops and couplings in them.

K v = 0 holds for v = W y, y the velocities of independent freedoms of the tree: udot = Gbar y, uddot = Gbar ydot + y^T
Hbar y with Gbar = G W and Hbar_ba = W_b^T H W_a + G dW_ba, where K dW_ba = -W_b^T HK W_a.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from varichain.animation.closure import closure_error
from varichain.animation.program import Evaluation
from varichain.dynamics.arguments import Table
from varichain.dynamics.assembly import close_loops
from varichain.dynamics.coordinates import select
from varichain.dynamics.preferences import check_preferred, classes, columns_of
from varichain.dynamics.rank import counting, kept_rows
from varichain.errors import AssemblyError, InputError
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.spatial.arrays import Array
from varichain.spatial.report import Listing, Report, Reported, names, numbers

if TYPE_CHECKING:
    from varichain.animation.space import AnimationSpace

Indices = NDArray[np.intp]

_NEARLY_CLOSED = 1e-6  # gaps above this are not rounding: the state is not assembled
_RANK = 1e-9  # singular values of rows of length 1 below this part of the largest are zero
_MOVES = 1e-12  # rows that are shorter do not move


@dataclass(frozen=True, eq=False)
class Following:
    """How all velocities of the tree follow independent ones: v = W y, a = W ydot + w.

    Attributes:
        independent: Columns of v that are y.
        W: (n_v, n_f). w: (n_v,), for the velocities of the state.
        dW: (n_v, n_f, n_f), dW[:, b, a] the change of column a along column b; None if it was not asked for.
        is_free: Whether nothing follows: all velocities are independent.
    """

    independent: Indices
    W: Array
    w: Array
    dW: Array | None
    is_free: bool = False

    def over(self, G: Array) -> Array:
        """G W: rows over independent velocities, from rows over all."""
        return G if self.is_free else np.asarray(G @ self.W, dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Reduced(Reported):
    """An animation space over independent velocities, in one state.

    Attributes:
        names: Of the dimensions.
        independent: Names of the freedoms whose velocities are y.
        gradient: Gbar (m, n_f): udot = Gbar y + df/dt.
        hessian: Hbar (m, n_f, n_f), first index the direction of differentiation; None if it was not asked for.
        bias: uddot (m,) while ydot is zero.
        W, w, dW: v = W y, a = W ydot + w, and the change of W.
        rank: Dimensions that can be moved independently of each other.
        blocked: Combinations of dimensions that no motion changes, each with its coefficients by name.
        singular_values: Of Gbar with rows of length 1.
        conditioning: Smallest of the `rank` largest singular values, as a part of the largest.
    """

    names: tuple[str, ...]
    independent: tuple[str, ...]
    gradient: Array
    hessian: Array | None
    bias: Array
    W: Array
    w: Array
    dW: Array | None
    rank: int
    blocked: tuple[dict[str, float], ...]
    singular_values: Array
    conditioning: float
    name: str = field(repr=False)

    def report(self) -> Report:
        """Rank, conditioning, and what is blocked."""
        blocked = "; ".join(" + ".join(f"{x:.4g} {name}" for name, x in one.items()) for one in self.blocked)
        rows = [
            ("dimensions", f"{len(self.names)}: {names(self.names)}"),
            ("independent freedoms", f"{len(self.independent)}: {names(self.independent)}"),
            ("rank", str(self.rank)),
            ("conditioning", f"{self.conditioning:.3g}"),
            ("singular values", numbers(self.singular_values)),
            ("blocked", blocked or "none"),
        ]
        return f"animation space of {self.name!r} in a state", (Listing(("", ""), rows),)


def reduce(
    space: AnimationSpace, layout: Layout, found: Evaluation, following: Following, has_hessian: bool
) -> Reduced:
    """The space over independent velocities, from its evaluation and from how velocities follow."""
    W, dW = following.W, following.dW
    gradient = following.over(found.gradient)
    hessian = None
    if has_hessian:
        hessian = np.einsum("jb,ijk,ka->iba", W, found.hessian, W, optimize=True)
        if dW is not None:
            hessian = hessian + np.einsum("ik,kba->iba", found.gradient, dW, optimize=True)
    rank, sigma, blocked = _blocked(gradient, space.names)
    return Reduced(
        names=space.names,
        independent=tuple(layout.freedom_name(int(k)) for k in following.independent),
        gradient=gradient,
        hessian=hessian,
        bias=np.asarray(found.bias + found.gradient @ following.w, dtype=np.float64),
        W=W,
        w=following.w,
        dW=dW,
        rank=rank,
        blocked=blocked,
        singular_values=sigma,
        conditioning=float(sigma[rank - 1] / sigma[0]) if rank else 0.0,
        name=space.mechanism.name,
    )


def follow(
    closures: AnimationSpace | None,
    layout: Layout,
    table: Table,
    s: State,
    prefer: Iterable[str] = (),
    has_change: bool = False,
) -> Following:
    """How velocities follow independent ones in a state whose loops are closed; `closures` are their errors.

    Raises:
        AssemblyError: The loops are open.
        PreferenceError: The preferred freedoms depend on each other.
    """
    n = layout.n_v
    preferred = columns_of(layout, prefer)
    if (preferred >= n).any():
        raise InputError("freedoms of joints that close loops have no coordinates: prefer freedoms of the tree")
    if closures is None:
        nothing = np.zeros((n, n, n)) if has_change else None
        return Following(np.arange(n), np.eye(n), np.zeros(n), nothing, is_free=True)
    kept = kept_rows(layout, table, s.q)
    errors = np.abs(counting(layout, closures.value(s), kept))
    if errors.max() > _NEARLY_CLOSED:
        raise AssemblyError(
            f"the loops are open by {errors.max():.3g} [m or rad]: call assemble(m, s) first",
            {name: float(errors[where].max()) for name, where in closures.slices.items()},
        )
    found = closures.at(s)
    K = found.gradient[kept]
    size = np.linalg.norm(K, axis=1)
    selection, _ = select(K / size[:, None], classes(layout, preferred)[:n])
    check_preferred(layout, selection, preferred)
    independent, dependent = selection.independent, selection.dependent
    K_S = K[:, dependent]
    W, w = np.zeros((n, len(independent))), np.zeros(n)
    W[independent] = np.eye(len(independent))
    W[dependent] = -np.linalg.solve(K_S, K[:, independent])
    w[dependent] = -np.linalg.solve(K_S, found.bias[kept])
    dW = None
    if has_change:
        dW = np.zeros((n, len(independent), len(independent)))
        HK = np.einsum("jb,ijk,ka->iba", W, closures.hessian(s)[kept], W, optimize=True)
        dW[dependent] = -np.linalg.solve(K_S, HK.reshape(len(K_S), -1)).reshape(HK.shape)
    return Following(independent, W, w, dW)


def closures_of(space: AnimationSpace, layout: Layout) -> AnimationSpace | None:
    """Closure errors of all loops and couplings that have rows; None of a tree."""
    made = {one.name: closure_error(space.mechanism, one.name) for one in layout.constraints}
    having = {name: function for name, function in made.items() if function.size}
    return type(space)(space.mechanism, having) if having else None


def closed_copy(layout: Layout, table: Table, s: State) -> State:
    """The state with small gaps of its loops closed, on a copy."""
    if layout.is_tree:
        return s
    closed = s.copy()
    close_loops(layout, table, closed.q)
    return closed


def _blocked(gradient: Array, names: tuple[str, ...]) -> tuple[int, Array, tuple[dict[str, float], ...]]:
    """Rank of the rows, their singular values, and combinations that vanish, with few coefficients each."""
    size = np.linalg.norm(gradient, axis=1)
    largest = float(size.max(initial=0.0))
    is_moving = size > _MOVES * max(1.0, largest)
    scale = np.where(is_moving, 1.0 / np.where(is_moving, size, 1.0), 1.0)
    rows = np.where(is_moving[:, None], scale[:, None] * gradient, 0.0)
    U, sigma, _ = np.linalg.svd(rows, full_matrices=True)
    rank = int((sigma > _RANK * sigma.max(initial=0.0)).sum()) if sigma.max(initial=0.0) > 0.0 else 0
    combinations = []
    for row in _echelon(U[:, rank:].T):
        weights = row * scale
        weights = weights / np.abs(weights).max()
        combinations.append({names[i]: float(x) for i, x in enumerate(weights) if abs(x) > 1e-9})
    return rank, np.asarray(sigma, dtype=np.float64), tuple(combinations)


def _echelon(rows: Array) -> Array:
    """The same space spanned by rows with as few entries as Gauss and Jordan leave."""
    left = rows.copy()
    for i in range(len(left)):
        column = int(np.argmax(np.abs(left[i])))
        left[i] /= left[i, column]
        for j in range(len(left)):
            if j != i:
                left[j] -= left[j, column] * left[i]
    return left
