"""A trace in the browser: play, pause, step, seek."""

from __future__ import annotations

import threading
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
from varichain.viewer.two_way import TwoWay
from varichain.viewer.words import legend_html

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
        self._timing = threading.RLock()  # of the time that is shown, and of whether it goes on
        super().__init__(label, host, port)
        self._epoch, self._frame = -1, -1
        self._is_playing, self._plays = False, is_playing
        self._time = float(self._playback.time[0])
        frame_camera(self.server, *self._ball())
        framing = self._playback.framing
        self.stage.set_ground(framing.floor, framing.size)
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
        slider = gui.add_slider("Time [s]", first, last, 0.001, first, marks=marks or None)
        self._slider = TwoWay(slider, self.seek)
        steps = gui.add_button_group("Step", ("-10", "-1", "+1", "+10"))
        steps.on_click(lambda event: self._step(int(event.target.value)))
        speeds = _SPEEDS if f"{speed:g}" in _SPEEDS else (*_SPEEDS, f"{speed:g}")
        self._speed = gui.add_dropdown("Speed", speeds, initial_value=f"{speed:g}")
        self._loop = gui.add_checkbox("Loop", False)
        with gui.add_folder("Structure"):
            self._structure = gui.add_html("")
        frames = dict.fromkeys(name for scene in self._playback.scenes for name in scene.mechanism.frames)
        self._add_keys(
            {
                "space": ("Play or pause", "space", self._toggle),
                "arrowright": ("A frame on", "arrow to the right", lambda: self._step(1)),
                "arrowleft": ("A frame back", "arrow to the left", lambda: self._step(-1)),
                "R": ("To the beginning", "R", lambda: self.seek(float(time[0]))),
            }
        )
        skipped = {"ground", *self._playback.footprints}
        self._add_choices((*(part.name for part in self._playback.parts if part.name not in skipped), *frames))

    # Controls

    def play(self) -> None:
        """Let it play."""
        self._set_playing(True)

    def pause(self) -> None:
        """Let it stand."""
        self._set_playing(False)

    def seek(self, time: float) -> None:
        """Go to a time [s]."""
        wanted = finite_scalar(time, "time")
        with self._timing:
            self._time = wanted

    def _ball(self) -> tuple[Array, float]:
        centre, radius = self._playback.framing.ball
        return np.asarray(centre), _FRAMED * radius

    def _begin(self) -> None:
        if self._plays:
            self.play()

    def _clicked(self, link: str, event: Any) -> None:
        self.show_trail(link)

    def _toggle(self) -> None:
        self._set_playing(not self._is_playing)

    def _set_playing(self, is_playing: bool) -> None:
        with self._timing:
            if is_playing and not self._is_playing and self._time >= self._playback.time[-1]:
                self._time = float(self._playback.time[0])
            self._is_playing = is_playing
            self._play.label = "Pause" if is_playing else "Play"

    def _step(self, n: int) -> None:
        self.pause()
        with self._timing:  # from the time that is wanted: the picture may come later than the next key
            i = min(max(self._wanted + n, 0), len(self._playback) - 1)
            self._time = float(self._playback.time[i])

    # Motion

    @property
    def _wanted(self) -> int:
        """The frame that shall be seen."""
        return self._playback.frame_at(self._time + _SAME)

    def _work(self) -> None:
        before = clock.perf_counter()
        while not self._is_over.wait(TICK):
            now = clock.perf_counter()
            with self._timing:
                if self._is_playing:
                    self._go_on((now - before) * float(self._speed.value))
            before = now
            i = self._wanted
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
                self._set_playing(False)

    def _changed(self) -> None:
        self._show_frame(max(self._frame, 0))

    def _show_frame(self, i: int) -> None:
        """Draw a frame; by this view's thread, or by one that has changed what is to be shown."""
        playback, epoch, time = self._playback, int(self._playback.epoch[i]), float(self._playback.time[i])
        with self._drawing:
            if epoch != self._epoch:
                self._prepare(epoch, playback.scenes[epoch], playback.framing.supports[epoch], playback.parts)
            with self.pictures.whole():
                self._draw_frame(i, epoch, time)

    def _draw_frame(self, i: int, epoch: int, time: float) -> None:
        playback = self._playback
        if epoch != self._epoch:
            self.stage.present(epoch)
            self._show_structure(epoch)
        if epoch != self._epoch or (playback.is_shown[i] != playback.is_shown[max(self._frame, 0)]).any():
            self.stage.hide_links(playback.parts[k].name for k in np.flatnonzero(~playback.is_shown[i]))
        self.world.go(playback.framing.shift(i) if self._follow.value else np.zeros(3))
        self.stage.place(playback.poses(i))
        closed = playback.is_closed[i]
        places, forces = playback.loop_places[i, closed], playback.loop_forces[i, closed]
        names = [name for name, is_closed in zip(playback.loops, closed, strict=True) if is_closed]
        self.stage.set_forces(names, places, forces, playback.framing.arrow_scale)
        self._draw_pressures(i)
        self.stage.set_lines(playback.lines(i))
        if self._trail.value != "none":
            first = playback.frame_at(time - _TRAIL)
            self.instant.set_trail(self._path(self._trail.value)[first : i + 1])
        else:
            self.instant.set_trail(np.empty((0, 3)))
        self.instant.set_aims({name: aim[:, i] for name, aim in playback.aims.items()})
        self._show_cuts(time)
        if i == self._wanted:  # else somebody has moved it on meanwhile
            self._slider.show(round(time, 3))
        self._clock.content = clock_html(time, self._lines(epoch, time), playback.trace.damage or "")
        self._epoch, self._frame = epoch, i

    def _draw_pressures(self, i: int) -> None:
        """Draw forces of contacts: those of points if friction cones are shown, else their sums."""
        playback, scale = self._playback, self._playback.framing.arrow_scale
        spots = playback.spots(i) if self.stage.is_shown("cones") and playback.contacts else None
        places, forces = playback.contact_places[i], playback.contact_forces[i]
        if spots is not None:
            places, forces = spots.places[0], spots.forces[0]
        self.instant.set_pressures(places, self.stage.is_shown("forces") * forces, scale)
        self.instant.set_cones(spots, scale)

    def _lines(self, epoch: int, time: float) -> list[str]:
        past = [marker for marker in self._playback.markers if marker.time <= time + _SAME]
        last = [f"last event: {past[-1].event} at {past[-1].time:.3f} s"] if past else []
        return [f"epoch {epoch + 1} of {len(self._playback.scenes)}", *last]

    def _show_structure(self, epoch: int) -> None:
        playback = self._playback
        start = playback.time[int(np.argmax(playback.epoch == epoch))]
        log = [str(entry) for entry in self._log if entry.time is None or entry.time <= start + _SAME]
        self._legend.content = legend_html(playback.scenes[epoch])
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
            self.instant.set_cuts(cuts)

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
