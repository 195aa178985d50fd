"""An operator swings his lower leg in an exoskeleton with a virtual impedance [LS]."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge

from varichain.scenarios.parameters import NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario


@checked
def knee(
    *,
    inertia: float = 0.0,
    viscosity: float = 1.56,
    gravity: float = 5.4,
    coulomb: NonNegative = 0.0,
    operator: Literal["A", "B", "C"] = "B",
    cutoff: Positive = 30.0,
    delay: NonNegative = 0.0,
    cuff: NonNegative = 0.0,
    seed: Annotated[int, Ge(0)] = 0,
) -> Scenario:
    """An exoskeleton makes the knee feel a virtual impedance; its operator swings the lower leg for 12 s.

    The thigh is fixed. Motor and operator are discrete controllers: sampled, filtered, delayed, noisy. With a cuff that
    gives way the exoskeleton is a closed chain with the leg. N_J = N_F = 1; with a cuff 3 and 2.

    Args:
        inertia: Virtual inertia [kg m^2]; the exoskeleton's own is 0.15.
        viscosity: Virtual viscous friction [N m s/rad]; its own is 4.5.
        gravity: Virtual gravity moment [N m]; its own is 5.4.
        coulomb: Virtual Coulomb friction [N m]; its own is 1.
        operator: A, B or C.
        cutoff: Of the filters of velocity and acceleration [Hz].
        delay: From the sensor to the motor [s].
        cuff: Stiffness of the cuff [N m/rad]; 0 for rigid.
        seed: Of the operator's noise.
    """
    from varichain import exo  # brings the compiler

    tie = exo.Cuff(cuff, 0.02 * cuff) if cuff else None
    worn = exo.Exoskeleton(chain=exo.Chain(cutoff=cutoff, delay=delay), cuff=tie)
    setting = exo.Setting(exo.Impedance(inertia, viscosity, gravity, coulomb), operator, worn)
    m, s, laws = exo.staged(setting, seed)
    m.name = "knee"
    settings = {"method": "rk4", "step": exo.TICK, "sample": 10 * exo.TICK}
    return Scenario("knee", m, s, setting.duration, controller=laws, settings=settings)
