"""Simulation: mechanisms in motion, through structure changes, with events, limits, controllers and traces.

`runs` is where users enter; `simulation` holds the loop of spans and events; `engine` calls the kernels.
"""

from varichain.instants.restraints import SoftLimits
from varichain.simulation.closed_contacts import ClosedContacts, closed_contacts
from varichain.simulation.controllers import PD, Compiled, ComputedTorque, Torques
from varichain.simulation.discrete import Discrete
from varichain.simulation.events import at, stop, use, when, when_force
from varichain.simulation.live import LiveRun
from varichain.simulation.rollout_result import Rollout
from varichain.simulation.rollouts import rollout
from varichain.simulation.runs import resume, simulate
from varichain.simulation.separating import clearances, separate
from varichain.simulation.simulation import Recorder, Simulation

__all__ = [
    "PD",
    "ClosedContacts",
    "Compiled",
    "ComputedTorque",
    "Discrete",
    "LiveRun",
    "Recorder",
    "Rollout",
    "Simulation",
    "SoftLimits",
    "Torques",
    "at",
    "clearances",
    "closed_contacts",
    "resume",
    "rollout",
    "separate",
    "simulate",
    "stop",
    "use",
    "when",
    "when_force",
]
