"""Links as flat rows and back, for copies and pickles.

Following the pointers from link to link would copy a chain as deep as it is long, and exceed the recursion limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from varichain.mechanism.link import Link

_POINTERS = ("parent", "child", "brother", "real", "_last_child")

Row = tuple[dict[str, Any], dict[str, int]]


def rows_from_links(links: Iterable[Link]) -> list[Row]:
    """Per link, what it holds itself and the ids of the links that it points to, -1 for none."""
    return [(_contents(link), _pointed_ids(link)) for link in links]


def links_from_rows(rows: Iterable[Row]) -> dict[int, Link]:
    """New links by id; they share only what never changes (joints, poses, inertias, shapes) with the old ones."""
    rows = list(rows)
    links = {contents["id"]: Link(**contents) for contents, _ in rows}
    for contents, pointed in rows:
        links[contents["id"]]._edit(**{pointer: links.get(id) for pointer, id in pointed.items()})
    return links


def _contents(link: Link) -> dict[str, Any]:
    names = ("id", "name", "joint", "at", "inertia", "shapes", "on_real")
    return {name: getattr(link, name) for name in names}


def _pointed_ids(link: Link) -> dict[str, int]:
    targets = {pointer: getattr(link, pointer) for pointer in _POINTERS}
    return {pointer: -1 if target is None else target.id for pointer, target in targets.items()}
