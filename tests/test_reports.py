"""Results show themselves: short at the prompt, as tables in notebooks."""

import numpy as np
import pytest

import varichain as vc
import zoo
from scene.test_notebooks import Reader
from varichain.scenarios import SCENARIOS
from varichain.spatial.report import Listing, Reported, numbers

LONGEST = 2500
"""Characters of a repr: a screen."""


def results():
    """Every kind of result, of a figure on a swing: 29 freedoms, five loops."""
    scenario = SCENARIOS["swing"]()
    m, s = scenario.mechanism, scenario.state
    free = vc.forward_dynamics(m, s)
    yield from (scenario, free, free.loop_forces, vc.inverse_dynamics(m, s, actuators=False))
    yield from (vc.mobility(m, s), vc.energy(m, s), vc.momentum(m, s), vc.assemble(m, s), vc.coupling_matrix(m))
    yield from (m.log, m.log[0], vc.loop_states(m, s)["left hold"], vc.Batch(m), m.prepare(), scenario.controller)
    fourbar = SCENARIOS["fourbar"]()
    driven = vc.inverse_dynamics(fourbar.mechanism, fourbar.state, actuators=True)
    yield from (driven, driven.actuation, vc.rollout(fourbar.mechanism, [fourbar.state] * 2, 0.002))
    trace = SCENARIOS["pendulum"]().run(until=0.02)
    yield from (trace, trace.epochs[0], trace.joint("hinge"))
    change = vc.change(m, s, [vc.cut("left hold"), vc.push("left shank", (0, 0, 1))])
    yield from (change, change.impact, change.edits)


@pytest.fixture(scope="module")
def everything():
    """All results by the name of their type."""
    return [*results()]


def test_a_result_is_short_at_the_prompt(everything):
    """No result fills more than a screen, and none shows raw bytes, arrays or addresses."""
    for result in everything:
        text = repr(result)
        assert len(text) < LONGEST, type(result).__name__
        assert not any(raw in text for raw in ("b'", "array(", "object at 0x", "\\x")), text
        assert len(str(result)) < LONGEST


def test_a_result_is_a_table_in_notebooks(everything):
    """HTML of a result is sound, and has its title and every cell of its tables."""
    reported = [result for result in everything if isinstance(result, Reported)]
    assert len(reported) >= 14
    for result in reported:
        read = Reader(result._repr_html_())
        title, listings = result.report()
        cells = [cell for listing in listings for row in listing.rows for cell in row if cell]
        assert title in read.texts and {*cells} <= {*read.texts}, type(result).__name__


def test_a_batch_is_a_table_in_notebooks():
    """HTML of a batch has its sizes, as its repr has them."""
    scenario = SCENARIOS["swing"]()
    batch = vc.Batch(scenario.mechanism, threads=3)
    texts = Reader(batch._repr_html_()).texts
    assert {"batch", str(batch.n_v), str(batch.n_rows), "3"} <= {*texts} and f"{batch.n_v} freedoms" in repr(batch)


def test_every_joint_and_loop_has_its_row():
    """The table of torques has a row for each joint that moves, that of loops one for each loop, with their numbers."""
    scenario = SCENARIOS["swing"]()
    m, s = scenario.mechanism, scenario.state
    result = vc.forward_dynamics(m, s)
    joints, loops = result.report()[1]
    assert [row[0] for row in joints.rows] == [joint.name for joint in m.joints if joint.n_v]
    assert [row[0] for row in loops.rows] == [*result.loop_forces]
    row = next(row for row in joints.rows if row[0] == "left knee")
    assert float(row[2]) == pytest.approx(result["left knee"][0], rel=1e-3)


def test_a_long_table_is_cut_at_the_prompt():
    """Of a hundred joints the first are shown, and how many are left out."""
    m = zoo.serial_chain(100)
    text = repr(vc.forward_dynamics(m, m.state()))
    assert text.endswith("... 76 more ...") and len(text.splitlines()) == 27


def test_rounding_is_shown_as_zero():
    """Numbers that are rounding beside others are zero; alone they are shown."""
    assert numbers([1.0, 1e-16, -2.5]) == "1, 0, -2.5"
    assert numbers([1e-16]) == "1e-16" and numbers([1e-16], 1.0) == "0"
    assert numbers(np.zeros(2)) == "0, 0"


def test_columns_are_aligned():
    """Cells stand below their titles; a table without titles has none."""
    assert Listing(("joint", "tau"), [("knee", "1"), ("left hip", "2")]).lines() == [
        "  joint     tau",
        "  knee      1",
        "  left hip  2",
    ]
    assert Listing(("", ""), [("a", "b")]).lines() == ["  a  b"]
