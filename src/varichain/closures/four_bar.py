"""The four-bar linkage in closed form: all its angles from any one of them."""

from __future__ import annotations

import math

import numpy as np

from varichain.closures.part import Closure
from varichain.closures.planar import corners
from varichain.errors import AssemblyError, StructureError, quoted
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import is_one_of

_DEAD = 1e-9  # sine of the angle between coupler and rocker, below which they stand in line: a dead point


class FourBar(Closure):
    """Closed form of a planar loop of four hinges, driven at one of them, on the branch of a state.

    With the corner of the driven hinge first, its angle phi_0 between the two links there gives the diagonal, and the
    other two links stand on it as a triangle, on the side on which they stood in the state.
    """

    def __init__(self, m: Mechanism, loop: str, s: State, lead: str) -> None:
        """Take the geometry of a loop from a state in which it is closed.

        Raises:
            StructureError: The loop is no planar four-bar, or the driven joint is not one of its tree joints.
        """
        found = corners(m, s, loop)
        names = [corner.name for corner in found]
        if not all(corner.is_hinge for corner in found):
            raise StructureError(f"loop {loop!r} has a slider: use SliderCrank")
        if not is_one_of(lead, names) or found[names.index(lead)].is_loop:
            raise StructureError(
                f"{quoted(lead)} cannot drive loop {loop!r}; joints: {[c.name for c in found if not c.is_loop]}"
            )
        start = names.index(lead)
        ring = found[start:] + found[:start]
        points = [corner.point for corner in ring]
        self.loops, self.leads = (loop,), (lead,)
        self._followers = [i for i in range(1, 4) if not ring[i].is_loop]
        self.follows = tuple(ring[i].name for i in self._followers)
        self._lengths = [float(np.linalg.norm(points[(i + 1) % 4] - points[i])) for i in range(4)]
        if min(self._lengths) <= 0.0:
            raise StructureError(f"loop {loop!r} has two hinges on one axis")
        self._senses = [corner.sense for corner in ring]
        self._q = [corner.q for corner in ring]
        # signed angle at every corner, from the link before to the link after
        self._phi = [_angle(points[i - 1] - points[i], points[(i + 1) % 4] - points[i]) for i in range(4)]
        self._side = math.copysign(1.0, _cross(points[3] - points[1], points[2] - points[1]))
        self._loop = loop

    def evaluate(self, y: Array, v: Array, near: Array) -> tuple[Array, Array, Array]:
        """Angles, their rates per rate of the driven one, and the accelerations at its constant rate."""
        phi_0 = self._phi[0] + self._senses[0] * (float(y[0]) - self._q[0])
        phi, rate, curve = self._angles(phi_0)
        q, G, g = [], [], []
        for i, close in zip(self._followers, near, strict=True):
            angle = self._q[i] + self._senses[i] * (phi[i] - self._phi[i])
            q.append(angle - 2.0 * math.pi * round((angle - close) / (2.0 * math.pi)))
            ratio = self._senses[i] * self._senses[0]
            G.append([ratio * rate[i]])
            g.append(self._senses[i] * curve[i] * float(v[0]) ** 2)
        return np.array(q), np.array(G).reshape(-1, 1), np.array(g)

    def _angles(self, phi_0: float) -> tuple[list[float], list[float], list[float]]:
        """Angles at the corners, their first and second derivatives by the first; link 01 lies along x."""
        L01, L12, L23, L30 = self._lengths
        V1 = np.array([L01, 0.0])
        V3 = L30 * np.array([math.cos(phi_0), -math.sin(phi_0)])
        dV3 = L30 * np.array([-math.sin(phi_0), -math.cos(phi_0)])
        V2 = _meeting(V1, L12, V3, L23, self._side, self._loop)
        u, w = V2 - V3, V2 - V1  # along the links 32 and 12
        D = float(u @ _turned(w))
        if abs(D) < _DEAD * L12 * L23:
            raise AssemblyError(f"loop {self._loop!r} is at a dead point: its links stand in line", {self._loop: 0.0})
        # rates of the links' angles: 12 turns with a, 32 with b
        a = float(u @ dV3) / D
        dV2 = a * _turned(w)
        du = dV2 - dV3
        b = _cross(u, du) / L23**2
        da = (float(du @ dV3 - u @ V3) - a * float(du @ _turned(w) + u @ _turned(dV2))) / D
        ddV2 = da * _turned(w) - a * a * w
        db = _cross(u, ddV2 + V3) / L23**2
        phi = [phi_0, _angle(-V1, w), _angle(-w, -u), _angle(u, -V3)]
        return phi, [1.0, a, b - a, -1.0 - b], [0.0, da, db - da, -db]


def _meeting(V1: Array, r1: float, V3: Array, r3: float, side: float, loop: str) -> Array:
    """Point at distances r1 and r3 from two points, on the given side of the way from the first to the second."""
    way = V3 - V1
    d = float(np.linalg.norm(way))
    along = (d * d + r1 * r1 - r3 * r3) / (2.0 * d) if d > 0.0 else math.inf
    height = r1 * r1 - along * along
    if not height >= 0.0:
        gap = max(d - r1 - r3, abs(r1 - r3) - d)
        raise AssemblyError(f"loop {loop!r} cannot be closed here: its links are {gap:.3g} m too short", {loop: gap})
    return V1 + along / d * way + side * math.sqrt(height) / d * _turned(way)


def _turned(x: Array) -> Array:
    """A vector turned by a right angle."""
    return np.array([-x[1], x[0]])


def _cross(x: Array, y: Array) -> float:
    return float(x[0] * y[1] - x[1] * y[0])


def _angle(x: Array, y: Array) -> float:
    """Angle that turns x towards y."""
    return math.atan2(_cross(x, y), float(x @ y))
