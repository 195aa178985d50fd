"""What tracked functions want and reach at a state, with the points in space that they are about, for traces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from varichain.animation.function import Function
from varichain.animation.leaves import Center, Leaf, Points
from varichain.animation.space import AnimationSpace
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array

Observed = dict[str, dict[str, float]]


class Observing:
    """Functions of a mechanism, and the points that some of them are coordinates of.

    A function whose numbers are coordinates of a point of a link, or of a centre of mass, wants that point somewhere;
    coordinates that it does not name are wherever the point is.
    """

    def __init__(self, m: Mechanism, functions: Mapping[str, Function]) -> None:
        """Find the points."""
        self.mechanism = m
        self.space = AnimationSpace(m, functions)
        self._numbers: dict[str, list[tuple[int, int]]] = {}  # by point: numbers of u, and which coordinates they are
        places: dict[str, Function] = {}
        for name, leaf, numbers in _points(self.space):
            places[name] = Function(leaf.nodes(3))
            self._numbers[name] = numbers
        self._places = AnimationSpace(m, places) if places else None

    def at(self, s: State, wanted: Array) -> Observed:
        """Blocks u, wanted, tracked and targets; `wanted` (m,) has NaN where nothing is."""
        found = self.space.at(s)
        u = np.where(np.isnan(found.value), found.rate, found.value)
        names = self.space.names
        blocks = {"u": _labelled(names, u), "wanted": _labelled(names, wanted)}
        if self._places is None:
            return blocks
        tracked = self._places.value(s).reshape(-1, 3)
        targets = tracked.copy()
        for place, numbers in zip(targets, self._numbers.values(), strict=True):
            for number, axis in numbers:
                place[axis] = wanted[number]
        labels = self._places.names
        return blocks | {"tracked": _labelled(labels, tracked.ravel()), "targets": _labelled(labels, targets.ravel())}


def _points(space: AnimationSpace) -> Iterable[tuple[str, Leaf, list[tuple[int, int]]]]:
    """Points of functions that are nothing but coordinates of points, by name."""
    for name, where in space.slices.items():
        leaves: dict[Leaf, list[tuple[int, int]]] = {}
        for number, node in enumerate(space.functions[name].nodes.flat, where.start):
            if _is_place(node.leaf):
                leaves.setdefault(node.leaf, []).append((number, node.component))
        for i, (leaf, numbers) in enumerate(leaves.items(), 1):
            yield name if len(leaves) == 1 else f"{name} {i}", leaf, numbers


def _is_place(leaf: Leaf | None) -> bool:
    return isinstance(leaf, Center) or (isinstance(leaf, Points) and leaf.weights == (1.0,))


def _labelled(names: Iterable[str], numbers: Array) -> dict[str, float]:
    return dict(zip(names, numbers.tolist(), strict=True))
