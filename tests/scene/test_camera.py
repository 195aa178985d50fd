"""Cameras that just show what they must."""

import numpy as np
import pytest

from varichain.scene.camera import ANGLE, MARGIN, axes_of, fitted, outline

ROUNDING = 1e-12


@pytest.mark.parametrize("aspect", [0.5, 1.0, 16 / 9])
@pytest.mark.parametrize("view", [(-1.05, 0.16), (2.0, 1.2), (0.3, -0.4)])
def test_all_points_are_just_seen(view, aspect):
    """Every point is inside the picture less its margin, and the outermost is at its edge."""
    points = np.random.default_rng(1).normal(size=(50, 3)) * (3.0, 1.0, 0.5) + (10.0, -4.0, 2.0)
    center, distance = fitted(points, view, aspect)
    axes = axes_of(view)
    right, up, depth = ((points - center) @ axes.T).T
    tangent = np.tan(0.5 * ANGLE) / MARGIN * (distance - depth)
    shares = np.maximum(np.abs(right) / (aspect * tangent), np.abs(up) / tangent)
    assert shares.max() == pytest.approx(1.0, abs=ROUNDING)


def test_an_outline_is_as_good_as_all_points():
    """A camera that shows the outline of many points shows all of them, but for a percent."""
    points = np.random.default_rng(2).normal(size=(2000, 3))
    few = outline(points)
    assert len(few) < 100
    assert fitted(few, (0.4, 0.3), 1.5)[1] == pytest.approx(fitted(points, (0.4, 0.3), 1.5)[1], rel=0.03)


def test_a_point_is_looked_at():
    """A single point is in the middle of the picture, a millimetre away at least."""
    center, distance = fitted(np.array([[1.0, 2.0, 3.0]]), (0.1, 0.2), 1.0)
    assert np.abs(center - (1.0, 2.0, 3.0)).max() < ROUNDING and distance > 0.0
