"""How long a step may be: the highest frequency and the fastest decay of a system, by power iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.particle_records import BY_LAW, CLOSE, HARD, OPEN, SOFT
from varichain.kernels.particle_run import verlet
from varichain.kernels.tables import as_records
from varichain.particles.system import System
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance

_ITERATIONS = 80
_MARGIN = 1.05  # a power iteration comes from below
_SHOCK = 10.0  # weights that a contact may have to bear
_PART = 0.5  # of the longest stable step, taken by default


@dataclass(frozen=True)
class Stiffest:
    """The fastest motion of a system.

    Attributes:
        frequency: Highest angular frequency of all springs together [rad/s].
        decay: Fastest decay by all dampers together [1/s].
        name: Spring, link or joint that has most of the energy in the motion of the highest frequency.
    """

    frequency: float
    decay: float
    name: str

    @property
    def longest_step(self) -> float:
        """Longest stable step of velocity Verlet [s].

        With dampers that see the velocity to be expected, h < 2 / (c + (c^2 + w^2)^1/2) is stable for every mode with
        frequency w and decay c.
        """
        rate = self.decay + math.hypot(self.decay, self.frequency)
        return 2.0 / rate if rate > 0.0 else math.inf

    @property
    def step(self) -> float:
        """Step that is taken by default [s]."""
        return _PART * self.longest_step


def stiffest(system: System) -> Stiffest:
    """Highest frequency and fastest decay at the present positions."""
    instance(system, System, "system")
    stiff = _Probe(system, is_stiffness=True)
    square, decay = _MARGIN * stiff.largest(), _MARGIN * _Probe(system, is_stiffness=False).largest()
    name, (of_contact, contact_decay, contact) = stiff.name(), _contact_rates(system)
    of_rotor, rotor_decay = _rotor_rates(system)
    name = name if square > of_contact else contact
    return Stiffest(math.sqrt(square + of_contact + of_rotor), decay + contact_decay + rotor_decay, name)


def _rotor_rates(system: System) -> tuple[float, float]:
    """Largest stiffness and damping of a shaft over the inertia of its rotor; the joint's part is in the probe."""
    turning = system.freedoms.array[system.freedoms.array["armature"] > 0.0]
    rates = turning["shaft"] / turning["armature"][:, None]
    return float(rates[:, 0].max(initial=0.0)), float(rates[:, 1].max(initial=0.0))


def contact_step(system: System) -> tuple[float, str]:
    """Longest step that the ground's forces allow by themselves [s], and the contact that has it."""
    square, decay, name = _contact_rates(system)
    return Stiffest(math.sqrt(square), decay, name).longest_step, name


def _contact_rates(system: System) -> tuple[float, float, str]:
    """Largest stiffness and damping of a contact over the mass of its point, and its name; as on its own."""
    moving = system.inverse_mass > 0.0
    weight = float((1.0 / system.inverse_mass[moving]).sum()) * float(np.linalg.norm(system.run["gravity"]))
    best = (0.0, 0.0, "")
    for i, contact in enumerate(system.contacts.array):
        first = int(system.links.array["first"][int(contact["link"])])
        mobility = 0.25 * system.inverse_mass[first] * (1.0 + float((contact["point"] ** 2).sum()))
        stiffness, damping = 0.0, 0.0
        for ground in system.grounds:
            k, c = _ground_rates(ground, contact, _SHOCK * weight)
            stiffness, damping = max(stiffness, k), max(damping, c)
        k, c = mobility * max(stiffness, contact["stick"]), mobility * max(damping, contact["stick_damping"])
        if k + c**2 > best[0] + best[1] ** 2:
            best = (k, c, f"contact {system.contacts.names[i]!r}")
    return best


def _ground_rates(ground: Any, contact: Any, force: float) -> tuple[float, float]:
    """Largest stiffness [N/m] and damping [N s/m] of a ground under a contact that bears at most a force."""
    kind, k, c, area = int(ground["kind"]), ground["stiffness"], ground["damping"], contact["area"]
    if kind == HARD:
        return 1.5 * k ** (2 / 3) * force ** (1 / 3), 1.5 * c * force
    if kind == SOFT:
        return area * k, area * c
    if kind == BY_LAW:
        return k, c
    return area * ground["unloading"], area * (c + ground["viscosity"] / contact["width"])


class _Probe:
    """A system whose dampers are the springs or the dampers of another one: its forces are -K u or -C u."""

    def __init__(self, system: System, is_stiffness: bool) -> None:
        self._system = system
        given = system._arrays()
        copied = ("springs", "trios", "links", "restrictions", "freedoms", "joints", "couplings", "runs", "books")
        own = {name: as_records(np.array(getattr(given, name))) for name in copied}
        for name in ("springs", "trios", "links", "restrictions", "couplings"):
            if is_stiffness:
                own[name]["damping"] = own[name]["stiffness"]
            own[name]["stiffness"] = 0.0
        _probe_freedoms(own["freedoms"], is_stiffness)
        own["trios"]["torque"] = own["trios"]["friction"] = 0.0
        own["runs"]["gravity"] = 0.0
        self._springs, self._links, self._restrictions = own["springs"], own["links"], own["restrictions"]
        self._couplings = own["couplings"]
        self._u = np.random.default_rng(0).normal(size=system.x.shape) * (system.inverse_mass[:, None] > 0.0)
        self._force, self._half = np.zeros_like(system.x), np.zeros_like(system.x)
        self._particles = given._replace(
            **own,
            v=self._u,
            contacts=given.contacts[:0],
            ruts=np.zeros((0, 0)),
            law=np.zeros((3, 5)),
            pushes=given.pushes[:0],
            tau=np.zeros_like(given.tau),
            drives=given.drives[:0],
            q=given.q.copy(),
            rates=given.rates.copy(),
            q_drive=given.q.copy(),
            v_drive=np.zeros_like(given.v_drive),
            holding=given.holding.copy(),
            force=self._force,
        )

    def largest(self) -> float:
        """Largest eigenvalue of M^-1 K or M^-1 C."""
        w, value = self._system.inverse_mass[:, None], 0.0
        mass = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0.0)
        for _ in range(_ITERATIONS):
            self._u /= max(math.sqrt(float((mass * self._u**2).sum())), 1e-300)
            self._particles.runs["is_evaluated"] = 0
            verlet(*self._particles, self._half, 0, 0.0, OPEN, CLOSE, 0, len(self._particles.chunks))
            value = -float((self._u * self._force).sum())
            self._u[:] = -w * self._force
        return max(value, 0.0)

    def name(self) -> str:
        """Spring, link or joint with most energy in the last motion."""
        system, best, name = self._system, -1.0, ""
        candidates: tuple[tuple[Array, list[str], str], ...] = (
            (_power(self._springs), system.springs.names, "spring"),
            (_brace_power(self._links), system.links.names, "link"),
            (_power(self._restrictions), system.restrictions.names, "restriction"),
            (_power(self._couplings), system.couplings.names, "coupling"),
        )
        for power, names, kind in candidates:
            if len(power) and power.max() > best:
                best, name = float(power.max()), f"{kind} {names[int(power.argmax())]!r}"
        return name


def _probe_freedoms(freedoms: NDArray[Any], is_stiffness: bool) -> None:
    """Let the dampers of freedoms be all springs that may act there, or all dampers."""
    wide = np.isfinite(freedoms["lower"]).any(axis=1) | np.isfinite(freedoms["upper"]).any(axis=1)
    has_stops = wide & (freedoms["acts"] > 0)
    for k in range(6):
        part = 0 if is_stiffness else 1
        own = freedoms["stiffness"][:, k // 3] if is_stiffness else freedoms["damping"][:, k]
        sticks = np.where(freedoms["friction"][:, k] > 0.0, freedoms["stick"][:, part], 0.0)
        freedoms["damping"][:, k] = own + sticks + np.where(has_stops, freedoms["stop"][:, part], 0.0)
    if is_stiffness:
        freedoms["grip"][:, 1::2] = freedoms["grip"][:, ::2]
        freedoms["shaft"][:, 1] = freedoms["shaft"][:, 0]
    freedoms["grip"][:, ::2] = freedoms["shaft"][:, :1] = 0.0
    freedoms["rotor_rate"] = 0.0
    freedoms["friction"] = freedoms["stiffness"] = 0.0
    freedoms["lower"], freedoms["upper"], freedoms["has_cone"] = -np.inf, np.inf, 0


def _power(rows: NDArray[Any]) -> Array:
    """Power of the dampers of springs or restrictions."""
    c = np.asarray(rows["damping"])
    power: Array = np.divide(rows["force"] ** 2, c, out=np.zeros(len(rows)), where=c > 0.0)
    return power


def _brace_power(links: NDArray[Any]) -> Array:
    """Power of the dampers of braces, by links."""
    arms, rates = (np.asarray(links[name]).reshape(-1, 3, 3) for name in ("A", "A_rate"))
    power = np.zeros(len(links))
    for a in range(3):
        power += ((arms[:, a] * rates[:, a]).sum(axis=1) / links["s"][:, a]) ** 2
        shear = (arms[:, a] * rates[:, a - 1] + arms[:, a - 1] * rates[:, a]).sum(axis=1)
        power += shear**2 / (links["s"][:, a] ** 2 + links["s"][:, a - 1] ** 2)
    total: Array = links["damping"] * power
    return total
