"""Arrays of records that grow row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.tables import as_records


class Rows:
    """Records of one kind with names, gathered in lists and handed out as one array."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        """No record yet."""
        self._dtype = dtype
        self._new: list[dict[str, Any]] = []
        self._array: NDArray[Any] = as_records(np.zeros(0, dtype))
        self.names: list[str] = []

    def add(self, name: str, **values: Any) -> int:
        """Add a record; fields that are not given are zero. Returns its place."""
        self._new.append(values)
        self.names.append(name)
        return len(self.names) - 1

    @property
    def array(self) -> NDArray[Any]:
        """All records, in place."""
        if self._new:
            new = np.zeros(len(self._new), self._dtype)
            for field in {field for values in self._new for field in values}:
                new[field] = [values.get(field, np.zeros((), self._dtype[field])) for values in self._new]
            self._array = as_records(np.concatenate([np.asarray(self._array, self._dtype), new]))
            self._new = []
        return self._array

    def remove(self, place: int) -> None:
        """Remove a record; those after it move up."""
        self._array = as_records(np.delete(np.asarray(self.array, self._dtype), place))
        del self.names[place]

    def __len__(self) -> int:
        """Number of records."""
        return len(self.names)
