"""Curves of a run that goes on: its energy and its largest loop force over the last seconds."""

from __future__ import annotations

import time as clock
from collections import deque
from typing import Any

import numpy as np

from varichain.scene.palette import SERIES, hex_color
from varichain.viewer.source import Frame

_SPAN = 10.0  # [s] of simulated time that are drawn
_MOST = 300  # points of a curve
_PAUSE = 0.25  # [s] of wall time between two drawings
_HEIGHT = 150  # [px]
_ENERGIES = ("kinetic", "potential", "sum")
_FORCE = "largest loop force"


class Curves:
    """Two charts in a folder of the panel."""

    def __init__(self, gui: Any) -> None:
        """Add the charts."""
        self._points: deque[tuple[float, ...]] = deque(maxlen=_MOST)
        self._drawn = -np.inf  # when [s of the wall clock]
        with gui.add_folder("Curves", expand_by_default=False):
            self._energy = _chart(gui, "energy [J]", _ENERGIES)
            self._force = _chart(gui, "loop force [N]", (_FORCE,))

    def show(self, frame: Frame) -> None:
        """Add a frame; a run that has begun again, or gone back, draws over what came after."""
        while self._points and self._points[-1][0] >= frame.time:
            self._points.pop()
        kinetic, gravity, springs = frame.energy
        potential = gravity + springs
        force = float(np.linalg.norm(frame.loop_forces[:, 3:], axis=1).max(initial=0.0))
        if not self._points or frame.time - self._points[-1][0] >= _SPAN / _MOST or frame.is_paused:
            self._points.append((frame.time, kinetic, potential, kinetic + potential, force))
        now = clock.monotonic()
        if now - self._drawn >= _PAUSE:
            self._drawn = now
            self._draw(frame.time - _SPAN)

    def _draw(self, since: float) -> None:
        columns = np.array([point for point in self._points if point[0] >= since]).T
        self._energy.data = tuple(columns[:4])
        self._force.data = (columns[0], columns[4])


def _chart(gui: Any, title: str, names: tuple[str, ...]) -> Any:
    lines = [{"label": name, "stroke": hex_color(SERIES[k]), "width": 1.5} for k, name in enumerate(names)]
    nothing = tuple(np.zeros(1) for _ in range(len(names) + 1))
    scales = {"x": {"time": False}}
    return gui.add_uplot(nothing, ({"label": "time [s]"}, *lines), title=title, scales=scales, height=_HEIGHT)
