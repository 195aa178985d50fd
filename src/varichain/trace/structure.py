"""The structure of an epoch, packed: a run may have thousands of epochs, and a described mechanism is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from varichain.mechanism.describe import mechanism_from
from varichain.mechanism.mechanism import Mechanism
from varichain.trace.records import packed, unpacked
from varichain.trace.slots import Slots, slots_from


class PackedStructure:
    """The structure of an epoch."""

    def __init__(self, content: bytes) -> None:
        """Keep a packed description."""
        self.content = content
        self._folders: tuple[str, ...] | None = None

    @staticmethod
    def of(description: Mapping[str, Any]) -> PackedStructure:
        """Structure of a mechanism that `varichain.mechanism.description` described.

        Raises:
            InputError: It is no such description.
        """
        slots_from(description)
        return PackedStructure(packed(dict(description), "description"))

    def confine(self, folders: tuple[str, ...]) -> None:
        """Let mesh files come from these folders alone, whatever the description says."""
        self._folders = folders
        vars(self).pop("mechanism", None)

    @property
    def description(self) -> dict[str, Any]:
        """The description, unpacked."""
        found = unpacked(self.content)
        if self._folders is not None:
            for mesh in _meshes(found):
                mesh["folders"] = [*self._folders]
        return found

    @cached_property
    def slots(self) -> Slots:
        """Where each joint stands in q and v."""
        return slots_from(self.description)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism, rebuilt when it is first asked for."""
        return mechanism_from(self.description)


def _meshes(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Mesh files of a description, which may be a stranger's and anything else."""
    for part in ("links", "surfaces", "contact_shapes"):
        rows = description.get(part)
        for row in rows if isinstance(rows, list) else ():
            shapes = row.get("shapes") if isinstance(row, dict) else None
            for shape in shapes if isinstance(shapes, list) else ():
                if isinstance(shape, dict) and shape.get("type") == "Mesh":
                    yield shape
