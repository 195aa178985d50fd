"""Forces in the joints of the tree over a whole run: those of single states, in tables, plots and files."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc


def hanging():
    """A moving chain with a fixed link on it, tied to the ground by a loop that is cut in motion."""
    m, s = closed_zoo.four_bar()
    s["crank"].v = 1.0
    return m, vc.project(m, s, hold=["crank"])


def compared(trace, bare, forces=()):
    """Wrenches of a trace beside those of forward dynamics in each of its states."""
    for epoch, old in zip(trace.epochs, bare.epochs, strict=True):
        m = epoch.mechanism
        for i in range(0, len(epoch), 7):
            s = epoch.state(i)
            wanted = vc.joint_forces(m, s, vc.forward_dynamics(m, s, forces=forces), forces)
            for name, wrench in wanted.items():
                assert epoch.joint(name).wrench[i] == pytest.approx(wrench, abs=1e-8)
        assert np.array_equal(epoch.samples[:, : old.columns.width], old.samples)


def test_as_in_single_states_through_a_cut():
    """Every sample has the wrenches of `joint_forces` there, before and after a cut."""
    m, s = hanging()
    loop = next(iter(vc.forward_dynamics(m, s).loop_forces))
    bare = vc.simulate(m, s, 0.04, events=vc.at(0.02, vc.cut(loop)))
    compared(vc.with_joint_forces(bare), bare)


def test_external_forces_must_be_given_again():
    """Forces are not in traces: with them given, wrenches are right; without, an error says so."""
    m, s = hanging()
    link = m.links[-1].name
    push = vc.Force(link, (1.0, 2.0, 3.0), at=(0.1, 0, 0), axes="local")
    bare = vc.simulate(m, s, 0.02, forces=[push])
    with pytest.raises(vc.InputError, match="traces do not hold them"):
        vc.with_joint_forces(bare)
    compared(vc.with_joint_forces(bare, forces=[push]), bare, [push])
    asked = vc.simulate(m, s, 0.02, forces=lambda m, s: [push])
    compared(vc.with_joint_forces(asked, forces=lambda m, s: [push]), asked, [push])


def test_in_tables_files_and_plots(tmp_path):
    """The block has columns by joint, survives a file, and has a panel, for which it is computed if it is missing."""
    m, s = hanging()
    bare = vc.simulate(m, s, 0.02)
    trace = vc.with_joint_forces(bare)
    name = m.links[0].joint.name
    assert np.array_equal(trace.to_numpy()[f"{name}.fz"], trace.joint(name).wrench[:, 5])
    trace.save(tmp_path / "run.h5")
    assert np.array_equal(vc.Trace.load(tmp_path / "run.h5").joint(name).wrench, trace.joint(name).wrench)
    for one in (trace, bare):
        figure = vc.plot(one, ["joint_forces"])
        line = next(line for line in figure.axes[0].lines if line.get_label() == name)
        size = np.linalg.norm(trace.joint(name).wrench[:, 3:], axis=1)
        assert np.asarray(line.get_ydata())[: len(size)] == pytest.approx(size)
    with pytest.raises(vc.InputError, match="already"):
        vc.with_joint_forces(trace)
    with pytest.raises(vc.InputError, match="no checkpoint"):
        vc.resume(trace, 0.1)
