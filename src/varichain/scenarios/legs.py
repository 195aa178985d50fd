"""Legs of two equal parts."""

from __future__ import annotations

from math import acos, atan2, hypot

LEG = 0.25
"""Length of a thigh and of a shank [m]."""


def leg_angles(x: float, height: float) -> tuple[float, float]:
    """Angles of hip and knee [rad] that put the foot at x ahead of the hip and a height below it [m]."""
    reach = min(hypot(x, height), 2.0 * LEG - 1e-6)
    bend = acos(reach / (2.0 * LEG))
    return -atan2(x, height) - bend, 2.0 * bend
