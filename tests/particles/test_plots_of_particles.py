"""Plots of runs of particles: the strain of links, the sinkage of feet."""

import pytest

import varichain as vc
from lane import long_run
from particles.zoo_of_particles import rods
from varichain.bench.particle_costs import particle_costs
from varichain.scenarios import walker

pytestmark = long_run


def test_strain_and_sinkage():
    """`vc.plot` has a line for each link's strain and each contact's sinkage, and none for a rigid run."""
    pytest.importorskip("matplotlib")
    figure = vc.plot(walker(ground="sandy").run(0.1), ["strain", "sinkage", "energy"])
    strain, sinkage, _ = figure.axes[:3]
    assert len(strain.lines) >= 8 and len(sinkage.lines) >= 4
    with pytest.raises(vc.InputError, match="strain"):
        vc.plot(vc.simulate(*rods(1), 0.01), "strain")


def test_costs_are_counted_by_restrictions():
    """The benchmark has a row for each size, with the time of a step per restriction."""
    rows = particle_costs(2, is_quick=True)
    assert [row.mechanism.split()[0] for row in rows] == ["99", "990"]
    assert all(0.0 < row.ours < 1e-4 for row in rows)
