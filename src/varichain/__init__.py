"""varichain: dynamics of mechanisms whose structure changes while they move.

    import varichain as vc

    m = vc.Mechanism("arm")
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder"), at=(0, 0, 1), inertia=vc.Inertia.rod(2.0, 0.3))
    s = m.state()
    s["shoulder"].q = 0.3
    vc.forward_dynamics(m, s)["shoulder"]

Structure is imported at once and takes a tenth of a second; the dynamics, and with it the compiler, on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from varichain.errors import (
    ActuationError,
    AssemblyError,
    ChatteringError,
    ControllerError,
    DamagedTraceWarning,
    DivergenceError,
    DuplicateNameError,
    FormatError,
    GapError,
    InertiaError,
    InputError,
    LimitError,
    MissingExtraError,
    PreferenceError,
    ScenarioFileError,
    SimulationError,
    SimulationInterrupted,
    SingularMassError,
    StructureError,
    TraceFileError,
    TraceFileWarning,
    UnknownNameError,
    VarichainError,
)
from varichain.mechanism import (
    Box,
    Breaks,
    Capsule,
    Coupling,
    Cylinder,
    Cylindrical,
    Ellipsoid,
    Fixed,
    Frame,
    Free,
    Inertia,
    Joint,
    Link,
    Mechanism,
    Mesh,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Shape,
    Sphere,
    Spherical,
    SwingTwist,
    Universal,
    check,
)
from varichain.spatial import Pose

if TYPE_CHECKING:
    from varichain import closures, figures
    from varichain.closures import constant_loops, replace_constant_loops
    from varichain.dynamics import (
        Actuation,
        Assembly,
        Connect,
        Couple,
        CouplingMatrix,
        Cut,
        Energy,
        Force,
        ForwardDynamics,
        Impact,
        InverseDynamics,
        LoopForces,
        LoopState,
        Mobility,
        Momentum,
        Overload,
        Prepared,
        StructureChange,
        assemble,
        bias_acceleration,
        bias_force,
        center_of_mass,
        center_of_mass_jacobian,
        change,
        connect,
        couple,
        coupling_matrix,
        cut,
        energy,
        forward_dynamics,
        impact,
        inverse_dynamics,
        jacobian,
        joint_forces,
        limit_excess,
        loop_states,
        mass_matrix,
        mobility,
        momentum,
        overloads,
        pose,
        project,
        release,
        velocity,
    )
    from varichain.exports import export
    from varichain.formats import load, save
    from varichain.layout import JointState, State
    from varichain.motion import JointMotion, Motion, TimeFunctions
    from varichain.plots import plot
    from varichain.scenarios.files import load_scenario
    from varichain.simulation import (
        PD,
        Compiled,
        ComputedTorque,
        LiveRun,
        SoftLimits,
        Torques,
        at,
        push,
        resume,
        simulate,
        stop,
        use,
        when,
        when_force,
    )
    from varichain.trace import Columns, Trace, TraceWriter
    from varichain.viewing import view

__version__ = "0.1.0"

# Of the lazy names, those that are not in `dynamics`.
_HOMES = {
    "Columns": "varichain.trace",
    "Compiled": "varichain.simulation",
    "ComputedTorque": "varichain.simulation",
    "JointMotion": "varichain.motion",
    "JointState": "varichain.layout",
    "LiveRun": "varichain.simulation",
    "Motion": "varichain.motion",
    "PD": "varichain.simulation",
    "SoftLimits": "varichain.simulation",
    "State": "varichain.layout",
    "TimeFunctions": "varichain.motion",
    "Torques": "varichain.simulation",
    "Trace": "varichain.trace",
    "TraceWriter": "varichain.trace",
    "at": "varichain.simulation",
    "export": "varichain.exports",
    "load_scenario": "varichain.scenarios.files",
    "constant_loops": "varichain.closures",
    "load": "varichain.formats",
    "plot": "varichain.plots",
    "push": "varichain.simulation",
    "replace_constant_loops": "varichain.closures",
    "resume": "varichain.simulation",
    "save": "varichain.formats",
    "simulate": "varichain.simulation",
    "stop": "varichain.simulation",
    "use": "varichain.simulation",
    "view": "varichain.viewing",
    "when": "varichain.simulation",
    "when_force": "varichain.simulation",
}


def __getattr__(name: str) -> Any:
    """Import dynamics, with it the compiler, and the others when one of their names is first asked for."""
    if name in ("closures", "figures"):
        return importlib.import_module(f"varichain.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'varichain' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES.get(name, "varichain.dynamics")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted({*globals(), *__all__})


__all__ = [
    "PD",
    "Actuation",
    "ActuationError",
    "Assembly",
    "AssemblyError",
    "Box",
    "Breaks",
    "Capsule",
    "ChatteringError",
    "Columns",
    "Compiled",
    "ComputedTorque",
    "Connect",
    "ControllerError",
    "Couple",
    "Coupling",
    "CouplingMatrix",
    "Cut",
    "Cylinder",
    "Cylindrical",
    "DamagedTraceWarning",
    "DivergenceError",
    "DuplicateNameError",
    "Ellipsoid",
    "Energy",
    "Fixed",
    "Force",
    "FormatError",
    "ForwardDynamics",
    "Frame",
    "Free",
    "GapError",
    "Impact",
    "Inertia",
    "InertiaError",
    "InputError",
    "InverseDynamics",
    "Joint",
    "JointMotion",
    "JointState",
    "LimitError",
    "Link",
    "LiveRun",
    "LoopForces",
    "LoopState",
    "Mechanism",
    "Mesh",
    "MissingExtraError",
    "Mobility",
    "Momentum",
    "Motion",
    "Overload",
    "Planar",
    "Pose",
    "PreferenceError",
    "Prepared",
    "Prismatic",
    "Revolute",
    "ScenarioFileError",
    "Screw",
    "Shape",
    "SimulationError",
    "SimulationInterrupted",
    "SingularMassError",
    "SoftLimits",
    "Sphere",
    "Spherical",
    "State",
    "StructureChange",
    "StructureError",
    "SwingTwist",
    "TimeFunctions",
    "Torques",
    "Trace",
    "TraceFileError",
    "TraceFileWarning",
    "TraceWriter",
    "Universal",
    "UnknownNameError",
    "VarichainError",
    "assemble",
    "at",
    "bias_acceleration",
    "bias_force",
    "center_of_mass",
    "center_of_mass_jacobian",
    "change",
    "check",
    "closures",
    "connect",
    "constant_loops",
    "couple",
    "coupling_matrix",
    "cut",
    "energy",
    "export",
    "figures",
    "forward_dynamics",
    "impact",
    "inverse_dynamics",
    "jacobian",
    "joint_forces",
    "limit_excess",
    "load",
    "load_scenario",
    "loop_states",
    "mass_matrix",
    "mobility",
    "momentum",
    "overloads",
    "plot",
    "pose",
    "project",
    "push",
    "release",
    "replace_constant_loops",
    "resume",
    "save",
    "simulate",
    "stop",
    "use",
    "velocity",
    "view",
    "when",
    "when_force",
]
