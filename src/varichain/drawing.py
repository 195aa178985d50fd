"""Stills of a mechanism in a state, and of a trace at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.dynamics.arguments import sound_layout
from varichain.dynamics.forward import ForwardDynamics
from varichain.dynamics.inverse import InverseDynamics
from varichain.errors import InputError
from varichain.exports.look import Look, look_from
from varichain.exports.still import Still, still_of, still_of_trace
from varichain.files import Path
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar, flag, instance, mapping, name_string
from varichain.trace import Trace


def draw(
    m: Mechanism | Trace,
    s: State | float | None = None,
    path: Path | None = None,
    *,
    result: Any = None,
    tracker: Any = None,
    size: tuple[int, int] = (960, 600),
    overwrite: bool = False,
    **look: Any,
) -> Still:
    """Draw a mechanism in a state, or a trace at a time: to a file, PNG (extra `video`) or SVG, or in a notebook.

    A picture of a trace has the forces of loops and contacts, tracked points, and footprints of particles. An SVG of
    a planar mechanism is a drawing of its plane with the symbols of joints and supports.

    Args:
        m: Mechanism, or a trace.
        s: State, or time in the trace [s]; if it is not given, the zero configuration, or the trace's start.
        path: The file; None for no file.
        result: Result of `forward_dynamics` or `inverse_dynamics` whose loop forces are drawn as arrows.
        tracker: `animation.Tracker` or `animation.Watch` whose points and targets are drawn; or pairs of points, each
            with its target, by name.
        size: Width and height [pixels].
        overwrite: Whether a file of that name may be replaced.
        look: Attributes of `Look`: camera, zoom, background, colors, labels, forces, joints, ground, title, cones.

    Returns:
        The picture: `png` and `svg` are its contents, `save` writes it, a notebook shows it.

    Raises:
        InputError: An unknown suffix, size or option, or a time that the trace does not reach.
        MissingExtraError: A package is not installed; the message says which.
        TraceFileError: The file exists already, or cannot be written.
        StaleStateError: The state belongs to an earlier structure.
    """
    flag(overwrite, "overwrite")
    if isinstance(m, Trace):
        if result is not None or tracker is not None:
            raise InputError("a trace has forces and tracked points of its own: result and tracker are for mechanisms")
        first = next((epoch.start for epoch in m.epochs if len(epoch)), 0.0)
        time = first if s is None else finite_scalar(s, "time")
        still = still_of_trace(m, time, size, look_from(look))
    else:
        still = _still(m, s, result, tracker, size, look_from(look))
    if path is not None:
        still.save(path, overwrite)
    return still


def _still(m: Any, s: Any, result: Any, tracker: Any, size: tuple[int, int], look: Look) -> Still:
    """The picture of a mechanism in a state."""
    if not isinstance(m, Mechanism):
        raise InputError(f"expected a Mechanism or a Trace, not {type(m).__name__}")
    state = m.state() if s is None else s
    sound_layout(m, state)
    if result is not None:
        instance(result, (ForwardDynamics, InverseDynamics), "result")
    forces = None if result is None else result.loop_forces
    return still_of(m, state.q, size, look, forces, _aims(m, state, tracker))


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
