"""Samples of a run: one row of numbers each, in named blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

from varichain.kernels.couplings import count_loops
from varichain.kernels.jit import helper, routine
from varichain.kernels.loop_wrenches import gather_wrenches
from varichain.kernels.run_records import N_ACCOUNTS, Powers
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers, open_rows
from varichain.kernels.totals import energies, mass_and_center, momentum_about
from varichain.kernels.tuples import store3, store6


class Sample(NamedTuple):
    """Blocks of a sample, in their order: the numbers themselves, or the width of each block."""

    time: Any
    q: Any
    v: Any
    a: Any
    tau: Any  # of the controllers
    holding: Any  # forces of locks and drives, by freedoms
    loop_forces: Any  # [moment; force] of each loop
    coupling_forces: Any
    energy: Any  # kinetic, of gravity, elastic
    work: Any  # of each account, then energy lost in impacts
    momentum: Any  # about the centre of mass
    center: Any
    closure: Any  # largest error of a loop
    contact_forces: Any  # of each contact on its link, world axes
    contact_modes: Any  # of each contact
    contact_moments: Any  # of torsional and rolling friction on its link, if there is any, world axes


WORK_LABELS = (*(account.replace("_", " ") for account in Powers._fields), "impacts")


@helper
def sample_widths(n_q, n_v, n_loops, n_couplings, n_contacts, n_moments):
    """Numbers in each block of a sample."""
    return Sample(
        time=1,
        q=n_q,
        v=n_v,
        a=n_v,
        tau=n_v,
        holding=n_v,
        loop_forces=6 * n_loops,
        coupling_forces=n_couplings,
        energy=3,
        work=N_ACCOUNTS + 1,
        momentum=6,
        center=3,
        closure=1,
        contact_forces=3 * n_contacts,
        contact_modes=n_contacts,
        contact_moments=3 * n_moments,
    )


@helper
def _block(row, widths, i):
    """Block i of a sample."""
    start = 0
    for j in range(i):
        start += widths[j]
    return row[start : start + widths[i]]


@helper
def open_sample(row, widths):
    """Blocks of a sample, in place."""
    return Sample(
        _block(row, widths, 0),
        _block(row, widths, 1),
        _block(row, widths, 2),
        _block(row, widths, 3),
        _block(row, widths, 4),
        _block(row, widths, 5),
        _block(row, widths, 6),
        _block(row, widths, 7),
        _block(row, widths, 8),
        _block(row, widths, 9),
        _block(row, widths, 10),
        _block(row, widths, 11),
        _block(row, widths, 12),
        _block(row, widths, 13),
        _block(row, widths, 14),
        _block(row, widths, 15),
    )


@routine
def _turn_back(bodies, holding):
    """Turn the moments that lock balls at their stops from the basis of the stops to the links' axes."""
    for b in range(1, len(bodies)):
        body = bodies[b]
        if body.locked and body.turned:
            k, E = body.dof, body.basis
            x, y, z = holding[k], holding[k + 1], holding[k + 2]
            holding[k] = E[0] * x + E[1] * y + E[2] * z
            holding[k + 1] = E[3] * x + E[4] * y + E[5] * z
            holding[k + 2] = E[6] * x + E[7] * y + E[8] * z


@routine
def write_sample(table, q, v, a, tau, run, n_contacts, row_out):
    """Write a sample of the state that was evaluated last; contacts write their own blocks.

    Needs: bodies moved, rows placed.
    """
    bodies, dofs, loops, multipliers = open_bodies(table), open_dofs(table), open_loops(table), open_multipliers(table)
    n_loops, n_couplings = count_loops(loops)
    sample = open_sample(row_out, sample_widths(len(q), len(v), n_loops, n_couplings, n_contacts, 0))
    sample.time[0] = run.time
    for i in range(len(q)):
        sample.q[i] = q[i]
    for k in range(len(v)):
        sample.v[k] = v[k]
        sample.a[k] = a[k]
        sample.tau[k] = tau[k]
        sample.holding[k] = dofs[k].reaction if dofs[k].lock else 0.0
    _turn_back(bodies, sample.holding)
    gather_wrenches(loops, open_rows(table), multipliers, sample.loop_forces.reshape((n_loops, 6)))
    for i in range(n_couplings):
        sample.coupling_forces[i] = multipliers[loops[n_loops + i].row]
    store3(sample.energy, energies(table, q, v))
    for i in range(N_ACCOUNTS):
        sample.work[i] = run.work[i]
    sample.work[N_ACCOUNTS] = run.lost
    _, center = mass_and_center(bodies)
    store6(sample.momentum, momentum_about(bodies, center))
    store3(sample.center, center)
    sample.closure[0] = run.closure
