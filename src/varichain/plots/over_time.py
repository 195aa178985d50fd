"""Plots of functions of time, such as the torques of a plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from varichain.errors import UnknownNameError
from varichain.motion import TimeFunctions
from varichain.plots.series import Series

_N_TIMES = 500


def lines_of(functions: TimeFunctions, joints: Sequence[str] | None) -> list[Series]:
    """A line for each freedom of the joints that are named, or of all."""
    for name in joints or ():
        if name not in functions:
            raise UnknownNameError("joint", name, functions.joints)
    start, end = functions.start, functions.end
    times = np.linspace(start, end if end > start else start + 1.0, _N_TIMES)
    lines = []
    for name, values in functions(times).items():
        if joints is None or name in joints:
            columns = np.reshape(values, (_N_TIMES, -1)).T
            labels = [name] if len(columns) == 1 else [f"{name}[{k}]" for k in range(len(columns))]
            lines += [Series(label, times, column) for label, column in zip(labels, columns, strict=True)]
    return lines
