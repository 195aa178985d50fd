"""Controllers, driving motions and external forces of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.forces import ExternalForce, Force, LinkForces, force_records
from varichain.errors import ControllerError, InputError, quoted
from varichain.layout.layout import Layout
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion
from varichain.simulation.control_tables import ControlTable, control_table
from varichain.simulation.controllers import PD, Compiled, Torques, checked_controllers, torques_from
from varichain.simulation.discrete import Discrete
from varichain.simulation.engine import Engine
from varichain.simulation.observing import Observer
from varichain.spatial.checks import several


class Controls:
    """Controllers, a driving motion and external forces, as given to a simulation.

    Attributes:
        given: The user's arguments by name.
        is_asked: Whether Python functions are called at every control tick.
        laws: Discrete controllers.
        tick: Control period that the force function requests [s]; None: `control_step` of the settings.
        driven: Names of the joints that follow the motion.
        observers: Controllers whose numbers are recorded.
        motion: The motion.
        acting: External forces that act now.
    """

    def __init__(self, controller: Any, motion: Any, forces: Any) -> None:
        """Check the arguments."""
        if motion is not None and not isinstance(motion, Motion):
            raise InputError(f"motion must be a vc.Motion, not {quoted(motion)}")
        self.given = {"controller": controller, "motion": motion, "forces": forces}
        self._controllers = checked_controllers(controller)
        self._asked = [law for law in self._controllers if not isinstance(law, PD | Torques | Compiled | Discrete)]
        self.laws = tuple(law for law in self._controllers if isinstance(law, Discrete))
        self.observers: list[Observer] = [law for law in self._controllers if hasattr(law, "observed")]
        self.motion: Motion | None = motion
        self.acting: tuple[ExternalForce, ...] = () if callable(forces) else _checked_forces(forces)
        self._forces = forces
        self.is_asked = bool(self._asked) or callable(forces)
        self.tick: float | None = None if self._asked else getattr(forces, "tick", None)
        self.driven = frozenset(motion.joints) if motion is not None else frozenset()

    @property
    def has_forces(self) -> bool:
        """Whether forces act from outside, or a function may return some."""
        return bool(self.acting) or callable(self._forces)

    def table(self, layout: Layout, new: Collection[str]) -> ControlTable:
        """Controls of a structure as the kernels read them; joints named in `new` arguments must be there."""
        return control_table(layout, self._controllers, self.motion, new)

    def with_laws(self, laws: Iterable[Discrete]) -> Any:
        """The argument `controller` with other discrete controllers in place of `laws`."""
        return [*(law for law in self._controllers if not isinstance(law, Discrete)), *laws]

    def load_forces(self, engine: Engine) -> None:
        """Set the acting external forces in an engine."""
        engine.set_forces(force_records(engine.layout, self.acting))

    def update(self, m: Mechanism, engine: Engine) -> None:
        """Call the Python controllers and force functions: their values act until the next control tick."""
        tau = np.zeros(engine.layout.n_v)
        for law in self._asked:
            tau += user_code(engine.time, partial(_torques, law, m, engine))
        engine.set_torques(tau)
        if callable(self._forces):
            self.acting = user_code(engine.time, lambda: _returned_forces(self._forces(m, engine.state)))
            user_code(engine.time, lambda: self.load_forces(engine))

    def plain_forces(self) -> list[list[Any]] | None:
        """External forces that a function has returned, as plain values; None if there is no such function."""
        if not callable(self._forces):
            return None
        return [
            [_name(f.link), f._wrench[3:].tolist(), f._wrench[:3].tolist(), f._point.tolist(), f.axes]
            for f in self.acting
            if isinstance(f, Force)
        ]

    def take_forces(self, plain: list[list[Any]] | None) -> None:
        """Let forces of `plain_forces` act until the function is called again."""
        if plain is not None and callable(self._forces):
            self.acting = tuple(Force(*values) for values in plain)


def _checked_forces(found: Any) -> tuple[ExternalForce, ...]:
    given = () if found is None else tuple(several(found))
    for force in given:
        if not isinstance(force, Force | LinkForces):
            raise InputError(
                "forces must be vc.Force or vc.LinkForces objects, or a function (m, s) that returns vc.Force objects, "
                f"not {quoted(force)}"
            )
    return given


def _returned_forces(found: Any) -> tuple[Force, ...]:
    given = _checked_forces(found)
    for force in given:
        if not isinstance(force, Force):
            raise InputError("a function (m, s) must return vc.Force objects; vc.LinkForces act by themselves")
    return given  # type: ignore[return-value]


def _name(link: Any) -> str:
    return str(getattr(link, "name", link))


def user_code(time: float, call: Callable[[], Any]) -> Any:
    """Result of the user's function; any error in it becomes a ControllerError with the time."""
    try:
        return call()
    except Exception as error:
        raise ControllerError(f"at t = {time:.9g} s: {type(error).__name__}: {error}", time) from error


def _torques(law: Any, m: Mechanism, engine: Engine) -> NDArray[np.float64]:
    what = getattr(law, "__name__", type(law).__name__)
    return torques_from(law(m, engine.state), engine.layout, what)
