"""Errors of the house: one family, messages that say what was found and what would be valid, evidence as attributes."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_NAMES_SHOWN = 20
_LONGEST_COMPARED = 200
_LONGEST_SHOWN = 100  # characters
_MOST_COMPARED = 500  # comparing all names of a huge file would take seconds


def quoted(value: object) -> str:
    """The repr of a name, or of what was given for one, shortened: files of strangers have names of a megabyte."""
    try:
        text = repr(value)
    except Exception:  # a number with more digits than Python writes, an object that cannot show itself
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


class _Portable(BaseException):
    """What an error needs to come back whole from pickles and copies: message, evidence, notes.

    Constructors are not called again: they may take other arguments than those that are kept in `args`.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Give arguments and attributes, in which notes are."""
        return _revived, (type(self), self.args, vars(self))


def _revived(kind: type[_Portable], args: tuple[Any, ...], evidence: dict[str, Any]) -> _Portable:
    """An error of that kind with the arguments of its built-in base, and its attributes."""
    error = kind.__new__(kind, *args)
    super(_Portable, error).__init__(*args)
    vars(error).update(evidence)
    return error


class VarichainError(_Portable, Exception):
    """Base of every error that varichain raises on purpose; pickles and copies with its evidence."""


class InputError(VarichainError, ValueError):
    """An argument of the wrong type or shape, a number that is not finite, or a number out of range."""


class ArrayError(InputError, TypeError):
    """Something other than an array, or an array of the wrong shape, given to a prepared handle."""


class UnknownNameError(VarichainError, KeyError):
    """A name that the mechanism does not have.

    Attributes:
        kind: What was looked for: "link", "joint", "frame", "link or frame", ...
        name: The name that was asked for.
        valid: Every name that exists, the closest to `name` first.
    """

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        """Rank the `valid` names by closeness to `name`."""
        names = list(valid)
        is_name = isinstance(name, str) and len(name) <= _LONGEST_COMPARED
        close = get_close_matches(str(name), names[:_MOST_COMPARED], n=3) if is_name else []
        self.kind = kind
        self.name = name
        self.valid = close + [other for other in names if other not in close]
        self._n_close = len(close)
        super().__init__(kind, name, self.valid)

    def __str__(self) -> str:
        """Say it in a sentence; KeyError would print the repr of its arguments."""
        message = f"no {self.kind} is called {quoted(self.name)}"
        if self._n_close:
            message += f" (did you mean {quoted(self.valid[0])}?)"
        return f"{message}; {self.kind.replace(' or ', 's or ')}s: {listed(quoted(name) for name in self.valid)}"


class DuplicateNameError(VarichainError, ValueError):
    """A name that is already taken.

    Attributes:
        kind: What has the name: "link", "joint", "frame", ...
        name: The name.
    """

    def __init__(self, kind: str, name: str) -> None:
        """Say which name of which kind is taken."""
        self.kind = kind
        self.name = name
        super().__init__(kind, name)

    def __str__(self) -> str:
        """Say it in a sentence."""
        return f"a {self.kind} called {quoted(self.name)} exists already; {self.kind} names must be unique"


class StructureError(VarichainError, ValueError):
    """An impossible structure: a link that is its own ancestor, a link of another mechanism, ..."""


class StaleStateError(VarichainError, ValueError):
    """A state whose coordinates are not those of the mechanism as it is now.

    Attributes:
        appeared: Names of joints that the mechanism has and the state lacks.
        vanished: Names of joints that the state has and the mechanism lacks.
        can_follow: Whether `State.follow` brings the state up to date.
    """

    def __init__(self, message: str, appeared: Iterable[str], vanished: Iterable[str], can_follow: bool) -> None:
        """Keep the names next to the message."""
        self.appeared = tuple(appeared)
        self.vanished = tuple(vanished)
        self.can_follow = can_follow
        super().__init__(message)


class InertiaError(VarichainError, ValueError):
    """An inertia that no rigid body has.

    Attributes:
        mass: The mass in question [kg], if known.
        matrix: The rotational inertia in question (3, 3) [kg m^2], if known.
    """

    def __init__(self, message: str, mass: float | None = None, matrix: NDArray[np.float64] | None = None) -> None:
        """Keep the evidence next to the message."""
        self.mass = mass
        self.matrix = matrix
        super().__init__(message)


class SingularMassError(VarichainError, ArithmeticError):
    """Dynamics without a unique answer, because something that can move has no mass.

    Attributes:
        joint: Name of the joint whose freedom has no inertia, if known.
    """

    def __init__(self, message: str, joint: str | None = None) -> None:
        """Keep the name of the guilty joint next to the message."""
        self.joint = joint
        super().__init__(message)


class AssemblyError(VarichainError, ArithmeticError):
    """Loops that cannot be closed from where the search began.

    Attributes:
        residuals: What is left open of each loop [m or rad], by the name of its joint.
    """

    def __init__(self, message: str, residuals: dict[str, float]) -> None:
        """Keep the residuals next to the message."""
        self.residuals = residuals
        super().__init__(message)


class GapError(VarichainError, ValueError):
    """Joint frames that should be connected do not meet.

    Attributes:
        gap: How far they are apart [m or rad].
    """

    def __init__(self, message: str, gap: float) -> None:
        """Keep the gap next to the message."""
        self.gap = gap
        super().__init__(message)


class PreferenceError(VarichainError, ValueError):
    """Coordinates that were asked to be independent, but are not.

    Attributes:
        freedoms: Names of the freedoms that depend on the others.
    """

    def __init__(self, message: str, freedoms: list[str]) -> None:
        """Keep the names next to the message."""
        self.freedoms = freedoms
        super().__init__(message)


class ActuationError(VarichainError, ArithmeticError):
    """A motion that the actuators cannot drive.

    Attributes:
        residual: Generalized force that is missing, largest entry [N m or N].
        joints: Names of the freedoms that lack drive.
    """

    def __init__(self, message: str, residual: float, joints: list[str]) -> None:
        """Keep the evidence next to the message."""
        self.residual = residual
        self.joints = joints
        super().__init__(message)


class EquilibriumError(VarichainError, ArithmeticError):
    """No posture near a given one is in balance.

    Attributes:
        forces: What is out of balance in the best posture found [N m or N], by freedom, largest first.
    """

    def __init__(self, message: str, forces: dict[str, float]) -> None:
        """Keep the forces next to the message."""
        self.forces = forces
        super().__init__(message)


class FileError(VarichainError, OSError):
    """A file that cannot be written or read.

    Attributes:
        path: The file.
    """

    def __init__(self, message: str, path: str) -> None:
        """Keep the path next to the message."""
        self.path = path
        super().__init__(message)


class TraceFileError(FileError):
    """A trace's file, or one made from a trace, that cannot be written or read.

    Attributes:
        path: The file.
        trace: What a run has recorded, if it ended with this error; None else.
    """

    def __init__(self, message: str, path: str) -> None:
        """Keep the path next to the message."""
        self.trace: Any = None
        super().__init__(message, path)


class CoarseRunWarning(UserWarning):
    """The energy account of a run does not balance: its steps are too coarse for its motion."""


class TraceFileWarning(UserWarning):
    """A file of a trace is not as it should be, but nothing is lost."""


class DamagedTraceWarning(TraceFileWarning):
    """Part of a trace's file is unreadable; the message says what is lost."""


class ScenarioFileError(VarichainError, ValueError):
    """A scenario file that cannot be used.

    Attributes:
        path: The file.
        faults: All that is wrong with it, each with line and column (from 1) and a sentence, in the file's order.
    """

    def __init__(self, path: str, faults: Iterable[tuple[int, int, str]]) -> None:
        """Keep the faults."""
        self.path = path
        self.faults = sorted(faults)
        super().__init__(path, self.faults)

    def __str__(self) -> str:
        """One line a fault, as compilers print them."""
        n = len(self.faults)
        lines = [f"{self.path}:{line}:{column}: {what}" for line, column, what in self.faults]
        return "\n".join([f"{n} mistake{'s' if n != 1 else ''} in scenario file {self.path!r}", *lines])


class FormatError(VarichainError, ValueError):
    """A robot file that cannot be read: broken, hostile, or with parts that no mechanism can have.

    Attributes:
        path: The file.
        line: Line where the fault is, if known.
    """

    def __init__(self, message: str, path: str, line: int | None = None) -> None:
        """Keep file and line next to the message."""
        self.path = path
        self.line = line
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {message}")


class MissingExtraError(VarichainError, ImportError):
    """A function that needs an optional package which is not installed; the message says what to install."""


def listed(names: Iterable[str]) -> str:
    """Names separated by commas; a long list is cut, with the number left out."""
    texts = list(names)
    if not texts:
        return "(none)"
    shown = ", ".join(texts[:_MOST_NAMES_SHOWN])
    left_out = len(texts) - _MOST_NAMES_SHOWN
    return f"{shown} and {left_out} more" if left_out > 0 else shown


class LimitError(VarichainError, ValueError):
    """A joint that is outside its limits at the start of a simulation.

    Attributes:
        excess: How far every such joint is outside [rad or m], by name.
    """

    def __init__(self, excess: dict[str, float]) -> None:
        """Name the joints."""
        self.excess = excess
        listed = ", ".join(f"{name} by {beyond:.3g}" for name, beyond in excess.items())
        super().__init__(
            f"the state is outside joint limits [rad or m]: {listed}; move it inside, widen the limits, or simulate "
            "with limits='soft' or limits='off'"
        )


class PenetrationError(VarichainError, ValueError):
    """Links that are inside surfaces at the start of a simulation with contacts.

    Attributes:
        depths: How deep every such link is in a surface [m], by the names of the two.
    """

    def __init__(self, depths: dict[tuple[str, str], float]) -> None:
        """Name the links and the surfaces."""
        self.depths = depths
        listed = ", ".join(f"{link!r} in {surface!r} by {depth:.3g}" for (link, surface), depth in depths.items())
        super().__init__(f"links are in surfaces [m]: {listed}; begin with vc.separate(m, s), which moves them out")


class FunctionError(VarichainError, ArithmeticError):
    """A function of the configuration that has no value, or no derivative, in a state.

    Attributes:
        function: Name of the function.
    """

    def __init__(self, message: str, function: str) -> None:
        """Keep the name next to the message."""
        self.function = function
        super().__init__(message)


class SimulationError(VarichainError, RuntimeError):
    """A simulation that cannot continue.

    Attributes:
        time: Simulated time [s] of the last good state.
        trace: All that was simulated before, the last good state included; None if nothing was.
    """

    def __init__(self, message: str, time: float) -> None:
        """Say what happened; the trace is attached by the simulation."""
        self.time = time
        self.trace: Any = None
        super().__init__(message)


class DivergenceError(SimulationError):
    """A motion that is no longer finite, or steps that became too small to continue.

    Attributes:
        joint: Name of the freedom that was lost first.
    """

    def __init__(self, message: str, time: float, joint: str) -> None:
        """Say what happened to which joint."""
        super().__init__(message, time)
        self.joint = joint


class CoarseRunError(SimulationError):
    """A run whose energy account is off by more than a tenth of the energy turned over; `trace` has all of it."""


class ChatteringError(SimulationError):
    """Events that follow each other without end while time stands still."""


class ControllerError(SimulationError):
    """A controller, condition or action of the user that failed or returned something that cannot be used."""


class EventError(SimulationError):
    """An event whose actions are impossible, such as a cut of a joint that does not exist; see `__cause__`."""


class OptimisationError(VarichainError, ArithmeticError):
    """An impossible motion: goals, bounds or connections that contradict each other, or a search that failed.

    Attributes:
        missing: By how much each goal, bound or connection is missed [rad or m, and per second], by name; empty if the
            search got lost.
        motion: The nearest motion that was found.
    """

    def __init__(self, message: str, missing: dict[str, float], motion: Any) -> None:
        """Keep the evidence next to the message."""
        self.missing = missing
        self.motion = motion
        super().__init__(message)


class OptimisationInterrupted(_Portable, KeyboardInterrupt):
    """Ctrl-C during an optimisation.

    Attributes:
        motion: The best motion so far.
    """

    def __init__(self, motion: Any, message: str) -> None:
        """Keep the motion."""
        self.motion = motion
        super().__init__(message)


class SweepError(VarichainError, RuntimeError):
    """A sweep that cannot continue, or a file of another sweep; trials that were written before are intact."""


class SweepInterrupted(_Portable, KeyboardInterrupt):
    """Ctrl-C during a sweep; all trials that were finished are in its file."""


class SimulationInterrupted(_Portable, KeyboardInterrupt):
    """Ctrl-C during a simulation.

    Attributes:
        trace: All that was simulated before.
    """

    def __init__(self, trace: Any, message: str) -> None:
        """Keep the trace."""
        self.trace = trace
        super().__init__(message)
