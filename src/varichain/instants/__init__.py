"""Instants: connections, couplings, cuts and pushes of a mechanism in motion, with their impact."""

from varichain.instants.actions import Connect, Couple, Cut, Push, connect, couple, cut, push
from varichain.instants.breaking import Overload, overloads, release
from varichain.instants.change import StructureChange, change, impact
from varichain.instants.impact import Impact

__all__ = [
    "Connect",
    "Couple",
    "Cut",
    "Impact",
    "Overload",
    "Push",
    "StructureChange",
    "change",
    "connect",
    "couple",
    "cut",
    "impact",
    "overloads",
    "push",
    "release",
]
