"""A scenario in both engines: how far links as particles are from rigid ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varichain.errors import InputError
from varichain.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from varichain.spatial.arrays import Array
    from varichain.trace import Trace

_SAMPLES = 20


def compare(
    scenario: Scenario, stiffnesses: Sequence[float] = (1e5, 1e6), until: float | None = None
) -> dict[str, Any]:
    """Run a scenario in both engines, as particles once for each stiffness [N/m]; plain values.

    A scenario of particles is compared with the same one of rigid links on a rigid floor, if it has one, as `walker`.

    Keys: scenario, until [s]; rigid, with steps and wall_seconds; particles, a list with stiffness, largest_distance of
    a link's centre of mass from where the rigid engine has it, in 20 samples [m], closure [m], steps, wall_seconds, and
    thickened, names of links that got more inertia than they have.

    Raises:
        InputError: The scenario is one of particles alone, or it has contacts, which particles do not have.
    """
    if scenario.particles is not None and scenario.rigid is None:
        raise InputError(f"scenario {scenario.name!r} is one of particles: there is no rigid run to compare it with")
    if scenario.settings.get("contacts", "off") != "off":
        raise InputError(
            f"scenario {scenario.name!r} has contacts with surfaces, which particles do not have: compare one without"
        )
    from varichain import particles

    end = scenario.until if until is None else until
    sample = (end - scenario.state.time) / _SAMPLES
    rigid = (scenario if scenario.rigid is None else scenario.rigid()).run(until=end)
    options = {name: getattr(scenario, name) for name in ("events", "controller", "motion", "forces")}
    rows = []
    for k in stiffnesses:
        body = (scenario.particles or {}) | {"stiffness": k}
        system = particles.from_mechanism(scenario.mechanism, scenario.state, **body)
        trace = particles.simulate(system, end, sample=sample, **options)
        closure = max(float(epoch["closure"].max()) for epoch in trace.epochs)
        rows.append({"stiffness": k, "largest_distance": _distance(trace, rigid), "closure": closure, **_cost(trace)})
        rows[-1]["thickened"] = system.thickened
    return {"scenario": scenario.name, "until": end, "rigid": _cost(rigid), "particles": rows}


def _cost(trace: Trace) -> dict[str, Any]:
    point = trace.checkpoint or {}
    return {"steps": point["run"]["steps"], "wall_seconds": point["wall_seconds"]}


def _distance(trace: Trace, rigid: Trace) -> float:
    """Largest distance of a link's centre of mass between two runs, at the samples of the first [m]."""
    largest = 0.0
    for epoch in trace.epochs:
        for i, t in enumerate(epoch.time):
            if rigid.epochs[0].start <= t <= rigid.epochs[-1].end:
                ours, theirs = _centers(epoch.mechanism, epoch.q[i]), _at(rigid, float(t))
                largest = max(largest, float(np.linalg.norm(ours - theirs, axis=1).max()))
    return largest


def _at(rigid: Trace, t: float) -> Array:
    return _centers(rigid.epoch_at(t).mechanism, rigid.at(t).q)


def _centers(m: Any, q: Array) -> Array:
    """Centres of mass of all links that have mass, in the world (n, 3) [m]."""
    from varichain.scene import link_poses

    poses, links = link_poses(m, q), [link for link in m.links if link.inertia.mass > 0.0]
    placed = [poses.of(link.name) for link in links]
    return np.array([p + R @ link.inertia.com for (p, R), link in zip(placed, links, strict=True)]).reshape(-1, 3)
