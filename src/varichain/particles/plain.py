"""Particles and their ground as plain values, for the checkpoints of traces; every number is kept to the bit."""

from __future__ import annotations

import base64
import math
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.particles.ground import Contact, Ground, Hard, Muddy, Region, Sandy, Soft, Terrain
from varichain.particles.linked import LinkedSystem, Standing

Plain = dict[str, Any]
Snapshot = dict[str, Any]

_GROUNDS = {kind.__name__: kind for kind in (Hard, Soft, Sandy, Muddy)}
_SURFACE = ("height", "slope", "origin", "spacing", "footprints", "cell")
_MOST_HEIGHTS = 250_000  # of a height field, kept in a trace
MOST_PARTICLES = 100_000
"""Particles of a run that can be continued: a checkpoint is a text of a few megabytes."""

# What springs, contacts and the ground remember; all else follows from positions and velocities.
_REMEMBERED = {
    "freedoms": ("x", "rate", "bend", "rotor", "rotor_rate"),
    "contacts": ("touches", "anchor", "deepest", "depth", "place", "force"),
}


def text_of(numbers: Any) -> str:
    """Numbers as a text."""
    return base64.b64encode(np.ascontiguousarray(numbers, "<f8").tobytes()).decode()


def numbers_of(text: str) -> NDArray[np.float64]:
    """The numbers of a text (n,)."""
    return np.frombuffer(base64.b64decode(text), "<f8").astype(np.float64)


def snapshot(system: LinkedSystem) -> Snapshot:
    """Copies of all that a motion is continued from."""
    found = {name: getattr(system, name).copy() for name in ("x", "v", "q", "ruts")}
    for name in _REMEMBERED:
        found[name] = np.array(getattr(system, name).array)
    return found | {"run": np.array(system.run)}


def restore(system: LinkedSystem, found: Snapshot) -> None:
    """Go back to a snapshot of the same structure."""
    for name in ("x", "v", "q", "ruts"):
        getattr(system, name)[:] = found[name]
    for name in _REMEMBERED:
        getattr(system, name).array[:] = found[name]
    system.run[:] = found["run"]
    system.run["is_evaluated"] = 0


def plain_snapshot(system: LinkedSystem, found: Snapshot) -> Plain:
    """A snapshot as plain values, with the torques that act and the energy that changes have taken."""
    plain: Plain = {name: text_of(found[name]) for name in ("x", "v", "q")}
    for name, kept in _REMEMBERED.items():
        plain[name] = {field: text_of(found[name][field]) for field in kept}
    plain["run"] = {field: found["run"][field][0].tolist() for field in found["run"].dtype.names}
    trodden = np.flatnonzero(found["ruts"])
    plain["ruts"] = {"cells": trodden.tolist(), "depths": text_of(found["ruts"].ravel()[trodden])}
    return plain | {"tau": text_of(system.tau), "lost": system.lost}


def take_snapshot(system: LinkedSystem, plain: Plain) -> None:
    """Go on from plain values of a snapshot of the same structure."""
    for name in ("x", "v", "q", "tau"):
        array = getattr(system, name)
        array[:] = numbers_of(plain[name]).reshape(array.shape)
    for name in _REMEMBERED:
        array = getattr(system, name).array
        for field, text in plain[name].items():
            array[field] = numbers_of(text).reshape(array[field].shape)
    for field, value in plain["run"].items():
        system.run[field] = value
    system.ruts[:] = 0.0
    system.ruts.flat[plain["ruts"]["cells"]] = numbers_of(plain["ruts"]["depths"])
    system.run["is_evaluated"], system.lost = 0, plain["lost"]


def plain_standing(standing: Standing | None) -> Plain | None:
    """Terrain and contacts as plain values; a law of the user is code, of which only the numbers are kept."""
    if standing is None:
        return None
    terrain, contacts = standing
    surface = {name: np.asarray(getattr(terrain, name)).tolist() for name in _SURFACE}
    heights = np.asarray(terrain.heights)
    kept = heights.tolist() if heights.size <= _MOST_HEIGHTS else None
    regions = [_plain_region(region) for region in terrain.ground]
    own = [{each.name: _listed(getattr(contact, each.name)) for each in fields(contact)} for contact in contacts]
    return {"surface": surface | {"heights": kept}, "regions": regions, "contacts": own}


def standing_from(plain: Plain | None, ground: Terrain | None) -> Standing | None:
    """The inverse of `plain_standing`; a terrain that is given takes the place of the kept one.

    Raises:
        InputError: The ground has a law of the user or a large height field, and none is given.
    """
    if plain is None:
        if ground is not None:
            raise InputError("the run of this trace has no ground: leave out ground=")
        return None
    contacts = [Contact(**contact) for contact in plain["contacts"]]
    if ground is not None:
        return ground, contacts
    if plain["surface"]["heights"] is None or any(region["kind"] not in _GROUNDS for region in plain["regions"]):
        raise InputError(
            "the ground of this run has a law of yours or a large height field, which traces do not hold: give it "
            "again, vc.particles.resume(..., ground=...)"
        )
    surface = plain["surface"] | {
        "heights": np.array(plain["surface"]["heights"]) if plain["surface"]["heights"] else None
    }
    return Terrain([_region_from(region) for region in plain["regions"]], **surface), contacts


def _plain_region(region: Region) -> Plain:
    numbers = {each.name: getattr(region.ground, each.name) for each in fields(region.ground) if each.init}  # type: ignore[arg-type]
    numbers.pop("function", None)
    low, high = ([x if math.isfinite(x) else None for x in side] for side in (region.low, region.high))
    return {"kind": type(region.ground).__name__, "numbers": numbers, "low": low, "high": high}


def _region_from(plain: Plain) -> Region:
    ground: Ground = _GROUNDS[plain["kind"]](**plain["numbers"])
    low = tuple(-math.inf if x is None else x for x in plain["low"])
    return Region(ground, low, tuple(math.inf if x is None else x for x in plain["high"]))


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
