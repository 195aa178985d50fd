"""Goals as equations: values and rates of functions and joints, at the ends of phases and all the while."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from varichain.errors import InputError, UnknownNameError
from varichain.optimise.gauss import MIDDLE
from varichain.optimise.ledger import Equations
from varichain.optimise.legs import Leg, steps_of
from varichain.optimise.pattern import Indices
from varichain.optimise.terms import Functions, Linear, Term
from varichain.optimise.units import Units
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_numbers, finite_scalar, is_sequence


class Goals:
    """Wishes of one phase."""

    def __init__(self, leg: Leg, name: str, units: Units, equations: Equations) -> None:
        """Take a phase; `name` is for messages."""
        self._leg, self._name, self._units, self._equations = leg, name, units, equations
        self._sizes = leg.structure.function_units

    def terms(self) -> list[Term]:
        """All of them."""
        phase, found = self._leg.phase, []
        found += self._at(0, phase.start, phase.start_rates, f"at the start of {self._name}")
        found += self._at(-1, phase.end, phase.end_rates, f"at the end of {self._name}")
        if phase.rest:
            v, rows = self._leg.v[-1], [f"rest of {name!r} at the end of {self._name}" for name in self._freedoms()]
            found.append(Linear(self._equations.wish(rows, self._units.v / self._units.time), v[:, None], np.ones(1)))
        return found + self._within()

    def _freedoms(self) -> list[str]:
        layout = self._leg.structure.layout
        return [layout.freedom_name(i) for i in range(layout.n_v)]

    def _at(self, node: int, values: Mapping[str, Any], rates: Mapping[str, Any], when: str) -> list[Term]:
        """Values and rates at one node."""
        of, leg = self._leg.structure.functions, self._leg
        found: list[Term] = []
        dims: list[list[int]] = [[], []]
        rows: list[list[int]] = [[], []]
        for i, goals in enumerate((values, rates)):
            for name, value in goals.items():
                if name not in of.slices:
                    found.append(self._joint(name, value, (leg.q, leg.v)[i][node], i, when))
                    continue
                where = of.slices[name]
                wanted = _numbers(value, where.stop - where.start, f"{name!r} {when}")
                labels = [f"{'rate of ' * i}{of.names[k]!r} {when}" for k in range(where.start, where.stop)]
                unit = self._sizes[where] / (self._units.time if i else 1.0)
                rows[i] += self._equations.wish(labels, unit, wanted, wanted).tolist()
                dims[i] += range(where.start, where.stop)
        if any(dims):
            rows_of = [np.array([one], dtype=np.int64).reshape(1, -1) for one in rows]
            node_of = leg.q[node][None], leg.v[node][None]
            found.append(Functions(of, *node_of, dims[0], dims[1], rows_of[0], rows_of[1], steps_of(self._units)))
        return found

    def _joint(self, name: str, value: Any, unknowns: Indices, is_rate: int, when: str) -> Term:
        """A wanted value or velocity of one joint."""
        layout = self._leg.structure.layout
        of = self._leg.structure.functions
        slots = {slot.name: slot for slot in layout.slots}
        if name not in slots:
            raise UnknownNameError("function or joint", name, [*of.slices, *slots])
        slot = slots[name]
        if slot.has_quaternion and not is_rate:
            raise InputError(f"joint {name!r} has a quaternion: make a function of it, such as animation.rotation(...)")
        where = slot.v if is_rate else slot.q
        n = where.stop - where.start
        wanted = _numbers(value, n, f"{name!r} {when}")
        unit = self._units.v[where] / self._units.time if is_rate else self._units.q[where]
        what = "velocity of joint" if is_rate else "joint"
        rows = self._equations.wish([f"{what} {name!r} {when}"] * n, unit, wanted, wanted)
        return Linear(rows, unknowns[where][:, None], np.ones(1))

    def _within(self) -> list[Term]:
        """Bounds in the middle and at the end of each interval."""
        phase, of, leg = self._leg.phase, self._leg.structure.functions, self._leg
        names = list(dict.fromkeys([*phase.at_least, *phase.at_most]))
        if not names:
            return []
        dims: list[int] = []
        bounds: list[Array] = []
        for name in names:
            if name not in of.slices:
                raise UnknownNameError("function", name, of.slices)
            where = of.slices[name]
            size = where.stop - where.start
            sides = [
                np.full(size, sign * np.inf) if name not in given else _numbers(given[name], size, f"bound of {name!r}")
                for given, sign in ((phase.at_least, -1.0), (phase.at_most, 1.0))
            ]
            bounds.append(np.stack(sides))
            dims += range(where.start, where.stop)
        q = np.concatenate([leg.stages[0][:, MIDDLE], leg.q[1:]])
        v = np.concatenate([leg.stages[1][:, MIDDLE], leg.v[1:]])
        low, high = np.concatenate(bounds, axis=1)
        labels = [f"bound of {of.names[k]!r} in {self._name}" for k in dims] * len(q)
        sides = [np.tile(one, len(q)) for one in (self._sizes[dims], low, high)]
        rows = self._equations.wish(labels, *sides).reshape(len(q), -1)
        return [Functions(of, q, v, dims, [], rows, np.zeros((len(q), 0), np.int64), steps_of(self._units))]


def _numbers(value: Any, n: int, what: str) -> Array:
    """Wanted numbers (n,): one for all, or one for each, in whatever shape."""
    if not is_sequence(value) or np.ndim(value) == 0:
        return np.full(n, finite_scalar(value, what))
    return np.array(finite_numbers(np.ravel(value), n, what))
