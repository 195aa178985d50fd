"""Plots of traces over time; needs matplotlib (extra `plot`)."""

from varichain.plots.figure import plot

__all__ = ["plot"]
