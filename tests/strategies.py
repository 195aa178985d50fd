"""Hypothesis strategies for the structure layer: numbers, axes, rotations, poses, inertias.

Each is made once: a strategy is checked and unfolded at its first draw, which takes longer than the draw.
"""

import math

import numpy as np
from hypothesis import strategies as st

from varichain.mechanism import Inertia
from varichain.spatial.pose import Pose

coordinates = st.floats(-10.0, 10.0)
positions = st.tuples(coordinates, coordinates, coordinates)
sizes = st.floats(1e-3, 10.0)
masses = st.floats(1e-3, 100.0)

# What is not a finite number, though Python or numpy could take it for one.
not_numbers = st.sampled_from([True, np.True_, "1", b"1", 1j, None, [1.0], math.nan, math.inf, -math.inf, 10**400])


_named = st.sampled_from([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)])
_tiny = st.floats(-1e-7, 1e-7)
_near_named = st.tuples(_named, st.tuples(_tiny, _tiny, _tiny)).map(lambda pair: np.add(*pair))
_anywhere = positions.filter(lambda p: math.hypot(*p) > 1e-3)
unit_axes = st.one_of(_named, _near_named, _anywhere).map(lambda axis: np.array(axis, dtype=float) / math.hypot(*axis))
"""Unit vectors, named ones and their close neighbours included."""


def rotation_vectors(largest=math.pi):
    """Rotation vectors [rad] of angles up to `largest`, often close to 0 and to `largest`."""
    angles = st.one_of(
        st.floats(0.0, largest),
        st.floats(-200.0, -3.0).map(lambda exponent: 10.0**exponent),
        st.floats(-15.0, -3.0).map(lambda exponent: largest - 10.0**exponent),
    )
    return st.tuples(unit_axes, angles).map(lambda pair: pair[0] * pair[1])


poses = st.builds(lambda p, turn: Pose(p, rotation_vector=turn), positions, rotation_vectors())
"""Poses anywhere within 10 m, turned in any way."""

_boxes = st.builds(Inertia.box, masses, st.tuples(sizes, sizes, sizes))
_rods = st.builds(Inertia.rod, masses, sizes)
_points = st.builds(Inertia.point, masses)
inertias = st.builds(Inertia.transformed, st.one_of(_boxes, _rods, _points), poses)
"""Inertias of boxes, rods and points, placed and turned in any way."""
