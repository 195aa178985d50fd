"""Walks of inchworms to goals: at each stride the best of some headings and lengths is tried and taken [PFB]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import varichain as vc
from varichain.figures.worm import arch
from varichain.mechanism import Fixed
from varichain.scenarios.worm_gait import Place, Worm
from varichain.spatial.arrays import Array

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism import Mechanism

TURNS = np.radians([0.0, -10.0, 10.0, -20.0, 20.0, -30.0, 30.0, -40.0, 40.0])
_CLEARANCE, _AROUND = 2.0, 5.0  # radii of the worm that it stays away from obstacles, and at which it goes around them
_EFFORT, _TURNING, _CONDITION = 0.002, 0.05, 0.01  # weights beside the way that is left, over the stride


@dataclass
class Walk:
    """A worm on its way.

    Attributes:
        worm: The worm.
        goals: Points (x, y) [m] that the front shall reach, one after the other.
        n_reached: How many of them it has reached.
        strides: Lengths of strides that are tried [m].
        obstacles: Discs (x, y, radius) [m] that it goes around.
        tolerance: Distance within which a goal counts as reached [m].
        taken: Places of the front that were chosen.
    """

    worm: Worm
    goals: Sequence[tuple[float, float]]
    strides: Sequence[float]
    obstacles: Sequence[tuple[float, float, float]] = ()
    tolerance: float = 5e-4
    n_reached: int = 0
    taken: list[Place] = field(default_factory=list)

    def begin(self) -> None:
        """Forget what came before: a run begins."""
        self.n_reached, self.taken = 0, []

    @property
    def goal(self) -> tuple[float, float]:
        """The next point to reach."""
        return self.goals[self.n_reached]

    def next_phase(self, s: State, moving: str) -> list[Any] | None:
        """Controllers of the next phase, from a state of the run; None if all goals are reached."""
        own = self.worm.state(s)
        if moving == "rear":
            front = self.worm.place(own, "front")
            return self.worm.controllers(self.worm.phase(own, "rear", front.ahead(-self.worm.span), self.worm.span))
        front = self.worm.place(own, "front")
        while self.n_reached < len(self.goals) and front.distance(*self.goal) <= self.tolerance:
            self.n_reached += 1
        if self.n_reached == len(self.goals):
            return None
        goal = self.best(own)
        self.taken.append(goal)
        span = self.worm.span + front.distance(goal.x, goal.y)
        return self.worm.controllers(self.worm.phase(own, "front", goal, span))

    def best(self, own: State) -> Place:
        """The place for the front that scores best: way left to the goal, torques, turning, conditioning, obstacles."""
        front, rear = self.worm.place(own, "front"), self.worm.place(own, "rear")
        m, still = self.worm.model.copy(), own.copy()
        m.connect(self.worm.link("rear"), "ground", Fixed(), state=still, name="tried")
        scores: list[tuple[float, Place]] = []
        _, (x, y) = self._way_left(front)
        ahead = math.remainder(math.atan2(y - front.y, x - front.x) - front.heading, 2.0 * math.pi)
        left = front.distance(*self.goal)
        for turn in [*TURNS, *([ahead] if abs(ahead) <= max(TURNS) else [])]:
            for stride in sorted({min(length, left) for length in self.strides}):
                place = front.ahead(stride, float(turn))
                if self._is_clear(rear, place):
                    scores.append((self._score(m, still, rear, place, stride, float(turn)), place))
        if not scores:
            raise vc.InputError(f"the worm is stuck at ({front.x:.4g}, {front.y:.4g}) m: obstacles on all sides")
        return min(scores, key=lambda scored: scored[0])[1]

    def _score(self, m: Mechanism, s: State, rear: Place, place: Place, stride: float, turn: float) -> float:
        worm, tried = self.worm, s.copy()
        bend = math.remainder(place.heading - rear.heading, 2.0 * math.pi) / (worm.n - 1)
        for joint, pitch in zip(worm.joints, arch(worm.n, worm.length, worm.span + stride), strict=True):
            tried[joint].q = (pitch, bend)
        effort = float(np.linalg.norm(vc.inverse_dynamics(m, tried).tau)) / worm.weight
        J = vc.jacobian(m, tried, worm.link("front"))[:, 6:] / np.r_[np.ones(3), np.full(3, worm.length)][:, None]
        way, (x, y) = self._way_left(place)
        left = way / max(self.strides)
        aside = 1.0 - math.cos(math.remainder(math.atan2(y - place.y, x - place.x) - place.heading, 2.0 * math.pi))
        tired = _EFFORT * effort + _TURNING * abs(turn) + _CONDITION * math.log10(float(np.linalg.cond(J)))
        return left + (aside if way > self.tolerance else 0.0) + tired

    def _way_left(self, place: Place) -> tuple[float, tuple[float, float]]:
        """Way from a place to the goal, around the first obstacle between them, and the point that it heads for."""
        here, goal = np.array([place.x, place.y]), np.array(self.goal)
        whole = float(np.linalg.norm(goal - here))
        between = [disc for disc in self.obstacles if self._gap(disc, here, goal) < _AROUND * self.worm.radius]
        if not between or whole == 0.0:
            return whole, self.goal
        x, y, radius = min(between, key=lambda disc: place.distance(disc[0], disc[1]))
        across = np.array([-(goal - here)[1], (goal - here)[0]]) / whole * (radius + _AROUND * self.worm.radius)
        corners = [np.array([x, y]) + side * across for side in (1.0, -1.0)]
        ways = [float(np.linalg.norm(c - here) + np.linalg.norm(goal - c)) for c in corners]
        best = int(np.argmin(ways))
        return ways[best], (float(corners[best][0]), float(corners[best][1]))

    @staticmethod
    def _gap(disc: tuple[float, float, float], a: Array, b: Array) -> float:
        """Distance of a disc from the line between two points [m]."""
        center, length = np.array(disc[:2]), float((b - a) @ (b - a))
        along = np.clip((center - a) @ (b - a) / length, 0.0, 1.0) if length > 0.0 else 0.0
        return float(np.linalg.norm(a + along * (b - a) - center)) - disc[2]

    def _is_clear(self, rear: Place, front: Place) -> bool:
        """Whether a worm between two places keeps away from all obstacles."""
        a, b = np.array([rear.x, rear.y]), np.array([front.x, front.y])
        return all(self._gap(disc, a, b) >= _CLEARANCE * self.worm.radius for disc in self.obstacles)


class Walkers:
    """Worms that walk at the same time: what happens at the end of each phase."""

    def __init__(self, walks: Sequence[Walk], watch: Any) -> None:
        """Let each go its way; `watch` records where they are."""
        self.walks, self._watch = list(walks), watch
        self._controllers: list[list[Any]] = [[] for _ in walks]
        self._resting: set[int] = set()

    def change(self, s: State, moving: str, is_first: bool) -> list[Any]:
        """Actions at the beginning of a phase: ends take hold and let go, and controllers change."""
        actions: list[Any] = []
        if is_first:
            self._resting.clear()
            for walk in self.walks:
                walk.begin()
        still, other = ("rear", "front") if moving == "front" else ("front", "rear")
        for i, walk in enumerate(self.walks):
            if i in self._resting:
                continue
            found = walk.next_phase(s, moving)
            if found is None:
                self._resting.add(i)
                continue
            self._controllers[i] = found
            if not is_first:
                prefix = walk.worm.prefix
                hold = vc.connect(walk.worm.link(still), "ground", Fixed(), name=f"{prefix}{still} hold")
                actions += [hold, vc.cut(f"{prefix}{other} hold")]
        if len(self._resting) == len(self.walks):
            return [vc.stop("all worms are there")]
        return [*actions, vc.use(controller=[self._watch, *(law for laws in self._controllers for law in laws)])]
