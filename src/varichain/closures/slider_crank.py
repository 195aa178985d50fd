"""The slider-crank in closed form, driven at its crank or at its slider."""

from __future__ import annotations

import math

import numpy as np

from varichain.closures.four_bar import _angle, _cross, _meeting, _turned
from varichain.closures.part import Closure
from varichain.closures.planar import corners
from varichain.errors import AssemblyError, StructureError, quoted
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import is_one_of

_DEAD = 1e-9


class SliderCrank(Closure):
    """Closed form of a planar loop of three hinges and a slider, on the branch of a state.

    Seen from the link that carries the crank's hinge R0: crank R0 R1, connecting rod R1 R2, and R2 on a line. The
    slider's direction is fixed against it, so both links beside the slider have the same angle.
    """

    def __init__(self, m: Mechanism, loop: str, s: State, lead: str) -> None:
        """Take the geometry of a loop from a state in which it is closed; `lead` is the crank's joint or the slider's.

        Raises:
            StructureError: The loop is no slider-crank, or the driven joint is its middle hinge or closes the loop.
        """
        found = corners(m, s, loop)
        names = [corner.name for corner in found]
        if [corner.is_hinge for corner in found].count(False) != 1:
            raise StructureError(f"loop {loop!r} has no slider: use FourBar")
        slider = [corner.is_hinge for corner in found].index(False)
        ring = [found[(slider + i) % 4] for i in range(1, 5)]  # three hinges, then the slider
        self._backwards = is_one_of(lead, (ring[2].name,))
        if self._backwards:  # the way round turned about: the driven hinge first
            ring = [ring[2], ring[1], ring[0], ring[3]]
        allowed = [corner.name for corner in (ring[0], found[slider]) if not corner.is_loop]
        if not is_one_of(lead, allowed):
            ends = [corner.name for corner in (ring[0], ring[2], ring[3]) if not corner.is_loop]
            raise StructureError(f"{quoted(lead)} cannot drive loop {loop!r}; joints that can: {ends}")
        assert lead in names
        self.loops, self.leads, self._loop = (loop,), (lead,), loop
        self._drives_slider = lead == ring[3].name
        self._lead = 3 if self._drives_slider else 0
        self._followers = [i for i in range(4) if i != self._lead and not ring[i].is_loop]
        self.follows = tuple(ring[i].name for i in self._followers)
        turn = -1.0 if self._backwards else 1.0
        self._senses = [turn * corner.sense for corner in ring]
        self._q = [corner.q for corner in ring]
        R0, R1, R2 = (corner.point for corner in ring[:3])
        self._crank, self._rod = float(np.linalg.norm(R1 - R0)), float(np.linalg.norm(R2 - R1))
        if min(self._crank, self._rod) <= 0.0:
            raise StructureError(f"loop {loop!r} has two hinges on one axis")
        # x: travel of R2 along the rail, from where it is; its sense against the slider's own is found here
        self._rail, self._R2 = ring[3].direction, R2 - R0
        self._alpha, self._beta = _angle(np.array([1.0, 0.0]), R1 - R0), _angle(np.array([1.0, 0.0]), R2 - R1)
        self._branch = math.copysign(1.0, float(self._rail @ (R2 - R1)))
        self._side = math.copysign(1.0, _cross(R2 - R0, R1 - R0))
        # going round, the slider leads from the link with R2 to the link with R0: R2 moves against that
        self._senses[3] = -self._senses[3]

    def evaluate(self, y: Array, v: Array, near: Array) -> tuple[Array, Array, Array]:
        """Coordinates, their rates per rate of the driven one, and the accelerations at its constant rate."""
        change = self._senses[self._lead] * (float(y[0]) - self._q[self._lead])
        values, rates, curves = self._by_slider(change) if self._drives_slider else self._by_crank(change)
        q, G, g = [], [], []
        for i, close in zip(self._followers, near, strict=True):
            number = self._q[i] + self._senses[i] * values[i]
            if i < 3:
                number -= 2.0 * math.pi * round((number - close) / (2.0 * math.pi))
            q.append(number)
            G.append([self._senses[i] * self._senses[self._lead] * rates[i]])
            g.append(self._senses[i] * curves[i] * float(v[0]) ** 2)
        return np.array(q), np.array(G).reshape(-1, 1), np.array(g)

    def _by_crank(self, change: float) -> tuple[list[float], list[float], list[float]]:
        """Changes of the four coordinates from that of the crank's angle, and two derivatives."""
        d = self._rail
        alpha = self._alpha + change
        R1 = self._crank * np.array([math.cos(alpha), math.sin(alpha)])
        dR1, ddR1 = _turned(R1), -R1
        along, h = float(d @ (R1 - self._R2)), _cross(d, R1 - self._R2)
        left = self._rod**2 - h * h
        if not left > (_DEAD * self._rod) ** 2:
            gap = abs(h) - self._rod
            raise AssemblyError(
                f"loop {self._loop!r} cannot be closed here: the rod is {gap:.3g} m too short", {self._loop: gap}
            )
        root = math.sqrt(left)
        x = along + self._branch * root
        dh, ddh = _cross(d, dR1), _cross(d, ddR1)
        droot = -h * dh / root
        ddroot = -(dh * dh + h * ddh + droot * droot) / root
        dx, ddx = float(d @ dR1) + self._branch * droot, float(d @ ddR1) + self._branch * ddroot
        w, dw, ddw = self._R2 + x * d - R1, dx * d - dR1, ddx * d - ddR1
        beta = _angle(np.array([1.0, 0.0]), w) - self._beta
        dbeta, ddbeta = _cross(w, dw) / self._rod**2, _cross(w, ddw) / self._rod**2
        return self._coordinates((change, 1.0, 0.0), (beta, dbeta, ddbeta), (x, dx, ddx))

    def _by_slider(self, x: float) -> tuple[list[float], list[float], list[float]]:
        """The same from the travel of the slider."""
        d = self._rail
        R2 = self._R2 + x * d
        R1 = _meeting(np.zeros(2), self._crank, R2, self._rod, self._side, self._loop)
        w = R2 - R1
        D = float(w @ _turned(R1))
        if abs(D) < _DEAD * self._crank * self._rod:
            raise AssemblyError(
                f"loop {self._loop!r} is at a dead point: crank and rod stand in line", {self._loop: 0.0}
            )
        a = float(w @ d) / D  # rate of the crank's angle
        dR1 = a * _turned(R1)
        dw = d - dR1
        da = (float(dw @ d) - a * float(dw @ _turned(R1) + w @ _turned(dR1))) / D
        ddw = -(da * _turned(R1) - a * a * R1)
        alpha = _angle(np.array([1.0, 0.0]), R1) - self._alpha
        beta = _angle(np.array([1.0, 0.0]), w) - self._beta
        rates = _cross(w, dw) / self._rod**2, _cross(w, ddw) / self._rod**2
        return self._coordinates((alpha, a, da), (beta, *rates), (x, 1.0, 0.0))

    @staticmethod
    def _coordinates(
        alpha: tuple[float, float, float], beta: tuple[float, float, float], x: tuple[float, float, float]
    ) -> tuple[list[float], list[float], list[float]]:
        """Turns at R0 (crank against rail), R1 (rod against crank), R2 (rail against rod), travel; derivatives."""
        values = [[a, b - a, -b, c] for a, b, c in zip(alpha, beta, x, strict=True)]
        return values[0], values[1], values[2]
