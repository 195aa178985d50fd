"""Discrete controllers: compiled functions with a memory, called at ticks."""

from __future__ import annotations

import copy
import keyword
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, UnknownNameError, quoted
from varichain.kernels.callbacks import address_of_law
from varichain.spatial.checks import count_number, is_sequence, mapping, name_string, shown, time_step

Array = NDArray[np.float64]

_LARGEST_SEED = 2**128
_KEY = 4  # words of the key of a stream of noise; after them comes how often it was asked
_MOST_NUMBERS = 10**7


@dataclass(frozen=True, eq=False)
class Discrete:
    """A controller with a memory, which Numba compiles: f(t, q, v, tau, state, parameters, stream), at every tick.

    The function sets tau (n_v,), zero before, which stays until the next tick; q, v and tau are as in `Compiled`.
    `state.name` and `parameters.name` are numbers or arrays; the function changes the state, and `stream` when it asks
    `vc.blocks.normal(stream)` or `uniform(stream)` for noise. All of it is kept in checkpoints. `vc.blocks` has
    filters, delays, samplers and quantisers. The first tick is at the start of a run.

    Attributes:
        function: Plain or jitted.
        tick: Time from one call to the next [s], a whole multiple of the run's `step`.
        state: Numbers and arrays at the start, by name.
        parameters: Numbers and arrays by name; in `vc.rollout` each run may have its own.
        seed: Of the stream of noise.
        name: Under which its state is found in checkpoints and results; that of the function by default.
    """

    function: Callable[..., Any]
    tick: float
    state: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    name: str | None = None
    address: int = field(init=False, repr=False)
    record: Any = field(init=False, repr=False)
    _kept: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the arguments and compile the function."""
        if not callable(self.function):
            raise InputError(
                "a discrete controller must be a function of t, q, v, tau, state, parameters and stream, not "
                f"{shown(self.function)}"
            )
        keep = object.__setattr__
        keep(self, "tick", time_step(self.tick, "tick of Discrete"))
        name = getattr(self.function, "__name__", "controller") if self.name is None else self.name
        keep(self, "name", name_string(name, "name of Discrete"))
        keep(self, "seed", checked_seed(self.seed))
        for what in ("state", "parameters"):
            given = mapping(getattr(self, what), f"{what} of Discrete")
            keep(self, what, {key: checked_numbers(key, value, f"{what} of Discrete") for key, value in given.items()})
        parts = [(what, record_of(getattr(self, what))) for what in ("state", "parameters")]
        keep(self, "record", np.dtype([*parts, ("stream", np.float64, (_KEY + 1,))]))
        address, kept = address_of_law(self.function, self.record)
        keep(self, "address", address)
        keep(self, "_kept", kept)

    def varied(self, seed: int | None = None, **parameters: Any) -> Discrete:
        """The controller with another seed or other parameters; nothing is compiled again."""
        other = copy.copy(self)
        if seed is not None:
            object.__setattr__(other, "seed", checked_seed(seed))
        values = dict(self.parameters)
        for name, value in parameters.items():
            if name not in values:
                raise UnknownNameError("parameter", name, values)
            values[name] = self.fitted(name, value)
        object.__setattr__(other, "parameters", values)
        return other

    def fitted(self, name: str, value: Any) -> Array:
        """A value of a parameter, of the shape that the parameter has."""
        found, shape = checked_numbers(name, value, "parameters of Discrete"), np.shape(self.parameters[name])
        if found.shape != shape:
            raise InputError(f"parameter {name!r} of {self.name!r} must have the shape {shape}, not {found.shape}")
        return found

    @property
    def size(self) -> int:
        """Numbers in its memory."""
        return int(self.record.itemsize) // 8

    def memory(self) -> Array:
        """Memory at the start (size,): state, parameters, stream of noise."""
        whole = np.zeros(1, self.record)
        for what in ("state", "parameters"):
            for name, value in getattr(self, what).items():
                whole[what][name] = value
        whole["stream"] = self.stream(self.seed)
        numbers: Array = whole.view(np.float64).ravel()
        return numbers

    def stream(self, seed: int) -> Array:
        """Stream of noise of a seed (5,); controllers of other names have other noise."""
        words = np.random.SeedSequence([seed, zlib.crc32(str(self.name).encode())]).generate_state(_KEY)
        return np.append(words.astype(np.float64), 0.0)

    def part(self, memories: Array, what: str) -> dict[str, Array]:
        """The "state" or "parameters" in memories (..., size) by name, each (...) or (..., length)."""
        records = np.ascontiguousarray(memories).view(self.record)[..., 0][what]
        return {name: records[name].copy() for name in getattr(self, what)}


def checked_seed(seed: Any) -> int:
    """A seed: an integer that is not negative."""
    return count_number(seed, "seed", _LARGEST_SEED, least=0)


def checked_numbers(name: Any, value: Any, what: str) -> Array:
    """A finite number, as an array without dimensions, or an array (n,) of them; InputError for other values."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or hasattr(np.record, name):
        raise InputError(f"{what} need names that Python attributes can have, not {quoted(name)}")
    is_array = isinstance(value, np.ndarray) or is_sequence(value)
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array(np.nan)
    is_good = isinstance(value, int | float | np.number | np.ndarray) or is_array
    if isinstance(value, bool) or not is_good or found.ndim > 1 or not np.isfinite(found).all():
        raise InputError(f"{name!r} among the {what} must be a finite number or (n,) of them, not {shown(value)}")
    if not 0 < found.size <= _MOST_NUMBERS:
        raise InputError(f"{name!r} among the {what} must have 1 to {_MOST_NUMBERS} numbers")
    return found


def record_of(values: Mapping[str, Array]) -> Any:
    """Record with these fields; one without a meaning if there are none."""
    fields = [(name, np.float64, value.shape) if value.ndim else (name, np.float64) for name, value in values.items()]
    return np.dtype(fields or [("nothing", np.float64)])
