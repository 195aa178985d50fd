"""The structure of an epoch, packed: a run may have thousands of epochs, and a described mechanism is large."""

from __future__ import annotations

from collections.abc import Mapping
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

    @staticmethod
    def of(description: Mapping[str, Any]) -> PackedStructure:
        """Structure of a mechanism that `varichain.mechanism.description` described.

        Raises:
            InputError: It is no such description.
        """
        slots_from(description)
        return PackedStructure(packed(dict(description), "description"))

    @property
    def description(self) -> dict[str, Any]:
        """The description, unpacked."""
        return unpacked(self.content)

    @cached_property
    def slots(self) -> Slots:
        """Where each joint stands in q and v."""
        return slots_from(self.description)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism, rebuilt when it is first asked for."""
        return mechanism_from(self.description)
