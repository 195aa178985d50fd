"""Samples of a run of particles: the blocks that every trace has, and the strain of each link."""

from __future__ import annotations

import numpy as np

from varichain.kernels.particle_records import Accounts
from varichain.particles.linked import LinkedSystem
from varichain.simulation.observing import Observation
from varichain.spatial.arrays import Array
from varichain.trace import Columns

WORK = (*Accounts._fields, "impacts")


def columns_of(system: LinkedSystem, has_error: bool, observation: Observation) -> Columns:
    """Blocks of a sample; what controllers observe comes last."""
    layout, links = system.layout, [link.name for link in system.mechanism.links]
    blocks = {
        "time": 1,
        "q": layout.n_q,
        "v": layout.n_v,
        "tau": layout.n_v,
        "holding": layout.n_v,
        "loop_forces": 6 * len(layout.connections),
        "coupling_forces": len(system.couplings),
        "energy": 3,
        "work": len(WORK),
        "momentum": 6,
        "center": 3,
        "closure": 1,
        "strain": len(links),
        "sinkage": len(system.contacts),
        "ground": 3,
    }
    if has_error:
        blocks["error"] = 1
    labels = {"work": WORK, "strain": links, "sinkage": system.contacts.names, "ground": ("fx", "fy", "fz")}
    return Columns([*blocks.items(), *observation.blocks], {**labels, **observation.labels})


def sample_of(system: LinkedSystem) -> Array:
    """Numbers of the present time, in the order of the blocks."""
    energy = system.energy()
    state = system.measure()
    joints, n_v = system.joints.array[system.loop_joints], system.layout.n_v
    forces = np.concatenate([joints["moment"], joints["force"]], axis=1)
    _, momentum, center = system._totals()
    parts = (
        [system.time],
        state.q,
        state.v,
        system.tau[:n_v],
        system.holding[:n_v],
        forces.ravel(),
        system.couplings.array["force"],
        energy,
        system.run["work"][0],
        [system.lost],
        momentum,
        center,
        [system.gap()],
        system.strains(),
        system.contacts.array["depth"],
        system.run["ground_force"][0],
    )
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
