"""Inertias of files, which often belong to no body: refused, or repaired with a word on what was done."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InertiaError
from varichain.formats.description import Description
from varichain.mechanism.inertia import Inertia
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

_NOTHING = 1e-12  # [m^2] times mass: rounding that was left where nothing was meant


def file_inertia(
    description: Description, link: str, line: int | None, mass: float, about_com: Array, at: Pose
) -> Inertia:
    """Inertia of a link from mass, rotational inertia about the centre of mass, and the pose of its axes.

    One that no body has is repaired, with a note; or, if the description is strict, listed for `refuse_improper`.
    """
    if mass == 0.0 and not about_com.any():
        return Inertia.zero()
    with description.located(line):
        turned = at.R @ about_com @ at.R.T
        try:
            return Inertia(mass, at.p, 0.5 * (turned + turned.T))
        except InertiaError as error:
            if mass < 0.0:
                raise
            if description.strict and np.abs(turned).max() > _NOTHING * mass:
                description.improper.append((link, line, str(error)))
                return Inertia.zero()
        return _repaired(description, link, line, mass, 0.5 * (turned + turned.T), at)


def refuse_improper(description: Description) -> None:
    """Raise if inertias were found that no body has and that may not be repaired."""
    if not description.improper:
        return
    first, others = description.improper[0], description.improper[1:]
    more = f"; so are those of {', '.join(repr(link) for link, *_ in others[:8])}" if others else ""
    more += f" and {len(others) - 8} more" if len(others) > 8 else ""
    raise description.error(
        f"the inertia of link {first[0]!r} is none that a body has: {first[2]}{more}. Correct the file, or load it "
        "with strict=False, which takes the nearest inertia of a body and notes what was changed",
        first[1],
    )


def _repaired(description: Description, link: str, line: int | None, mass: float, matrix: Array, at: Pose) -> Inertia:
    if mass <= 0.0:
        description.source.note(
            f"repaired: link {link!r} has mass {mass:g} kg and a rotational inertia of up to {np.abs(matrix).max():.3g}"
            " kg m^2; taken as massless",
            line,
        )
        return Inertia.zero()
    # A body exists if and only if no second moment of its mass, an eigenvalue of tr(I)/2 1 - I, is negative.
    moments, axes = np.linalg.eigh(0.5 * np.trace(matrix) * np.eye(3) - matrix)
    second = (axes * np.maximum(moments, 0.0)) @ axes.T
    nearest = np.trace(second) * np.eye(3) - second
    was, now = np.linalg.eigvalsh(matrix), np.linalg.eigvalsh(nearest)
    description.source.note(
        f"repaired: no body has the inertia of link {link!r}; principal moments {_listed(was)} became {_listed(now)} "
        "kg m^2",
        line,
    )
    return Inertia(mass, at.p, 0.5 * (nearest + nearest.T))


def _listed(moments: NDArray[np.floating[Any]]) -> str:
    return ", ".join(f"{moment:.4g}" for moment in moments)
