"""A word about runs whose energy books do not balance."""

from __future__ import annotations

import warnings

from varichain.errors import CoarseRunWarning
from varichain.trace.books import Books

# Part of the energy turned over by which books may be off.
_OFF = 1e-4


def warn_if_coarse(books: Books, method: str) -> None:
    """Warn if the books are off by more than 1e-4 of the energy turned over."""
    if books.error > _OFF:
        remedy = "a smaller step, or method='rk45'" if method in ("euler", "rk4") else "a smaller tolerance"
        warnings.warn(
            f"the energy books of this run are off by {100 * books.error:.2g} % of the energy turned over "
            f"({books.off:.3g} of {books.turned_over:.3g} J): the run is that coarse; take {remedy}",
            CoarseRunWarning,
            stacklevel=4,
        )
