"""Scenarios by name: each a function of its parameters that returns a `Scenario`."""

from varichain.scenarios.boxes import boxes
from varichain.scenarios.chain import chain
from varichain.scenarios.chair import chair
from varichain.scenarios.compass import compass
from varichain.scenarios.fall import fall
from varichain.scenarios.fourbar import fourbar
from varichain.scenarios.highbar import highbar
from varichain.scenarios.holdinghands import holdinghands
from varichain.scenarios.inchworm import inchworm, race
from varichain.scenarios.knee import knee
from varichain.scenarios.pendulum import pendulum
from varichain.scenarios.reach import reach
from varichain.scenarios.rods import seat, threelinks
from varichain.scenarios.scenario import Builder, Scenario
from varichain.scenarios.summary import energy_drift, summary
from varichain.scenarios.swing import swing
from varichain.scenarios.walk import walk
from varichain.scenarios.walker import walker

SCENARIOS: dict[str, Builder] = {
    "highbar": highbar,
    "swing": swing,
    "holdinghands": holdinghands,
    "walk": walk,
    "walker": walker,
    "compass": compass,
    "pendulum": pendulum,
    "fourbar": fourbar,
    "chain": chain,
    "threelinks": threelinks,
    "reach": reach,
    "seat": seat,
    "chair": chair,
    "knee": knee,
    "inchworm": inchworm,
    "race": race,
    "fall": fall,
    "boxes": boxes,
}

__all__ = [
    "SCENARIOS",
    "Builder",
    "Scenario",
    "boxes",
    "chain",
    "chair",
    "compass",
    "energy_drift",
    "fall",
    "fourbar",
    "highbar",
    "holdinghands",
    "inchworm",
    "knee",
    "pendulum",
    "race",
    "reach",
    "seat",
    "summary",
    "swing",
    "threelinks",
    "walk",
    "walker",
]
