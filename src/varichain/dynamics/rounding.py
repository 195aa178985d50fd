"""Loops whose rows are independent by the rounding of a file only, found and loosened.

A planar linkage from a file with axes of four digits is not quite planar. A ball joint that closes it then locks what
should move: its row across the plane is independent of the others, by 1e-4 of itself. Such a joint is loosened: it
becomes a point on a line across the plane, which a mechanical engineer would have built.
"""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import Table, opened
from varichain.dynamics.assembly import assemble
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.rank import kept_rows
from varichain.errors import AssemblyError
from varichain.kernels.mass_matrix import mass_matrix
from varichain.kernels.pivots import massless_freedom
from varichain.layout.state import State
from varichain.mechanism.joints import Spherical
from varichain.mechanism.link import Link
from varichain.mechanism.loop_joints import PointOnLine
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array

_DOUBTFUL = 1e-4  # part below which that is worth a word
_ROUNDING = 1e-3  # part of a row beyond the others that may be a file's rounding
_ELSEWHERE = 1e-2  # the same in other postures, where axes that are rounded add up
_STRONGER = 5.0  # how much more the other rows of the joint must be
_POSTURES, _AWAY = 3, 0.2  # other postures in which it must be so too, and how far away they begin [rad or m]


def loosen_rounded_loops(m: Mechanism) -> list[str]:
    """Loosen ball joints that are independent by rounding only, in every posture; returns a sentence on each.

    Mechanisms that cannot be assembled from zero, or have freedoms without inertia, stay as they are.
    """
    notes: list[str] = []
    for name in [link.joint.name for link in m.virtual_links if link.joint is not None]:
        try:
            notes += _loosened(m, str(name))
        except AssemblyError:
            return notes
    return notes


def _loosened(m: Mechanism, name: str) -> list[str]:
    """Loosen one loop if that is due; returns a sentence about it."""
    s = m.state()
    if s.layout.massless_link is not None:
        return []
    s = assemble(m, s).state
    table = s.layout.workspaces.of_thread.table
    kept_rows(s.layout, table, s.q)
    if massless_freedom(table) >= 0:
        return []
    parts, axis = _weak_rows(m, s, name, _ROUNDING)
    link, joint = m.link_of_joint(name), m.joint(name)
    if axis is None or not isinstance(joint, Spherical) or _has_own_forces(joint):
        weak = parts[(parts > m.rank_tolerance) & (parts < _DOUBTFUL)]
        if not len(weak):
            return []
        return [f"loop {name!r} is independent of the other joints by {weak.max():.0e} only, and is taken as it is"]
    loose = m.copy()
    _replace(loose, loose.link_of_joint(name), axis)
    rng = np.random.default_rng(0)  # same file, same mechanism
    for _ in range(_POSTURES):
        start = loose.state()
        start.q[:] = s.q
        start = start.integrate(_AWAY * rng.uniform(-1.0, 1.0, s.layout.n_v))
        there = m.state()
        there.q[:] = assemble(loose, start).state.q
        if _weak_rows(m, there, name, _ELSEWHERE)[1] is None:
            return []
    _replace(m, link, axis)
    along = ", ".join(f"{x:.3g}" for x in axis)
    return [
        f"loop {name!r} is independent of the other joints by {parts[-1]:.0e} only along ({along}), in all postures: "
        "taken as the file's rounding, and the ball joint as a point on a line there; keep_rounding=True keeps the ball"
    ]


def _weak_rows(m: Mechanism, s: State, name: str, most: float) -> tuple[Array, Array | None]:
    """Parts of a loop's rows beyond all other rows, and the direction of the last if it alone is below `most`.

    The direction is in the axes of frame B, for the three rows of a ball joint.
    """
    layout, table = opened(m, s)
    loop = next(loop for loop in layout.loops if loop.name == name)
    scaled = _scaled_rows(m, s, table)
    others = np.delete(scaled, np.arange(loop.rows.start, loop.rows.stop), axis=0)
    _, sigma, Vt = np.linalg.svd(others, full_matrices=False)
    basis = Vt[sigma > _ROUNDING * sigma.max(initial=0.0)]
    own = scaled[loop.rows]
    U, parts, _ = np.linalg.svd(own - own @ basis.T @ basis, full_matrices=False)
    is_weak = len(parts) > 1 and layout.rank_tolerance < parts[-1] < most and parts[-2] > _STRONGER * parts[-1]
    return parts, (U[:, -1] if is_weak else None)


def _scaled_rows(m: Mechanism, s: State, table: Table) -> Array:
    """Rows in the metric of the masses (n_rows, n_v), each as a part of the largest that its loop allows."""
    layout = s.layout
    kept_rows(layout, table, s.q)  # measures the rows
    sizes = layout.workspaces.of_thread.array("rows")["most"]
    M = np.empty((layout.n_v, layout.n_v))
    mass_matrix(table, s.q, M)
    rows: Array = np.linalg.solve(np.linalg.cholesky(M), constraint_matrix(layout, table, s.q).T).T
    return rows / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))[:, None]  # of a row that nothing moves: zero


def _has_own_forces(joint: Spherical) -> bool:
    """Whether springs, dampers, friction, limits or an actuator act in the joint, which the loose one has not."""
    own = (*joint.damping, *joint.friction, *joint.stiffness, *joint.armature)
    return any(own) or joint.limits is not None or bool(joint.actuated)


def _replace(m: Mechanism, link: Link, axis: Array) -> None:
    """Replace the ball joint of a virtual link by a point on a line."""
    assert link.real is not None and link.parent is not None and link.joint is not None
    ends = link.real.name, link.parent.name
    at, at_other, name = link.on_real, link.at, link.joint.name
    m.cut(str(name))
    m.connect(*ends, PointOnLine(axis=axis), at, at_other, name=name)
