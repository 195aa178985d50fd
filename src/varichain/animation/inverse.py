"""Inverse kinematics at the levels of velocity and acceleration: joint motions that move functions [PFB, (23)]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.animation.bounds import Bounds, bounds_of
from varichain.animation.holding import argument_of
from varichain.animation.reduced import Following, closed_copy, follow
from varichain.animation.resolution import Inequalities, Level, Metric, resolve
from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import joint_vector, opened
from varichain.errors import InputError
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.spatial.arrays import Array
from varichain.spatial.checks import (
    finite_array,
    finite_scalar,
    flag,
    instance,
    is_sequence,
    listed,
    mapping,
    non_negative_scalar,
    positive_scalar,
    shown,
)
from varichain.spatial.report import Listing, Report, Reported, numbers

Indices = NDArray[np.intp]

_STANDING = 0.01  # gradients that are shorter, as parts of the mechanism's size, are not scaled up


@dataclass(frozen=True, eq=False, repr=False)
class InverseMotion(Reported):
    """Joint velocities or accelerations that move functions.

    Attributes:
        motion: v or a (n_v,), of all joints of the tree; loops stay closed.
        achieved: By function: its rate or acceleration with this motion.
        missing: By function: what is wanted minus what is achieved.
    """

    motion: Array
    achieved: dict[str, Array]
    missing: dict[str, Array]

    @property
    def residual(self) -> float:
        """Largest entry of what is missing."""
        return max((float(np.abs(x).max()) for x in self.missing.values()), default=0.0)

    def report(self) -> Report:
        """What each function does."""
        rows = [(name, numbers(x), numbers(self.missing[name])) for name, x in self.achieved.items()]
        return f"motion of {len(self.motion)} freedoms", (Listing(("function", "achieved", "missing"), rows),)


@dataclass(frozen=True, eq=False)
class Resolution:
    """How redundancy is resolved.

    Attributes:
        weights: Cost of each freedom's motion, an array (n_v,) or by joint name; 1 by default. Larger is stiffer.
        damping: Of the solution, relative to rows of length 1: bounds motions where functions become dependent.
        truncation: Alternatively, singular values below this part of the largest are left out; motions jump when one
            crosses it.
        normalise: Whether functions are scaled so that their longest row has length 1 before they are damped; False is
            the paper's way.
        priorities: Names of functions, level by level, highest first; all are on one level by default.
        hold: Functions that keep their value, before all others and undamped; squares by their arguments.
        gain: Rate at which functions to hold return to zero [1/s]; if it is 0, they stay where they are.
        toward: Motion (n_v,), or by joint, that is kept where functions leave it free.
    """

    weights: Any = None
    damping: float = 0.0
    truncation: float = 0.0
    normalise: bool = True
    priorities: Sequence[Sequence[str]] | None = None
    hold: Sequence[str] = ()
    gain: float = 0.0
    toward: Any = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        non_negative_scalar(self.damping, "damping")
        non_negative_scalar(self.truncation, "truncation")
        non_negative_scalar(self.gain, "gain")
        flag(self.normalise, "normalise")
        listed(self.hold, str, "hold")
        if self.priorities is not None:
            if not is_sequence(self.priorities):
                raise InputError(f"priorities must be a list of lists of names, not {shown(self.priorities)}")
            for level in self.priorities:
                listed(level, str, "a level of priorities")


def inverse_velocity(
    space: AnimationSpace,
    s: State,
    rate: Mapping[str, Any] | Array,
    resolution: Resolution | None = None,
    within: float | None = None,
    fastest: Any = None,
    sharpest: Any = None,
    at_least: Mapping[str, Any] | None = None,
    at_most: Mapping[str, Any] | None = None,
) -> InverseMotion:
    """Joint velocities of least cost with which functions have wanted rates: v = W^-1 G^T (G W^-1 G^T + d^2)^-1 udot.

    Args:
        space: Functions.
        s: State; its velocities play no part but for `sharpest`.
        rate: Wanted rates by function, or of all dimensions (m,); functions that are not named are free.
        resolution: Weights, damping, priorities, and functions to hold.
        within: Time [s] in which no joint may leave its range, and no function its bounds; without it there are no
            limits. Limits need the extra `qp`.
        fastest: Largest speeds of freedoms, an array (n_v,) or by joint; with `within`.
        sharpest: Largest accelerations of freedoms, likewise: in that time velocities leave the state's by no more.
        at_least: Lower bounds of functions by name; with `within`.
        at_most: Upper bounds of functions by name; with `within`.

    Raises:
        InputError: Functions that contradict each other, or numbers of the wrong shape.
        AssemblyError: The loops are open.
    """
    how = instance(resolution, Resolution, "resolution") if resolution is not None else Resolution()
    instance(space, AnimationSpace, "space")
    layout, table = opened(space.mechanism, s)
    wanted = wanted_rows(space, rate, how, "rate")
    within = None if within is None else positive_scalar(within, "within")
    bounds = checked_bounds(space, layout, within, at_least, at_most, (fastest, sharpest))
    still = closed_copy(layout, table, s).copy()
    still.v[:] = 0.0
    following = follow(space._closures_of(layout), layout, table, still)
    found = space.at(still)
    levels = []
    if how.hold:
        holding = holding_space(space, how.hold).at(still)
        right = -holding.rate - how.gain * holding.value
        levels.append(Level(following.over(holding.gradient), right, 0.0, np.arange(len(right))))
    for where, right, groups in wanted:
        levels.append(Level(following.over(found.gradient[where]), right - found.rate[where], how.damping, groups))
    limits = None
    if bounds is not None and within is not None:
        speed, change = (largest_of(layout, x, name) for x, name in ((fastest, "fastest"), (sharpest, "sharpest")))
        low, high = np.maximum(-speed, s.v - within * change), np.minimum(speed, s.v + within * change)
        limits = Inequalities.joined([bounds.rows(still, following.W, within), _box(layout, following.W, low, high)])
    y = _solved(layout, levels, following, how, limits)
    v: Array = following.W @ y
    return _answer(space, v, found.gradient @ v + found.rate, rate)


def inverse_acceleration(
    space: AnimationSpace,
    s: State,
    acceleration: Mapping[str, Any] | Array,
    resolution: Resolution | None = None,
    within: float | None = None,
    fastest: Any = None,
    sharpest: Any = None,
    at_least: Mapping[str, Any] | None = None,
    at_most: Mapping[str, Any] | None = None,
) -> InverseMotion:
    """Joint accelerations of least cost with which functions have wanted ones: G a = uddot - v^T H v [PFB, (23)].

    Functions to hold have the acceleration -2 gain udot - gain^2 u. Arguments as for `inverse_velocity`; after the time
    `within` of constant acceleration joints are in their ranges, functions in their bounds, and speeds below `fastest`.
    """
    how = instance(resolution, Resolution, "resolution") if resolution is not None else Resolution()
    instance(space, AnimationSpace, "space")
    layout, table = opened(space.mechanism, s)
    wanted = wanted_rows(space, acceleration, how, "acceleration")
    within = None if within is None else positive_scalar(within, "within")
    bounds = checked_bounds(space, layout, within, at_least, at_most, (fastest, sharpest))
    closed = closed_copy(layout, table, s)
    following = follow(space._closures_of(layout), layout, table, closed)
    found = space.at(closed)
    bias = found.bias + found.gradient @ following.w
    levels = []
    if how.hold:
        holding = holding_space(space, how.hold).at(closed)
        back = -2.0 * how.gain * holding.rate - how.gain**2 * holding.value
        right = back - holding.bias - holding.gradient @ following.w
        levels.append(Level(following.over(holding.gradient), right, 0.0, np.arange(len(right))))
    for where, right, groups in wanted:
        levels.append(Level(following.over(found.gradient[where]), right - bias[where], how.damping, groups))
    limits = None
    if bounds is not None and within is not None:
        speed, change = (largest_of(layout, x, name) for x, name in ((fastest, "fastest"), (sharpest, "sharpest")))
        low, high = np.maximum(-change, (-speed - closed.v) / within), np.minimum(change, (speed - closed.v) / within)
        box = _box(layout, following.W, low - following.w, high - following.w)
        limits = Inequalities.joined([bounds.acceleration_rows(closed, following.W, following.w, within), box])
    ydot = _solved(layout, levels, following, how, limits)
    a: Array = following.W @ ydot + following.w
    return _answer(space, a, found.gradient @ a + found.bias, acceleration)


def wanted_rows(space: AnimationSpace, wanted: Any, how: Resolution, what: str) -> list[tuple[Indices, Array, Indices]]:
    """Dimensions of each priority, what is wanted of them, and the number of each one's function."""
    if not isinstance(wanted, Mapping):
        numbers = finite_array(wanted, (len(space),), what)
        wanted = {name: numbers[where].reshape(space.functions[name].shape) for name, where in space.slices.items()}
    right = {}
    for name, value in wanted.items():
        shape, of = space.function(name).shape, f"{what} of {name!r}"
        right[name] = finite_array(value, shape, of).ravel() if shape else np.array([finite_scalar(value, of)])
    for name in how.hold:
        space.function(name)
        if name in right:
            raise InputError(f"{name!r} is to hold and has a wanted {what}: it can have one of the two")
    order = (
        [list(right)] if how.priorities is None else [list(listed(one, str, "priorities")) for one in how.priorities]
    )
    flat = [name for level in order for name in level]
    if sorted(flat) != sorted(right):
        raise InputError(
            f"priorities must name each function that has a wanted {what} once: {sorted(right)}, not {flat}"
        )
    rows = []
    for level in order:
        places = [np.arange(space.slices[name].start, space.slices[name].stop) for name in level]
        if places:
            groups = np.repeat(np.arange(len(places)), [len(place) for place in places])
            rows.append((np.concatenate(places), np.concatenate([right[name] for name in level]), groups))
    return rows


def holding_space(space: AnimationSpace, hold: Iterable[str]) -> AnimationSpace:
    """Functions to hold, squares by their arguments; made once."""
    key = tuple(hold)
    if key not in space._holding:
        space._holding[key] = AnimationSpace(space.mechanism, {name: argument_of(space.function(name)) for name in key})
    return space._holding[key]


def weights_of(layout: Layout, weights: Any, what: str = "weights") -> Array:
    """Positive numbers (n_v,), such as costs of freedoms; 1 where nothing is said."""
    vector: Array = np.ones(layout.n_v)
    if isinstance(weights, Mapping):
        given = joint_vector(layout, weights, what)
        for name in weights:
            vector[layout.slot(name).v] = given[layout.slot(name).v]
    elif weights is not None:
        vector[:] = finite_array(weights, (layout.n_v,), what)
    if not (vector > 0.0).all():
        raise InputError(f"{what} must be positive, not {vector.min():g}")
    return vector


def _solved(
    layout: Layout, levels: list[Level], following: Following, how: Resolution, limits: Inequalities | None
) -> Array:
    W = following.W
    cost = weights_of(layout, how.weights)
    is_plain = following.is_free and how.weights is None
    A = None if is_plain else W.T @ (cost[:, None] * W)
    start: Array = np.zeros(W.shape[1])
    if how.toward is not None:
        toward = joint_vector(layout, how.toward, "toward")
        start = toward if A is None else np.asarray(np.linalg.solve(A, W.T @ (cost * toward)), dtype=np.float64)
    least = _STANDING * size_of(layout) if how.normalise else None
    return resolve(levels, Metric(A), start, how.truncation, least, limits)


def size_of(layout: Layout) -> float:
    """Length [m] of all links one after the other, but 1 at most: what gradients of points are measured by."""
    return min(1.0, float(np.linalg.norm(layout.arrays["bodies"]["p_PJ"], axis=1).sum()) or 1.0)


def checked_bounds(
    space: AnimationSpace, layout: Layout, within: float | None, at_least: Any, at_most: Any, largest: tuple[Any, Any]
) -> Bounds | None:
    """Bounds of joints and functions, if there are any."""
    if within is None:
        if mapping(at_least, "at_least") or mapping(at_most, "at_most") or any(x is not None for x in largest):
            raise InputError("bounds of functions, speeds and accelerations need `within`, the time they are kept in")
        return None
    return bounds_of(space, layout, True, at_least, at_most)


def _box(layout: Layout, W: Array, low: Array, high: Array) -> Inequalities | None:
    """Bounds of freedoms, as far as they are finite."""
    bounded = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    if not len(bounded):
        return None
    names = tuple(layout.freedom_name(int(k)) for k in bounded)
    return Inequalities(W[bounded], low[bounded], high[bounded], names)


def largest_of(layout: Layout, given: Any, what: str) -> Array:
    """Largest speeds or accelerations (n_v,), infinite where none is given."""
    if given is not None and not isinstance(given, Mapping):
        return weights_of(layout, given, what)
    largest = np.full(layout.n_v, np.inf)
    for name, value in mapping(given, what).items():
        largest[layout.slot(name).v] = positive_scalar(value, f"{what} of joint {name!r}")
    return largest


def _answer(space: AnimationSpace, motion: Array, found: Array, wanted: Any) -> InverseMotion:
    if not isinstance(wanted, Mapping):
        wanted = {name: np.asarray(wanted)[where] for name, where in space.slices.items()}
    achieved = {name: found[space.slices[name]] for name in space.functions}
    missing = {name: np.ravel(value) - achieved[name] for name, value in wanted.items()}
    return InverseMotion(motion, achieved, missing)
