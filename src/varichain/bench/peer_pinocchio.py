"""Pinocchio's ways to the same answers, called from Python on arrays that lie ready in its order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from varichain.bench.contenders import (
    CONSTRAINED,
    D_CONSTRAINED,
    D_FORWARD,
    D_INVERSE,
    DERIVED,
    FORWARD,
    IMPACT,
    INVERSE,
    MASS,
    Contender,
)
from varichain.bench.mechanisms import Question
from varichain.bench.peer_varichain import impact_velocity
from varichain.bench.twin_pinocchio import PinocchioTwin
from varichain.spatial.arrays import Array

_MOST_FREEDOMS = 150  # its data grow with the cube of the freedoms: 4 GB at 400
_WELDED = "welds in place of hinges"


def pinocchio_contenders(task: str, given: Question) -> list[Contender]:
    """Its algorithms; where one exists in two conventions, either may be the faster one. It takes no steps.

    Impacts of loops between two links that move are left out: its answer leaves them opening.
    """
    if given.m.n_v > _MOST_FREEDOMS or task not in (INVERSE, MASS, FORWARD, CONSTRAINED, IMPACT, *DERIVED):
        return []
    if task == IMPACT and any(virtual.parent is not given.m.ground for virtual in given.m.virtual_links):
        return []
    twin = PinocchioTwin(given.m)
    if task in (CONSTRAINED, D_CONSTRAINED, IMPACT):
        return [_with_loops(twin, given, task)]
    model, data = twin.model, twin.data
    q, (v, a, tau) = twin.q_from(given.s.q), (twin.v_from(x) for x in (given.s.v, given.a, given.tau))
    if task in (D_INVERSE, D_FORWARD):
        return [_derivatives(twin, task, q, v, a, tau)]
    conventions = {"world": pin.Convention.WORLD, "local": pin.Convention.LOCAL}
    if task == INVERSE:
        run: Any = lambda: pin.rnea(model, data, q, v, a)  # noqa: E731
        return [Contender("Pinocchio", "rnea", run, lambda: twin.v_to(np.array(data.tau)))]
    found = []
    for name, convention in conventions.items():
        if task == FORWARD:
            run = lambda convention=convention: pin.aba(model, data, q, v, tau, convention)  # noqa: E731
            found.append(Contender("Pinocchio", f"aba, {name}", run, lambda: twin.v_to(np.array(data.ddq))))
        else:
            run = lambda convention=convention: pin.crba(model, data, q, convention)  # noqa: E731
            found.append(Contender("Pinocchio", f"crba, {name}", run, lambda: twin.matrix_to(np.array(data.M))))
    return found


def _derivatives(twin: PinocchioTwin, task: str, q: Array, v: Array, a: Array, tau: Array) -> Contender:
    """Derivatives of a tree. The third matrix of inverse dynamics is M, of which Pinocchio fills one half."""
    model, data = twin.model, twin.data
    if task == D_INVERSE:

        def by_motion() -> Array:
            upper = np.triu(np.array(data.M))
            mass = upper + np.triu(upper, 1).T
            return np.array([twin.matrix_to(np.array(x)) for x in (data.dtau_dq, data.dtau_dv, mass)])

        run: Any = lambda: pin.computeRNEADerivatives(model, data, q, v, a)  # noqa: E731
        return Contender("Pinocchio", "computeRNEADerivatives", run, by_motion)

    def by_torque() -> Array:
        upper = np.triu(np.array(data.Minv))
        inverse = upper + np.triu(upper, 1).T
        return np.array([twin.matrix_to(np.array(x)) for x in (data.ddq_dq, data.ddq_dv, inverse)])

    run = lambda: pin.computeABADerivatives(model, data, q, v, tau)  # noqa: E731
    return Contender("Pinocchio", "computeABADerivatives", run, by_torque)


def _with_loops(twin: PinocchioTwin, given: Question, task: str) -> Contender:
    """Rigid constraints; dependent rows need damping and several iterations, independent ones neither."""
    rank = np.linalg.matrix_rank(_rows(given), tol=1e-9)
    is_redundant = rank < len(_rows(given))
    mu = 1e-6 if is_redundant else 0.0
    settings = pin.ProximalSettings(1e-9 if is_redundant else 1e-14, mu, 10 if is_redundant else 1)
    twin.close_loops(given.m)
    model, data, loops, loop_data = twin.model, twin.data, twin.constraints, twin.constraint_data
    q, v, tau = twin.q_from(given.s.q), twin.v_from(given.s.v), twin.v_from(given.tau)
    before = twin.v_from(impact_velocity(given))
    kinds = {virtual.joint.kind for virtual in given.m.virtual_links if virtual.joint is not None}
    differs = _WELDED if "revolute" in kinds else ""
    tolerance = 1e-4 if is_redundant else 1e-8
    if task == CONSTRAINED:
        return Contender(
            "Pinocchio",
            "constraintDynamics",
            lambda: pin.constraintDynamics(model, data, q, v, tau, loops, loop_data, settings),
            lambda: twin.v_to(np.array(data.ddq)),
            differs,
            tolerance,
        )

    if task == D_CONSTRAINED:

        def differentiate() -> None:  # it reads what constraintDynamics has left
            pin.constraintDynamics(model, data, q, v, tau, loops, loop_data, settings)
            pin.computeConstraintDynamicsDerivatives(model, data, loops, loop_data, settings)

        def by_torque() -> Array:
            return np.array([twin.matrix_to(np.array(x)) for x in (data.ddq_dq, data.ddq_dv, data.ddq_dtau)])

        return Contender(
            "Pinocchio", "computeConstraintDynamicsDerivatives", differentiate, by_torque, differs, tolerance
        )

    def jump() -> Array:
        return twin.v_to(np.array(data.dq_after) - before)

    run: Any = lambda: pin.impulseDynamics(model, data, q, before, loops, loop_data, 0.0, settings)  # noqa: E731
    return Contender("Pinocchio", "impulseDynamics", run, jump, differs, tolerance)


def _rows(given: Question) -> Array:
    from varichain.kernels.closure import row_jacobian
    from varichain.layout.layout import layout_of

    layout = layout_of(given.m)
    K = np.empty((layout.n_rows, layout.n_v))
    row_jacobian(layout.workspaces.of_thread.table, given.s.q, K)
    return K
