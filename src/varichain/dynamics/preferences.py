"""Which freedoms a user, or their actuators, would rather have independent."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.coordinates import PREFERRED, Selection
from varichain.errors import PreferenceError, UnknownNameError
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array
from varichain.spatial.checks import listed

Indices = NDArray[np.intp]

SLIDING = ("displacement", "x", "y", "vx", "vy", "vz")
"""Labels of freedoms that are lengths, not angles."""


def classes(layout: Layout, preferred: Indices) -> Array:
    """Order in which freedoms become dependent: virtual and unactuated ones first, preferred ones last."""
    order = np.zeros(layout.n_all)
    order[actuated_columns(layout)] = 1.0
    order[preferred] = PREFERRED
    return order


def actuated_columns(layout: Layout) -> Indices:
    """Columns of actuated freedoms in v_all."""
    columns = [k for slot in layout.all_slots if slot.actuated for k in range(slot.v.start, slot.v.stop)]
    return np.array(columns, dtype=np.intp)


def columns_of(layout: Layout, names: Iterable[str]) -> Indices:
    """Columns of joints or single freedoms by name."""
    names = listed(names, str, "prefer")
    by_name = {layout.freedom_name(k): [k] for k in range(layout.n_all)}
    by_name |= {slot.name: list(range(slot.v.start, slot.v.stop)) for slot in layout.all_slots}
    columns: list[int] = []
    for name in names:
        if name not in by_name:
            raise UnknownNameError("freedom", name, by_name)
        columns += by_name[name]
    return np.array(sorted(set(columns)), dtype=np.intp)


def check_preferred(layout: Layout, selection: Selection, preferred: Indices) -> None:
    """Raise PreferenceError if a preferred freedom came out dependent."""
    left_out = [layout.freedom_name(int(k)) for k in np.intersect1d(preferred, selection.dependent)]
    if left_out:
        raise PreferenceError(
            f"{len(preferred)} freedoms were asked to be independent, but {', '.join(map(repr, left_out))} depend on "
            f"the others; {len(selection.independent)} freedoms can be chosen, such as "
            f"{[layout.freedom_name(int(k)) for k in selection.independent]}",
            left_out,
        )
