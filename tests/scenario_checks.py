"""What is asked of runs of scenarios."""

import numpy as np

import varichain as vc

OVERSHOOT = np.radians(1.0)
"""How far a joint may be beyond its limits, as the project promises; runs stay below 1e-10 rad."""

DRIFT = 1e-6
"""Residual of the energy's account over what was turned over, as the project promises; most runs stay below 1e-10."""

CLOSED = 1e-9
"""How far loops may be open [m or rad], as the project promises; runs stay below 1e-12."""


def worst_excess(trace):
    """How far a joint was beyond its limits in any sample [rad or m]."""
    found = [
        excess
        for epoch in trace.epochs
        for i in range(len(epoch))
        for excess in vc.limit_excess(epoch.mechanism, epoch.state(i)).values()
    ]
    return max(found, default=0.0)


def counts(summary):
    """N_J and N_F of the epochs."""
    return [(epoch["n_all"], epoch["n_independent"]) for epoch in summary["epochs"]]


def place(epoch, i, frame):
    """Place of a named frame in a sample of an epoch (3,) [m]."""
    return vc.pose(epoch.mechanism, epoch.state(i), *epoch.mechanism.frame(frame)).p
