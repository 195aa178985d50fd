"""A limp figure that falls on a floor and lies, beside MuJoCo: time of a step, depth in the floor, creep."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import varichain as vc
from varichain.bench.interleave import Ratio
from varichain.bench.rows import Row
from varichain.errors import MissingExtraError
from varichain.spatial.arrays import Array

_STEP, _EVERY = 1e-3, 20  # [s]; steps from one sample to the next
_AT_MOST = 3.0  # times what a step of MuJoCo takes
_LAST = 0.5  # [s] at the end, in which creep is looked at


def contact_costs(is_quick: bool = False) -> list[Row]:
    """Time of a step of 1 ms, from the fall to where it lies; who is how deep, and how far the pelvis creeps."""
    return [_row(is_quick, has_limits) for has_limits in (False, True)]


def _row(is_quick: bool, has_limits: bool) -> Row:
    """The figure with joints that have limits, or none."""
    until, rounds = (0.2, 1) if is_quick else (4.0, 3)
    m, s = _falling()
    ours, theirs = _ours(m, s, until, has_limits), _mujoco(m, s, until, has_limits)
    ways = [_report(m, until, run) for run in (ours, theirs) if run is not None]
    times = np.array([[_seconds(run) for run in (ours, theirs) if run is not None] for _ in range(rounds)])
    times /= round(until / _STEP)
    own = times[:, 0]
    low, middle, high = (float(x) for x in np.percentile(own, [25.0, 50.0, 75.0]))
    task = "1 ms step with contact and limits" if has_limits else "1 ms step with contact"
    what = f"figure of 46 freedoms that falls, {until:g} s: {ways[0]}"
    if theirs is None:
        return Row(task, what, middle, low, high)
    ratio = Ratio(*(float(x) for x in np.percentile(times[:, 1] / own, [50.0, 25.0, 75.0])))
    calls, wanted = f"mj_step: {ways[1]}", 1.0 / _AT_MOST
    target, met = f">= {wanted:.2g}x", ratio.median >= wanted
    middle_theirs = float(np.median(times[:, 1]))
    differs = "its contacts are soft" + (", its balls have one cone and no twist" if has_limits else "")
    return Row(task, what, middle, low, high, "mujoco", calls, middle_theirs, ratio, None, differs, target, met)


def _falling() -> tuple[vc.Mechanism, vc.State]:
    m = vc.figures.human40()
    m.add_floor()
    s = m.state()
    s["pelvis"].pose = vc.Pose(p=s["pelvis"].pose.p + np.array([0.0, 0.0, 0.5]), rpy=(0.1, 0.3, 0.2))
    return m, s


def _report(m: vc.Mechanism, until: float, run: Callable[[], Array]) -> str:
    """Depth in the floor and creep, in words."""
    samples = run()
    s = m.state()
    deepest = 0.0
    for q in samples:
        s.q[:] = q
        deepest = max(deepest, -min(vc.clearances(m, s).values()))
    pelvis = samples[-1 - min(round(_LAST / _STEP / _EVERY), len(samples) - 1) :, 4:7]
    creep = float(np.linalg.norm(pelvis - pelvis[-1], axis=1).max())
    return f"{1e3 * deepest:.1e} mm deep, creeps {1e3 * creep:.1e} mm in {min(_LAST, until):g} s"


def _seconds(run: Callable[[], Array]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def _ours(m: vc.Mechanism, s: vc.State, until: float, has_limits: bool) -> Callable[[], Array]:
    limits = "hard" if has_limits else "off"

    def run() -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options: dict[str, Any] = {
                "contacts": "stepping",
                "step": _STEP,
                "sample": _EVERY * _STEP,
                "limits": limits,
            }
            q: Array = vc.simulate(m, s, until, **options).epochs[0].q
        return q

    return run


def _mujoco(m: vc.Mechanism, s: vc.State, until: float, has_limits: bool) -> Callable[[], Array] | None:
    """The same figure in MuJoCo, with its shapes, damping, friction and MuJoCo's own stiffness; None without MuJoCo."""
    try:
        import mujoco as mj

        from varichain.bench.twin_mujoco import MujocoTwin

        twin = MujocoTwin(m)
    except (ImportError, MissingExtraError):
        return None
    for link in m.links:
        for shape in m.contact_shapes(link):
            _add_geom(mj, twin.body(link), shape)
    friction = [m.surfaces["floor"].friction, 0.0, 0.0]
    floor = {"type": mj.mjtGeom.mjGEOM_PLANE, "size": [10.0, 10.0, 0.1], "contype": 0, "conaffinity": 1}
    twin.spec.worldbody.add_geom(friction=friction, condim=3, **floor)
    twin.model = model = twin.spec.compile()
    for joint in m.joints:
        if joint.n_v and joint.kind != "free":
            first = int(model.jnt_dofadr[model.joint(str(joint.name)).id])
            model.dof_damping[first : first + joint.n_v] = joint.damping
            model.dof_frictionloss[first : first + joint.n_v] = joint.friction
            model.dof_armature[first : first + joint.n_v] = joint.armature
            if has_limits and joint.limits is not None:
                number = model.joint(str(joint.name)).id
                model.jnt_limited[number], model.jnt_range[number] = 1, _range(joint.limits)
    model.opt.timestep = _STEP

    def run() -> Array:
        data, samples = twin.data(s.q, s.v), [s.q.copy()]
        for _ in range(round(until / _STEP) // _EVERY):
            mj.mj_step(model, data, _EVERY)
            samples.append(twin.q_to(data.qpos))
        return np.array(samples)

    return run


def _range(limits: Any) -> tuple[float, float]:
    """MuJoCo's range of a joint: bounds of a hinge; of a ball the largest angle from its zero."""
    if not isinstance(limits, vc.SwingTwist):
        (lower,), (upper,) = limits
        return lower, upper
    turned = 2.0 * math.acos(min(1.0, abs(limits.center[0])))
    return 0.0, min(math.pi, limits.swing + turned)


def _add_geom(mj: Any, body: Any, shape: Any) -> None:
    """A shape that touches the floor alone."""
    kinds: dict[type, tuple[Any, Callable[[Any], list[float]]]] = {
        vc.Sphere: (mj.mjtGeom.mjGEOM_SPHERE, lambda x: [x.radius, 0.0, 0.0]),
        vc.Capsule: (mj.mjtGeom.mjGEOM_CAPSULE, lambda x: [x.radius, 0.5 * x.length, 0.0]),
        vc.Ellipsoid: (mj.mjtGeom.mjGEOM_ELLIPSOID, lambda x: list(x.radii)),
        vc.Box: (mj.mjtGeom.mjGEOM_BOX, lambda x: [0.5 * edge for edge in x.size]),
    }
    kind, sizes = kinds[type(shape)]
    body.add_geom(
        type=kind,
        size=sizes(shape),
        pos=shape.at.p,
        quat=shape.at.quaternion,
        contype=1,
        conaffinity=0,
        friction=[0.0, 0.0, 0.0],
        density=0.0,
    )
