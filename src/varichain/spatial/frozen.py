"""Immutability."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray


class Frozen:
    """Base of immutable classes, dataclasses or not: attributes are set with `_set`, during construction."""

    __slots__ = ()

    def _set(self, name: str, value: object) -> None:
        """Set an attribute of an object that is being made."""
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: the object may be shared."""
        raise AttributeError(f"cannot set {name!r}: {type(self).__name__} objects never change; make a new one")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: the object may be shared."""
        raise AttributeError(f"cannot delete {name!r}: {type(self).__name__} objects never change; make a new one")


def read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same array, locked against writing."""
    array.setflags(write=False)
    return array
