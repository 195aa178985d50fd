"""Why the kernels stopped, as errors."""

from __future__ import annotations

from varichain.errors import ChatteringError, DivergenceError, SimulationError
from varichain.kernels import running
from varichain.simulation.engine import Engine


def check_status(engine: Engine) -> None:
    """Raise what the last call of an engine reported, if it was a failure."""
    status, t = engine.status, engine.time
    if status in (running.REACHED, running.FULL):
        return
    freedom = engine.layout.freedom_name(int(engine.tally[running.FREEDOM]))
    if status == running.DIVERGED:
        raise DivergenceError(
            f"the motion ceased to be finite after t = {t:.9g} s, at {freedom!r} first; take a smaller step, or look "
            "at the forces and controllers there",
            t,
            freedom,
        )
    if status == running.TOO_SMALL:
        raise DivergenceError(
            f"the steps became too small after t = {t:.9g} s, at {freedom!r} first; loosen the tolerance, or look at "
            "the forces there",
            t,
            freedom,
        )
    if status == running.CHATTERING:
        names = [name for name, hold in zip(engine.hold_names, engine.holds, strict=True) if hold["held"]]
        raise ChatteringError(
            f"stops and friction chatter at t = {t:.9g} s: events without end within one step; held are "
            f"{', '.join(names) or 'none'}",
            t,
        )
    if status == running.UNDECIDED:
        raise SimulationError(
            f"at t = {t:.9g} s no set of held joints agrees with its forces: stops or friction that depend on each "
            "other through loops; use limits='soft'",
            t,
        )
    raise SimulationError(
        f"loops cannot be kept closed after t = {t:.9g} s: driven joints, stops or the step's length work against "
        "them; take a smaller step, or drive fewer joints",
        t,
    )
