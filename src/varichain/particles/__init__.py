"""Links as particles: the second engine, which vibrates, breaks, and converges to the rigid one as stiffness grows.

A link is four particles on spring-dampers, a joint is 6 - n_v scalar restrictions. The package knows mechanisms,
states and traces; the rigid engine's dynamics are not used.
"""

from varichain.particles.ground import Contact, Ground, Hard, Law, Muddy, Region, Sandy, Soft, Terrain
from varichain.particles.linked import LinkedSystem, from_mechanism
from varichain.particles.simulate import resume, simulate
from varichain.particles.steps import Stiffest, stiffest
from varichain.particles.system import System

__all__ = [
    "Contact",
    "Ground",
    "Hard",
    "Law",
    "LinkedSystem",
    "Muddy",
    "Region",
    "Sandy",
    "Soft",
    "Stiffest",
    "System",
    "Terrain",
    "from_mechanism",
    "resume",
    "simulate",
    "stiffest",
]
