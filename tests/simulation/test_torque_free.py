"""A free body that is symmetric about no axis: Euler's equations, solved by Jacobi's elliptic functions.

The solution is in Landau and Lifshitz, Mechanics, section 37.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

import varichain as vc
from lane import scaled
from varichain.mechanism import Inertia, Mechanism, Spherical

I1, I2, I3 = MOMENTS = (0.2, 0.5, 0.6)
W1, W3 = 3.0, 4.0
"""Angular velocity at the start; none about the middle axis."""

SPAN = scaled(10.0, 0.3)
"""[s]; compiled, some six turns of the angular velocity round the body."""

EXACT = 1e-10
"""What tolerances of 1e-12 per step leave after some hundred steps; quadrature and elliptic functions give 1e-13."""


def angular_velocity(t):
    """Angular velocity (3,) in the body's axes, for I3 > I2 > I1 and h^2 > 2 T I2."""
    twice = I1 * W1**2 + I3 * W3**2
    square = (I1 * W1) ** 2 + (I3 * W3) ** 2
    high, low = twice * I3 - square, square - twice * I1
    k_square = (I2 - I1) * high / ((I3 - I2) * low)
    sn, cn, dn, _ = ellipj(t * np.sqrt((I3 - I2) * low / (I1 * I2 * I3)), k_square)
    sizes = np.sqrt([high / (I1 * (I3 - I1)), high / (I2 * (I3 - I2)), low / (I3 * (I3 - I1))])
    return sizes * (cn, sn, dn)


def _precession(t):
    """Rate at which the body turns about its constant angular momentum."""
    w = angular_velocity(t)
    h = np.multiply(MOMENTS, w)
    return np.linalg.norm(h) * (h[:2] @ w[:2]) / (h[:2] @ h[:2])


def orientation(t):
    """Rotation whose third Euler angle (z, x, z) is an integral and the others are known from the angular velocity.

    World z is along the angular momentum.
    """
    pieces = np.linspace(0.0, t, 1 + int(np.ceil(5 * t)))
    turned = sum(quad(_precession, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in pairwise(pieces))
    h = np.multiply(MOMENTS, angular_velocity(t))
    return Rotation.from_euler("ZXZ", [turned, np.arctan2(np.hypot(h[0], h[1]), h[2]), np.arctan2(h[0], h[1])])


def body(joint):
    """The body, floating or on a ball joint at its centre, without gravity."""
    m = Mechanism("torque-free body", gravity=(0, 0, 0))
    parent = "ground" if joint else None
    m.add_link("body", parent, joint, inertia=Inertia(2.0, about_com=MOMENTS))
    s = m.state()
    s["body"].orientation = orientation(0.0).as_matrix()
    s.v[:3] = (W1, 0, W3)
    return m, s


@pytest.mark.parametrize("joint", [None, Spherical()], ids=["free", "ball"])
@pytest.mark.parametrize("method", ["gbs", "rk45"])
def test_torque_free_body(joint, method):
    """Angular velocity and orientation are those of the elliptic functions, and the angular momentum stays."""
    m, s = body(joint)
    tolerance = scaled(1e-12, 1e-11)
    trace = vc.simulate(m, s, SPAN, method=method, tolerance=tolerance, step=SPAN / 4)
    for t in trace.time:
        found = trace.at(t)
        assert np.abs(found.v[:3] - angular_velocity(t)).max() < EXACT * W3
        assert np.abs(vc.pose(m, found, "body").R - orientation(t).as_matrix()).max() < EXACT
    h = trace.epochs[0].momentum[:, :3]
    assert np.abs(h - h[0]).max() < EXACT
    assert np.abs(h[0, :2]).max() < 1e-14
