"""Record arrays of a mechanism's loops: rows by joint type, supporting freedoms, pairs that share freedoms."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.records import ANGULAR, AXIS, CROSSED, HELICAL, LINEAR, LOOP, PAIR, ROW, WHOLE
from varichain.layout.tree import TreeRecords
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link

Array = NDArray[Any]

# Directions in which a joint lets its two frames not move, along the axes of its frame B, whose z is the joint's axis.
ROWS: dict[str, tuple[tuple[int, int], ...]] = {
    "fixed": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2), (ANGULAR, 0), (ANGULAR, 1), (ANGULAR, 2)),
    "revolute": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2), (ANGULAR, 0), (ANGULAR, 1)),
    "prismatic": ((LINEAR, 0), (LINEAR, 1), (ANGULAR, 0), (ANGULAR, 1), (ANGULAR, 2)),
    "screw": ((LINEAR, 0), (LINEAR, 1), (HELICAL, 2), (ANGULAR, 0), (ANGULAR, 1)),
    "cylindrical": ((LINEAR, 0), (LINEAR, 1), (ANGULAR, 0), (ANGULAR, 1)),
    "planar": ((LINEAR, 2), (ANGULAR, 0), (ANGULAR, 1)),
    "universal": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2), (CROSSED, 2)),
    "spherical": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2)),
    "free": (),
}
_WHOLE_ROTATION = ("fixed", "prismatic")


def loop_arrays(virtual_links: tuple[Link, ...], tree: TreeRecords) -> dict[str, Array]:
    """Arrays of the loops that the virtual links close, by the names that the address table gives them."""
    loops = np.zeros(len(virtual_links), LOOP)
    kinds = [link.joint.kind for link in virtual_links]  # type: ignore[union-attr]
    n_rows = [len(ROWS[kind]) for kind in kinds]
    first_row = np.concatenate([[0], np.cumsum(n_rows)]).astype(int).tolist()
    ways = [_ways(link, tree) for link in virtual_links]
    support = [own_A + own_B + common for own_A, own_B, common in ways]
    for i, link in enumerate(virtual_links):
        _fill_geometry(loops[i], link, tree)
        loops[i]["row"], loops[i]["n_rows"] = first_row[i], n_rows[i]
    sizes = [len(freedoms) for freedoms in support]
    strides = [3 * ((n + 2) // 3) for n in n_rows]  # the kernels take rows three at a time
    blocks = np.concatenate([[0], np.cumsum(np.multiply(sizes, strides))]).astype(int).tolist()
    loops["n_support"] = sizes
    loops["n_support_A"] = [len(own_A) for own_A, _, _ in ways]
    loops["n_support_B"] = [len(own_B) for _, own_B, _ in ways]
    loops["support"] = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    loops["propagated"] = blocks[:-1]
    pairs, shared, first_loop = _pairs(loops, support, blocks, strides)
    rows = _rows(kinds, first_row, first_loop)
    n_entries = int(rows[-1]["entry"] + len(rows) - rows[-1]["first"]) if len(rows) else 0
    return {
        "loops": loops,
        "rows": rows,
        "pairs": pairs,
        "support": np.array([k for freedoms in support for k in freedoms], dtype=np.int64),
        "shared": np.array(shared, dtype=np.int64),
        "propagated": np.zeros(blocks[-1]),
        "gram": np.zeros(n_entries),
        "multipliers": np.zeros(len(rows)),
    }


def _fill_geometry(loop: Any, link: Link, tree: TreeRecords) -> None:
    """Bodies and frames of a loop: A on the real link, B on the parent of the virtual one."""
    body_A, X_A = tree.place[link.real]  # type: ignore[index]
    body_B, X_B = tree.place[link.parent]  # type: ignore[index]
    joint: Joint = link.joint  # type: ignore[assignment]
    axes = [primitive.R for primitive in joint.primitives()]
    R = axes[-1] if joint.kind == "planar" else (axes[0] if axes else np.eye(3))
    X_A, X_B = X_A @ link.on_real, X_B @ link.at
    loop["body_A"], loop["body_B"] = body_A, body_B
    loop["orientation"] = WHOLE if joint.kind in _WHOLE_ROTATION else AXIS
    loop["R_A"], loop["p_A"] = (X_A.R @ R).ravel(), X_A.p
    loop["R_B"], loop["p_B"] = (X_B.R @ R).ravel(), X_B.p
    if joint.kind == "screw":
        loop["pitch"] = joint.primitives()[0].pitch
    if joint.kind == "universal":
        first, second = axes[0][:, 2], axes[1][:, 2]
        loop["axis_A"] = R.T @ second
        loop["angle"] = math.atan2(float(np.linalg.norm(np.cross(first, second))), float(first @ second))


def _ways(link: Link, tree: TreeRecords) -> tuple[list[int], list[int], list[int]]:
    """Freedoms on the ways from both bodies of a loop to the ground, outermost first: A's own, B's own, common."""
    if not ROWS[link.joint.kind]:  # type: ignore[union-attr]
        return [], [], []
    way_A, way_B = (_way(tree.last_dof[tree.place[end][0]], tree) for end in (link.real, link.parent))  # type: ignore[index]
    common = 0
    while common < min(len(way_A), len(way_B)) and way_A[-1 - common] == way_B[-1 - common]:
        common += 1
    meet_A, meet_B = len(way_A) - common, len(way_B) - common
    return way_A[:meet_A], way_B[:meet_B], way_A[meet_A:]


def _way(k: int, tree: TreeRecords) -> list[int]:
    way = []
    while k >= 0:
        way.append(k)
        k = tree.dof_parent[k]
    return way


def _pairs(
    loops: Array, support: list[list[int]], blocks: list[int], strides: list[int]
) -> tuple[Array, list[int], list[int]]:
    """Pairs of loops that share freedoms, the shared freedoms with their places, and each loop's earliest partner."""
    place = []
    users: dict[int, list[int]] = defaultdict(list)
    meeting: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, freedoms in enumerate(support):
        place.append({k: blocks[i] + j * strides[i] for j, k in enumerate(freedoms)})
        for k in freedoms:
            for earlier in users[k]:
                meeting[i, earlier].append(k)
            users[k].append(i)
    pairs: list[tuple[int, int, int]] = []
    shared: list[int] = []
    first_loop = list(range(len(support)))
    count = [0] * len(support)
    for later, earlier in sorted(meeting):
        freedoms = meeting[later, earlier]
        pairs.append((earlier, len(shared), len(freedoms)))
        for k in freedoms:
            shared += [k, place[later][k], place[earlier][k]]
        first_loop[later] = min(first_loop[later], earlier)
        count[later] += 1
    loops["n_pairs"] = count
    loops["pair"] = np.concatenate([[0], np.cumsum(count)])[:-1]
    return np.array(pairs, PAIR), shared, first_loop


def _rows(kinds: list[str], first_row: list[int], first_loop: list[int]) -> Array:
    """Rows of all loops, with their places in the packed Gram matrix."""
    given = []
    entry = 0
    for i, kind in enumerate(kinds):
        first = first_row[first_loop[i]]
        for j, (row_kind, axis) in enumerate(ROWS[kind]):
            given.append((row_kind, axis, first, entry))
            entry += first_row[i] + j - first + 1
    rows = np.zeros(len(given), ROW)
    for column, field in enumerate(("kind", "axis", "first", "entry")):
        rows[field] = [row[column] for row in given]
    return rows
