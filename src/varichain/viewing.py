"""The viewer for whatever there is: traces are replayed, scenarios and mechanisms run live."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from varichain.errors import InputError, SingularMassError, quoted
from varichain.mechanism.limits import SwingTwist
from varichain.mechanism.mechanism import Mechanism
from varichain.scenarios.scenario import Scenario
from varichain.simulation.settings import checked_speed
from varichain.spatial.checks import count_number, flag, instance
from varichain.trace import Trace
from varichain.viewer.base import Viewer
from varichain.viewer.server import HOST, PORT
from varichain.viewer.source import Counts


def view(
    what: Trace | Scenario | Mechanism,
    state: Any = None,
    *,
    speed: float = 1.0,
    is_paused: bool | None = None,
    host: str = HOST,
    port: int = PORT,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    **settings: Any,
) -> Viewer:
    """Show something in the browser; returns at once.

    `with vc.view(trace) as view: view.wait()` shows it until Ctrl-C; a notebook shows the view itself. A trace is
    replayed. A scenario runs live as soon as a browser has drawn; a mechanism waits until Resume is pressed. A
    mechanism that cannot be simulated, since a joint has no inertia to move, is shown still.

    Args:
        what: A Trace, a Scenario or a Mechanism.
        state: Where a mechanism begins; by default its zero configuration, inside its limits and with its loops closed.
        speed: Simulated seconds in a second.
        is_paused: Whether it waits to be started in the browser; see above.
        host: Address to listen at. Whoever has the view's `address`, with its token, can watch and change a live run.
        port: Port to listen at; the next free one if it is taken.
        out: File for the trace of a live run.
        overwrite: Whether it may be replaced.
        settings: method, step, ... of a live run, as of `simulate`.

    Returns:
        The view, with its `address`; `close()` ends it.

    Raises:
        InputError: There is nothing to be shown, or the address is none of this machine.
        MissingExtraError: viser is not installed.
    """
    instance(host, str, "host"), count_number(port, "port", 65535, 0), flag(overwrite, "overwrite")
    speed = checked_speed(speed)
    if is_paused is not None:
        flag(is_paused, "is_paused")
    address: dict[str, Any] = {"host": host, "port": port}
    if isinstance(what, Trace):
        if out is not None or settings or state is not None:
            raise InputError("a trace is replayed: it takes no state, no file and no settings of a run")
        from varichain.viewer.replay import ReplayView

        return ReplayView(what, counts=_counts_of(what), speed=speed, is_playing=not is_paused, **address)
    from varichain.viewer.live import LiveView
    from varichain.viewer.server import require_viser

    require_viser()  # before anything is compiled
    run: dict[str, Any] = {"speed": speed, "is_paused": True, "out": out, "overwrite": overwrite, **settings}
    if isinstance(what, Scenario):
        source, resumes = what.live(**run), not is_paused
    elif isinstance(what, Mechanism):
        from varichain.simulation.live import LiveRun

        start = _start(what) if state is None else state
        try:
            source, resumes = LiveRun(what, start, **run), is_paused is False
        except SingularMassError as error:
            if out is not None:
                raise
            return _still(what, start, str(error), address)
    else:
        raise InputError(f"only a Trace, a Scenario or a Mechanism can be viewed, not {quoted(what)}")
    try:
        return LiveView(source, is_owner=True, resumes=resumes, label=what.name, **address)
    except BaseException:
        source.close()
        raise


def _still(m: Mechanism, start: Any, why: str, address: dict[str, Any]) -> Viewer:
    """A still view of a mechanism that cannot be simulated."""
    from varichain.dynamics import assemble
    from varichain.viewer.still import StillView

    def posed(q: Any, joints: Mapping[str, float]) -> Any:
        s = start.copy()
        s.q = q
        for name, value in joints.items():
            s[name].q = value
        return (assemble(m, s, hold=[*joints]).state if m.virtual_links or m.couplings else s).q.copy()

    return StillView(m.copy(), start.q.copy(), posed, why, **address)


def _counts_of(trace: Trace) -> Any:
    """N_J, rank and N_F of the epochs that have samples, worked out when they are asked for."""
    epochs = [epoch for epoch in trace.epochs if len(epoch)]

    @cache
    def counts(k: int) -> Counts:
        from varichain.dynamics import mobility

        m = epochs[k].mechanism
        s = m.state()
        s.q = epochs[k]["q"][0]  # samples may have no velocities
        found = mobility(m, s, probe=False)
        return found.n_all, found.rank, found.n_independent

    return counts


def _start(m: Mechanism) -> Any:
    """The zero configuration, moved inside the limits, with the loops closed."""
    from varichain.dynamics import assemble, limit_excess

    s = m.state()
    for name in limit_excess(m, s):
        limits, place = m.joint(name).limits, s[name]
        if isinstance(limits, SwingTwist):
            place.orientation = limits.center
        elif limits is not None:
            q = np.clip(np.atleast_1d(place.q), *limits)
            place.q = q if len(q) > 1 else float(q[0])
    return assemble(m, s).state if m.virtual_links or m.couplings else s
