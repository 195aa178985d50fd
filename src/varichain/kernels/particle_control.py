"""Torques of the rigid engine's controllers, asked for from outside of a run."""

from varichain.kernels.controls import control
from varichain.kernels.jit import CHANNELS, CONTROLS, LAWS, NUMBER, RUNS, VECTOR, kernel
from varichain.kernels.laws import tick


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


@kernel(LAWS, VECTOR, CONTROLS, RUNS, VECTOR, VECTOR)
def tick_laws(
    # in and out
    laws,
    memory,
    controls,
    runs,
    # in
    q,
    v,
):
    """Call the discrete controllers whose ticks are due at the run's grid point; their torques are in the controls."""
    tick(laws, memory, controls, runs[0], q, v)
