"""What notebooks show."""

from html.parser import HTMLParser

import pytest

import shows
import varichain as vc
import zoo
from varichain.scenarios import SCENARIOS


class Reader(HTMLParser):
    """Texts and tags of a piece of HTML; complains of tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_mechanism_shows_its_tree():
    """The drawing is there as `print` gives it, names escaped."""
    m = shows.arm()
    read = Reader(m._repr_html_())
    assert "".join(read.texts) == str(m) and read.tags == ["pre"]


def test_a_long_mechanism_is_cut():
    """Of a thousand links the first are shown, and how many are left out."""
    text = "".join(Reader(zoo.serial_chain(1000)._repr_html_()).texts)
    assert len(text.splitlines()) == 201 and text.endswith("... 802 lines more ...")


def test_a_state_shows_its_joints():
    """A row for each joint with its kind, coordinates and velocities."""
    m = shows.arm()
    s = m.state()
    s["elbow"].q, s["elbow"].v = 0.25, -2.0
    texts = [text for text in Reader(s._repr_html_()).texts if text.strip()]  # after the picture
    assert texts[0] == "State of 'arm <&>' at t = 0 s"
    row = texts.index("elbow")
    assert texts[row : row + 4] == ["elbow", "revolute", "0.25", "-2"]


@pytest.mark.parametrize("cuts", [(), shows.CUTS])
def test_a_trace_shows_its_epochs(cuts):
    """A row and a bar for each epoch, a line for each event, what happened in words."""
    read = Reader(shows.show(cuts=cuts)._repr_html_())
    n = len(cuts) + 1
    assert read.tags.count("rect") == n and read.tags.count("line") == len(cuts) and read.tags.count("tr") == n + 1
    assert all(any(f"cut {cut!r}" in text for text in read.texts) for cut in cuts)
    assert "script" not in read.tags


def test_an_empty_trace_shows_itself_too():
    """A trace without epochs has a table without rows, and no picture."""
    read = Reader(vc.Trace([], {})._repr_html_())
    assert "svg" not in read.tags and "0 samples in 0 epochs" in read.texts[0]


def test_a_state_draws_its_mechanism():
    """In a notebook a state is a picture and a table; what has another structure, or meshes, is a table alone."""
    m = vc.figures.human16()
    s = m.state()
    upright = s._repr_html_()
    assert upright.startswith("<svg") and "<table" in upright
    vc.figures.take_posture(s, "squatting")
    assert s._repr_html_().partition("<table")[0] != upright.partition("<table")[0]
    trace = SCENARIOS["pendulum"]().run(until=0.1)
    assert trace.at(0.05)._repr_html_().startswith("<svg")
    m.cut("left elbow")
    assert s._repr_html_().startswith("<table")
    other = vc.Mechanism("mesh")
    other.add_link("stone", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=[vc.Mesh("stone.stl")])
    assert other.state()._repr_html_().startswith("<table")
    assert vc.Mechanism("empty").state()._repr_html_().startswith("<table")
