"""Inertial parameters: what torques say of masses, and what they do not [Atkeson 1986]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from varichain.dynamics.arguments import joint_vector, opened
from varichain.dynamics.forces import Force, applied
from varichain.errors import InputError
from varichain.kernels.derivative_parameters import PARAMETERS, parameter_regressor
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.layout.state import State
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance
from varichain.spatial.report import Listing, Report, Reported

LABELS = ("mass", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_RANK = 1e-9  # columns whose part beyond the others is below this part of the largest say nothing new
_ROUNDING = 1e-10  # of the largest coefficient: smaller ones are rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Regressor(Reported):
    """tau = matrix parameters + rest, of a tree's joints in one state, with accelerations.

    Attributes:
        matrix: (n_v, 10 n_links).
        rest: What inertial parameters have no part in: springs, dampers, friction, armature, external forces (n_v,).
        parameters: Those of the mechanism (10 n_links,): of each link its mass [kg], mass times centre of mass (3)
            [kg m] and inertia about the link's origin (xx, xy, xz, yy, yz, zz) [kg m^2], in the link's axes.
        names: Of the parameters, such as "upper.mass", "upper.hx", "upper.Ixx".
    """

    matrix: Array
    rest: Array
    parameters: Array
    names: tuple[str, ...]

    def report(self) -> Report:
        """Size, and the links."""
        links = ", ".join(dict.fromkeys(name.rsplit(".", 1)[0] for name in self.names))
        return f"regressor {self.matrix.shape[0]} x {self.matrix.shape[1]} of links {links}", ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BaseParameters(Reported):
    """Combinations of inertial parameters that torques depend on; others have no effect in any motion that was seen.

    Attributes:
        names: Of the parameters that each combination is named by (n,).
        combinations: Coefficients (n, 10 n_links): base parameters = combinations parameters.
        columns: Places of the naming parameters (n,): tau = matrix[:, columns] base + rest.
        values: The mechanism's own base parameters (n,), or those that were identified.
        errors: Standard errors (n,) of values that were identified; zero of the mechanism's own.
        residual: Root mean square of torques that identified values leave unexplained [N m or N]; zero otherwise.
    """

    names: tuple[str, ...]
    combinations: Array
    columns: tuple[int, ...]
    values: Array
    errors: Array
    residual: float
    all_names: tuple[str, ...]

    def __len__(self) -> int:
        """Number of base parameters."""
        return len(self.names)

    def text(self, i: int) -> str:
        """A combination in words, such as "upper.Iyy + 0.09 lower.mass"."""
        row = self.combinations[i]
        terms = [(self.columns[i], 1.0), *((k, x) for k, x in enumerate(row) if x != 0.0 and k != self.columns[i])]
        parts = [self.all_names[k] if x == 1.0 else f"{x:.4g} {self.all_names[k]}" for k, x in terms]
        return " + ".join(parts)

    def report(self) -> Report:
        """Values with their combinations."""
        rows = [
            (f"{x:.6g}", f"{e:.2g}", self.text(i))
            for i, (x, e) in enumerate(zip(self.values, self.errors, strict=True))
        ]
        return f"{len(self)} base parameters of {len(self.all_names)}", (
            Listing(("value", "error", "combination"), rows),
        )


def inertial_regressor(m: Mechanism, s: State, a: Any = None, forces: Iterable[Force] = ()) -> Regressor:
    """How torques depend on masses: inverse dynamics of the tree is linear in inertial parameters.

    Args:
        m: Mechanism; of loops, only springs and dampers in their joints take part.
        s: State.
        a: Accelerations (n_v,), or {joint: value}; None for none.
        forces: External forces on links.
    """
    layout, table = opened(m, s)
    acceleration = joint_vector(layout, a, "a")
    whole = np.empty((layout.n_v, PARAMETERS * len(layout.link_index)))
    parameter_regressor(table, s.q, s.v, acceleration, whole)
    matrix, tau = whole[:, PARAMETERS:], np.empty(layout.n_v)  # the ground does not move
    with applied(layout, table, s, forces):
        inverse_dynamics(table, s.q, s.v, acceleration, tau)
    parameters = np.concatenate([np.zeros(0), *(parameters_of(link.inertia) for link in m.links)])
    names = tuple(f"{link.name}.{label}" for link in m.links for label in LABELS)
    return Regressor(matrix, tau - matrix @ parameters, parameters, names)


def parameters_of(inertia: Inertia) -> Array:
    """Ten parameters of a link's inertia: mass, first moments, inertia about the origin of the link."""
    m, c = inertia.mass, inertia.com
    about = inertia.about_com + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), *about[np.triu_indices(3)]])


def inertia_of(x: Array) -> Inertia:
    """The inertia with ten parameters: the inverse of `parameters_of`.

    It is not checked: a thin rod with some more mass, and no more inertia, is no body, and still a derivative.
    """
    com, about = x[1:4] / x[0], np.zeros((3, 3))
    about[np.triu_indices(3)] = x[4:]
    about = about + np.triu(about, 1).T
    made = Inertia.__new__(Inertia)
    made._set("mass", float(x[0]))
    made._set("com", com)
    made._set("about_com", about - x[0] * (com @ com * np.eye(3) - np.outer(com, com)))
    return made


def base_parameters(m: Mechanism, motions: Sequence[tuple[State, Any]]) -> BaseParameters:
    """Combinations of inertial parameters that torques depend on, found by rank over some states and accelerations.

    Args:
        m: Mechanism.
        motions: States with accelerations; rich ones, for what they do not excite is not found.
    """
    return _base([inertial_regressor(m, s, a) for s, a in _checked(motions, 2)])[0]


def identify(m: Mechanism, records: Sequence[tuple[State, Any, Any]]) -> BaseParameters:
    """Base parameters from measured torques, by least squares.

    Args:
        m: Mechanism; its own masses play no part, springs, dampers, friction and armature do.
        records: States with accelerations and torques (n_v,), or {joint: value}.

    Raises:
        InputError: There are fewer torques than base parameters.
    """
    given = _checked(records, 3)
    regressors = [inertial_regressor(m, s, a) for s, a, _ in given]
    base, Q, R = _base(regressors)
    layout = opened(m, given[0][0])[0]
    torques = np.concatenate(
        [joint_vector(layout, tau, "tau") - one.rest for (_, _, tau), one in zip(given, regressors, strict=True)]
    )
    n = len(base)
    if len(torques) <= n:
        raise InputError(f"{len(torques)} torques cannot tell {n} base parameters: give more states")
    values = solve_triangular(R[:n, :n], Q[:, :n].T @ torques)
    left = torques - Q[:, :n] @ (R[:n, :n] @ values)
    variance = float(left @ left) / (len(torques) - n)
    errors = np.sqrt(variance) * np.linalg.norm(solve_triangular(R[:n, :n], np.eye(n)), axis=1)
    residual = float(np.sqrt(left @ left / len(torques)))
    return BaseParameters(base.names, base.combinations, base.columns, values, errors, residual, base.all_names)


def _checked(rows: Any, n: int) -> list[tuple[Any, ...]]:
    what = "motions must be (state, accelerations)" if n == 2 else "records must be (state, accelerations, torques)"
    listed = [
        tuple(row) if isinstance(row, tuple | list) else () for row in instance(rows, (tuple, list), what.split()[0])
    ]
    if not listed or any(len(row) != n for row in listed):
        raise InputError(f"{what}, at least one")
    return listed


def _base(regressors: Sequence[Regressor]) -> tuple[BaseParameters, Array, Array]:
    """Base parameters from stacked regressors, by a QR factorization with pivoting, and its factors."""
    stacked = np.vstack([one.matrix for one in regressors])
    first = regressors[0]
    Q, R, order = qr(stacked, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    n = int((size > _RANK * size.max(initial=0.0)).sum()) if size.size else 0
    beyond = solve_triangular(R[:n, :n], R[:n, n:]) if n else np.zeros((0, stacked.shape[1]))
    combinations = np.zeros((n, stacked.shape[1]))
    combinations[:, order[:n]] = np.eye(n)
    combinations[:, order[n:]] = np.where(np.abs(beyond) > _ROUNDING * np.abs(beyond).max(initial=1.0), beyond, 0.0)
    columns = tuple(int(k) for k in order[:n])
    names = tuple(first.names[k] for k in columns)
    values = combinations @ first.parameters
    return BaseParameters(names, combinations, columns, values, np.zeros(n), 0.0, first.names), Q, R
