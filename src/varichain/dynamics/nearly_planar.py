"""Linkages that are planar but for a file's axes, found and made planar.

Three hinges with parallel axes and a ball make a four-bar, whose ball has one row that is redundant: across the plane.
If the axes are not quite parallel, this row locks the linkage. Nobody builds hinges that cannot move, so the linkage is
taken as planar: its axes are turned parallel, and its ball becomes a point on a line across the plane, which a file's
rounded positions cannot lock either.
"""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import opened
from varichain.dynamics.assembly import assemble
from varichain.dynamics.kinematics import pose
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.rank import kept_rows
from varichain.errors import AssemblyError
from varichain.kernels.mass_matrix import mass_matrix
from varichain.kernels.pivots import massless_freedom
from varichain.mechanism.joints import Revolute, Spherical
from varichain.mechanism.link import Link
from varichain.mechanism.loop_joints import PointOnLine
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array

_TILTED = 0.15  # sine of the angle: axes that are further from parallel are meant so
_DOUBTFUL = 1e-4  # part of a row beyond the others below which it is worth a word


def loosen_locked_loops(m: Mechanism) -> list[str]:
    """Make nearly planar linkages that a ball joint locks planar; returns a sentence on each, and on loops in doubt."""
    notes, tilted = [], []
    for link in m.virtual_links:
        found = _tilted_hinges(m, link)
        if found is None or link.joint is None:
            continue
        hinges, n, tilt = found
        name = str(link.joint.name)
        tilted.append(name)
        notes.append(_note(name, tilt, len(hinges)))
        if len(hinges) == 3:
            _make_planar(m, link, hinges, n)
    return notes + _notes_on_weak_rows(m, tilted)


def _tilted_hinges(m: Mechanism, link: Link) -> tuple[list[Link], Array, float] | None:
    """Links of hinges in a loop with a ball whose axes are nearly parallel, their common axis, and the largest tilt.

    Axes are in the world and at zero. The common axis is the one to which all are closest together. None if there is
    nothing to say: fewer than three hinges, other joints, axes that are parallel or not meant to be.
    """
    hinges = [one for one in _around(link) if one.joint is not None and one.joint.n_v]
    is_ball = isinstance(link.joint, Spherical) and not _has_own_forces(link.joint)
    if not is_ball or len(hinges) < 3 or not all(isinstance(hinge.joint, Revolute) for hinge in hinges):
        return None
    axes = np.array([_axis(m, hinge) for hinge in hinges])
    sines = np.linalg.norm(np.cross(axes[:, None], axes), axis=2)
    common = int(sines.sum(axis=0).argmin())
    tilt = float(sines[common].max())
    return (hinges, axes[common], tilt) if m.rank_tolerance < tilt < _TILTED else None


def _axis(m: Mechanism, hinge: Link) -> Array:
    """Axis of a hinge at zero, in the world."""
    joint = hinge.joint
    assert isinstance(joint, Revolute)
    axis: Array = pose(m, m.state(), hinge.name).R @ np.asarray(joint.axis, float)
    return axis


def _around(link: Link) -> list[Link]:
    """Links whose joints lie in the loop that a virtual link closes."""
    assert link.real is not None and link.parent is not None
    one, other = ([end, *end.ancestors] for end in (link.real, link.parent))
    shared = {link.id for link in one} & {link.id for link in other}
    return [link for link in (*one, *other) if link.id not in shared]


def _note(name: str, tilt: float, n_hinges: int) -> str:
    """What is said about a loop of nearly parallel hinges."""
    found = f"loop {name!r}: the axes of its {n_hinges} hinges are parallel to {tilt:.1g} rad only, "
    if n_hinges > 3:
        return found + "so that its ball joint takes three freedoms, where a planar linkage loses two"
    return found + (
        "so that its ball joint would lock them: taken as a planar linkage, with parallel axes and a point on a line "
        "across the plane as its ball; keep_locked=True keeps the file's"
    )


def _make_planar(m: Mechanism, link: Link, hinges: list[Link], n: Array) -> None:
    """Turn the axes of hinges to n, given in the world at zero, and replace the ball by a point on a line along n."""
    assert link.real is not None and link.parent is not None and link.joint is not None
    for hinge in hinges:
        towards = n if n @ _axis(m, hinge) > 0.0 else -n
        assert hinge.joint is not None
        m.edit_joint(str(hinge.joint.name), axis=pose(m, m.state(), hinge.name).R.T @ towards)
    X_WB = pose(m, m.state(), link.parent.name, link.at)
    ends, frames, name = (link.real.name, link.parent.name), (link.on_real, link.at), link.joint.name
    m.cut(str(name))
    m.connect(*ends, PointOnLine(axis=X_WB.R.T @ n), *frames, name=name)


def _notes_on_weak_rows(m: Mechanism, leave_out: list[str]) -> list[str]:
    """A sentence on each loop that is hardly independent of the others, where the mechanism can be assembled."""
    try:
        s = assemble(m, m.state()).state
    except AssemblyError:
        return []
    layout, table = opened(m, s)
    kept_rows(layout, table, s.q)  # measures the rows
    if layout.massless_link is not None or massless_freedom(table) >= 0:
        return []
    sizes = layout.workspaces.of_thread.array("rows")["most"]
    M = np.empty((layout.n_v, layout.n_v))
    mass_matrix(table, s.q, M)
    rows: Array = np.linalg.solve(np.linalg.cholesky(M), constraint_matrix(layout, table, s.q).T).T
    rows /= np.sqrt(np.where(sizes > 0.0, sizes, 1.0))[:, None]  # of a row that nothing moves: zero
    notes = []
    for loop in layout.loops:
        others = np.delete(rows, np.arange(loop.rows.start, loop.rows.stop), axis=0)
        _, sigma, Vt = np.linalg.svd(others, full_matrices=False)
        basis = Vt[sigma > 10.0 * _DOUBTFUL * sigma.max(initial=0.0)]
        own = rows[loop.rows]
        parts = np.linalg.svd(own - own @ basis.T @ basis, compute_uv=False)
        weak = parts[(parts > m.rank_tolerance) & (parts < _DOUBTFUL)]
        if len(weak) and loop.name not in leave_out:
            notes.append(
                f"loop {loop.name!r} is independent of the other joints by {weak.max():.0e} only, and is taken as it is"
            )
    return notes


def _has_own_forces(joint: Spherical) -> bool:
    """Whether springs, dampers, friction, limits or an actuator act in the joint, which the loose one has not."""
    own = (*joint.damping, *joint.friction, *joint.stiffness, *joint.armature)
    return any(own) or joint.limits is not None or bool(joint.actuated)
