"""Why the kernels stopped, as errors."""

from __future__ import annotations

from varichain.errors import ChatteringError, DivergenceError, SimulationError
from varichain.kernels.records import CHATTERING, DIVERGED, FULL, REACHED, TOO_SMALL, UNDECIDED
from varichain.layout.layout import Layout
from varichain.simulation.engine import Engine


def check_status(engine: Engine) -> None:
    """Raise what the last call of an engine reported, if it was a failure."""
    if engine.status not in (REACHED, FULL):
        names = zip(engine.restraint_names, engine.restraints["locked"].tolist(), strict=True)
        locked = [name for name, is_locked in names if is_locked]
        raise failure(engine.layout, engine.status, engine.time, engine.failed_freedom, locked)


def failure(layout: Layout, status: int, t: float, index: int, held: list[str] | None = None) -> SimulationError:
    """The error that a status of the kernels means, at a time; what was held then, if it is known."""
    freedom = layout.freedom_name(index)
    if status == DIVERGED:
        return DivergenceError(
            f"the motion ceased to be finite after t = {t:.9g} s, at {freedom!r} first; take a smaller step, or look "
            "at the forces and controllers there",
            t,
            freedom,
        )
    if status == TOO_SMALL:
        return DivergenceError(
            f"the steps became too small after t = {t:.9g} s, at {freedom!r} first; loosen the tolerance, or look at "
            "the forces there",
            t,
            freedom,
        )
    if status == CHATTERING:
        told = "" if held is None else f"; held are {', '.join(held) or 'none'}"
        return ChatteringError(
            f"stops and friction chatter at t = {t:.9g} s: events without end within one step{told}", t
        )
    if status == UNDECIDED:
        return SimulationError(
            f"at t = {t:.9g} s no set of held joints agrees with its forces: stops or friction that depend on each "
            "other through loops; use limits='soft'",
            t,
        )
    return SimulationError(
        f"loops cannot be kept closed after t = {t:.9g} s: driven joints, stops or the step's length work against "
        "them; take a smaller step, or drive fewer joints",
        t,
    )
