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
    DuplicateNameError,
    FormatError,
    GapError,
    InertiaError,
    InputError,
    MissingExtraError,
    PreferenceError,
    SingularMassError,
    StructureError,
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
    from varichain.formats import load, save
    from varichain.layout import JointState, State

__version__ = "0.1.0"

_FORMATS = ("load", "save")
_CLOSURES = ("constant_loops", "replace_constant_loops")


def __getattr__(name: str) -> Any:
    """Import the dynamics, and with it the compiler, when one of its names is first asked for."""
    if name in ("closures", "figures"):
        return importlib.import_module(f"varichain.{name}")
    if name in _FORMATS:
        return getattr(importlib.import_module("varichain.formats"), name)
    if name in _CLOSURES:
        return getattr(importlib.import_module("varichain.closures"), name)
    if name not in __all__:
        raise AttributeError(f"module 'varichain' has no attribute {name!r}")
    module = "varichain.layout" if name in ("JointState", "State") else "varichain.dynamics"
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted({*globals(), *__all__})


__all__ = [
    "Actuation",
    "ActuationError",
    "Assembly",
    "AssemblyError",
    "Box",
    "Breaks",
    "Capsule",
    "Connect",
    "Couple",
    "Coupling",
    "CouplingMatrix",
    "Cut",
    "Cylinder",
    "Cylindrical",
    "DuplicateNameError",
    "Ellipsoid",
    "Energy",
    "Fixed",
    "Force",
    "FormatError",
    "ForwardDynamics",
    "Free",
    "GapError",
    "Impact",
    "Inertia",
    "InertiaError",
    "InputError",
    "InverseDynamics",
    "Joint",
    "JointState",
    "Link",
    "LoopForces",
    "LoopState",
    "Mechanism",
    "Mesh",
    "MissingExtraError",
    "Mobility",
    "Momentum",
    "Overload",
    "Planar",
    "Pose",
    "PreferenceError",
    "Prepared",
    "Prismatic",
    "Revolute",
    "Screw",
    "Shape",
    "SingularMassError",
    "Sphere",
    "Spherical",
    "State",
    "StructureChange",
    "StructureError",
    "SwingTwist",
    "Universal",
    "UnknownNameError",
    "VarichainError",
    "assemble",
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
    "figures",
    "forward_dynamics",
    "impact",
    "inverse_dynamics",
    "jacobian",
    "joint_forces",
    "limit_excess",
    "load",
    "loop_states",
    "mass_matrix",
    "mobility",
    "momentum",
    "overloads",
    "pose",
    "project",
    "release",
    "replace_constant_loops",
    "save",
    "velocity",
]
