"""A mechanism that stands still, in the browser: for robots that cannot be simulated; joints can be posed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from varichain.errors import VarichainError
from varichain.mechanism.draw import drawing
from varichain.mechanism.mechanism import Mechanism
from varichain.scene import link_poses, scene_of
from varichain.scene.supports import supports_of
from varichain.spatial.arrays import Array
from varichain.viewer.base import TICK, Viewer
from varichain.viewer.camera import ball_of_motion, floor_below, frame_camera
from varichain.viewer.panel import clock_html, structure_html
from varichain.viewer.server import HOST, PORT
from varichain.viewer.sliders import Sliders
from varichain.viewer.words import legend_html

Posed = Callable[[Array, Mapping[str, float]], Array]  # coordinates, and what joints of them shall be: new coordinates


class StillView(Viewer):
    """A mechanism in a posture, with sliders for its joints."""

    def __init__(
        self, m: Mechanism, q: Array, posed: Posed, why: str, *, host: str = HOST, port: int = PORT, label: str = ""
    ) -> None:
        """Show a mechanism.

        Args:
            m: The mechanism.
            q: Its coordinates (n_q,).
            posed: Function that closes loops after joints were set.
            why: Why it is not simulated.
            host: Address to listen at.
            port: Port to listen at; the next free one if it is taken.
            label: Title of the panel.

        Raises:
            InputError: The address is none of this machine.
            MissingExtraError: viser is not installed.
        """
        self._scene, self._q, self._posed, self._why = scene_of(m), q, posed, why
        self._poses = link_poses(m, q)
        super().__init__(label or m.name, host, port)
        centre, radius = self._ball()
        frame_camera(self.server, centre, radius)
        self.stage.set_ground(floor_below(self._scene, self._poses, radius), radius)
        gui = self.server.gui
        self._clock = gui.add_html(clock_html(0.0, [f"a still picture: {why}"]))
        self._sliders = Sliders(gui, self, is_holding=False)
        with gui.add_folder("Structure"):
            gui.add_html(structure_html(None, drawing(m), [], self._scene.notes))
        self._add_choices(())
        self._legend.content = legend_html(self._scene)
        self._sliders.set_structure(self._scene)
        self._prepare(0, self._scene, supports_of(self._scene, self._poses))
        with self.pictures.whole():
            self.stage.present(0)
        self._changed()
        self._thread.start()

    def pose(self, joints: Mapping[str, float]) -> None:
        """Set coordinates of joints; the panel says why if there is no such posture."""
        try:
            self._q, said = self._posed(self._q, joints), ""
        except VarichainError as error:
            said = str(error)
        self._clock.content = clock_html(0.0, [f"a still picture: {self._why}"], said)
        self._changed()

    def hold(self, is_kept: bool = True) -> None:
        """Nothing moves."""

    def _clicked(self, link: str, event: Any) -> None:
        """Nothing to choose."""

    def _ball(self) -> tuple[Array, float]:
        return ball_of_motion(self._scene, self._poses)

    def _begin(self) -> None:
        """Nothing begins."""

    def _changed(self) -> None:
        with self._drawing, self.pictures.whole():
            self._poses = link_poses(self._scene.mechanism, self._q)
            self.stage.place(self._poses)
            self._sliders.show_coordinates(self._q)

    def _work(self) -> None:
        while not self._is_over.wait(TICK):
            pass
