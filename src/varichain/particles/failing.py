"""What tore, where, and a step that would do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from varichain.errors import DivergenceError
from varichain.kernels.particle_records import BY_LAW, LOST

if TYPE_CHECKING:
    from varichain.particles.system import System


def divergence(system: System, would_do: float = math.inf) -> DivergenceError:
    """Error for a link that is torn or a spring that flies apart; `would_do` is a step that is known to do [s]."""
    run, t, at = system.run[0], system.time, int(system.run["culprit"][0])
    step = float(run["step"])
    if int(run["status"]) == LOST:
        name, spring = system.springs.names[at], system.springs.array[at]
        square = float(spring["stiffness"]) * float(system.inverse_mass[[spring["i"], spring["j"]]].sum())
        what = f"spring {name!r} flies apart"
    else:
        name, link = system.links.names[at], system.links.array[at]
        # braces alone have (k / m)^1/2; with joints and dampers a link is up to twice as fast
        square = float(link["stiffness"]) * float(system.inverse_mass[int(link["first"])])
        what = f"link {name!r} is torn{_worst(system, at)}"
        suspect = _lost(system, at)
        if suspect:
            return DivergenceError(
                f"link {name!r} has positions that are not finite at t = {t:.9g} s{suspect}", t, name
            )
    own = 1.0 / math.sqrt(square) if square > 0.0 else math.inf
    advice = min(would_do, own) if step > min(would_do, own) else 0.5 * step
    return DivergenceError(
        f"{what} at t = {t:.9g} s, in steps of {step:.3g} s; a step of {advice:.2g} s would do if the step is too "
        "long; else look at the forces there, or take less stiff springs",
        t,
        name,
    )


def _lost(system: System, link: int) -> str:
    """Where numbers may have been lost if those of a link are, in words."""
    first = int(system.links.array["first"][link])
    if np.isfinite(system.x[first : first + 4]).all():
        return ""
    by_law = (system.grounds["kind"] == BY_LAW).any()
    own = np.flatnonzero(system.contacts.array["link"] == link)
    if by_law and len(own):
        return f": look at what the ground law of contact {system.contacts.names[int(own[0])]!r} returns"
    return ": look at the forces and torques that act on it"


def _worst(system: System, link: int) -> str:
    """The restriction of a link that is furthest from rest, in words."""
    rows = system.restrictions.array
    own = np.flatnonzero((rows["a"] == link) | (rows["b"] == link))
    if not len(own):
        return ""
    errors = np.abs(rows["error"][own])
    worst = int(own[int(np.where(np.isnan(errors), np.inf, errors).argmax())])
    return f" (spring {system.restrictions.names[worst]!r} is {float(abs(rows['error'][worst])):.2g} m from rest)"
