"""Failures of the kernels as errors."""

from __future__ import annotations

from varichain.errors import ChatteringError, DivergenceError, SimulationError
from varichain.kernels.run_records import (
    CHATTERING,
    CONTRADICTED,
    DIVERGED,
    EULER,
    FULL,
    IMPLICIT,
    JOLTED,
    REACHED,
    RK4,
    TOO_SMALL,
    UNDECIDED,
)
from varichain.layout.layout import Layout
from varichain.simulation.engine import Engine


def check_status(engine: Engine) -> None:
    """Raise the error of the engine's last call, if it failed."""
    if engine.status not in (REACHED, FULL):
        raise failure(engine.layout, engine.status, engine.time, engine.failed_freedom, engine)


def failure(layout: Layout, status: int, t: float, index: int, engine: Engine | None = None) -> SimulationError:
    """Error for a status of the kernels at a time; with an engine, the message names what acts in it."""
    freedom = layout.freedom_name(index)
    if status == DIVERGED:
        return DivergenceError(
            f"the motion ceased to be finite after t = {t:.9g} s, at {freedom!r} first; "
            f"{'take a smaller step, or ' if _has_fixed_steps(engine) else ''}look at the forces and controllers there",
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
        modes = "" if engine is None else f"; locked are {', '.join(_locked(engine)) or 'none'}"
        return ChatteringError(
            f"stops and friction chatter at t = {t:.9g} s: events without end within one step{modes}", t
        )
    if status == UNDECIDED:
        return SimulationError(
            f"at t = {t:.9g} s no set of locked joints agrees with its forces: stops or friction that depend on each "
            "other through loops; use limits='soft'",
            t,
        )
    if status == CONTRADICTED:
        return SimulationError(
            f"at t = {t:.9g} s the loops cannot move on: {'; '.join(_acting(engine))}; {_remedies(engine)}",
            t,
        )
    if status == JOLTED:
        return SimulationError(
            f"loops stay closed after t = {t:.9g} s only if more than 0.1 % of the kinetic energy is taken away: "
            f"{_open(engine, 'takes so much')}",
            t,
        )
    return SimulationError(f"loops cannot be kept closed after t = {t:.9g} s: {_open(engine, 'leaves one open')}", t)


def _acting(engine: Engine | None) -> list[str]:
    """What acts on loops: joints that are driven, and restraints that are locked."""
    if engine is None:
        return []
    named = {"driven are": _driven(engine), "locked by stops or friction are": _locked(engine)}
    return [f"{what} {', '.join(names)}" for what, names in named.items() if names]


def _remedies(engine: Engine | None, *others: str) -> str:
    """What to do against what acts, and other remedies."""
    remedies = [*others[:1]]
    if engine is not None and _locked(engine):
        remedies.append("use limits='soft'")
    if engine is not None and _driven(engine):
        remedies.append("drive fewer joints")
    return ", or ".join([*remedies, *others[1:]])


def _open(engine: Engine | None, result: str) -> str:
    """Result of a step for the loops, what acts on them, and remedies for that alone."""
    see = "see whether their links can still meet there"
    if not _has_fixed_steps(engine):
        return "; ".join([f"any step {result}", *_acting(engine), _remedies(engine, see)])
    steps = [] if engine is None else [f"a step of {engine.record['step'][0]:g} s {result}"]
    remedies = _remedies(engine, "take a smaller step", see)
    return "; ".join([*steps, *_acting(engine), remedies])


def _has_fixed_steps(engine: Engine | None) -> bool:
    """Whether the step's length is the user's choice."""
    return engine is None or engine.record["method"][0] in (EULER, RK4, IMPLICIT)


def _driven(engine: Engine) -> list[str]:
    """Names of the joints that follow a motion."""
    driven = set(engine.channels["dof"][: int(engine.record["n_drives"][0])].tolist())
    return [slot.name for slot in engine.layout.slots if driven & set(range(slot.v.start, slot.v.stop))]


def _locked(engine: Engine) -> list[str]:
    """Names of the restraints that are locked."""
    names = zip(engine.restraint_names, engine.restraints["locked"].tolist(), strict=True)
    return [name for name, is_locked in names if is_locked]
