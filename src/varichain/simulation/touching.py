"""Contacts of one epoch, with the memory that kernels solve them in."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.instants.contacts import Contacts
from varichain.instants.restraints import Restraints
from varichain.kernels.contact_equations import N_BESIDE
from varichain.kernels.contact_records import CONTACT_MEMORY, ITEM
from varichain.kernels.contact_rows import N_VECTORS
from varichain.kernels.tables import as_records

_FIRST_CONTACTS = 24  # that there is room for at the start of an epoch


class Touching:
    """Contacts of one epoch.

    Attributes:
        records: Contacts (CONTACT), with their modes and forces.
        contacts: The same, as they were made.
        names: Name of each.
        modes: Memory for modes before an event.
    """

    def __init__(self, contacts: Contacts, restraints: Restraints) -> None:
        """Take contacts and restraints, which are solved together."""
        self.contacts, self.records, self.names = contacts, as_records(contacts.records), contacts.names
        self._workspace = restraints.workspace
        self._n_restraints = len(restraints.names)
        self._n_contacts = min(_FIRST_CONTACTS, len(self.names))
        self.modes = np.zeros(len(self.names) + 2 * self._n_restraints)
        self._reserve()

    def enlarge(self) -> None:
        """Make room for more contacts at a time."""
        assert self._n_contacts < len(self.names)
        self._n_contacts = min(2 * self._n_contacts, len(self.names))
        self._reserve()

    def _reserve(self) -> None:
        # a contact is one item with three rows, three with six if it has torsional and rolling friction
        items_each, rows_each = (3, 6) if self.contacts.has_moments else (1, 3)
        n_items = items_each * self._n_contacts + 2 * self._n_restraints + 2
        n = rows_each * self._n_contacts + 4 * self._n_restraints + 4
        n_v, n_rows = self._workspace.length("dofs"), self._workspace.length("rows")
        self.arguments: tuple[Any, ...] = (
            self.records,
            as_records(np.zeros(n_items, ITEM)),
            np.zeros((n, n_v)),
            np.zeros((n, n)),
            np.zeros((n, n_rows)),
            np.zeros((n, n + N_BESIDE)),
            np.zeros((N_VECTORS, n)),
            np.zeros(n_rows),
        )

    def plain(self) -> dict[str, Any]:
        """What a run must remember, as plain values."""
        return {name: self.records[name].tolist() for name in CONTACT_MEMORY}

    def take_up(self, plain: dict[str, Any]) -> None:
        """Continue from the values of `plain`."""
        for name in CONTACT_MEMORY:
            if len(self.records):
                self.records[name] = plain[name]
