"""Parts of the viewer that need no browser: the point a click hits, texts of the panel, ports, what is refused."""

import socket
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import varichain as vc
from varichain.scene import scene_of
from varichain.simulation.live_frames import Report
from varichain.viewer.panel import reports_html, structure_html
from varichain.viewer.picking import picked_point
from varichain.viewer.server import free_port
from varichain.viewer.two_way import TwoWay

HALF = 0.05  # [m]
ROUNDING = 1e-12  # [m]


def brick():
    """What a brick of ten centimetres looks like."""
    m = vc.Mechanism("brick")
    m.add_link("brick", parent=None, shapes=vc.Box(size=(2 * HALF, 2 * HALF, 2 * HALF)))
    return next(part for part in scene_of(m).parts if part.name == "brick")


def test_a_ray_hits_the_near_side():
    """A ray along x from outside hits the face that looks at it, in the link's frame, wherever the link is."""
    turned = vc.Pose(p=(1.0, 2.0, 3.0), rpy=(0.3, -0.2, 0.5))
    origin, direction = turned @ np.array([-1.0, 0.01, 0.02]), turned.R @ np.array([1.0, 0.0, 0.0])
    assert picked_point(brick(), turned.p, turned.R, origin, direction) == pytest.approx(
        (-HALF, 0.01, 0.02), abs=ROUNDING
    )


def test_a_ray_that_misses_hits_nothing():
    """A ray that passes by, or points away, hits nothing."""
    here = np.zeros(3), np.eye(3)
    assert picked_point(brick(), *here, np.array([-1.0, 0.2, 0.0]), np.array([1.0, 0.0, 0.0])) is None
    assert picked_point(brick(), *here, np.array([-1.0, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0])) is None


def test_names_are_escaped():
    """Names that look like HTML stay text in the panel."""
    evil = "<script>alert(1)</script>"
    report = Report(0, 0.0, evil, error=evil, entries=(evil,))
    for html in (structure_html((1, 0, 1), evil, [evil]), reports_html([report])):
        assert "<script" not in html and "&lt;script&gt;" in html


def test_a_taken_port_is_passed_over():
    """Where somebody listens already the next free port is found; 0 is any."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port("127.0.0.1", port) > port
    assert free_port("127.0.0.1", 0) > 0


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_a_foreign_address_is_refused(host):
    """An address that is none of this machine is an error that names it."""
    with pytest.raises(vc.InputError, match=host.replace(".", r"\.")):
        free_port(host, 8080)
    with pytest.raises(vc.InputError, match="65535"):
        free_port("127.0.0.1", 70000)


def test_only_what_can_be_seen_is_viewed():
    """Something that is neither trace, scenario nor mechanism is refused by name; a trace takes no settings."""
    pytest.importorskip("viser")
    with pytest.raises(vc.InputError, match="Trace"):
        vc.view(3)
    with pytest.raises(vc.InputError, match="nothing to be shown"):
        vc.view(vc.Trace([], {}))


def test_a_missing_package_is_named(monkeypatch):
    """Without viser the error says what to install."""
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(vc.MissingExtraError, match=r"varichain\[view\]"):
        vc.view(vc.Mechanism("nothing"))


class Slider:
    """A slider as viser has them: a browser sets the value at once, and functions are called later."""

    def __init__(self):
        self.value, self.calls = 0.0, []
        self.on_update = self.calls.append

    def hear(self):
        """Call the functions for a value that a browser has set."""
        for call in self.calls:
            call(SimpleNamespace(client=object(), target=self))


def test_a_picture_does_not_undo_what_a_browser_sets():
    """A picture that was drawn before a browser moved a slider leaves it there; later pictures move it again."""
    slider, heard = Slider(), []
    shared = TwoWay(slider, heard.append)
    shared.show(0.25)
    slider.value = 0.5  # by a browser, and not heard yet
    shared.show(0.3)
    assert slider.value == 0.5
    slider.hear()
    assert heard == [0.5]
    shared.show(0.51, tolerance=0.1)
    assert slider.value == 0.5
    shared.show(0.7)
    assert slider.value == 0.7 and heard == [0.5]
