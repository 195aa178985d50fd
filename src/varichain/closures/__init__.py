"""Loops without rows: joints of a loop as explicit functions of others [HYR].

`FourBar` and `SliderCrank` are closed forms, `Linear` and `Given` the user's own; `ClosureFunction` puts them together,
checks them against the loops that they replace, and computes dynamics in independent coordinates. `constant_loops`
finds loops that are couplings in disguise, `replace_constant_loops` makes them so.
"""

from varichain.closures.constant import ConstantLoops, constant_loops, replace_constant_loops
from varichain.closures.four_bar import FourBar
from varichain.closures.function import ClosureFunction
from varichain.closures.part import Closure, Given, Linear
from varichain.closures.slider_crank import SliderCrank

__all__ = [
    "Closure",
    "ClosureFunction",
    "ConstantLoops",
    "FourBar",
    "Given",
    "Linear",
    "SliderCrank",
    "constant_loops",
    "replace_constant_loops",
]
