"""Traces of simulations: in memory, in files that survive a crash, and in tables for other programs."""

from varichain.trace.columns import Columns
from varichain.trace.epoch import Epoch, JointTrace
from varichain.trace.trace import Trace
from varichain.trace.writer import TraceWriter

__all__ = ["Columns", "Epoch", "JointTrace", "Trace", "TraceWriter"]
