"""Numbers that controllers have to say of states, recorded with each sample."""

import numpy as np
import pytest

import varichain as vc
from moving import slider


class Doubled:
    """Controller without torques that records twice the coordinate, and the time under a name of its own."""

    def __call__(self, m, s):
        return None

    def observed(self, m, s):
        """Two blocks."""
        return {"doubled": {"rail": 2.0 * float(s["rail"].q)}, "clock": {"t": s.time}}


def test_blocks_of_observers():
    """Each sample has the observer's numbers of its own state, by label, also when the run is continued."""
    m = slider()
    trace = vc.simulate(m, m.state(), 0.2, controller=Doubled(), step=0.01)
    epoch = trace.epochs[0]
    assert epoch.columns.labels["doubled"] == ("rail",)
    assert epoch["doubled"][:, 0] == pytest.approx(2.0 * epoch["q"][:, 0], abs=0.0)
    assert epoch["clock"][:, 0] == pytest.approx(epoch.time, abs=0.0)
    both = vc.resume(trace, 0.3, controller=Doubled()).epochs[0]
    assert both["doubled"][:, 0] == pytest.approx(2.0 * both["q"][:, 0], abs=0.0)


def test_a_run_that_goes_on_without_its_observer():
    """Nobody observes any more: the numbers are NaN, and the run goes on."""
    m = slider()
    trace = vc.simulate(m, m.state(), 0.1, controller=Doubled(), step=0.01)
    both = vc.resume(trace, 0.2).epochs[0]
    assert np.isfinite(both["doubled"][: len(trace.epochs[0]) - 1]).all() and np.isnan(both["doubled"][-1]).all()


def test_files_have_the_blocks(tmp_path):
    """Blocks of observers are in files and tables like all others."""
    m = slider()
    vc.simulate(m, m.state(), 0.05, controller=[Doubled()], step=0.01, out=tmp_path / "run.h5")
    trace = vc.Trace.load(tmp_path / "run.h5")
    assert trace.epochs[0]["doubled"].shape == (6, 1)
    trace.to_csv(tmp_path / "run.csv")
    assert "rail" in (tmp_path / "run.csv").read_text()
