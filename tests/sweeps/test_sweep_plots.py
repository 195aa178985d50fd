"""Pictures of sweeps."""

import os
import sys

import numpy as np
import pytest

import varichain as vc

sys.path.insert(0, os.path.dirname(__file__))
import toys

pytest.importorskip("matplotlib")


def test_a_sweep_is_drawn_over_its_first_parameter():
    """A column for each value of the other parameter, a row for each measure, all trials as points, means as a line."""
    found = vc.sweep(toys.quick, {"y": ["a", "bb"], "x": [0.0, 1.0, 2.0, 3.0]}, repeats=3, processes=1)
    figure = found.plot(["value"], baseline=found)
    assert len(figure.axes) == 2
    _, points, line = figure.axes[0].get_lines()[:3]
    assert len(points.get_xdata()) == 12
    assert line.get_ydata() == pytest.approx(list(found.mean("value", "x", y="a").values()))
    assert figure.axes[1].get_title() == "y bb" and figure.axes[0].get_xlabel() == "x"


def test_the_minimum_of_the_first_measure_is_marked():
    """A dashed line stands where the fit of the first measure is least."""
    found = vc.sweep(toys.bowl, {"x": np.linspace(0.0, 4.0, 9)}, repeats=2, processes=1)
    (marked,) = [line for line in found.plot().axes[0].get_lines() if line.get_linestyle() == "--"]
    assert marked.get_xdata()[0] == pytest.approx(1.5, abs=0.05)


def test_what_cannot_be_drawn_is_refused():
    """A sweep without a parameter of several numbers, or a measure that is not there."""
    found = vc.sweep(toys.quick, {"y": ["a", "bb"]}, processes=1)
    with pytest.raises(vc.InputError, match="several numbers"):
        found.plot()
    with pytest.raises(vc.UnknownNameError):
        found.plot(["valve"], by="y")
