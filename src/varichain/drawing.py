"""Stills of a mechanism in a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.dynamics.arguments import sound_layout
from varichain.dynamics.forward import ForwardDynamics
from varichain.dynamics.inverse import InverseDynamics
from varichain.errors import InputError
from varichain.exports.look import look_from
from varichain.exports.still import Still, still_of
from varichain.files import Path
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, flag, instance, mapping, name_string


def draw(
    m: Mechanism,
    s: State | None = None,
    path: Path | None = None,
    *,
    result: Any = None,
    tracker: Any = None,
    size: tuple[int, int] = (960, 600),
    overwrite: bool = False,
    **look: Any,
) -> Still:
    """Draw a mechanism in a state: to a file, PNG (extra `video`) or SVG by its suffix, or in a notebook.

    An SVG of a planar mechanism is a drawing of its plane with the symbols of joints and supports.

    Args:
        m: Mechanism.
        s: State; the zero configuration if it is not given.
        path: The file; None for no file.
        result: Result of `forward_dynamics` or `inverse_dynamics` whose loop forces are drawn as arrows.
        tracker: `animation.Tracker` or `animation.Watch` whose points and targets are drawn; or pairs of points, each
            with its target, by name.
        size: Width and height [pixels].
        overwrite: Whether a file of that name may be replaced.
        look: Attributes of `Look`: camera, zoom, background, colors, labels, forces, joints, ground, title.

    Returns:
        The picture: `png` and `svg` are its contents, `save` writes it, a notebook shows it.

    Raises:
        InputError: An unknown suffix, size or option.
        MissingExtraError: A package is not installed; the message says which.
        TraceFileError: The file exists already, or cannot be written.
        StaleStateError: The state belongs to an earlier structure.
    """
    if not isinstance(m, Mechanism):
        raise InputError(f"expected a Mechanism, not {type(m).__name__}")
    state = m.state() if s is None else s
    sound_layout(m, state)
    flag(overwrite, "overwrite")
    if result is not None:
        instance(result, (ForwardDynamics, InverseDynamics), "result")
    forces = None if result is None else result.loop_forces
    still = still_of(m, state.q, size, look_from(look), forces, _aims(m, state, tracker))
    if path is not None:
        still.save(path, overwrite)
    return still


def _aims(m: Mechanism, s: State, tracker: Any) -> dict[str, Array]:
    """Points and their targets (2, 3) [m] by name."""
    if tracker is None:
        return {}
    if not hasattr(tracker, "observed"):
        return {
            name_string(name, "name of a point"): finite_array(pair, (2, 3), f"point and target {name!r}")
            for name, pair in mapping(tracker, "tracker").items()
        }
    blocks = tracker.observed(m, s)
    both = np.array([list(blocks.get(block, {}).values()) for block in ("tracked", "targets")]).reshape(2, -1, 3)
    names = [label.rpartition("[")[0] for label in list(blocks.get("tracked", {}))[::3]]
    return {name: both[:, k] for k, name in enumerate(names)}
