"""Discrete controllers as records and a memory that the kernels read, for one structure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, UnknownNameError, quoted
from varichain.kernels.run_records import LAW
from varichain.kernels.tables import as_records, memory_of
from varichain.simulation.discrete import Array, Discrete, checked_seed
from varichain.spatial.checks import is_sequence, mapping


class Laws:
    """Discrete controllers of one structure: records (LAW), and one memory with numbers and torques (n_v,) of each.

    Attributes:
        given: The controllers.
        records: Where each is, and when its next tick comes.
        memory: Numbers of all.
    """

    def __init__(self, given: Sequence[Discrete], n_v: int, step: float) -> None:
        """Lay out the memory; ticks are due at once.

        Raises:
            InputError: A tick is no multiple of the step.
        """
        self.given, self.n_v = tuple(given), n_v
        self.records: NDArray[Any] = as_records(np.zeros(len(given), LAW))
        place = 0
        for law, record in zip(given, self.records, strict=True):
            every = round(law.tick / step)
            if every < 1 or not math.isclose(every * step, law.tick, rel_tol=1e-9):
                raise InputError(
                    f"the tick of controller {law.name!r} must be a whole multiple of the run's step ({step:g} s), not "
                    f"{law.tick:g} s"
                )
            record["address"], record["every"] = law.address, every
            record["place"], record["torques"] = place, place + law.size
            place += law.size + n_v
        self.memory: Array = np.zeros(place)
        for law, record in zip(given, self.records, strict=True):
            self._own(record)[:] = law.memory()

    def _own(self, record: Any) -> Array:
        return self.memory[int(record["place"]) : int(record["torques"])]

    def _torques(self, record: Any) -> Array:
        return self.memory[int(record["torques"]) : int(record["torques"]) + self.n_v]

    @property
    def torques(self) -> Array:
        """Torques of all (n_v,), each of its last tick, in the order in which kernels add them."""
        total = np.zeros(self.n_v)
        for record in self.records:
            total += self._torques(record)
        return total

    def plain(self) -> dict[str, Any]:
        """All that is remembered, as plain values by controller and name."""
        found = {}
        for law, record in zip(self.given, self.records, strict=True):
            state = {name: value.tolist() for name, value in law.part(self._own(record)[None], "state").items()}
            found[str(law.name)] = {
                "state": {name: value[0] for name, value in state.items()},
                "stream": self._own(record).view(law.record)[0]["stream"].tolist(),
                "torques": self._torques(record).tolist(),
                "next": int(record["next"]),
            }
        return found

    def take_up(self, plain: Mapping[str, Any]) -> None:
        """Continue from the values of `plain`; parameters are those of the controllers.

        Raises:
            InputError: The controllers are not those of the values.
        """
        if plain.keys() != {law.name for law in self.given}:
            raise InputError(
                f"the run had the discrete controllers {', '.join(plain) or 'none'}; give the same, not "
                f"{', '.join(str(law.name) for law in self.given) or 'none'}"
            )
        for law, record in zip(self.given, self.records, strict=True):
            found, whole = plain[str(law.name)], self._own(record).view(law.record)[0]
            if found["state"].keys() != law.state.keys():
                raise InputError(f"the state of controller {law.name!r} has other names than that of the run")
            for name, value in found["state"].items():
                if np.shape(value) != np.shape(law.state[name]):
                    raise InputError(f"{name!r} of controller {law.name!r} has another length than that of the run")
                whole["state"][name] = value
            whole["stream"], record["next"] = found["stream"], found["next"]
            self._torques(record)[:] = found["torques"]

    def take_over(self, earlier: Laws, places: Sequence[tuple[slice, slice]]) -> None:
        """Continue from an earlier structure; `places` are those of a joint's torques there and here."""
        for here, there in zip(self.records, earlier.records, strict=True):
            self._own(here)[:] = earlier._own(there)
            here["next"] = there["next"]
            for before, now in places:
                self._torques(here)[now] = earlier._torques(there)[before]

    def snapshot(self) -> tuple[NDArray[np.uint8], Array]:
        """Copies of records and memory."""
        return memory_of(self.records).copy(), self.memory.copy()

    def restore(self, snapshot: tuple[NDArray[np.uint8], Array]) -> None:
        """Go back to a snapshot."""
        memory_of(self.records)[:] = snapshot[0]
        self.memory[:] = snapshot[1]


def variations(given: Sequence[Discrete], n: int, parameters: Any, seeds: Any) -> list[list[Discrete]]:
    """The discrete controllers of each of n runs, with parameters (n, ...) by name and seeds (n,) of their own.

    Raises:
        InputError: Lengths do not fit, or there is no such controller.
        UnknownNameError: No controller has such a parameter.
    """
    columns = mapping({} if parameters is None else parameters, "parameters")
    if (columns or seeds is not None) and not given:
        raise InputError("parameters and seeds are for runs with discrete controllers (vc.Discrete)")
    chosen = _chosen_seeds(seeds, n)
    homes = {name: [law for law in given if name in law.parameters] for name in columns}
    for name, laws in homes.items():
        if not laws:
            raise UnknownNameError("parameter", str(name), [key for law in given for key in law.parameters])
        if len(laws) > 1:
            raise InputError(f"parameter {name!r} is one of several controllers: give them different names")
        if not (isinstance(columns[name], np.ndarray) or is_sequence(columns[name])) or len(columns[name]) != n:
            raise InputError(
                f"parameter {name!r} must have a value for each of the {n} runs, not {quoted(columns[name])}"
            )
    return [
        [
            law.varied(chosen[i], **{name: values[i] for name, values in columns.items() if law in homes[name]})
            for law in given
        ]
        for i in range(n)
    ]


def _chosen_seeds(seeds: Any, n: int) -> list[int | None]:
    if seeds is None:
        return [None] * n
    if not (isinstance(seeds, np.ndarray) or is_sequence(seeds)) or len(seeds) != n:
        raise InputError(f"seeds must be an integer for each of the {n} runs, not {quoted(seeds)}")
    return [checked_seed(seed) for seed in seeds]
