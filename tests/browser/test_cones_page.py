"""Friction cones in a real browser: of a replayed run and of a live one, in the colours of what sticks and slips."""

import numpy as np
import pytest

import varichain as vc
from browser.pages import opened, picture, until

pytest.importorskip("viser")
pytestmark = pytest.mark.long
SEEN = 60  # [pixels]


def slope():
    """Two boxes on a slope: the rough one rests, the smooth one slides; and their state."""
    m, tilt, size = vc.Mechanism("slope"), vc.Pose(rotation_vector=(0, np.radians(20.0), 0)), (0.4, 0.2, 0.1)
    for name, friction in (("rough", 0.5), ("smooth", 0.3)):
        m.add_link(name, None, inertia=vc.Inertia.box(3.0, size), shapes=vc.Box(size))
        m.add_surface(f"{name} slope", "ground", vc.HalfSpace(tilt), friction=friction, touched_by=[name])
    s = m.state()
    s["rough"].pose, s["smooth"].pose = tilt @ vc.Pose(p=(0, 0, 0.05)), tilt @ vc.Pose(p=(0, 0.5, 0.05))
    return m, s


def cones(page):
    """Number of pixels in the teal of cones that stick, and in the magenta of those that slip."""
    red, green, blue = np.moveaxis(picture(page), -1, 0)
    sticks = (green - red > 35) & (blue - red > 30) & (np.abs(green - blue) < 25)
    return int(sticks.sum()), int(((red - green > 35) & (blue - green > 20)).sum())


@pytest.mark.parametrize("kind", ["replay", "live"])
def test_cones_are_seen_when_they_are_wanted(kind, new_page):
    """Ticking "Friction cones" shows cones of both colours, and unticking it hides them."""
    m, s = slope()
    if kind == "replay":
        view = vc.view(vc.simulate(m, s, 0.1, contacts="stepping", step=0.005), port=0, is_paused=True)
    else:
        view = vc.view(m, s, port=0, is_paused=False, contacts="stepping", speed=0.05)
    with view:
        page = opened(view, new_page)
        page.get_by_text("Show", exact=True).click()
        box = page.get_by_label("Friction cones")
        assert max(cones(page)) < SEEN
        box.check()
        until(page, lambda: min(cones(page)) > SEEN)
        box.uncheck()
        until(page, lambda: max(cones(page)) < SEEN)
