"""Laws of force elements: forces along lines between two points, and torques about an axis."""

from varichain.kernels.callbacks import call_force
from varichain.kernels.jit import helper, routine
from varichain.kernels.records import EACH, LINE
from varichain.kernels.relative_rotation import within_half_a_turn
from varichain.kernels.row_kinds import line_of, turn_of
from varichain.kernels.tuples import dot3

_STEP = 1e-3  # of differences of a user's function, as a part of 1 + its argument: order four, 1e-12 is their error


@helper
def tension_of(loop, length, rate):
    """Force along a line that pulls its ends together; its part by damping and function; and potential energy."""
    stretch = length - loop.length
    if loop.is_slack and stretch <= 0.0:
        return 0.0, 0.0, 0.0
    drag = loop.damping[0] * rate
    if loop.function != 0:
        drag += call_force(loop.function, length, rate)
    tension = loop.stiffness[0] * stretch + loop.pull + drag
    energy = 0.5 * loop.stiffness[0] * stretch * stretch + loop.pull * length
    if loop.is_slack and tension < 0.0:
        return 0.0, -loop.stiffness[0] * stretch, energy  # the spring shortens and gives its energy to the damper
    return tension, drag, energy


@helper
def turning_of(loop, pose, R_WB):
    """Angle of a torsion spring beyond its rest, within half a turn, and its gradient."""
    angle, g = turn_of(pose[1], R_WB)
    return within_half_a_turn(angle - loop.length), g


@helper
def _slope(loop, length, rate, by_length, by_rate):
    """Derivative of a user's force along a direction of its two arguments."""
    h = _STEP * (1.0 + (length if by_length > 0.0 else abs(rate)))
    x, y = h * by_length, h * by_rate
    near = call_force(loop.function, length + x, rate + y) - call_force(loop.function, length - x, rate - y)
    far = call_force(loop.function, length + 2.0 * x, rate + 2.0 * y)
    far -= call_force(loop.function, length - 2.0 * x, rate - 2.0 * y)
    return (8.0 * near - far) / (12.0 * h)


@helper
def tension_slopes(loop, length, rate):
    """Force along a line that pulls its ends together, and its derivatives by length and rate; zero if it is slack."""
    tension, _, _ = tension_of(loop, length, rate)
    if loop.is_slack and tension == 0.0:
        return 0.0, 0.0, 0.0
    by_length, by_rate = loop.stiffness[0], loop.damping[0]
    if loop.function != 0:
        by_length += _slope(loop, length, rate, 1.0, 0.0)
        by_rate += _slope(loop, length, rate, 0.0, 1.0)
    return tension, by_length, by_rate


@routine
def gains_along(loop, k, R_WB, v_rel):
    """Stiffness and damping along soft row k of a placed loop's springs and dampers, neither below zero.

    Of a force along a line: along it, then twice across it, where a pull turns the line back.
    """
    if loop.law == EACH:
        return loop.stiffness[k], loop.damping[k]
    if loop.law != LINE:
        return loop.stiffness[0], loop.damping[0]
    e, length = line_of(loop, R_WB)
    force, by_length, by_rate = tension_slopes(loop, length, dot3(e, v_rel))
    if k == 0:
        return max(by_length, 0.0), max(by_rate, 0.0)
    if length > 0.0:
        return max(force, 0.0) / length, 0.0
    return (by_length if loop.length == 0.0 else 0.0), 0.0
