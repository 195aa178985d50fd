"""Scenarios: a mechanism, a start, and what happens, ready to be run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from varichain.errors import InputError
from varichain.spatial.report import Listing, Report, Reported

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism.mechanism import Mechanism
    from varichain.motion import Motion
    from varichain.simulation.events import Event
    from varichain.simulation.live import LiveRun
    from varichain.trace import Trace


@dataclass(frozen=True, eq=False, repr=False)
class Scenario(Reported):
    """All that `vc.simulate` needs, with a name.

    Attributes:
        name: Name that it is run by.
        mechanism, state: Where it begins.
        until: When it ends [s].
        events, controller, motion, forces: As of `vc.simulate`.
        settings: Further arguments of `vc.simulate`: method, step, sample, tolerance, control_step, limits, contacts.
        particles: Arguments of `vc.particles.from_mechanism` for a scenario of particles; its settings are then those
            of `vc.particles.simulate`. None for rigid links.
        rigid: Function that builds the same scenario of rigid links, for `compare`; None if there is none.
    """

    name: str
    mechanism: Mechanism
    state: State
    until: float
    events: tuple[Event, ...] = ()
    controller: Any = None
    motion: Motion | None = None
    forces: Any = ()
    settings: dict[str, Any] = field(default_factory=dict)
    particles: dict[str, Any] | None = None
    rigid: Callable[[], Scenario] | None = None

    def report(self) -> Report:
        """Mechanism, start and end, controls, events and settings."""
        m = self.mechanism
        controls = {name: getattr(self, name) for name in ("controller", "motion")}
        rows = [
            ("mechanism", f"{len(m)} links, {m.n_v} freedoms, {len(m.virtual_links)} loops"),
            ("from, to", f"{self.state.time:g} s, {self.until:g} s"),
            *((name, type(of).__name__) for name, of in controls.items() if of is not None),
            *(("event", _event_text(event)) for event in self.events),
            *((name, str(value)) for name, value in self.settings.items()),
        ]
        return f"scenario {self.name!r}", (Listing(("", ""), rows),)

    def run(self, until: float | None = None, **changes: Any) -> Trace:
        """Simulate it; `changes` replace its settings, or go to `vc.simulate` as they are (out, progress, ...)."""
        if self.particles is not None:
            return self._run_particles(self.particles, self.until if until is None else until, self.settings | changes)
        from varichain.simulation import simulate  # here, so that scenarios can be listed without the compiler

        return simulate(
            self.mechanism,
            self.state,
            self.until if until is None else until,
            events=self.events,
            controller=self.controller,
            motion=self.motion,
            forces=self.forces,
            **(self.settings | changes),
        )

    def _run_particles(self, body: dict[str, Any], until: float, settings: dict[str, Any]) -> Trace:
        from varichain import particles

        system = particles.from_mechanism(self.mechanism, self.state, **body)
        return particles.simulate(
            system,
            until,
            events=self.events,
            controller=self.controller,
            motion=self.motion,
            forces=self.forces,
            **settings,
        )

    def live(self, **changes: Any) -> LiveRun:
        """Run it live: in real time, in a thread of its own; `changes` as of `run`, or as of `vc.LiveRun`.

        It pauses at `until`.
        """
        if self.particles is not None:
            raise InputError(
                f"scenario {self.name!r} is one of particles, which do not run live; run it and view its trace"
            )
        from varichain.simulation.live import LiveRun

        return LiveRun(
            self.mechanism,
            self.state,
            events=self.events,
            controller=self.controller,
            motion=self.motion,
            forces=self.forces,
            **({"until": self.until} | self.settings | changes),
        )


def _event_text(event: Event) -> str:
    """When an event happens, and what it does."""
    from varichain.simulation.recording import described

    time = getattr(event, "time", None)
    when = "on a condition" if time is None else f"at {time:g} s"
    what = [described(action) for action in event.actions if not callable(action)]
    return f"{when}: {', '.join([*([event.name] if event.name else []), *what]) or 'actions of a function'}"


Builder = Callable[..., Scenario]
