"""A run that goes on, in the browser: watch, pause, cut, connect, drag."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.mechanism.describe import mechanism_from
from varichain.mechanism.mechanism import Mechanism
from varichain.scene import Poses, Scene, frame_on, link_poses, loop_places, scene_of
from varichain.scene.contacts import Contacts
from varichain.scene.supports import supports_of
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.viewer.base import TICK, Viewer
from varichain.viewer.camera import ball_of_motion, floor_below, frame_camera
from varichain.viewer.commands import Commands
from varichain.viewer.curves import Curves
from varichain.viewer.follow import Leash, middle_of
from varichain.viewer.panel import frame_html, reports_html, structure_html, timeline_html
from varichain.viewer.picking import picked_point
from varichain.viewer.server import HOST, PORT
from varichain.viewer.sliders import Sliders
from varichain.viewer.source import Frame, Source
from varichain.viewer.words import legend_html

_ARROW = 0.5  # length of the arrow of the weight of all, in radii of the first picture
_CUT_SEEN = 2.0  # [s] of simulated time that a cut stays marked
_TRAIL = 240  # points of a path that are drawn


class LiveView(Viewer):
    """A run in the browser, with the controls that change it; all browsers share them.

    Attributes:
        source: The run.
    """

    def __init__(
        self,
        source: Source,
        *,
        is_owner: bool = False,
        resumes: bool = False,
        host: str = HOST,
        port: int = PORT,
        label: str = "varichain",
    ) -> None:
        """Watch a run.

        Args:
            source: The run.
            is_owner: Whether the run is closed with the view.
            resumes: Whether a paused run goes on as soon as a browser is there.
            host: Address to listen at.
            port: Port to listen at; the next free one if it is taken.
            label: Title of the panel.

        Raises:
            InputError: The address is none of this machine.
            MissingExtraError: viser is not installed.
        """
        self.source, self._is_owner, self._resumes = source, is_owner, resumes
        self._frames = source.subscribe()
        frame = source.frame
        self._structure = frame.structure
        self._scene, self._contacts = _scene_of(frame), _contacts_of(frame)
        self._poses = link_poses(self._scene.mechanism, frame.q)
        self._path: deque[Array] = deque(maxlen=_TRAIL)
        self._traced = "none"  # whose path it is
        self._cuts: list[tuple[float, str, Array]] = []
        self._n_cuts = 0  # that are drawn
        super().__init__(label, host, port)
        centre, radius = ball_of_motion(self._scene, self._poses)
        self._arrow_scale = _ARROW * radius / max(_weight(self._scene.mechanism), 1e-9)
        self._leash = Leash(centre, radius)
        frame_camera(self.server, centre, radius)
        self.stage.set_ground(floor_below(self._scene, self._poses, radius), radius)
        self._drawn = -1  # number of the structure that is shown
        self._add_panel(frame)
        self._draw(frame)
        self._thread.start()

    def _add_panel(self, frame: Frame) -> None:
        gui = self.server.gui
        self._clock = gui.add_html("")
        self._timeline = gui.add_html("")
        self._first, self._last = frame.time, frame.time  # shown by the timeline [s]
        self._commands = Commands(self.server, self.source, frame, self._world_point)
        self._sliders = Sliders(gui, self.source)
        with gui.add_folder("What it did"):
            self._reports = gui.add_html("")
        self._curves = Curves(gui)
        with gui.add_folder("Structure"):
            self._tree = gui.add_html("")
        m = self._scene.mechanism
        self._add_choices((*(link.name for link in m.links), *m.frames))
        self._n_reports = -1
        self._add_keys(self._commands.keys)

    # Frames

    def _work(self) -> None:
        while not self._is_over.wait(TICK):
            frame = self._frames.next(timeout=0.5)
            if frame is not None:
                self._draw(frame)
            elif self._frames.has_ended:
                return

    def _ball(self) -> tuple[Array, float]:
        centre, radius = ball_of_motion(self._scene, self._poses)
        return centre - self.world.gone, radius

    def _begin(self) -> None:
        if self._resumes:
            self.source.resume()

    def _changed(self) -> None:
        self._draw(self.source.frame)

    def _end(self) -> None:
        self._frames.close()
        if self._is_owner:
            self.source.close()

    def _draw(self, frame: Frame) -> None:
        with self._drawing:
            is_new = frame.structure.number != self._drawn
            if is_new:
                self._prepare_structure(frame)
            with self.pictures.whole():
                if is_new:
                    self._draw_structure(frame)
                self._draw_instant(frame)

    def _prepare_structure(self, frame: Frame) -> None:
        if frame.structure.number != self._structure.number:
            self._note_cuts(frame)
            self._scene, self._contacts, self._structure = _scene_of(frame), _contacts_of(frame), frame.structure
        supports = supports_of(self._scene, link_poses(self._scene.mechanism, frame.q))
        self._prepare(frame.structure.number, self._scene, supports)

    def _draw_instant(self, frame: Frame) -> None:
        self._poses = link_poses(self._scene.mechanism, frame.q)
        gone = self._leash.drawn(middle_of(self._scene, self._poses), frame.time)
        self.world.go(gone if self._follow.value else np.zeros(3))
        self.stage.place(self._poses)
        places, ends = loop_places(self._scene, self._poses)
        is_line = [loop.is_line for loop in self._scene.loops]
        self.stage.set_lines(np.stack([places[is_line], ends[is_line]], axis=1))
        names = [loop.name for loop in self._scene.loops]
        self.stage.set_forces(names, places, frame.loop_forces[:, 3:], self._arrow_scale)
        self._draw_pressures(frame)
        self.instant.set_aims(frame.aims)
        self._draw_trail()
        self._draw_spring(frame)
        self._draw_cuts(frame.time)
        self._commands.show(frame)
        self._sliders.show(frame)
        self._clock.content = frame_html(frame)
        self._last = max(self._last, frame.time, frame.until or frame.time)
        self._timeline.content = timeline_html(frame.time, self._first, self._last, frame.reports)
        self._curves.show(frame)
        newest = frame.reports[-1].number if frame.reports else -1
        if newest != self._n_reports:
            self._n_reports = newest
            self._reports.content = reports_html(frame.reports)

    def _draw_pressures(self, frame: Frame) -> None:
        if self._contacts is not None and self._contacts.pairs:
            is_shown, poses = self.stage.is_shown("forces"), self._poses
            sampled = Poses(poses.names, poses.p[None], poses.R[None])
            spots = None
            if self.stage.is_shown("cones"):
                spots = self._contacts.spots(sampled, frame.contact_forces[None], frame.contact_modes[None])
                places, forces = spots.places, spots.forces
            else:
                places, forces = self._contacts.pressures(sampled, frame.contact_forces[None])
            self.instant.set_pressures(places[0], is_shown * forces[0], self._arrow_scale)
            self.instant.set_cones(spots, self._arrow_scale)

    def _draw_structure(self, frame: Frame) -> None:
        self._drawn = frame.structure.number
        self.stage.present(self._drawn)
        self._commands.set_structure(self._scene)
        self._sliders.set_structure(self._scene)
        self._legend.content = legend_html(self._scene)
        structure = frame.structure
        self._tree.content = structure_html(structure.counts, structure.drawing, structure.log, self._scene.notes)

    def _draw_trail(self) -> None:
        name = self._trail.value
        if name != self._traced:
            self._traced = name
            self._path.clear()
        if name != "none":
            self._path.append(self._world_point(name, np.zeros(3)))
        self.instant.set_trail(np.array(self._path).reshape(-1, 3))

    def _draw_spring(self, frame: Frame) -> None:
        if frame.drag is None:
            self.instant.set_spring(None)
        else:
            link, point, target = frame.drag
            self.instant.set_spring(np.stack([self._world_point(link, point), target]))

    def _note_cuts(self, frame: Frame) -> None:
        """Remember where the joints were that are there no longer."""
        if frame.structure.log[: len(self._structure.log)] != self._structure.log:  # reset
            self._cuts = []
            self._path.clear()
            return
        left = {joint["joint"]["name"] for joint in frame.structure.description["links"]}
        for joint in (*self._scene.loops, *self._scene.joints):
            if joint.name not in left:
                at, _ = frame_on(self._poses, joint.parent, joint.at)
                self._cuts.append((frame.time, f"cut {joint.name!r}", at))

    def _draw_cuts(self, time: float) -> None:
        if self._cuts:
            self._cuts = [cut for cut in self._cuts if time - cut[0] <= _CUT_SEEN]
        shown = [(text, at) for _, text, at in self._cuts]
        if len(shown) != self._n_cuts:
            self._n_cuts = len(shown)
            self.instant.set_cuts(shown)

    # Pointing

    def _clicked(self, link: str, event: Any) -> None:
        part = self.stage.part(link)
        if part is None or link not in self._poses.names:
            return
        p, R = self._poses.of(link)
        point = picked_point(part, p, R, event.ray_origin + self.world.gone, np.array(event.ray_direction))
        is_other = event.modifier == "shift"
        if not is_other and point is not None:
            self.instant.set_pick(link, point)
        self._commands.choose(link, point, is_other)

    def _world_point(self, name: str, point: Array) -> Array:
        """Where a point of a link, or of a named frame, is in the world (3,) [m]."""
        frames = self._scene.mechanism.frames
        if name in frames:
            return frame_on(self._poses, frames[name].link, frames[name].at @ Pose(point))[0]
        return frame_on(self._poses, name, Pose(point))[0]


def _scene_of(frame: Frame) -> Scene:
    return scene_of(mechanism_from(frame.structure.description))


def _contacts_of(frame: Frame) -> Contacts | None:
    """Contacts of a frame's structure; None if a mesh that links touch by cannot be read."""
    try:
        return Contacts(mechanism_from(frame.structure.description), frame.structure.contacts)
    except InputError:
        return None


def _weight(m: Mechanism) -> float:
    """Weight of all links [N], on Earth if there is no gravity."""
    return sum(link.inertia.mass for link in m.links) * (float(np.linalg.norm(m.gravity)) or 9.81)
