"""Samples of a run: the blocks that the kernels write are where the trace's columns say, by the same names."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from varichain.kernels.jit import INTEGER, VECTOR, kernel
from varichain.kernels.run_records import N_ACCOUNTS, Powers
from varichain.kernels.samples import WORK_LABELS, Sample, open_sample, sample_widths
from varichain.trace import Columns


@kernel(INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, VECTOR)
def _number_blocks(n_q, n_v, n_loops, n_couplings, n_contacts, n_moments, row_out):
    """Write the number of its block to every entry of a sample; returns the widths of the blocks."""
    widths = sample_widths(n_q, n_v, n_loops, n_couplings, n_contacts, n_moments)
    sample = open_sample(row_out, widths)
    for i in range(len(sample)):
        for k in range(len(sample[i])):
            sample[i][k] = i
    return widths


@pytest.mark.parametrize("sizes", [(7, 6, 0, 0, 0, 0), (5, 4, 3, 2, 4, 4), (0, 0, 0, 0, 0, 0)])
def test_blocks_and_columns_agree(sizes):
    """Every block of a sample, by name, is the slice that columns of the same names and widths have."""
    row = np.full(1000, np.nan)
    widths = Sample(*_number_blocks(*sizes, row))
    columns = Columns(list(widths._asdict().items()), {"work": list(WORK_LABELS)})
    assert sum(widths) == columns.width and np.isnan(row[columns.width :]).all()
    for i, name in enumerate(Sample._fields):
        assert len(row[columns.slice(name)]) == widths[i], name
        assert (row[columns.slice(name)] == i).all(), name


def test_labels_of_work_are_the_accounts():
    """The labels of work are the accounts of the kernels, in their order, and the impacts last."""
    assert WORK_LABELS == ("controllers", "joints", "forces", "drives", "soft limits", "contact", "impacts")
    assert len(WORK_LABELS) == N_ACCOUNTS + 1 == len(Powers._fields) + 1


def test_a_trace_by_columns_is_what_functions_say():
    """Coordinates, energies, momentum, centre of mass, loop and coupling forces are in the columns of their names."""
    m, s = closed_zoo.four_bar()
    m.add_link("wheel", "ground", vc.Revolute("y", name="wheel"), inertia=vc.Inertia.sphere(1.0, 0.2, com=(0.1, 0, 0)))
    m.couple("wheel", "rocker", 2.0, offset=-2.0 * s["rocker"].q, name="gear")
    start = m.state()
    for name in s.joints:
        start[name].q = s[name].q
    start["crank"].v = 1.0
    trace = vc.simulate(m, vc.project(m, start), 0.02, controller=vc.Torques({"crank": 2.0}), step=0.01)
    (epoch,) = trace.epochs
    assert tuple(epoch.columns.names) == Sample._fields
    for i in range(len(epoch)):
        state = epoch.state(i)
        accelerated = vc.forward_dynamics(m, state, {"crank": 2.0})
        energy, momentum = vc.energy(m, state), vc.momentum(m, state)
        expected = {
            "time": [0.01 * i],
            "tau": [2.0 if name == "crank" else 0.0 for name in state.joints],
            "holding": np.zeros(m.n_v),
            "loop_forces": accelerated.loop_forces["pin"],
            "coupling_forces": [accelerated.loop_forces.couplings["gear"]],
            "energy": [energy.kinetic, energy.potential, 0.0],
            "momentum": [*momentum.angular, *momentum.linear],
            "center": momentum.about,
        }
        for name, values in expected.items():
            assert np.ravel(epoch[name][i]) == pytest.approx(np.ravel(values), abs=1e-9), name
