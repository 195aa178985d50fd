"""Mechanisms as plain values, and back."""

import closed_zoo
import varichain as vc
from measure import state_at
from varichain.mechanism.describe import description, mechanism_from


def test_loops_come_back():
    """A mechanism made from its description has the same loops, and so the same freedoms."""
    m, s = closed_zoo.four_bar()
    again = mechanism_from(description(m))
    assert [link.name for link in again.virtual_links] == [link.name for link in m.virtual_links]
    found = vc.mobility(again, state_at(again, s.q, s.v), probe=False)
    assert found.n_independent == vc.mobility(m, s, probe=False).n_independent == 1
    assert description(again) == description(m)
