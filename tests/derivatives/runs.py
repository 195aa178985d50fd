"""Sensitivities beside differences of whole simulations: the oracle of runs."""

import warnings

import numpy as np

import varichain as vc
from derivatives import differences
from varichain.derivatives.design_parameters import checked_parameters, redesigned
from varichain.derivatives.feedback import controller_parameters
from varichain.dynamics.assembly import close_loops
from varichain.layout.layout import layout_of

STEPPED = 1e-6
"""Steps of nearby runs have other lengths before events: errors of Runge-Kutta steps are left."""
SMOOTH = 1e-9
"""Of runs without events: central differences of order four with the best step."""


def reclosed(m, s, columns):
    """The state of a changed mechanism: independent positions and velocities as they were."""
    layout = layout_of(m)
    near = m.state()
    near.q = s.q
    if layout.n_rows:
        close_loops(layout, layout.workspaces.of_thread.table, near.q, np.setdiff1d(np.arange(layout.n_v), columns))
    return differences.with_independent(m, near, columns, s.v[columns])


def changed(controller, name, x):
    """A controller with one of its numbers changed."""
    whole = controller.parameters
    return vc.Compiled(controller.function, {**whole, name: whole[name] + x})


def compare(
    m, s, duration, events=(), by=(), few=None, tolerance=STEPPED, h=1e-4, controller=None, tau=None, **options
):
    """Assert that the sensitivity of a run is that of differences of simulations, along a few columns of the start."""
    options = {"step": 2e-3, "method": "rk4"} | options
    found = vc.sensitivity(m, s, duration, events, by=by, controller=controller, tau=tau, **options)
    columns, n_f = differences.independent_columns(m, found.start), len(found.start)

    def end(s, m=m, law=controller):
        laws = [law] * (law is not None) + [lambda m, s: {name: np.atleast_1d(x) for name, x in tau.items()}] * bool(
            tau
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", vc.CoarseRunWarning)
            last = vc.simulate(m, s, s.time + duration, events=list(events), controller=laws, **options).final
        return np.concatenate([found.state.difference(last), last.v])

    assert np.abs(end(s)[: len(found.state.v)]).max() < 1e-12
    W = vc.forward_dynamics_derivatives(m, s, prefer=found.start).W
    scale = max(1.0, np.abs(found.changes).max())
    for k in range(n_f) if few is None else few:
        w, e = W[:, k], np.eye(n_f)[k]
        at_q = lambda x, w=w: differences.moved(m, s, columns, w, x)  # noqa: E731
        at_v = lambda x, e=e: differences.with_independent(m, s, columns, s.v[columns] + x * e)  # noqa: E731
        for column, at in ((k, at_q), (n_f + k, at_v)):
            expected = differences.central(end, at, h)
            assert np.abs(found.changes[:, column] - expected).max() < tolerance * scale, found.start[k]
    for name, one in checked_parameters(layout_of(m), by, controller_parameters(controller)).items():
        if one == "controller":
            at = lambda x, name=name: changed(controller, name, x)  # noqa: E731
            expected = differences.central(lambda law: end(s, law=law), at, 10.0 * h)
        else:
            at = lambda x, name=name, one=one: redesigned(m, name, one, x)  # noqa: E731
            expected = differences.central(lambda near: end(reclosed(near, s, columns), near), at, h)
        parts = np.concatenate([found.by_parameters["q", name], found.by_parameters["v", name]])[:, 0]
        assert np.abs(parts - expected).max() < tolerance * max(1.0, np.abs(expected).max()), name
    return found
