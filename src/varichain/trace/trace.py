"""Traces: what a simulation did, epoch by epoch."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, UnknownNameError
from varichain.files import Path, file_name
from varichain.mechanism.log import StructureLog, log_from
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_scalar, flag, instance, listed
from varichain.trace.books import Books
from varichain.trace.checkpoint import Checkpoint
from varichain.trace.epoch import Epoch, JointTrace
from varichain.trace.labels import PER_FREEDOM
from varichain.trace.text import count, table

if TYPE_CHECKING:
    from varichain.layout.state import State


OUTCOMES = ("complete", "stopped", "interrupted", "diverged", "error")


class Trace:
    """What a simulation did: epochs of constant structure, each with its samples and the event that ended it.

    Attributes:
        epochs: The epochs, in order.
        meta: What the run was made with: method, step, seed, version, ...
        log: What happened, as plain values: structure changes (see `structure_log`), and what else was noted.
        outcome: "complete", "stopped", "interrupted", "diverged" or "error".
        message: Why, if there is something to say.
        damage: None, or what is lost because the file was damaged.
    """

    def __init__(
        self,
        epochs: Sequence[Epoch],
        meta: dict[str, Any],
        log: Sequence[dict[str, Any]] = (),
        checkpoint: Checkpoint | None = None,
        outcome: str = "complete",
        message: str | None = None,
        damage: str | None = None,
    ) -> None:
        """Put a trace together; `TraceWriter` and `Trace.load` do."""
        self.epochs = tuple(epochs)
        self.meta = meta
        self.log = list(log)
        self.outcome = outcome
        self.message = message
        self.damage = damage
        self._checkpoint = checkpoint

    # Questions

    @property
    def checkpoint(self) -> dict[str, Any] | None:
        """The latest checkpoint: what a continuation needs; None if there is none."""
        return None if self._checkpoint is None else self._checkpoint.content

    @property
    def memory(self) -> dict[str, dict[str, Any]]:
        """States of discrete controllers at the latest checkpoint, as a rule the end, by controller and name."""
        laws = (self.checkpoint or {}).get("laws", {})
        return {law: {name: np.array(x) for name, x in found["state"].items()} for law, found in laws.items()}

    @property
    def checkpoint_place(self) -> Checkpoint:
        """The latest checkpoint, with how far the trace had come when it was taken.

        Raises:
            InputError: There is none.
        """
        if self._checkpoint is None:
            raise InputError("the trace has no checkpoint")
        return self._checkpoint

    @cached_property
    def time(self) -> Array:
        """Times of all samples (n,) [s]."""
        return np.concatenate([epoch.time for epoch in self.epochs]) if self.epochs else np.empty(0)

    def at(self, t: float, before: bool = False) -> State:
        """State at a time [s]: exact at samples, cubic between samples of one epoch (see `trace.hermite`).

        At the instant of an event, the side after it, or the side `before`. Between samples loops are closed as well as
        a cubic follows them; `vc.project` closes them to rounding.

        Raises:
            InputError: The trace does not reach there, or what it said is lost.
        """
        return self.epoch_at(t, before).at(t, before)

    def epoch_at(self, t: float, before: bool = False) -> Epoch:
        """Epoch that has the state at a time [s]; `epoch_at(t).mechanism` is the mechanism that `at(t)` belongs to.

        Raises:
            InputError: As of `at`.
        """
        t, before = finite_scalar(t, "time"), flag(before, "before")
        epochs, starts, ends = self._spans
        if not epochs:
            raise InputError("the trace has no samples")
        if not starts[0] <= t <= ends[-1]:
            raise InputError(f"the trace goes from {starts[0]:g} s to {ends[-1]:g} s; there is no state at {t:g} s")
        i = bisect_left(ends, t) if before else bisect_right(starts, t) - 1
        if not starts[i] <= t <= ends[i]:
            raise InputError(f"there are no samples around {t:g} s: {self.damage or 'the epochs leave a gap'}")
        return epochs[i]

    @property
    def final(self) -> State:
        """State at the last sample."""
        for epoch in reversed(self.epochs):
            if len(epoch):
                return epoch.state(-1)
        raise InputError("the trace has no samples")

    @property
    def energy_error(self) -> float:
        """What the run says of its own error: energy that no account has, as a part of the energy turned over."""
        books = Books()
        for epoch in self.epochs:
            books.open_epoch()
            if len(epoch):
                books.write(epoch.energy, epoch.work)
        return books.error

    @cached_property
    def _spans(self) -> tuple[list[Epoch], list[float], list[float]]:
        """Epochs that have samples, and where each begins and ends."""
        epochs = [epoch for epoch in self.epochs if len(epoch)]
        return epochs, [epoch.start for epoch in epochs], [epoch.end for epoch in epochs]

    def joint(self, name: str) -> JointTrace:
        """Motion of one joint over all epochs that have it.

        Raises:
            UnknownNameError: No epoch has it.
            InputError: It is of different kinds in different epochs.
        """
        instance(name, str, "name of a joint")
        having = [epoch for epoch in self.epochs if name in epoch.slots.joints]
        if not having:
            raise UnknownNameError("joint", name, dict.fromkeys(j for e in self.epochs for j in e.slots.joints))
        kinds = {epoch.slots.joints[name].joint.kind: epoch.index for epoch in reversed(having)}
        if len(kinds) > 1:
            found = ", ".join(f"{kind} from epoch {index} on" for kind, index in reversed(kinds.items()))
            raise InputError(f"joint {name!r} is {found}: ask the epochs one by one, as in trace.epochs[0].joint(...)")
        parts = [epoch.joint(name) for epoch in having]
        blocks = {}
        for block in ("q", *PER_FREEDOM, "wrench"):
            found_blocks = [getattr(part, block) for part in parts]
            blocks[block] = None if any(x is None for x in found_blocks) else np.concatenate(found_blocks)
        return JointTrace(np.concatenate([part.time for part in parts]), **blocks)

    def __len__(self) -> int:
        """Number of samples."""
        return sum(map(len, self.epochs))

    def __str__(self) -> str:
        """A short table: epochs, events, counts."""
        return table(self)

    def __repr__(self) -> str:
        """Counts and outcome."""
        return f"<Trace: {count(len(self.epochs), 'epoch')}, {count(len(self), 'sample')}, {self.outcome}>"

    def _repr_html_(self) -> str:
        """Structure over time and a table of the epochs, for notebooks."""
        from varichain.trace.notebook import trace_html

        return trace_html(self)

    def structure_log(self) -> StructureLog:
        """The structure changes of the run as a log, to print, or to replay on the first epoch's structure."""
        keys = ("number", "time", "energy_lost", "edits")
        return log_from([{key: entry[key] for key in keys} for entry in self.log if "edits" in entry], renumber=True)

    def at_checkpoint(self) -> Trace:
        """The trace as it was when the latest checkpoint was taken: what a continuation from there goes on with.

        Raises:
            InputError: There is no checkpoint, or something before it is lost.
        """
        point = self.checkpoint_place
        epochs = list(self.epochs[: point.n_epochs])
        is_whole = [epoch.index for epoch in epochs] == list(range(point.n_epochs)) and len(self.log) >= point.n_log
        if not is_whole or any(epoch.lost for epoch in epochs):
            raise InputError(f"the part before the checkpoint is incomplete: {self.damage or 'epochs are missing'}")
        if epochs:
            last = epochs[-1]
            event = None if point.is_open else last.event
            epochs[-1] = Epoch(last.index, last.structure, last._samples.first(point.n_samples), event)
        return Trace(epochs, self.meta, self.log[: point.n_log], point, "interrupted", "as at its latest checkpoint")

    # Files

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Write an HDF5 file that `Trace.load`, h5py, MATLAB, ... read; it appears when it is complete.

        Raises:
            TraceFileError: The file exists already, or cannot be written.
        """
        from varichain.trace.finished import save

        save(self, file_name(path), overwrite)

    @staticmethod
    def load(path: Path, *, meshes: Sequence[Path] = ()) -> Trace:
        """The trace in a file: finished, still growing, or what a killed program left.

        All checksums are verified. If something is damaged, the rest is read, `damage` says what is lost, and a
        DamagedTraceWarning says it too.

        Args:
            path: The file.
            meshes: Folders whose mesh files may be drawn, besides the trace's own folder: a stranger's trace may name
                any file of this machine. The mechanisms of its epochs keep to them, whatever is done with them.

        Raises:
            TraceFileError: No such file, not a trace, of a newer version, or damaged beyond reading.
        """
        from varichain.trace.load import load

        folders = [meshes] if isinstance(meshes, str | os.PathLike) else listed(meshes, object, "meshes")
        name, given = file_name(path), [file_name(folder, "a folder of meshes") for folder in folders]
        trace = load(name)
        allowed = tuple(os.path.realpath(folder) for folder in (os.path.dirname(name) or ".", *given))
        for epoch in trace.epochs:
            epoch.structure.confine(allowed)
        return trace

    # Tables for other programs

    def to_numpy(self) -> dict[str, NDArray[Any]]:
        """Columns (n,) by label, such as "time", "knee.q", "left shoulder.qw"; NaN where an epoch does not have one.

        The first, "epoch", has the epoch's index.
        """
        from varichain.trace.export import to_numpy

        return to_numpy(self)

    def to_csv(self, path: Path, *, overwrite: bool = False) -> None:
        """Write a CSV file with the columns of `to_numpy`; every number comes back exactly, absent ones are empty.

        Raises:
            TraceFileError: The file exists already, or cannot be written.
        """
        from varichain.trace.export import to_csv

        to_csv(self, file_name(path), overwrite)

    def to_parquet(self, path: Path, *, overwrite: bool = False) -> None:
        """Write a Parquet file with the columns of `to_numpy`; absent numbers are null.

        Raises:
            TraceFileError: The file exists already, or cannot be written.
            MissingExtraError: The package pyarrow is not installed.
        """
        from varichain.trace.export import to_parquet

        to_parquet(self, file_name(path), overwrite)
