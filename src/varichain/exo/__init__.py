"""Exoskeletons of one joint: virtual impedance, operators, trials, stability, and the criteria of adjustment [LS].

The exoskeleton and its wearer are a mechanism of the rigid engine; the motor's compensation and the operator are
discrete controllers, so that a trial is compiled throughout. Sweeps of trials are in `varichain.sweeps`.
"""

from varichain.exo.adjust import Adjusted, adjust
from varichain.exo.compensation import compensation
from varichain.exo.exoskeleton import Cuff, Exoskeleton
from varichain.exo.findings import Findings, findings, sensitivity
from varichain.exo.impedance import Chain, Impedance
from varichain.exo.minimum import Minimum, fitted, minimum
from varichain.exo.operator import OPERATORS, TICK, Operator
from varichain.exo.stability import Stability, StabilityMap, stability, stability_map
from varichain.exo.swing import Swing
from varichain.exo.trial import Setting, Trial, staged, trial, trials
from varichain.exo.wearer import Leg, Wearer, seated

__all__ = [
    "OPERATORS",
    "TICK",
    "Adjusted",
    "Chain",
    "Cuff",
    "Exoskeleton",
    "Findings",
    "Impedance",
    "Leg",
    "Minimum",
    "Operator",
    "Setting",
    "Stability",
    "StabilityMap",
    "Swing",
    "Trial",
    "Wearer",
    "adjust",
    "compensation",
    "findings",
    "fitted",
    "minimum",
    "seated",
    "sensitivity",
    "stability",
    "stability_map",
    "staged",
    "trial",
    "trials",
]
