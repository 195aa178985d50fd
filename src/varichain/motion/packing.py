"""From tracks to the records and the table that kernels read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.motion import evaluate
from varichain.kernels.run_records import CHANNEL, POSITION, ROTATION, SCALAR
from varichain.kernels.tables import as_records
from varichain.motion.pieces import Pieces
from varichain.motion.track import FREEDOMS, Track
from varichain.spatial.arrays import Array


class Packed:
    """Tracks of several joints as kernels want them, their coordinates one after the other in the order of the joints.

    Attributes:
        channels: Records CHANNEL.
        table: Break times and coefficients.
        q, v: Slices of each joint's coordinates and freedoms.
    """

    def __init__(self, tracks: Mapping[str, Track]) -> None:
        """Lay out the tracks."""
        self.q: dict[str, slice] = {}
        self.v: dict[str, slice] = {}
        self._rows_of: dict[str, range] = {}  # channels of each joint
        records: list[tuple[float, ...]] = []
        parts: list[Array] = []
        n_q = n_v = n_table = 0
        for name, track in tracks.items():
            self.q[name], self.v[name] = slice(n_q, n_q + track.n_q), slice(n_v, n_v + track.n_v)
            n_before = len(records)
            for kind, part in _kinds(track):
                blocks = _blocks(part, kind)
                parts += [part.breaks, *blocks]
                place = n_table + len(part.breaks)
                for block in blocks:
                    shape = len(part.breaks) - 1, part.degree, track.repeat and not part.is_constant
                    records.append((kind, n_v, n_q, n_table, place, *shape, part.breaks[-1] - part.breaks[0]))
                    place += len(block)
                    n_q, n_v = n_q + _N_Q[kind], n_v + _N_V[kind]
                n_table = place
            self._rows_of[name] = range(n_before, len(records))
        self.channels = as_records(np.array(records, CHANNEL))
        self.table: Array = np.concatenate([np.empty(0), *parts])
        self._n_q, self._n_v = n_q, n_v

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Coordinates (n, n_q), velocities (n, n_v) and accelerations (n, n_v) at times (n,) [s]."""
        n = len(times)
        q, v, a = np.empty((n, self._n_q)), np.empty((n, self._n_v)), np.empty((n, self._n_v))
        evaluate(self.channels, self.table, times, q, v, a)
        return q, v, a

    def placed(self, places: Mapping[str, tuple[int, int]]) -> NDArray[Any]:
        """Channels of some joints alone, whose first coordinate and freedom stand elsewhere."""
        rows: list[int] = []
        shifts: list[tuple[int, int]] = []
        for name, (coordinate, dof) in places.items():
            rows_of_joint = self._rows_of[name]
            rows += rows_of_joint
            shifts += [(coordinate - self.q[name].start, dof - self.v[name].start)] * len(rows_of_joint)
        channels = self.channels[np.array(rows, int)]
        shift = np.array(shifts, int).reshape(-1, 2)
        channels["coordinate"] += shift[:, 0]
        channels["dof"] += shift[:, 1]
        return as_records(channels)


_N_Q, _N_V = {SCALAR: 1, ROTATION: 4, POSITION: 3}, {SCALAR: 1, ROTATION: 3, POSITION: 3}


def _kinds(track: Track) -> Iterator[tuple[int, Pieces]]:
    """Parts of a track, each with the kind of its channels."""
    kinds = [SCALAR] * len(track.parts) if track.kind == FREEDOMS else [ROTATION, POSITION]
    return zip(kinds, track.parts, strict=False)


def _blocks(part: Pieces, kind: int) -> list[Array]:
    """Coefficients as the table has them, piece after piece; of scalars one block for each."""
    by_piece = part.coefficients.transpose(1, 2, 0)  # (n, width, degree + 1)
    if kind == SCALAR:
        return [by_piece[:, j].ravel() for j in range(part.width)]
    rows = by_piece.reshape(len(by_piece), -1)
    return [rows.ravel() if part.quaternions is None else np.hstack([part.quaternions, rows]).ravel()]
