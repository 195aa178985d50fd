"""A trace in the browser: play, pause, step, seek."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from varichain.mechanism.draw import drawing
from varichain.scene import Playback
from varichain.scene.poses import matrices_from_quaternions
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_scalar
from varichain.trace import Trace
from varichain.viewer.base import TICK, Viewer
from varichain.viewer.camera import frame_camera
from varichain.viewer.panel import clock_html, structure_html
from varichain.viewer.server import HOST, PORT
from varichain.viewer.source import Counts

_FPS, _MOST = 100.0, 20_000  # frames per simulated second, and in all
_FRAMED = 0.8  # part of the ball around the whole way that is in view: a way fills its ball less than a body does
_TRAIL = 2.0  # [s] of a path that are drawn
_MOST_MARKS = 100  # events on the slider
_SAME = 1e-9  # [s] that are no time
_CUT_SEEN = 1.0  # [s] that a cut stays marked
_SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "10")


class ReplayView(Viewer):
    """A trace that plays in the browser."""

    def __init__(
        self,
        trace: Trace,
        *,
        counts: Callable[[int], Counts | None] = lambda _: None,
        speed: float = 1.0,
        is_playing: bool = False,
        host: str = HOST,
        port: int = PORT,
        label: str = "varichain",
    ) -> None:
        """Show a trace.

        Args:
            trace: The trace.
            counts: N_J, rank and N_F of an epoch by its place among those that have samples; asked when it is shown.
            speed: Simulated seconds in a second.
            is_playing: Whether it plays as soon as a browser is there.
            host: Address to listen at.
            port: Port to listen at; the next free one if it is taken.
            label: Title of the panel.

        Raises:
            InputError: The trace has nothing to show, or the address is none of this machine.
            MissingExtraError: viser is not installed.
        """
        self._playback = Playback(trace, fps=_FPS, most=_MOST)
        self._log = [*trace.structure_log()]
        self._counts = counts
        self._paths: dict[str, Array] = {}
        self._cuts: list[tuple[str, tuple[float, float, float]]] = []
        super().__init__(label, host, port)
        self._epoch, self._frame = -1, -1
        self._is_playing, self._plays = False, is_playing
        self._time = float(self._playback.time[0])
        centre, radius = self._playback.bounding_sphere
        frame_camera(self.server, centre, _FRAMED * radius)
        self.stage.set_ground(self._playback.floor, self._playback.size)
        self._add_controls(speed)
        self._show_frame(0)
        self._thread.start()

    def _add_controls(self, speed: float) -> None:
        gui, time = self.server.gui, self._playback.time
        self._clock = gui.add_html("")
        self._play = gui.add_button("Play")
        self._play.on_click(lambda _: self._toggle())
        first, last = float(time[0]), max(float(time[-1]), float(time[0]) + 1e-3)
        marks = tuple(dict.fromkeys((marker.time, "") for marker in self._playback.markers[:_MOST_MARKS]))
        self._slider = gui.add_slider("Time [s]", first, last, 0.001, first, marks=marks or None)
        self._slider.on_update(self._sought)
        steps = gui.add_button_group("Step", ("-10", "-1", "+1", "+10"))
        steps.on_click(lambda event: self._step(int(event.target.value)))
        speeds = _SPEEDS if f"{speed:g}" in _SPEEDS else (*_SPEEDS, f"{speed:g}")
        self._speed = gui.add_dropdown("Speed", speeds, initial_value=f"{speed:g}")
        self._loop = gui.add_checkbox("Loop", False)
        with gui.add_folder("Structure"):
            self._structure = gui.add_html("")
        frames = dict.fromkeys(name for scene in self._playback.scenes for name in scene.mechanism.frames)
        skipped = {"ground", *self._playback.footprints}
        self._add_choices((*(part.name for part in self._playback.parts if part.name not in skipped), *frames))

    # Controls

    def play(self) -> None:
        """Let it play."""
        if not self._is_playing:
            self._toggle()

    def pause(self) -> None:
        """Let it stand."""
        if self._is_playing:
            self._toggle()

    def seek(self, time: float) -> None:
        """Go to a time [s]."""
        self._time = finite_scalar(time, "time")

    def _begin(self) -> None:
        if self._plays:
            self.play()

    def _clicked(self, link: str, event: Any) -> None:
        self.show_trail(link)

    def _toggle(self) -> None:
        if not self._is_playing and self._time >= self._playback.time[-1]:
            self._time = float(self._playback.time[0])
        self._is_playing = not self._is_playing
        self._play.label = "Pause" if self._is_playing else "Play"

    def _sought(self, event: Any) -> None:
        if event.client is not None:  # else it was moved by the playing itself
            self._time = float(event.target.value)

    def _step(self, n: int) -> None:
        self.pause()
        i = min(max(self._frame + n, 0), len(self._playback) - 1)
        self._time = float(self._playback.time[i])

    # Motion

    def _work(self) -> None:
        before = clock.perf_counter()
        while not self._is_over.wait(TICK):
            now = clock.perf_counter()
            if self._is_playing:
                self._go_on((now - before) * float(self._speed.value))
            before = now
            i = self._playback.frame_at(self._time + 1e-9)
            if i != self._frame:
                self._show_frame(i)

    def _go_on(self, seconds: float) -> None:
        first, last = self._playback.time[0], self._playback.time[-1]
        self._time += seconds
        if self._time > last:
            if self._loop.value and last > first:
                self._time = float(first + (self._time - first) % (last - first))
            else:
                self._time = float(last)
                self._toggle()

    def _changed(self) -> None:
        self._show_frame(max(self._frame, 0))

    def _show_frame(self, i: int) -> None:
        """Draw a frame; by this view's thread, or by one that has changed what is to be shown."""
        playback, epoch, time = self._playback, int(self._playback.epoch[i]), float(self._playback.time[i])
        with self._drawing, self.server.atomic():
            if epoch != self._epoch:
                self.stage.set_scene(playback.scenes[epoch], playback.parts)
                self._show_structure(epoch)
            if epoch != self._epoch or (playback.is_shown[i] != playback.is_shown[max(self._frame, 0)]).any():
                self.stage.hide_links(playback.parts[k].name for k in np.flatnonzero(~playback.is_shown[i]))
            self.stage.place(playback.poses(i))
            closed = playback.is_closed[i]
            places, forces = playback.loop_places[i, closed], playback.loop_forces[i, closed]
            self.stage.set_forces(places, forces, playback.arrow_scale)
            self.stage.set_lines(playback.lines(i))
            if self._trail.value != "none":
                first = playback.frame_at(time - _TRAIL)
                self.stage.set_trail(self._path(self._trail.value)[first : i + 1])
            else:
                self.stage.set_trail(np.empty((0, 3)))
            self.stage.set_aims({name: aim[:, i] for name, aim in playback.aims.items()})
            self._show_cuts(time)
            self._slider.value = round(time, 3)
            self._clock.content = clock_html(time, self._lines(epoch, time), playback.trace.damage or "")
            self._epoch, self._frame = epoch, i

    def _lines(self, epoch: int, time: float) -> list[str]:
        past = [marker for marker in self._playback.markers if marker.time <= time + _SAME]
        last = [f"last event: {past[-1].text} at {past[-1].time:.3f} s"] if past else []
        return [f"epoch {epoch + 1} of {len(self._playback.scenes)}", *last]

    def _show_structure(self, epoch: int) -> None:
        playback = self._playback
        start = playback.time[int(np.argmax(playback.epoch == epoch))]
        log = [str(entry) for entry in self._log if entry.time is None or entry.time <= start + _SAME]
        tree = drawing(playback.scenes[epoch].mechanism)
        self._structure.content = structure_html(self._counts(epoch), tree, log, playback.notes)

    def _show_cuts(self, time: float) -> None:
        cuts = [
            (marker.text, marker.place)
            for marker in self._playback.markers
            if marker.kind == "cut" and marker.place is not None and -_SAME <= time - marker.time <= _CUT_SEEN
        ]
        if cuts != self._cuts:
            self._cuts = cuts
            self.stage.set_cuts(cuts)

    def _path(self, name: str) -> Array:
        """Path of a link's origin or of a named frame over all frames (n, 3) [m]."""
        if name not in self._paths:
            playback = self._playback
            frames = [scene.mechanism.frames[name] for scene in playback.scenes if name in scene.mechanism.frames]
            link, at = (frames[0].link, frames[0].at.p) if frames else (name, np.zeros(3))
            k = [part.name for part in playback.parts].index(link)
            path = playback.p[:, k] + matrices_from_quaternions(playback.quaternions[:, k]) @ at
            path[~playback.is_shown[:, k]] = np.nan
            self._paths[name] = path
        return self._paths[name]
