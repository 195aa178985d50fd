"""The controls of a run that goes on: clock, gravity, cut, connect, drag."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from varichain.mechanism.describe import mechanism_from
from varichain.mechanism.joint_text import loop_kinds
from varichain.scene import Scene
from varichain.spatial.arrays import Array
from varichain.viewer.nodes import WORLD
from varichain.viewer.source import Frame, Source

_SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "10")
_NOTHING = "(none)"
_GRAVITY = 1000.0  # [m/s^2], largest that can be typed


def joint_choices() -> tuple[str, ...]:
    """Joints that can close a loop, by kind and axis."""
    return tuple(
        f"{kind} {axis}".strip() for kind, has_axis in loop_kinds().items() for axis in ("xyz" if has_axis else ("",))
    )


def state_text(frame: Frame) -> str:
    """A frame's state as JSON: time, and q and v of each joint of the tree, by name."""
    joints, first, first_v = {}, 0, 0
    m = mechanism_from(frame.structure.description)
    for link in m.links:
        joint = link.joint
        assert joint is not None
        q, v = frame.q[first : first + joint.n_q], frame.v[first_v : first_v + joint.n_v]
        if joint.n_v:
            joints[str(joint.name)] = {"q": q.tolist(), "v": v.tolist()}
        first, first_v = first + joint.n_q, first_v + joint.n_v
    return json.dumps({"mechanism": m.name, "time": frame.time, "joints": joints}, indent=1)


class Commands:
    """Controls in the panel; the run's reports show their effect."""

    def __init__(self, server: Any, source: Source, frame: Frame, world_point: Callable[[str, Array], Array]) -> None:
        """Add the controls.

        Args:
            server: Server of viser's.
            source: The run.
            frame: Its newest frame.
            world_point: Where a point of a link or named frame is in the world.
        """
        self._server, self._source, self._world_point = server, source, world_point
        self._point = np.zeros(3)  # in the frame of the chosen link
        self._picked = ""  # link that the point is on
        self._gizmo: Any = None
        self._dragged = ""
        self._is_paused = frame.is_paused
        self._scene: Scene | None = None
        gui = server.gui
        self._pause = gui.add_button("Resume" if frame.is_paused else "Pause")
        self._pause.on_click(lambda _: self._toggle(self._is_paused))  # as the button says
        clock = gui.add_button_group("Run", ("Step", "Undo", "Reset"), hint="Undo: back to before the last change")
        clock.on_click(lambda event: self._clock[event.target.value]())
        gui.add_button("Save state", hint="Time, coordinates and velocities, as a file of this browser").on_click(
            lambda event: self._save(event.client)
        )
        now = f"{frame.speed:g}"
        self._speed = gui.add_dropdown("Speed", _SPEEDS if now in _SPEEDS else (*_SPEEDS, now), initial_value=now)
        self._speed.on_update(lambda event: self._source.set_speed(float(event.target.value)))
        gravity = tuple(float(x) for x in frame.structure.description["gravity"])
        most = tuple(max(_GRAVITY, abs(x)) for x in gravity)
        least = tuple(-x for x in most)
        hint = f"[m/s^2], in the axes of the world, up to {_GRAVITY:g}"
        self._gravity = gui.add_vector3("Gravity", gravity, min=least, max=most, step=0.1, hint=hint)
        self._gravity.on_update(self._set_gravity)
        with gui.add_folder("Cut"):
            self._joint = gui.add_dropdown("Joint", (_NOTHING,), initial_value=_NOTHING)
            gui.add_button("Cut", color="red").on_click(lambda _: self._cut())
        with gui.add_folder("Connect and drag"):
            self._link = gui.add_dropdown(
                "Link", (_NOTHING,), initial_value=_NOTHING, hint="Or click it in the picture"
            )
            self._other = gui.add_dropdown(
                "To", ("ground",), initial_value="ground", hint="Or click it with the shift key"
            )
            self._kind = gui.add_dropdown(
                "By", joint_choices(), initial_value="spherical", hint="Axes are those of the world"
            )
            gui.add_button("Connect here", color="green").on_click(lambda _: self._connect())
            self._drag = gui.add_button("Drag")
            self._drag.on_click(lambda _: self._let_go() if self._gizmo is not None else self._begin_drag())

    @property
    def keys(self) -> dict[str, tuple[str, str, Callable[[], Any]]]:
        """Keys of the keyboard: label, the key in words, and what is called."""
        return {
            "space": ("Pause or resume", "space", lambda: self._toggle(self._source.frame.is_paused)),
            "arrowright": ("Step", "arrow to the right", self._source.step),
            "arrowleft": ("Undo", "arrow to the left: back to before the last change", self._source.undo),
            "Z": ("Undo", "Z: back to before the last change", self._source.undo),
            "R": ("Reset", "R", self._source.reset),
            "C": ("Cut", "C: the chosen joint", self._cut),
        }

    @property
    def _clock(self) -> dict[str, Callable[[], Any]]:
        return {"Step": self._source.step, "Undo": self._source.undo, "Reset": self._source.reset}

    def _toggle(self, is_paused: bool) -> None:
        if is_paused:
            self._source.resume()
        else:
            self._source.pause()

    def _save(self, client: Any) -> None:
        """Send the state of the newest frame to a browser, as a file."""
        if client is not None:
            content = state_text(self._source.frame)
            client.send_file_download("state.json", content.encode(), save_immediately=True)

    def set_structure(self, scene: Scene) -> None:
        """Offer the joints and links of a structure."""
        m = scene.mechanism
        self._scene = scene
        loops = [loop.name for loop in scene.loops]
        joints = [joint.name for joint in scene.joints if joint.model.n_v < 6]
        _offer(self._joint, [*loops, *joints, *(coupling.name for coupling in m.couplings)] or [_NOTHING])
        names = [link.name for link in m.links]
        _offer(self._link, [*names, *m.frames] or [_NOTHING])
        _offer(self._other, ["ground", *names])

    def show(self, frame: Frame) -> None:
        """Show how the run is: paused or not, dragged or not."""
        if frame.is_paused != self._is_paused:
            self._is_paused = frame.is_paused
            self._pause.label = "Resume" if frame.is_paused else "Pause"
        if frame.drag is None and self._gizmo is not None and self._dragged == "pulled":
            self._remove_gizmo()  # by a reset
        elif frame.drag is not None:
            self._dragged = "pulled"

    def choose(self, link: str, point: Array | None, is_other: bool) -> None:
        """Choose a link and a point of it, or the other link."""
        if is_other:
            self._other.value = link
            return
        self._link.value = link
        self._picked, self._point = link, np.zeros(3) if point is None else point
        joint = self._joint_of(link)
        if joint is not None:
            self._joint.value = joint

    def _joint_of(self, link: str) -> str | None:
        """Joint to be cut if a link is clicked: one that closes a loop, else its own."""
        assert self._scene is not None
        found = [joint.name for joint in (*self._scene.loops, *self._scene.joints) if joint.link == link]
        return next((name for name in found if name in self._joint.options), None)

    def _cut(self) -> None:
        if self._joint.value != _NOTHING:
            self._source.cut(self._joint.value)

    def _connect(self) -> None:
        kind, _, axis = self._kind.value.partition(" ")
        link = self._link.value
        point = self._point if link == self._picked else None
        self._source.connect(link, self._other.value, kind, axis or "z", point)

    def _set_gravity(self, event: Any) -> None:
        self._source.set_gravity(event.target.value)

    def _begin_drag(self) -> None:
        name = self._link.value
        if name == _NOTHING or self._scene is None:
            return
        point = self._point if name == self._picked else np.zeros(3)
        at = self._world_point(name, point)
        frame = self._scene.mechanism.frames.get(name)
        link, place = (name, point) if frame is None else (frame.link, frame.at @ point)
        self._dragged = ""
        self._gizmo = self._server.scene.add_transform_controls(
            f"{WORLD}/drag", scale=0.4 * self._size(), disable_rotations=True, depth_test=False, position=tuple(at)
        )
        self._gizmo.on_update(lambda event: self._source.drag(link, event.target.position, place))
        self._drag.label = "Release"
        self._source.drag(link, at, place)

    def _size(self) -> float:
        assert self._scene is not None
        return max(1.0, 20.0 * self._scene.mark)

    def _let_go(self) -> None:
        self._source.release()
        self._remove_gizmo()

    def _remove_gizmo(self) -> None:
        self._gizmo.remove()
        self._gizmo = None
        self._drag.label = "Drag"


def _offer(dropdown: Any, names: list[str]) -> None:
    """Offer names; what was chosen stays chosen if it is still there."""
    unique = tuple(dict.fromkeys(names))
    if tuple(dropdown.options) != unique:
        dropdown.options = unique
