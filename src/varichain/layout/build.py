"""Arrays of a structure, as the kernels want them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.build_loops import build_loops, build_pairs, count_loops, count_pairs
from varichain.kernels.build_tree import build_tree
from varichain.kernels.records import BODY, DOF, LINK, LOOP, LOOP_SPEC, PAIR, ROW, SPEC
from varichain.kernels.tables import as_records
from varichain.layout.specs import link_spec, loop_spec
from varichain.mechanism.link import Link

Arrays = dict[str, NDArray[Any]]

_GROUND = np.zeros((), SPEC).tobytes()


def tree_arrays(
    links: tuple[Link, ...], row: dict[Link, int], n_v: int, gravity: NDArray[np.float64]
) -> tuple[Arrays, int]:
    """Bodies, freedoms and links of a tree, and the row of a massless link that can move (0 if there is none)."""
    specs = _records(b"".join([_GROUND, *map(link_spec, links)]), SPEC)
    specs["parent"][1:] = [row[link.parent] for link in links]  # type: ignore[index]
    n_bodies = 1 + int(specs["n_primitives"].sum())
    bodies, dofs, links_out = _zeros(n_bodies, BODY), _zeros(n_v, DOF), _zeros(len(specs), LINK)
    massless = build_tree(specs, gravity.copy(), bodies, dofs, links_out)
    return {"bodies": bodies, "dofs": dofs, "links": links_out}, int(massless)


def loop_arrays(virtual: tuple[Link, ...], row: dict[Link, int], tree: Arrays) -> Arrays:
    """Loops, rows, pairs and their lists, for the loops that virtual links close."""
    specs = _records(b"".join(map(loop_spec, virtual)), LOOP_SPEC)
    if virtual:
        specs["link_A"] = [row[link.real] for link in virtual]  # type: ignore[index]
        specs["link_B"] = [row[link.parent] for link in virtual]  # type: ignore[index]
    counts = np.zeros(3, np.int64)
    if virtual:
        count_loops(specs, tree["bodies"], tree["dofs"], tree["links"], counts)
    n_rows, n_support, n_propagated = counts.tolist()
    loops, rows, support = _zeros(len(specs), LOOP), _zeros(n_rows, ROW), np.zeros(n_support, np.int64)
    pairs, shared, n_gram = _zeros(0, PAIR), np.zeros(0, np.int64), 0
    if virtual:
        build_loops(specs, tree["bodies"], tree["dofs"], tree["links"], loops, rows, support)
        mark, counts = np.zeros(len(tree["dofs"]), np.int64), np.zeros(2, np.int64)
        count_pairs(loops, support, mark, counts)
        pairs, shared = _zeros(int(counts[0]), PAIR), np.zeros(3 * counts[1], np.int64)
        n_gram = build_pairs(loops, support, mark, rows, pairs, shared)
    return {
        "loops": loops,
        "rows": rows,
        "pairs": pairs,
        "support": support,
        "shared": shared,
        "propagated": np.zeros(n_propagated),
        "gram": np.zeros(n_gram),
        "multipliers": np.zeros(n_rows),
    }


def _zeros(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return as_records(np.zeros(n, dtype))


def _records(data: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Array of records from their bytes, in memory of its own."""
    records = np.empty(len(data) // dtype.itemsize, dtype)
    records.view(np.uint8)[:] = np.frombuffer(data, np.uint8)
    return as_records(records)
