"""Signorini's and Coulomb's laws as they are written, for any solver's impulses; slow and obvious."""

import numpy as np

from varichain.kernels.contact_records import CONE, DRY, ROLL, SPIN, STOP


def violation(items, W, b, x):
    """Largest violation of the laws, as a velocity: gaps that close, forces at open contacts, slip that is not opposed.

    Forces count by the velocity that they would give to their own row.
    """
    u = W @ x + b
    worst = 0.0
    for item in items:
        r = int(item["row"])
        rows = slice(r, r + int(item["n_rows"]))
        scale = W[rows, rows].diagonal().max()
        if item["kind"] in (CONE, STOP):
            opening = u[r] - item["target"]
            worst = max(worst, -opening, -x[r] * scale, min(x[r] * scale, opening))
        if item["kind"] == CONE:
            worst = max(worst, _sliding(x[r + 1 : r + 3], u[r + 1 : r + 3], item["friction"] * x[r], scale))
        elif item["kind"] in (SPIN, ROLL):
            worst = max(worst, _sliding(x[rows], u[rows], item["friction"] * x[item["normal"]], scale))
        elif item["kind"] == DRY or item["kind"] != STOP:
            worst = max(worst, _sliding(x[rows], u[rows], item["bound"], scale))
    return worst


def _sliding(force, velocity, bound, scale):
    """Violation of Coulomb's law: at most the bound; less than it only at rest; at the bound, against the velocity."""
    size, speed = np.linalg.norm(force), np.linalg.norm(velocity)
    beyond = (size - bound) * scale
    if speed == 0.0:
        return beyond
    # what is missing of the power that friction takes at its bound
    missing = (bound * speed + force @ velocity) / speed * scale
    return max(beyond, min(missing, speed))
