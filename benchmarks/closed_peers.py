"""Closed chains put to the peers: Pinocchio's rigid constraints, MuJoCo's soft equalities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco as mj
import numpy as np
import peers
import pinocchio as pin

import varichain as vc
from oracles.mujoco_model import mujoco_model
from oracles.pinocchio_loops import TYPES, PinocchioLoopTwin

Array = peers.Array
Run = Callable[[], object]

# A hinge loop has five rows; Pinocchio has three or six: the weld stands in for it, one row more.
WELDED_HINGES = TYPES | {"revolute": pin.ContactType.CONTACT_6D}


def varichain_run(m: vc.Mechanism, s: vc.State, tau: Array) -> tuple[Run, Array]:
    """Our constrained forward dynamics through the prepared handle, and the array that it writes."""
    handle, a = m.prepare(), np.empty(m.n_v)
    q, v = s.q.copy(), s.v.copy()
    return lambda: handle.forward_dynamics(q, v, tau, a), a


def pinocchio_run(m: vc.Mechanism, s: vc.State, tau: Array, mu: float, most_steps: int) -> tuple[Run, Any]:
    """Pinocchio's constraintDynamics, and a function that gives its answer in our order."""
    twin = PinocchioLoopTwin(m, 1e-9 if mu else 1e-14, mu, most_steps, WELDED_HINGES)
    q, v, torque = twin.tree.q_from(s.q), twin.tree.v_from(s.v), twin.tree.v_from(tau)
    return lambda: twin.run(q, v, torque), lambda: twin.tree.v_to(np.array(twin.data.ddq))


def mujoco_run(m: vc.Mechanism, s: vc.State, tau: Array) -> tuple[Run, Any]:
    """MuJoCo's mj_forward with equalities between sites, and a function that gives its answer in our order."""
    twin = mujoco_model(m)
    spec = mj.MjSpec.from_string(twin.xml)
    for i, virtual in enumerate(m.virtual_links):
        _add_equalities(m, spec, virtual, i)
    model = spec.compile()
    disable = mj.mjtDisableBit
    model.opt.disableflags = int(disable.mjDSBL_CONTACT) | int(disable.mjDSBL_LIMIT) | int(disable.mjDSBL_ACTUATION)
    data = mj.MjData(model)
    data.qpos[:], data.qvel[:] = twin.q_from(s.q), twin.v_from(s.v, s.q)
    data.qfrc_applied[:] = twin.v_from(tau, s.q)
    return lambda: mj.mj_forwardSkip(model, data, 0, 1), lambda: twin.a_to(np.array(data.qacc), s.q, s.v)


def mujoco_simulation(
    m: vc.Mechanism, s: vc.State, integrator: Any, step: float, steps: int
) -> tuple[Run, Callable[[float], float]]:
    """A number of MuJoCo's own steps from a state, and a function that gives the largest gap [m] after a time."""
    twin = mujoco_model(m)
    spec = mj.MjSpec.from_string(twin.xml)
    for i, virtual in enumerate(m.virtual_links):
        _add_equalities(m, spec, virtual, i)
    model = spec.compile()
    disable = mj.mjtDisableBit
    model.opt.disableflags = int(disable.mjDSBL_CONTACT) | int(disable.mjDSBL_LIMIT) | int(disable.mjDSBL_ACTUATION)
    model.opt.timestep, model.opt.integrator = step, integrator
    data = mj.MjData(model)
    q, v = twin.q_from(s.q), twin.v_from(s.v, s.q)

    def run() -> None:
        data.qpos[:], data.qvel[:] = q, v
        mj.mj_step(model, data, steps)

    def gap(until: float) -> float:
        data.qpos[:], data.qvel[:] = q, v
        mj.mj_step(model, data, round(until / step))
        sites = [model.site(i).name for i in range(model.nsite)]
        ends = [name for name in sites if name.endswith("A")]
        return max(float(np.linalg.norm(data.site(a).xpos - data.site(a[:-1] + "B").xpos)) for a in ends)

    return run, gap


def mujoco_connection(m: vc.Mechanism) -> Run:
    """Connect, and at the next call cut, one more hand in MuJoCo: an equality between two sites, then a recompile."""
    spec = mj.MjSpec.from_string(mujoco_model(m).xml)
    for i, virtual in enumerate(m.virtual_links):
        _add_equalities(m, spec, virtual, i)
    model = spec.compile()
    data = mj.MjData(model)
    added: list[Any] = []

    def change() -> None:
        if added:
            spec.delete(added.pop())
        else:
            equality = spec.add_equality()
            equality.type, equality.objtype = mj.mjtEq.mjEQ_CONNECT, mj.mjtObj.mjOBJ_SITE
            equality.name1, equality.name2 = "loop 0.0A", "loop 0.0B"
            added.append(equality)
        spec.recompile(model, data)

    return change


def _add_equalities(m: vc.Mechanism, spec: Any, virtual: vc.Link, number: int) -> None:
    """One weld, or connects: one for a ball joint, two along the axis for a hinge."""
    assert virtual.real is not None and virtual.parent is not None and virtual.joint is not None
    kind = virtual.joint.kind
    points = [np.zeros(3)] if kind != "revolute" else [np.zeros(3), 0.1 * np.array(virtual.joint.axis)]  # type: ignore[attr-defined]
    for k, point in enumerate(points):
        names = []
        for end, link, frame in (("A", virtual.real, virtual.on_real), ("B", virtual.parent, virtual.at)):
            body = spec.worldbody if link.is_ground else spec.body(f"link {m.links.index(link)}")
            names.append(f"loop {number}.{k}{end}")
            body.add_site(name=names[-1], pos=frame @ point, quat=frame.quaternion)
        equality = spec.add_equality()
        equality.type = mj.mjtEq.mjEQ_WELD if kind == "fixed" else mj.mjtEq.mjEQ_CONNECT
        equality.objtype = mj.mjtObj.mjOBJ_SITE
        equality.name1, equality.name2 = names
