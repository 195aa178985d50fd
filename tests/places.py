"""Places in arrays of records, watched where kernels are plain Python.

Compiled code does not look whether an index is negative (`kernels/indexing.py`): it reads what lies before the array.
"""

import numpy as np


def watch():
    """Let arrays of records count from the front alone; they are np.recarray only in plain Python."""
    plain = np.recarray.__getitem__

    def record(records, place):
        if isinstance(place, int | np.integer) and place < 0:
            raise IndexError(f"kernels count from the front, and {place} is before it")
        return plain(records, place)

    np.recarray.__getitem__ = record
