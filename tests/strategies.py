"""Hypothesis strategies for the structure layer: numbers, axes, rotations, poses, inertias."""

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


@st.composite
def unit_axes(draw):
    """Unit vectors, the six named ones and their close neighbours included."""
    named = st.sampled_from([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)])
    tiny = st.floats(-1e-7, 1e-7)
    near = st.tuples(named, st.tuples(tiny, tiny, tiny)).map(lambda pair: np.add(*pair))
    anywhere = positions.filter(lambda p: math.hypot(*p) > 1e-3)
    axis = np.array(draw(st.one_of(named, near, anywhere)), dtype=float)
    return axis / math.hypot(*axis)


@st.composite
def rotation_vectors(draw, largest=math.pi):
    """Rotation vectors [rad] of angles up to `largest`, often close to 0 and to `largest`."""
    angle = st.one_of(
        st.floats(0.0, largest),
        st.floats(-200.0, -3.0).map(lambda exponent: 10.0**exponent),
        st.floats(-15.0, -3.0).map(lambda exponent: largest - 10.0**exponent),
    )
    return draw(unit_axes()) * draw(angle)


@st.composite
def poses(draw):
    """Poses anywhere within 10 m, turned in any way."""
    return Pose(draw(positions), rotation_vector=draw(rotation_vectors()))


@st.composite
def inertias(draw):
    """Inertias of boxes, rods and points, placed and turned in any way."""
    mass = draw(masses)
    box = st.tuples(sizes, sizes, sizes).map(lambda size: Inertia.box(mass, size))
    rod = sizes.map(lambda length: Inertia.rod(mass, length))
    return draw(st.one_of(box, rod, st.just(Inertia.point(mass)))).transformed(draw(poses()))
