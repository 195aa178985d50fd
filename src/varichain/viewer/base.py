"""What both views have: a server, a stage, a thread that moves what is drawn, and what may be shown or hidden."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from varichain.errors import UnknownNameError
from varichain.scene import Part, Scene
from varichain.scene.supports import Support
from varichain.spatial.arrays import Array
from varichain.viewer.camera import PRESETS, look_from
from varichain.viewer.follow import World
from varichain.viewer.gate import Gate
from varichain.viewer.instant import Instant
from varichain.viewer.marks import SHOWN
from varichain.viewer.pictures import Pictures
from varichain.viewer.server import HOST, PORT, address, close_server, open_server
from varichain.viewer.stage import Stage

TICK = 1.0 / 30.0  # [s] between two pictures

_LABELS = {
    "joints": "Joints",
    "frames": "Joint frames",
    "loops": "Loop joints",
    "virtual": "Virtual links",
    "forces": "Forces",
    "cones": "Friction cones",
}


class Viewer(ABC):
    """A view that a browser finds at `address`, until it is closed; any number of browsers see the same."""

    def __init__(self, label: str, host: str = HOST, port: int = PORT) -> None:
        """Listen at an address; the next free port is taken if the port is not free."""
        self.gate = Gate(host)
        self.server = open_server(self.gate, host, port, label)
        self.asked_port = port
        self._is_over = threading.Event()
        self._drawing = threading.RLock()
        self.pictures = Pictures(self.server)
        self.world = World(self.server.scene)
        self.stage = Stage(self.server, self._clicked)
        self.instant = Instant(self.server.scene, lambda: self.stage.mark)
        self._thread = threading.Thread(target=self._work, name="varichain viewer", daemon=True)
        self._is_seen = False
        self.server.on_client_connect(self._seen)

    @property
    def address(self) -> str:
        """Address for a browser; whoever knows its token can watch, and change a live run."""
        return address(self.server, self.gate.token)

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return int(self.server.get_port())

    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
        return self._is_over.is_set()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it is closed, Ctrl-C is pressed, or `timeout` [s] has passed."""
        self._is_over.wait(timeout)

    def close(self) -> None:
        """Stop; no thread is left. Called again it does nothing."""
        if not self._is_over.is_set():
            self._is_over.set()
            self._end()
            if self._thread.is_alive():
                self._thread.join()
            close_server(self.server)

    def __enter__(self) -> Self:
        """Nothing to do."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Close."""
        self.close()

    def show_trail(self, name: str) -> None:
        """Draw the path of a link's origin or of a named frame; "none" for none.

        Raises:
            UnknownNameError: No such link or frame.
        """
        if name not in self._trail.options:
            raise UnknownNameError("link or frame", name, self._trail.options)
        self._trail.value = name

    def _seen(self, client: Any) -> None:
        """Begin when the first browser shows something: one that draws slowly misses nothing."""
        if not self._is_seen:
            self.pictures.when_drawn(client, self._begin_once)

    def _begin_once(self) -> None:
        with self._drawing:
            is_first, self._is_seen = not self._is_seen, True
        if is_first and not self.is_closed:
            self._begin()

    def _prepare(
        self, number: int, scene: Scene, supports: Sequence[Support], parts: Sequence[Part] | None = None
    ) -> None:
        """Draw a structure where no browser shows it yet, so that all can show it at once with the next picture."""
        if not self.stage.is_prepared(number):
            with self.pictures.whole():
                self.stage.prepare(number, scene, parts, supports)
            self.pictures.wait()
            with self.pictures.whole():
                self.stage.forget()

    def _add_choices(self, trails: tuple[str, ...]) -> None:
        """Add the folder that says what is shown."""
        gui = self.server.gui
        presets = gui.add_button_group("Camera", tuple(PRESETS), hint="Where to look from; this browser alone")
        presets.on_click(lambda event: self._look(event.client, event.target.value))
        self._legend = gui.add_html("")
        with gui.add_folder("Show", expand_by_default=False):
            for kind, label in _LABELS.items():
                box = gui.add_checkbox(label, SHOWN[kind])
                box.on_update(lambda event, kind=kind: self._show(kind, event.target.value))
            self._follow = gui.add_checkbox("Follow", True, hint="Whether the camera goes along with a figure")
            self._follow.on_update(lambda _: self._changed())
            opacity = gui.add_slider("Bodies", 0.1, 1.0, 0.05, 1.0, hint="How solid bodies are")
            opacity.on_update(lambda event: self.stage.set_opacity(event.target.value))
            self._trail = gui.add_dropdown(
                "Trail", ("none", *trails), initial_value="none", hint="Point whose path is drawn"
            )
            self._trail.on_update(lambda _: self._changed())

    def _look(self, client: Any, preset: str) -> None:
        if client is not None:
            look_from(client, preset, *self._ball())

    def _add_keys(self, keys: Mapping[str, tuple[str, str, Callable[[], Any]]]) -> None:
        """Let keys of the keyboard do what buttons do: key: label, what it does, and the function."""
        for key, (label, description, call) in keys.items():
            command = self.server.gui.add_command(label, description=description, hotkey=key)
            command.on_trigger(lambda _, call=call: call())

    def _show(self, kind: str, is_shown: bool) -> None:
        self.stage.show(kind, is_shown)
        self._changed()

    def _repr_html_(self) -> str:
        """Show itself in a notebook."""
        framed = address(self.server, self.gate.frame_token)
        return f'<iframe src="{framed}" width="100%" height="600" style="border:0"></iframe>'

    @abstractmethod
    def _clicked(self, link: str, event: Any) -> None:
        """Somebody has clicked a link."""

    @abstractmethod
    def _ball(self) -> tuple[Array, float]:
        """Centre (3,) [m] and radius [m] of a ball around what is to be seen, from where the camera has gone."""

    @abstractmethod
    def _begin(self) -> None:
        """The first browser has drawn its first picture."""

    @abstractmethod
    def _changed(self) -> None:
        """Something else is to be shown of the same instant."""

    @abstractmethod
    def _work(self) -> None:
        """Move what is drawn, until it is over."""

    def _end(self) -> None:  # noqa: B027  most views have nothing else to close
        """Close what feeds the view."""
