"""Wall time and simulated time: the time that a run should have reached, and its measured rate."""

from __future__ import annotations

import time as clock
from collections import deque
from math import floor

CHUNK = 1.0 / 60.0  # [s] of wall time from one frame to the next
_MOST_BEHIND = 3.0 * CHUNK  # [s] of wall time that a late run makes up for; a later one goes on from its present time
_WINDOW = 1.0  # [s] of wall time over which the rate is measured


class Pace:
    """The pace of a run on a grid of time.

    Attributes:
        speed: Simulated seconds that a second of wall time should take.
        due: When the next chunk should begin [s of the wall clock].
    """

    def __init__(self, start: float, step: float, speed: float) -> None:
        """Begin at a time with a grid of steps [s]."""
        self.speed = speed
        self._start, self._step = start, step
        self._walls: deque[tuple[float, float]] = deque()
        self.begin(start)

    def begin(self, now: float) -> None:
        """Restart the count: after a pause, or with another speed."""
        self._time, self._wall = now, clock.perf_counter()
        self.due = self._wall
        self._walls.clear()
        self._walls.append((self._wall, now))

    def on_grid(self, time: float) -> float:
        """The last point of the grid that is not later."""
        return self._start + floor((time - self._start) / self._step + 1e-6) * self._step

    def target(self, now: float) -> float:
        """Time that the run should reach within a chunk [s], limited to what it may make up for at once."""
        self.due = clock.perf_counter() + CHUNK
        goal = self._time + self.speed * (self.due - self._wall)
        return self.on_grid(min(goal, now + self._step + self.speed * (CHUNK + _MOST_BEHIND)))

    def reached(self, now: float) -> None:
        """Note the time reached; a run that is too late does not catch up, and its rate shows it."""
        wall = clock.perf_counter()
        self._walls.append((wall, now))
        while len(self._walls) > 2 and wall - self._walls[0][0] > _WINDOW:
            self._walls.popleft()
        behind = self._time + self.speed * (wall - self._wall) - now
        if behind > self.speed * _MOST_BEHIND + self._step:
            self._time, self._wall = now, wall

    @property
    def rate(self) -> float:
        """Simulated seconds per second of wall time, lately."""
        (first, earlier), (last, now) = self._walls[0], self._walls[-1]
        return (now - earlier) / (last - first) if last > first else 0.0
