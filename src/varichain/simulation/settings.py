"""How a simulation is integrated and sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from varichain.errors import InputError, quoted
from varichain.instants.restraints import Limits, SoftLimits, checked_limits
from varichain.kernels.run_records import METHOD_CODES, STEPPING
from varichain.spatial.checks import finite_scalar, positive_scalar, time_step

DEFAULT_METHOD = "rk45"  # as fast as fixed steps of 1 ms, and right where those are too long
DEFAULTS: dict[str, Any] = {
    "method": DEFAULT_METHOD,
    "step": None,
    "sample": None,
    "tolerance": 1e-9,
    "control_step": None,
    "limits": "hard",
    "contacts": "off",
}
CONTACTS = ("off", "exact", "stepping")
SLOWEST, FASTEST = 1e-3, 1e3  # simulated seconds in a second
LONGEST = 1e9  # [s] that a run may last: thirty years
_STEP, _LONG_STEP = 1e-3, 1e-2  # [s] by default; the long one for "gbs", whose steps are long


@dataclass(frozen=True)
class Settings:
    """Method and steps of a run, checked.

    Attributes:
        method: "euler", "rk4", "rk45", "gbs" or "implicit".
        step: Grid of time [s]: fixed methods step along it, adaptive ones land on it.
        every: Grid points from one stored sample to the next.
        tolerance: Error allowed in a step of the adaptive methods.
        control_step: Time between calls of Python controllers [s].
        limits: "hard", "off" or SoftLimits.
        contacts: "off", "exact" or "stepping".
    """

    method: str
    step: float
    every: int
    tolerance: float
    control_step: float
    limits: Limits
    contacts: str = "off"

    @property
    def code(self) -> int:
        """Code of the method; contacts have one of their own."""
        return STEPPING if self.contacts == "stepping" else METHOD_CODES[self.method]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for a trace."""
        limits: Any = self.limits
        if isinstance(limits, SoftLimits):
            limits = {"stiffness": limits.stiffness, "damping": limits.damping}
        return {
            "method": self.method,
            "step": self.step,
            "every": self.every,
            "tolerance": self.tolerance,
            "control_step": self.control_step,
            "limits": limits,
            "contacts": self.contacts,
        }

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Settings:
        """The inverse of `as_dict`."""
        limits = values["limits"]
        if isinstance(limits, dict):
            limits = SoftLimits(**limits)
        return Settings(**{**values, "limits": limits})


def checked_settings(
    method: Any,
    step: Any,
    sample: Any,
    tolerance: Any,
    control_step: Any,
    limits: Any,
    contacts: Any = "off",
) -> Settings:
    """Settings from the user's arguments, checked."""
    if not isinstance(contacts, str) or contacts not in CONTACTS:
        raise InputError(f"contacts must be one of {', '.join(map(repr, CONTACTS))}, not {quoted(contacts)}")
    if not isinstance(method, str) or method not in METHOD_CODES:
        raise InputError(f"method must be one of {', '.join(map(repr, METHOD_CODES))}, not {quoted(method)}")
    if contacts == "exact" and method == "implicit":
        raise InputError(
            "contacts='exact' needs a method whose steps end at events: 'euler', 'rk4', 'rk45' or 'gbs', not "
            "'implicit'; contacts='stepping' is implicit in joint dampers, springs and PD gains"
        )
    if step is None:
        step = _LONG_STEP if method == "gbs" and contacts != "stepping" else _STEP
    step = time_step(step, "step")
    sample = step if sample is None else time_step(sample, "sample")
    every = round(min(sample, LONGEST) / step)
    if every < 1 or not math.isclose(every * step, sample, rel_tol=1e-9):
        raise InputError(f"sample must be a whole multiple of step ({step:g} s), not {sample:g} s")
    control_step = step if control_step is None else time_step(control_step, "control_step")
    tolerance = positive_scalar(tolerance, "tolerance")
    return Settings(method, step, every, tolerance, control_step, checked_limits(limits), contacts)


def checked_speed(speed: Any) -> float:
    """Simulated seconds in a second of wall time."""
    number = positive_scalar(speed, "speed")
    if not SLOWEST <= number <= FASTEST:
        raise InputError(f"speed must be from {SLOWEST:g} to {FASTEST:g}, not {number:g}")
    return number


def checked_until(until: Any, now: float) -> float:
    """Time to reach; InputError unless it is later than now."""
    end = finite_scalar(until, "until")
    if end > LONGEST:
        raise InputError(f"until must not be later than {LONGEST:g} s, not {end:g} s")
    if not end > now:
        raise InputError(f"until must be later than the state's time {now:g} s, not {end:g} s")
    return end
