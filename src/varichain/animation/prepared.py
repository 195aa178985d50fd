"""The prepared space: inverse kinematics of one structure on plain arrays, a kernel call a step, for control loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from varichain.animation.approach import Approach
from varichain.animation.inverse import checked_bounds, holding_space, largest_of, weights_of
from varichain.animation.space import AnimationSpace
from varichain.errors import InputError
from varichain.layout.layout import layout_of
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance, listed, mapping, non_negative_scalar, positive_scalar


class PreparedSpace(Approach):
    """Joint velocities that lead functions to targets: udot = rate + gain (target - u), in one call of one kernel.

    What cannot be had is had at best: the squares of importance times what is missing, plus those of damping times
    velocities, are least. Loops stay closed, and what is to hold is kept exactly; where two of these depend on each
    other, the earlier one counts. Limits are kept before all that is wanted.

    A handle belongs to the structure that it was prepared from, as that of `m.prepare()`, and to one thread at a time.
    Write targets into its arrays between calls. Values are not checked: numbers are to be finite, quaternions of unit
    length.

    Attributes:
        target: Wanted values (m,) of the dimensions; places of a function are `space.slices[name]`.
        rate: Wanted rates (m,), of functions whose targets move; zero at first.
        importance: Factors (m,) of what is missing.
        gain: How fast targets are approached [1/s].
        damping: Of velocities.
        relaxation: Makes steps short that lead far: part of the squares of all gradients, times what is missing, that
            is added to the square of the damping.
        scale: Roots of the reciprocal costs of freedoms (n_v,); a freedom of 0 does not move.
        within: Time [s] in which no joint leaves its range, and no function its bounds.
        fastest, sharpest: Largest speeds and accelerations of freedoms (n_v,), if some were given.
        value: u (m,) of the last call.
        gradient: G (m, n_v) of the last call.
        velocity: v (n_v,) of the last call, from which `sharpest` counts: set it to the actual one where that differs.
        revision: Revision of the mechanism that was prepared.
    """

    def __init__(
        self,
        space: AnimationSpace,
        importance: Mapping[str, float] | None = None,
        weights: Any = None,
        damping: float = 1e-3,
        gain: float = 1.0,
        hold: Iterable[str] = (),
        within: float | None = None,
        fastest: Any = None,
        sharpest: Any = None,
        at_least: Mapping[str, Any] | None = None,
        at_most: Mapping[str, Any] | None = None,
    ) -> None:
        """Make arrays ready, and compile or load the kernel.

        Args:
            space: Functions; those to hold have targets too, which do not count.
            importance: Factors of what is missing by function, 1 by default.
            weights: Cost of each freedom's motion, an array (n_v,) or by joint; 1 by default.
            damping: Bounds velocities where functions depend on each other.
            gain: How fast targets are approached [1/s].
            hold: Functions that stay at zero, before all others; squares by their arguments.
            within: Time [s] in which no joint may leave its range, and no function its bounds, such as that from one
                call to the next; without it there are no limits.
            fastest: Largest speeds of freedoms, an array (n_v,) or by joint; with `within`.
            sharpest: Largest accelerations of freedoms, likewise.
            at_least: Lower bounds of functions by name; with `within`.
            at_most: Upper bounds of functions by name; with `within`.
        """
        layout = layout_of(instance(space, AnimationSpace, "space").mechanism)
        factors, to_hold = importance_of(space.functions, importance), list(listed(hold, str, "hold"))
        holding = holding_space(space, to_hold) if to_hold else None
        for name in to_hold:
            factors[space.slices[name]] = 0.0
        within = None if within is None else positive_scalar(within, "within")
        bounds = checked_bounds(space, layout, within, at_least, at_most, (fastest, sharpest))
        self.fastest, self.sharpest = largest_of(layout, fastest, "fastest"), largest_of(layout, sharpest, "sharpest")
        has_speeds = fastest is not None or sharpest is not None
        super().__init__(
            space, layout, factors, 1.0 / np.sqrt(weights_of(layout, weights)), holding, bounds, has_speeds
        )
        self.gain, self.damping = positive_scalar(gain, "gain"), non_negative_scalar(damping, "damping")
        self.within, self.revision = 1.0 if within is None else float(within), layout.revision

    def approach(self, q: Array, time: float = 0.0) -> Array:
        """Joint velocities (n_v,) at coordinates q (n_q,) and a time [s]; the array is that of the next call too.

        Raises:
            FunctionError: A function has no value, or no derivative, in this configuration.
            InputError: Limits contradict each other.
        """
        if self.speeds.size:
            change = self.within * self.sharpest
            np.maximum(-self.fastest, self.velocity - change, out=self.speeds[0])
            np.minimum(self.fastest, self.velocity + change, out=self.speeds[1])
        return super().approach(q, time)


def importance_of(functions: Mapping[str, Any], importance: Mapping[str, float] | None) -> Array:
    """Factors (m,) of dimensions, from factors by function; 1 by default."""
    factors = mapping(importance, "importance")
    for name in factors:
        if name not in functions:
            raise InputError(f"importance names {name!r}, which has no target; targets: {sorted(functions)}")
    sizes = [f.size for f in functions.values()]
    return np.repeat([positive_scalar(factors.get(name, 1.0), f"importance of {name!r}") for name in functions], sizes)
