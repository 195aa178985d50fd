"""Discrete controllers: functions of the user with a memory, called at ticks."""

from varichain.kernels.callbacks import call_law
from varichain.kernels.jit import routine


@routine
def tick(laws, memory, controls, run, q, v):
    """Call the controllers whose ticks are due; the node must be evaluated again if there are any.

    Ticks are numbers of grid points, so that a tick comes once, whatever the number of calls of the run.
    """
    is_any = False
    for i in range(len(laws)):
        law = laws[i]
        if run.grid < law.next:
            continue
        tau = memory[law.torques : law.torques + len(v)]
        for k in range(len(v)):
            tau[k] = 0.0
        call_law(law.address, run.time, q, v, tau, memory[law.place : law.torques])
        law.next = run.grid + law.every
        is_any = True
    if is_any:
        for k in range(len(v)):
            total = 0.0
            for i in range(len(laws)):
                total += memory[laws[i].torques + k]
            controls[k].discrete = total
        run.is_evaluated = 0
