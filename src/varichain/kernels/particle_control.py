"""Torques of the rigid engine's controllers, asked for from outside of a run."""

from varichain.kernels.controls import control
from varichain.kernels.jit import CHANNELS, CONTROLS, NUMBER, RUNS, VECTOR, kernel


@kernel(CHANNELS, VECTOR, CONTROLS, RUNS, NUMBER, VECTOR, VECTOR, VECTOR)
def control_torques(
    # in
    channels,
    motion,
    controls,
    runs,
    t,
    q,
    v,
    # out
    tau_out,
):
    """Torques of all controllers (n_v)."""
    control(channels, motion, controls, runs[0], t, q, v, tau_out)
