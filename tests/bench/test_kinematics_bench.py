"""Inverse kinematics beside pink and mink: all libraries are asked the same, and answers are judged alike."""

import numpy as np
import pytest

from lane import compiled_only
from varichain.bench import aims
from varichain.bench.contenders import differences
from varichain.bench.kinematics import STEP_OF_CONTROL, _ours, kinematics_step
from varichain.bench.measures import Effort
from varichain.bench.mechanisms import OPEN
from varichain.bench.reaching import _is_there, _Ours, _random_aim, figure_at_rest, talos_at_rest
from varichain.errors import InputError


def peers(aim):
    """Contenders of the peers that are installed."""
    pytest.importorskip("mink")
    pytest.importorskip("pink")
    from varichain.bench.peer_mink import mink_contenders
    from varichain.bench.peer_pink import pink_contenders

    return [*mink_contenders(aim), *pink_contenders(aim)]


@compiled_only
def test_answers_agree_to_first_order(monkeypatch):
    """The nearer the goal, the nearer are the velocities of pink, mink and ours: a twist is another error of a pose."""
    found = []
    for near in (2e-3, 2e-4):
        monkeypatch.setattr(aims, "_NEAR", near)
        aim = aims.near_aim(OPEN["figure, open"]())
        found.append(max(differences([_ours(aim), *peers(aim)]).values()))
    assert found[0] < 0.02 and found[1] < 0.15 * found[0]


@compiled_only
def test_rows_have_both_peers():
    """A row for each library, beside its faster way."""
    pytest.importorskip("mink")
    pytest.importorskip("pink")
    rows = kinematics_step(Effort(rounds=2, is_quick=True))
    assert [(row.task, row.library) for row in rows] == [(STEP_OF_CONTROL, "mink"), (STEP_OF_CONTROL, "pink")]


@compiled_only
@pytest.mark.parametrize("make", [figure_at_rest, talos_at_rest])
def test_solutions_are_judged_alike(make):
    """Poses that a library says it has reached are reached by our measure, and its start is not."""
    start = make()
    if start is None:
        pytest.skip("example-robot-data is not installed")
    pytest.importorskip("daqp")
    pytest.importorskip("mink")
    pytest.importorskip("pink")
    from varichain.bench.peer_mink import Mink
    from varichain.bench.peer_pink import Pink

    aim = _random_aim(start, np.random.default_rng(2))
    for solver in (_Ours(1), Mink(start, has_posture=False), Pink(start, has_posture=False)):
        solver.aim_at(aim)
        q, steps = solver.solve(start.s.q, 1e-4, 100)
        assert 0 < steps < 100 and _is_there(aim, q), type(solver).__name__
    assert not _is_there(aim, start.s.q)


def test_only_figures_have_aims():
    """A mechanism without the links that are asked for is refused by their names."""
    with pytest.raises(InputError, match="left hand"):
        aims.near_aim(OPEN["chain of 10"]())
