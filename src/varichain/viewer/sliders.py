"""Sliders for the joints of one coordinate, and a box that holds the posture."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np

from varichain.mechanism.joint import Joint
from varichain.mechanism.mechanism import Mechanism
from varichain.scene import Scene
from varichain.spatial.arrays import Array
from varichain.viewer.source import Frame
from varichain.viewer.two_way import TwoWay

_ANGLE, _WAY = np.pi, 1.0  # [rad, m] to either side, of joints without limits
_STEP = 1e-3  # [rad, m]
_MOST = 100  # sliders


class Posable(Protocol):
    """What sliders move: a run, or a still picture."""

    def pose(self, joints: Mapping[str, float]) -> Any:
        """Set coordinates of joints."""

    def hold(self, is_kept: bool = ...) -> Any:
        """Hold the posture, or no longer."""


class Sliders:
    """A folder with sliders: they pose a paused run, and show where its joints are."""

    def __init__(self, gui: Any, source: Posable, is_holding: bool = True) -> None:
        """Add the folder; without joints that can be posed it is empty and hidden."""
        self._gui, self._source = gui, source
        self._sliders: dict[str, tuple[TwoWay, int]] = {}  # slider and place in q, by joint
        self._folder = gui.add_folder("Posture", expand_by_default=False, visible=False)
        self._box: TwoWay | None = None
        if is_holding:
            with self._folder:
                hint = "Torques of the actuated joints keep the posture while the run goes on"
                self._box = TwoWay(gui.add_checkbox("Hold posture", False, hint=hint), self._source.hold)

    def set_structure(self, scene: Scene) -> None:
        """Offer the joints of a structure."""
        found = dict(list(_single_joints(scene.mechanism).items())[:_MOST])
        for name in [name for name in self._sliders if name not in found]:
            self._sliders.pop(name)[0].control.remove()
        for name, (joint, place) in found.items():
            if name in self._sliders:
                self._sliders[name] = (self._sliders[name][0], place)
                continue
            low, high = _range(joint)
            with self._folder:
                hint = "Pause the run to pose it" if self._box is not None else None
                slider = self._gui.add_slider(name, low, high, _STEP, min(max(0.0, low), high), hint=hint)
            self._sliders[name] = (TwoWay(slider, partial(self._pose, name)), place)
        self._folder.visible = bool(self._sliders)

    def show(self, frame: Frame) -> None:
        """Show where the joints of a paused run are; those of one that goes on would change with every picture."""
        if self._box is not None:
            self._box.show(frame.is_kept)
        if frame.is_paused:
            self.show_coordinates(frame.q)

    def show_coordinates(self, q: Array) -> None:
        """Set the sliders to coordinates (n_q,)."""
        for shared, place in self._sliders.values():
            shared.show(float(np.clip(q[place], shared.control.min, shared.control.max)), _STEP)

    def _pose(self, name: str, value: float) -> None:
        self._source.pose({name: value})


def _single_joints(m: Mechanism) -> dict[str, tuple[Joint, int]]:
    """Tree joints of one coordinate that follow no other, with their places in q."""
    found, place = {}, 0
    followers = {coupling.joint for coupling in m.couplings}
    for link in m.links:
        joint = link.joint
        assert joint is not None  # only ground has none
        if joint.n_q == 1 and joint.name not in followers:
            found[str(joint.name)] = (joint, place)
        place += joint.n_q
    return found


def _range(joint: Joint) -> tuple[float, float]:
    """Least and largest coordinate [rad or m]: the limits, where there are some, else what a slider can show."""
    usual = _WAY if joint.kind == "prismatic" else _ANGLE
    limits = np.array([-np.inf, np.inf]) if joint.limits is None else np.asarray(joint.limits, dtype=float).ravel()
    low, high = np.where(np.isfinite(limits), limits, [-usual, usual])
    return round(float(low), 3), round(float(max(high, low + _STEP)), 3)
