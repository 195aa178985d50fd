"""A word about runs whose energy books do not balance."""

from __future__ import annotations

import warnings

from varichain.errors import CoarseRunError, CoarseRunWarning
from varichain.trace.books import Books

# Parts of the energy turned over by which books may be off: without a word, and at all.
_OFF, _FAR_OFF = 1e-4, 0.1
# Steps of a run that can be judged so hard: n Euler steps from rest are off by 1 / n, however short they are.
_FEW = 100


def require_balance(books: Books, method: str, time: float, n_steps: int) -> None:
    """Raise CoarseRunError if the books are off by more than a tenth of the energy turned over."""
    if books.error > _FAR_OFF and n_steps > _FEW:
        raise CoarseRunError(f"{_found(books)}: this is not the motion of the mechanism; {_remedy(method)}", time)


def warn_if_coarse(books: Books, method: str) -> None:
    """Warn if the books are off by more than 1e-4 of the energy turned over."""
    if books.error > _OFF:
        warnings.warn(
            f"{_found(books)}: the run is that coarse; {_remedy(method)}",
            CoarseRunWarning,
            stacklevel=4,
        )


def _found(books: Books) -> str:
    return (
        f"the energy books of this run are off by {100 * books.error:.2g} % of the energy turned over "
        f"({books.off:.3g} of {books.turned_over:.3g} J)"
    )


def _remedy(method: str) -> str:
    if method in ("implicit", "stepping"):
        return "take a smaller step"
    return "take " + ("a smaller step, or method='rk45'" if method in ("euler", "rk4") else "a smaller tolerance")
