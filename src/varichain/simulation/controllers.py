"""Controllers: torques on the joints of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.actuator_solve import ActuatorSolve, actuators_of
from varichain.dynamics.inverse import inverse_dynamics
from varichain.errors import DuplicateNameError, InputError, quoted
from varichain.kernels.callbacks import address_of, jitted
from varichain.kernels.jit import JIT_DISABLED
from varichain.kernels.motion import evaluate
from varichain.kernels.run_records import SCALAR
from varichain.kernels.tables import as_records
from varichain.layout.layout import Layout
from varichain.layout.state import State, layout_for
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion, TimeFunctions
from varichain.simulation.discrete import Discrete, checked_numbers, record_of
from varichain.spatial.checks import listed, mapping, non_negative_scalar, shown

Array = NDArray[np.float64]

Gains = float | Mapping[str, float]

_MOST_STRUCTURES = 16  # that a controller is ready for at a time


@dataclass(frozen=True, eq=False)
class Torques:
    """Torques as functions of time, for joints by name; constant before the first break and after the last.

    Attributes:
        functions: `TimeFunctions`, or what they are made of: {"knee": spline of torques, ...} [N m or N].
    """

    functions: Any

    def __post_init__(self) -> None:
        """Make the table."""
        if not isinstance(self.functions, TimeFunctions):
            object.__setattr__(self, "functions", TimeFunctions(self.functions))


@dataclass(frozen=True, eq=False)
class PD:
    """Proportional-derivative control towards a pose or a motion: k (target - q) + d (target rate - v).

    It acts continuously, at every stage of every step. For balls the difference is the rotation vector from the joint's
    orientation to the target's, in the link's axes.

    Attributes:
        target: A Motion; a State or {"knee": 0.3, "hip": quaternion, ...} for a constant pose.
        stiffness: k [N m/rad or N/m], one for all joints or by joint name.
        damping: d [N m s/rad or N s/m], likewise.
        largest: Bound of the whole torque of a freedom; None for none.
        joints: Names of the joints that are controlled; those of the target by default.
    """

    target: Any = field(repr=False)
    stiffness: Gains
    damping: Gains
    largest: float | None = None
    joints: Iterable[str] | None = None
    motion: Motion = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Turn a pose into a constant motion, and check the gains."""
        if self.joints is not None:
            object.__setattr__(self, "joints", listed(self.joints, str, "joints"))
        motion = as_motion(self.target, self.joints)
        object.__setattr__(self, "motion", motion)
        names = tuple(motion.joints) if self.joints is None else tuple(self.joints)
        for name in names:
            if name not in motion.joints:
                raise InputError(f"joint {name!r} is not in the target; it has {', '.join(motion.joints)}")
        object.__setattr__(self, "joints", names)
        for what in ("stiffness", "damping"):
            given = getattr(self, what)
            for value in given.values() if isinstance(given, Mapping) else (given,):
                non_negative_scalar(value, f"{what} of PD")
            for name in given if isinstance(given, Mapping) else ():
                if name not in names:
                    raise InputError(f"{what} of PD is given for {name!r}, which is not among {', '.join(names)}")
        if self.largest is not None:
            non_negative_scalar(self.largest, "largest of PD")


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """Inverse dynamics of a desired acceleration, a = a_target + d (v_target - v) + k (target - q), at control ticks.

    Closed chains included: of all accelerations that the loops allow, those nearest to the desired ones of the motion's
    joints are taken, and the torques are shared by the actuated joints as in `vc.inverse_dynamics`. Without options one
    compiled call does all of it.

    Attributes:
        motion: Target; all other joints are brought to rest where they are.
        stiffness: k [1/s^2].
        damping: d [1/s]; critical damping, 2 sqrt(k), if it is not given.
        options: Further arguments of `vc.inverse_dynamics`, such as limits or weights.
    """

    motion: Motion
    stiffness: float = 400.0
    damping: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    _made: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Check the gains."""
        if not isinstance(self.motion, Motion):
            raise InputError(f"ComputedTorque needs a vc.Motion, not {quoted(self.motion)}")
        k = non_negative_scalar(self.stiffness, "stiffness of ComputedTorque")
        if self.damping is None:
            object.__setattr__(self, "damping", 2.0 * k**0.5)
        non_negative_scalar(self.damping, "damping of ComputedTorque")

    def __call__(self, m: Mechanism, s: State) -> Array:
        """Torques (n_v,) at the state's time."""
        layout, target = layout_for(m, s), s.copy()
        table = layout.workspaces.of_thread.table
        solve, channels, motion, weight = self._prepared(layout)
        wished, target._v[:] = np.zeros(layout.n_v), 0.0
        evaluate(channels, motion, np.array([s.time]), target._q[None], target._v[None], wished[None])
        assert self.damping is not None
        wished += self.stiffness * s.difference(target) + self.damping * (target._v - s._v)
        a, tau = solve.wished(table, s._q, s._v, wished, weight)
        if self.options:
            return inverse_dynamics(m, s, a, **{"actuators": True, **self.options}).tau
        return solve.given(tau)

    def _prepared(self, layout: Layout) -> tuple[ActuatorSolve, NDArray[Any], Array, Array]:
        """What a structure needs, made once for each thread: solver, channels, their table, weights of freedoms."""
        key = (id(layout), get_ident())
        made: dict[Any, tuple[ActuatorSolve, NDArray[Any], Array, Array]] = self._made
        if key not in made:
            if len(made) >= _MOST_STRUCTURES:
                made.clear()
            channels, motion = self.motion.packed(layout, skip_missing=True)
            weight = np.zeros(layout.n_v)
            for channel in channels:
                weight[channel["dof"] : channel["dof"] + (1 if channel["kind"] == SCALAR else 3)] = 1.0
            solve = ActuatorSolve(layout, actuators_of(layout))
            made[key] = solve, as_records(channels), motion, weight / solve.actuators.scale**2
        return made[key]

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle without what was made for structures."""
        return self.__dict__ | {"_made": {}}


@dataclass(frozen=True, eq=False)
class Compiled:
    """A controller that Numba compiles: f(t, q, v, tau) changes tau (n_v,) in place, at every stage of every step.

    q, v and tau are of the whole mechanism, in the order of `State.joints`; after a structure change they have the
    lengths of the new structure.

    Attributes:
        function: Plain or jitted; f(t, q, v, tau, parameters) if there are parameters.
        parameters: Numbers and arrays by name, `parameters.name` in the function; `vc.sensitivity` differentiates by
            them.
    """

    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    address: int = field(init=False, repr=False)
    _values: Any = field(init=False, repr=False)
    _called: Any = field(init=False, repr=False)
    _kept: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compile the function."""
        if not callable(self.function):
            raise InputError(f"a compiled controller must be a function of t, q, v and tau, not {shown(self.function)}")
        given = mapping(self.parameters, "parameters of Compiled")
        numbers = {name: checked_numbers(name, value, "parameters of Compiled") for name, value in given.items()}
        values = np.zeros(1, record_of(numbers))
        for name, value in numbers.items():
            values[name] = value
        called = jitted(self.function)
        address, kept = address_of(_with_parameters(called, values) if numbers else called)
        made = {"parameters": numbers, "address": address, "_values": values, "_called": called, "_kept": kept}
        for name, part in made.items():
            object.__setattr__(self, name, part)

    def torques(self, t: float, q: Array, v: Array, changes: Mapping[str, Array] | None = None) -> Array:
        """Torques (n_v,) of a state, with parameters changed by given amounts."""
        tau, values = np.zeros(len(v)), self._values.copy()
        for name, change in (changes or {}).items():
            values[name] += change
        self._called(t, q, v, tau, *((_record(values),) if self.parameters else ()))
        return tau


def _record(values: Any) -> Any:
    """The one record of an array, with its fields as attributes."""
    return values.view(np.recarray)[0] if JIT_DISABLED else values[0]


def _with_parameters(called: Any, values: Any) -> Any:
    """A controller f(t, q, v, tau) from one that takes parameters, which become constants of it."""
    if JIT_DISABLED:
        record = _record(values)
        return lambda t, q, v, tau: called(t, q, v, tau, record)

    def bound(t: Any, q: Any, v: Any, tau: Any) -> None:
        called(t, q, v, tau, values[0])

    bound.__name__ = getattr(called, "__name__", "the function")  # for messages
    return bound


Controller = Torques | PD | Compiled | Discrete | Callable[[Mechanism, State], Any]


def checked_controllers(given: Any) -> list[Controller]:
    """Controllers as a list; jitted functions become `Compiled`."""
    if given is None:
        return []
    controllers = list(given) if isinstance(given, list | tuple) else [given]
    checked: list[Controller] = []
    for controller in controllers:
        if hasattr(controller, "py_func"):
            controller = Compiled(controller)
        if not isinstance(controller, Torques | PD | Compiled | Discrete) and not callable(controller):
            raise InputError(
                "a controller must be vc.PD, vc.Torques, vc.ComputedTorque, vc.Discrete, a function (m, s) that "
                f"returns torques, or a jitted function (t, q, v, tau), not {quoted(controller)}"
            )
        checked.append(controller)
    if sum(isinstance(controller, Compiled) for controller in checked) > 1:
        raise InputError("only one compiled controller can act at a time; call one from the other")
    names = [str(law.name) for law in checked if isinstance(law, Discrete)]
    for name in names:
        if names.count(name) > 1:
            raise DuplicateNameError("discrete controller", name)
    return checked


def torques_from(answer: Any, layout: Layout, what: str) -> Array:
    """Torques (n_v,) that a controller returned: an array, torques by joint name, or None."""
    tau = np.zeros(layout.n_v)
    if answer is None:
        return tau
    if isinstance(answer, Mapping):
        for name, value in answer.items():
            tau[layout.slot(name).v] = value
    else:
        given = np.asarray(answer, dtype=np.float64)
        if given.shape != (layout.n_v,):
            raise InputError(f"{what} must return torques of shape ({layout.n_v},) or by joint name, not {given.shape}")
        tau[:] = given
    if not np.isfinite(tau).all():
        names = [layout.freedom_name(int(k)) for k in np.flatnonzero(~np.isfinite(tau))[:5]]
        raise InputError(f"{what} returned torques that are not finite, for {', '.join(names)}")
    return tau


def as_motion(target: Any, joints: Iterable[str] | None = None) -> Motion:
    """The target as a motion; a pose becomes a constant motion."""
    if isinstance(target, Motion):
        return target
    if isinstance(target, State):
        names = target.joints if joints is None else tuple(joints)
        kinds = {slot.name: slot for slot in target.layout.slots}
        return Motion({name: target.q[kinds[name].q].copy() for name in names if kinds[name].coordinates})
    if isinstance(target, Mapping):
        return Motion(dict(target))
    raise InputError(f"a target must be a vc.Motion, a State, or coordinates by joint name, not {quoted(target)}")
