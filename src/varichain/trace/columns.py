"""Columns: the named blocks that a sample's numbers stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from varichain.errors import InputError, UnknownNameError, quoted
from varichain.mechanism.plain import entries_of
from varichain.spatial.checks import listed, mapping, name_string, shown
from varichain.spatial.frozen import Frozen


class Columns(Frozen):
    """Named blocks of one epoch's samples, side by side in a row.

    Any name will do that could be an attribute. Those that a trace gives a meaning to are time (1), q (n_q), v (n_v),
    a (n_v), tau (n_v), holding (n_v), loop_forces (6 per loop), coupling_forces (1 per coupling), joint_forces (6 per
    joint of the tree), energy (3: kinetic, gravitational, elastic), work (one per channel), momentum (6), center (3),
    closure (1), contact_forces (3 per contact) and contact_modes (1 per contact). Blocks may be absent or of width 0.

    Attributes:
        names: Names of the blocks, in order.
        width: Numbers in a row.
        labels: Names of the single columns, of the blocks that were given some.
    """

    __slots__ = ("_slices", "labels", "names", "width")

    names: tuple[str, ...]
    width: int
    labels: dict[str, tuple[str, ...]]
    _slices: dict[str, slice]

    def __init__(self, blocks: Iterable[tuple[str, int]], labels: Mapping[str, Sequence[str]] | None = None) -> None:
        """Take (name, width) of each block, and names of the single columns of some blocks.

        Raises:
            InputError: Not such pairs, a name twice, or labels that do not match.
        """
        slices: dict[str, slice] = {}
        width = 0
        for name, n in _checked(listed(blocks, object, "columns")):
            if name in slices:
                raise InputError(f"columns must have different names, but {name!r} comes twice")
            slices[name] = slice(width, width + n)
            width += n
        self._set("_slices", slices)
        self._set("names", tuple(slices))
        self._set("width", width)
        self._set("labels", {name: self._checked_labels(name, of) for name, of in mapping(labels, "labels").items()})

    def slice(self, name: str) -> slice:
        """Where a block stands in a row.

        Raises:
            UnknownNameError: There is no such block.
        """
        if name not in self._slices:
            raise UnknownNameError("column", name, self._slices)
        return self._slices[name]

    def width_of(self, name: str) -> int:
        """Numbers in a block; 0 if there is no such block."""
        found = self._slices.get(name)
        return 0 if found is None else found.stop - found.start

    def __contains__(self, name: object) -> bool:
        """Whether there is such a block."""
        return name in self._slices

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """(name, width) of each block."""
        return ((name, self.width_of(name)) for name in self.names)

    def __eq__(self, other: object) -> bool:
        """Whether names, widths and labels are equal."""
        if not isinstance(other, Columns):
            return NotImplemented
        return list(self) == list(other) and self.labels == other.labels

    def __hash__(self) -> int:
        """Hash of names and widths."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Blocks with their widths."""
        return f"Columns({', '.join(f'{name} {n}' for name, n in self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it again when copied or unpickled."""
        return Columns, (list(self), self.labels)

    def plain(self) -> dict[str, Any]:
        """As plain values for JSON; `columns_from` is the way back."""
        return {"blocks": [[name, n] for name, n in self], "labels": {name: [*of] for name, of in self.labels.items()}}

    def _checked_labels(self, name: str, labels: Any) -> tuple[str, ...]:
        where = self.slice(name)
        if not isinstance(labels, (list, tuple)) or len(labels) != where.stop - where.start:
            raise InputError(f"labels of {name!r} must be {where.stop - where.start} names, not {shown(labels)}")
        return tuple([name_string(label, f"label of {name!r}") for label in labels])


def columns_from(value: Any) -> Columns:
    """The columns that `Columns.plain` gave `value` for."""
    entries = entries_of(value, ("blocks", "labels"), "columns")
    return Columns(entries["blocks"], entries["labels"])


def _checked(blocks: Any) -> Iterator[tuple[str, int]]:
    for i, block in enumerate(blocks):
        if not isinstance(block, (tuple, list)) or len(block) != 2:
            raise InputError(f"columns[{i}] must be (name, width), not {shown(block)}")
        name, n = block
        if type(n) is not int or n < 0:
            raise InputError(f"width of columns {name!r} must be a whole number from 0 on, not {shown(n)}")
        if not name_string(name, f"name of columns[{i}]").isidentifier():
            raise InputError(f"name of columns[{i}] must be usable as an attribute, such as 'tau', not {quoted(name)}")
        if name == "labels":
            raise InputError(f"columns[{i}] must not be called 'labels': files keep the columns' labels there")
        yield name, n
