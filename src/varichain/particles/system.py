"""Particles, spring-dampers between them, links of four particles and their joints, built by hand or of a mechanism."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.sharing import checked_threads
from varichain.errors import DuplicateNameError, InputError, UnknownNameError, quoted
from varichain.kernels.particle_records import (
    CLOSE,
    CONTACT,
    FINISH,
    GROUND,
    JOIN,
    LOAD,
    LOST,
    OPEN,
    PARTICLE_COUPLING,
    PARTICLE_FREEDOM,
    PARTICLE_JOINT,
    PARTICLE_LINK,
    PARTICLE_RUN,
    REACHED,
    RESTRICTION,
    SPREAD,
    SPRING,
    TERRAIN,
    TORN,
    TRIO,
    Accounts,
    Particles,
)
from varichain.kernels.particle_run import particle_totals, verlet
from varichain.kernels.run_records import CHANNEL, FORCE
from varichain.kernels.tables import as_records
from varichain.mechanism.inertia import Inertia
from varichain.particles.arms import Arms, arms_of, particles_of, velocities_of
from varichain.particles.chunks import Chunks, chunks_of, in_threads
from varichain.particles.failing import divergence
from varichain.particles.rows import Rows
from varichain.spatial.arrays import Array
from varichain.spatial.checks import (
    count_number,
    finite_array,
    finite_scalar,
    flag,
    is_one_of,
    name_string,
    non_negative_scalar,
    positive_scalar,
    time_step,
)
from varichain.spatial.pose import Pose

RULES = ("sound", "paper")
_GRAVITY = (0.0, 0.0, -9.81)
BRACES = 16.0
"""Stiffness of braces in units of that of joints.

When an arm grows by d, the four springs between the particles at its two ends grow by 2 d: 4 (2 d)^2 = 16 d^2.
"""

_MOST_STEPS = 10**9  # in one call of `advance`, which nothing interrupts
_STICK = 1e3  # stiffness of friction that sticks, in units of the largest friction per radian


class System:
    """Particles and what acts between them, with positions and velocities that change as time passes.

    Attributes:
        name: Name, for traces.
        x, v: Positions and velocities of all particles (n, 3) [m, m/s], in place.
        inverse_mass: (n,) [1/kg]; zero of particles that are fixed.
        springs, trios, links, restrictions, freedoms, joints, couplings: Records with their names.
        arms: Arms of each link.
        thickened: Names of links that got more inertia than they have, for springs cannot keep four in a plane.
        q, rates, tau: Coordinates, velocities and torques of the joints' freedoms; see `particles.from_mechanism`.
        holding: Forces that drive the freedoms along a motion.
        run: Clock and books.
        contacts: Points of links that the ground pushes.
        grounds, terrain, heights: Kinds of ground by regions, and its surface.
        ruts: Depths of footprints (n_x, n_y) [m].
        lost: Energy that changes of structure have taken [J].
    """

    def __init__(self, name: str = "particles", gravity: ArrayLike = _GRAVITY) -> None:
        """No particle yet."""
        self.name = name_string(name, "name of the system")
        self._x: list[Array] = []
        self._v: list[Array] = []
        self._inverse_mass: list[float] = []
        self._particles: dict[str, int] = {}
        self.springs, self.trios, self.links = Rows(SPRING), Rows(TRIO), Rows(PARTICLE_LINK)
        self.restrictions, self.freedoms, self.joints = Rows(RESTRICTION), Rows(PARTICLE_FREEDOM), Rows(PARTICLE_JOINT)
        self.couplings = Rows(PARTICLE_COUPLING)
        self.arms: list[Arms] = []
        self.thickened: list[str] = []
        self.q = self.rates = self.tau = self.holding = np.zeros(0)
        self._drives: NDArray[Any] = as_records(np.zeros(0, CHANNEL))
        self._motion = np.zeros(0)
        self._chunks: Chunks | None = None
        self.pushes: NDArray[Any] = as_records(np.zeros(0, FORCE))
        self.run: NDArray[Any] = as_records(np.zeros(1, PARTICLE_RUN))
        self.run["gravity"] = finite_array(gravity, (3,), "gravity")
        self.lost = 0.0
        self.contacts, self.grounds = Rows(CONTACT), as_records(np.zeros(0, GROUND))
        self.terrain: NDArray[Any] = as_records(np.zeros(1, TERRAIN))
        self.heights, self.ruts, self._law = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((3, 5))
        self.x = self.v = self.force = np.zeros((0, 3))
        self.inverse_mass = np.zeros(0)

    # Building by hand

    def add_particle(
        self, name: str, mass: float, at: ArrayLike, velocity: ArrayLike = (0.0, 0.0, 0.0), *, fixed: bool = False
    ) -> None:
        """Add a particle.

        Args:
            name: Name, by which springs and joints find it.
            mass: [kg].
            at: Position (3,) [m].
            velocity: (3,) [m/s].
            fixed: Whether it never moves.
        """
        if name_string(name, "name of a particle") in self._particles:
            raise DuplicateNameError("particle", name)
        place, rate = finite_array(at, (3,), "at"), finite_array(velocity, (3,), "velocity")
        if flag(fixed, "fixed") and rate.any():
            raise InputError(f"particle {name!r} is fixed: its velocity must be zero, not {rate.tolist()}")
        inverse = 1.0 / positive_scalar(mass, "mass")
        self._particles[name] = len(self._inverse_mass)
        self._put(place, rate, 0.0 if fixed else inverse)

    def add_spring(
        self,
        a: str,
        b: str,
        stiffness: float,
        damping: float = 0.0,
        *,
        length: float | None = None,
        name: str | None = None,
        breaks: float | None = None,
    ) -> None:
        """Add a spring-damper between two particles.

        Args:
            a: Name of a particle.
            b: Name of another.
            stiffness: [N/m].
            damping: Along the line between the two [N s/m].
            length: At rest [m]; the present distance by default.
            name: Name; "a to b" by default.
            breaks: Force [N] at which the spring breaks; None if it never does.
        """
        i, j = self._place(a), self._place(b)
        if i == j:
            raise InputError(f"a spring needs two particles, not {a!r} twice")
        called = f"{a} to {b}" if name is None else name_string(name, "name of the spring")
        if called in self.springs.names:
            raise DuplicateNameError("spring", called)
        distance = float(np.linalg.norm(self.positions()[i] - self.positions()[j]))
        self.springs.add(
            called,
            i=i,
            j=j,
            length=distance if length is None else non_negative_scalar(length, "length"),
            stiffness=non_negative_scalar(stiffness, "stiffness"),
            damping=non_negative_scalar(damping, "damping"),
            breaks=math.inf if breaks is None else positive_scalar(breaks, "breaks"),
        )

    def add_joint(
        self,
        a: str,
        middle: str,
        b: str,
        *,
        torque: float = 0.0,
        friction: float = 0.0,
        rule: str = "sound",
        name: str | None = None,
    ) -> None:
        """Add a joint of three particles [TS]: a torque and dry friction that act as couples.

        Args:
            a: Particle at one end.
            middle: Particle that both ends turn about.
            b: Particle at the other end.
            torque: That opens the angle between the ends [N m].
            friction: Largest moment of dry friction [N m].
            rule: "sound"; or "paper": the accelerations of the three lose their part across the plane through the
                three. That rule creates momentum and energy; it is here for comparison.
            name: Name; "middle" by default.
        """
        if not is_one_of(rule, RULES):
            raise InputError(f"rule must be one of {', '.join(map(repr, RULES))}, not {quoted(rule)}")
        places = [self._place(each) for each in (a, middle, b)]
        if len(set(places)) < 3:
            raise InputError(f"a joint needs three particles, not {a!r}, {middle!r} and {b!r}")
        largest = non_negative_scalar(friction, "friction")
        self.trios.add(
            middle if name is None else name_string(name, "name of the joint"),
            i=places[0],
            middle=places[1],
            j=places[2],
            torque=finite_scalar(torque, "torque"),
            friction=largest,
            stiffness=_STICK * largest,
            paper=int(rule == "paper"),
        )

    def positions(self) -> Array:
        """Positions of all particles (n, 3) [m]."""
        self._gather()
        return self.x

    def particle(self, name: str) -> tuple[Array, Array]:
        """Position and velocity (3,) [m, m/s] of a particle."""
        i = self._place(name)
        return self.x[i].copy(), self.v[i].copy()

    @property
    def particles(self) -> tuple[str, ...]:
        """Names of the particles that were added by hand."""
        return tuple(self._particles)

    # Building of a mechanism

    def add_link(
        self, name: str, inertia: Inertia, extent: float, pose: Pose, V: Array, stiffness: float, damping: float
    ) -> int:
        """Add a link of four particles, at a pose and with a velocity V [angular; linear] of its frame; its place.

        `damping` is a ratio of the critical one, `extent` the largest distance of a joint from the centre [m].
        """
        arms, mass = arms_of(inertia, extent), inertia.mass
        if arms.is_thickened:
            self.thickened.append(name)
        center = pose @ inertia.com
        positions = particles_of(arms, center, pose.R)
        rate = V[3:] + np.cross(V[:3], center - pose.p)
        velocities = velocities_of(positions, center, V[:3], rate)
        k = BRACES * stiffness
        c = 2.0 * damping * math.sqrt(k * mass)
        return self._add_four(name, arms, positions, velocities, 4.0 / mass, stiffness=k, damping=c)

    def add_ground(self, name: str) -> int:
        """Add a link that is fixed to the world, with arms of a metre."""
        arms = Arms(np.ones(3), np.eye(3), False)
        positions = particles_of(arms, np.zeros(3), np.eye(3))
        return self._add_four(name, arms, positions, np.zeros((4, 3)), 0.0, fixed=1)

    def _add_four(
        self, name: str, arms: Arms, positions: Array, velocities: Array, inverse_mass: float, **fields: Any
    ) -> int:
        first = len(self._inverse_mass)
        for i in range(4):
            self._put(positions[i], velocities[i], inverse_mass)
        self.arms.append(arms)
        return self.links.add(name, first=first, s=arms.lengths, principal=arms.axes.ravel(), **fields)

    def _put(self, position: Array, velocity: Array, inverse_mass: float) -> None:
        self._x.append(position)
        self._v.append(velocity)
        self._inverse_mass.append(inverse_mass)

    def _place(self, name: str) -> int:
        if name_string(name, "name of a particle") not in self._particles:
            raise UnknownNameError("particle", name, self._particles)
        self._gather()
        return self._particles[name]

    def _gather(self) -> None:
        """Bring the arrays up to date with particles that were added."""
        new = len(self._inverse_mass) - len(self.x)
        if new:
            self.x = np.concatenate([self.x, np.array(self._x[-new:]).reshape(-1, 3)])
            self.v = np.concatenate([self.v, np.array(self._v[-new:]).reshape(-1, 3)])
            self.inverse_mass = np.array(self._inverse_mass)
            self.force, self._half = np.zeros_like(self.x), np.zeros_like(self.x)
            self.run["is_evaluated"] = 0

    # Motion

    @property
    def time(self) -> float:
        """Time [s]."""
        return float(self.run["time"][0])

    @property
    def n_restrictions(self) -> int:
        """Number of restrictions: springs, six braces a link that can move, and those of joints."""
        moving = int((self.links.array["fixed"] == 0).sum())
        return len(self.springs) + len(self.trios) + 6 * moving + len(self.restrictions)

    def _arrays(self) -> Particles:
        """The arrays that kernels work on, in place."""
        self._gather()
        counts = (len(self.x), *(len(rows) for rows in (self.links, self.joints, self.restrictions, self.freedoms)))
        if self._chunks is None or self._chunks.counts != counts:
            self._chunks = chunks_of(self, counts)
        return Particles(
            x=self.x,
            v=self.v,
            inverse_mass=self.inverse_mass,
            springs=self.springs.array,
            trios=self.trios.array,
            links=self.links.array,
            restrictions=self.restrictions.array,
            freedoms=self.freedoms.array,
            joints=self.joints.array,
            couplings=self.couplings.array,
            contacts=self.contacts.array,
            grounds=self.grounds,
            terrains=self.terrain,
            heights=self.heights,
            ruts=self.ruts,
            law=self._law,
            pushes=self.pushes,
            tau=self.tau,
            drives=self._drives,
            motion=self._motion,
            runs=self.run,
            books=self._chunks.books,
            chunks=self._chunks.records,
            loose=self._chunks.loose,
            q=self.q,
            rates=self.rates,
            q_drive=self._chunks.q_drive,
            v_drive=self._chunks.v_drive,
            a_drive=self._chunks.a_drive,
            holding=self.holding,
            force=self.force,
        )

    def advance(self, n_steps: int, step: float, threads: int | None = 1) -> int:
        """Advance by velocity Verlet steps of equal length [s].

        Several threads, or one a core for None, share out the links of large systems; the bits do not depend on their
        number. Returns REACHED if all steps were done, BROKEN_JOINT or BROKEN_SPRING if something gave way before, at
        `run["culprit"]`.

        Raises:
            DivergenceError: A link is torn or a spring flies apart: the steps are too long, or a force is no number.
        """
        n_steps = count_number(n_steps, "n_steps", _MOST_STEPS, least=0)
        status = self._advance(n_steps, time_step(step, "step"), checked_threads(threads))
        if status in (TORN, LOST):
            raise divergence(self)
        return status

    def _advance(self, n_steps: int, step: float, threads: int = 1) -> int:
        """Advance; the status."""
        particles = self._arrays()  # which makes room for the half steps
        assert self._chunks is not None
        n = len(self._chunks.records) - 1

        def call(n_steps: int, parts: tuple[int, int], chunks: tuple[int, int]) -> None:
            verlet(*particles, self._half, n_steps, step, *parts, *chunks)

        if threads == 1 or n < 2:
            call(n_steps, (OPEN, CLOSE), (0, n + 1))
            return int(self.run["status"][0])
        call(0, (OPEN, CLOSE), (0, n + 1))
        with in_threads(threads, n) as shared:
            for _ in range(n_steps):
                call(1, (OPEN, LOAD), (0, 0))
                shared(lambda *chunks: call(1, (LOAD, JOIN), chunks))
                call(1, (LOAD, SPREAD), (n, n + 1))
                shared(lambda *chunks: call(1, (SPREAD, FINISH), chunks))
                call(1, (FINISH, CLOSE), (0, 0))
                if self.run["status"][0] != REACHED:
                    break
        return int(self.run["status"][0])

    def evaluate(self, step: float = 0.0) -> None:
        """Forces, powers and energies of the present positions and velocities; friction is bent for a time `step`."""
        self.run["is_evaluated"] = 0
        self._advance(0, step)

    def energy(self) -> Array:
        """Kinetic energy, that of gravity and that of springs (3,) [J]."""
        self.evaluate()
        kinetic, gravitational = self._totals()[0]
        freedoms = self.freedoms.array
        rotors = 0.5 * float((freedoms["armature"] * freedoms["rotor_rate"] ** 2).sum())
        return np.array([kinetic + rotors, gravitational, self.run["elastic"][0]])

    def momentum(self) -> Array:
        """[angular; linear] momentum about the centre of mass (6,) [N m s, N s]."""
        return self._totals()[1]

    def center(self) -> Array:
        """Centre of mass (3,) [m]."""
        return self._totals()[2]

    def work(self) -> dict[str, float]:
        """Work of each account since the start [J]."""
        return dict(zip(Accounts._fields, self.run["work"][0].tolist(), strict=True))

    def _totals(self) -> tuple[Array, Array, Array]:
        self._gather()
        energy, momentum, center = np.empty(2), np.empty(6), np.empty(3)
        particle_totals(self.x, self.v, self.inverse_mass, self.run, energy, momentum, center)
        return energy, momentum, center
