"""Particles beside rigid links: who is measured is as near to the exact motion as particles are."""

import re

from lane import long_run
from varichain.bench.particle_peers import equal_errors

pytestmark = long_run


def test_rows_of_equal_errors():
    """Both methods are measured beside the rigid engine, with the error and the step of the peer."""
    rows = [row for row in equal_errors(is_quick=True) if row.library == "varichain, rigid"]
    assert [re.search("verlet|implicit", row.mechanism).group() for row in rows] == ["verlet", "implicit"]
    for row in rows:
        assert 0.0 < row.low <= row.ours <= row.high and row.theirs > 0.0
        assert 0.0 < float(re.search(r"(\S+) mm off", row.mechanism).group(1)) < 100.0
        assert re.fullmatch(r"rk4, steps of \S+ ms", row.calls)
