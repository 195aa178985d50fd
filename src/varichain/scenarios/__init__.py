"""Scenarios by name: each a function of its parameters that returns a `Scenario`."""

from varichain.scenarios.pendulum import pendulum
from varichain.scenarios.scenario import Builder, Scenario

SCENARIOS: dict[str, Builder] = {"pendulum": pendulum}

__all__ = ["SCENARIOS", "Builder", "Scenario", "pendulum"]
