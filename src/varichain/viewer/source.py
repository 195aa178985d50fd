"""What the viewer asks of a run that goes on; `varichain.simulation.live.LiveRun` is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import ArrayLike

from varichain.spatial.arrays import Array

Counts = tuple[int, int, int]


class Structure(Protocol):
    """A structure: its number, plain description, drawn tree, N_J, rank and N_F, log, and contacts."""

    @property
    def number(self) -> int: ...  # noqa: D102
    @property
    def description(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def drawing(self) -> str: ...  # noqa: D102
    @property
    def counts(self) -> Counts: ...  # noqa: D102
    @property
    def log(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def contacts(self) -> tuple[str, ...]: ...  # noqa: D102


class Report(Protocol):
    """What a command or an event did: see `varichain.simulation.live_frames.Report`."""

    @property
    def number(self) -> int: ...  # noqa: D102
    @property
    def time(self) -> float: ...  # noqa: D102
    @property
    def what(self) -> str: ...  # noqa: D102
    @property
    def error(self) -> str | None: ...  # noqa: D102
    @property
    def entries(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def impulse(self) -> float: ...  # noqa: D102
    @property
    def energy_lost(self) -> float: ...  # noqa: D102
    @property
    def before(self) -> Counts | None: ...  # noqa: D102
    @property
    def after(self) -> Counts | None: ...  # noqa: D102


class Frame(Protocol):
    """A run at an instant: see `varichain.simulation.live_frames.LiveFrame`."""

    @property
    def time(self) -> float: ...  # noqa: D102
    @property
    def q(self) -> Array: ...  # noqa: D102
    @property
    def v(self) -> Array: ...  # noqa: D102
    @property
    def loop_forces(self) -> Array: ...  # noqa: D102
    @property
    def contact_forces(self) -> Array: ...  # noqa: D102
    @property
    def contact_modes(self) -> Array: ...  # noqa: D102
    @property
    def aims(self) -> Mapping[str, Array]: ...  # noqa: D102
    @property
    def energy(self) -> tuple[float, float, float]: ...  # noqa: D102
    @property
    def structure(self) -> Structure: ...  # noqa: D102
    @property
    def speed(self) -> float: ...  # noqa: D102
    @property
    def rate(self) -> float: ...  # noqa: D102
    @property
    def is_paused(self) -> bool: ...  # noqa: D102
    @property
    def message(self) -> str: ...  # noqa: D102
    @property
    def until(self) -> float | None: ...  # noqa: D102
    @property
    def is_kept(self) -> bool: ...  # noqa: D102
    @property
    def drag(self) -> tuple[str, Array, Array] | None: ...  # noqa: D102
    @property
    def reports(self) -> tuple[Report, ...]: ...  # noqa: D102


class Frames(Protocol):
    """Frames as they come; a slow reader skips some."""

    @property
    def has_ended(self) -> bool:
        """Whether no frame will come."""

    def next(self, timeout: float | None = None) -> Frame | None:
        """The newest frame that was not taken yet; None after `timeout` [s]."""

    def close(self) -> None:
        """Watch no longer."""


class Source(Protocol):
    """A run that goes on. Commands return at once; what they did is in the reports of later frames."""

    @property
    def frame(self) -> Frame:
        """The newest frame."""

    def subscribe(self) -> Frames:
        """Begin to watch."""

    def pause(self) -> Any:
        """Stop the clock."""

    def resume(self) -> Any:
        """Let the clock go on."""

    def step(self) -> Any:
        """Go on by a little."""

    def reset(self) -> Any:
        """Begin again."""

    def undo(self) -> Any:
        """Go back to before the last change."""

    def set_speed(self, speed: float) -> Any:
        """Simulated seconds in a second."""

    def set_gravity(self, gravity: ArrayLike) -> Any:
        """Gravity (3,) [m/s^2]."""

    def cut(self, joint: str) -> Any:
        """Cut a joint."""

    def connect(self, link: str, other: str, kind: str = ..., axis: str = ..., point: ArrayLike | None = ...) -> Any:
        """Connect two links where they are, at a point of the first one's frame."""

    def drag(self, link: str, target: ArrayLike, point: ArrayLike = ...) -> Any:
        """Pull a point of a link to a target."""

    def release(self) -> Any:
        """Drag no longer."""

    def pose(self, joints: Mapping[str, float]) -> Any:
        """Set coordinates of joints of a paused run."""

    def hold(self, is_kept: bool = ...) -> Any:
        """Hold the present posture by torques, or no longer."""

    def close(self) -> None:
        """End the run."""
