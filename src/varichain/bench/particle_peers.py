"""A chain as particles beside the rigid engine and MuJoCo at the same error: what simplicity costs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import varichain as vc
from varichain.bench.mechanisms import chain
from varichain.bench.rows import Row
from varichain.errors import MissingExtraError
from varichain.scene.poses import link_poses
from varichain.spatial.arrays import Array

_LINKS, _UNTIL = 10, 0.3  # links, [s]
_STEPS = (2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5)  # [s] that rigid links may take
_ROUNDS = 3


def equal_errors(is_quick: bool = False) -> list[Row]:
    """Time of a run of particles, and of rigid links with the longest step whose error is no larger."""
    given = chain(_LINKS, False)
    m, s = given.m, given.s
    exact = vc.simulate(m, s, _UNTIL, method="gbs", tolerance=1e-11, sample=_UNTIL).final.q
    rows = []
    for k in (1e5,) if is_quick else (1e5, 1e6):
        for method in ("verlet", "implicit"):
            system = vc.particles.from_mechanism(m, s, stiffness=k)

            def ours(system: Any = system, method: str = method) -> Array:
                step = 5e-4 if method == "implicit" else None
                return vc.particles.simulate(system, _UNTIL, sample=_UNTIL, method=method, step=step).final.q

            error, times = _error(m, ours(), exact), _times(ours)
            name = f"chain of {_LINKS} as particles, {method}, {k:g} N/m, {1e3 * error:.2g} mm off"
            for library, run in _peers(m, s).items():
                step = next((h for h in _STEPS if _error(m, run(h), exact) <= error), None)
                if step is None:
                    continue
                theirs = _times(lambda run=run, step=step: run(step))  # type: ignore[misc]
                low, high = np.quantile(times, [0.25, 0.75])
                row = Row(f"{_UNTIL:g} s", name, float(np.median(times)), float(low), float(high), library)
                rows.append(replace(row, theirs=float(np.median(theirs)), calls=f"rk4, steps of {1e3 * step:g} ms"))
    return rows


def _error(m: vc.Mechanism, q: Array, exact: Array) -> float:
    """Largest distance of a link's origin [m]."""
    return float(np.linalg.norm(link_poses(m, q).p - link_poses(m, exact).p, axis=-1).max())


def _times(call: Callable[[], Array]) -> list[float]:
    found = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        call()
        found.append(time.perf_counter() - begun)
    return found


def _peers(m: vc.Mechanism, s: vc.State) -> dict[str, Callable[[float], Array]]:
    """Runs of rigid links with a step: of our engine, and of MuJoCo if it is installed."""

    def rigid(step: float) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # runs are to be as coarse as those of particles
            return vc.simulate(m, s, _UNTIL, method="rk4", step=step, sample=_UNTIL).final.q

    peers: dict[str, Callable[[float], Array]] = {"varichain, rigid": rigid}
    try:
        import mujoco as mj

        from varichain.bench.twin_mujoco import MujocoTwin

        twin = MujocoTwin(m)
    except (ImportError, MissingExtraError):
        return peers

    def mujoco(step: float) -> Array:
        twin.model.opt.timestep, twin.model.opt.integrator = step, mj.mjtIntegrator.mjINT_RK4
        data = twin.data(s.q, s.v)
        for _ in range(round(_UNTIL / step)):
            mj.mj_step(twin.model, data)
        return twin.q_to(data.qpos)

    return peers | {"mujoco": mujoco}
