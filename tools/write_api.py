"""Write the pages of the API, docs/api/*.md: all public names by topic; mkdocstrings fills in the docstrings."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import varichain as vc

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "api"
TOPICS = {
    "structure": (
        "Structure",
        "Mechanisms, links, joints, shapes and named frames.",
        "Mechanism Link Frame Inertia Pose Joint Revolute Prismatic Screw Spherical SwingTwist Universal Cylindrical "
        "Planar Free Fixed PinInSlot PointOnLine PointInPlane Distance SpringDamper ConstantForce "
        "LineForce TorsionSpring Coupling Breaks Shape Box Sphere Capsule "
        "Cylinder Ellipsoid Mesh Surface HalfSpace HeightField ContactPoint check",
    ),
    "state": ("States", "Time, coordinates and velocities.", "State JointState"),
    "dynamics": (
        "Kinematics and dynamics",
        "Poses, Jacobians, forces, energies; loops and their freedoms.",
        "pose set_pose velocity acceleration jacobian bias_acceleration center_of_mass center_of_mass_jacobian "
        "mass_matrix bias_force equilibrium Equilibrium "
        "forward_dynamics ForwardDynamics inverse_dynamics InverseDynamics Actuation FrictionCone "
        "WrenchLimits joint_forces with_joint_forces Force LinkForces LoopForces "
        "loop_states LoopState energy Energy momentum Momentum mobility Mobility assemble Assembly project "
        "limit_excess coupling_matrix CouplingMatrix Prepared Batch",
    ),
    "derivatives": (
        "Derivatives",
        "How forces and motions change with positions, velocities and torques.",
        "inverse_dynamics_derivatives InverseDynamicsDerivatives joint_force_derivatives forward_dynamics_derivatives "
        "ForwardDynamicsDerivatives Derivative total_derivatives TotalDerivatives inertial_regressor Regressor "
        "base_parameters identify BaseParameters impact_derivatives ImpactDerivatives linearise Linearisation "
        "sensitivity Sensitivity periodic Cycle design_derivatives "
        "DesignDerivatives designs Designs driven_dynamics_derivatives DrivenDynamicsDerivatives derivatives",
    ),
    "changes": (
        "Changes of structure",
        "What happens at one instant: connections, cuts, pushes, impacts.",
        "change StructureChange connect Connect cut Cut couple Couple push release impact Impact overloads Overload "
        "closures constant_loops replace_constant_loops",
    ),
    "animation": (
        "Animation space",
        "Functions of the configuration, and motion in them.",
        "AnimationSpace animation",
    ),
    "optimise": (
        "Optimised motions",
        "Motions of least cost, through phases and changes of structure.",
        "optimise_motion Phase OptimisedMotion",
    ),
    "simulation": (
        "Simulation",
        "Whole runs, events, controllers, motions; many runs at a time; live runs.",
        "simulate resume at when when_force use stop PD ComputedTorque Torques Compiled Discrete blocks SoftLimits "
        "clearances separate closed_contacts ClosedContacts Motion JointMotion TimeFunctions rollout Rollout LiveRun "
        "load_scenario",
    ),
    "exo": ("Exoskeletons", "Virtual impedance of one joint, operators, trials, stability, criteria.", "exo"),
    "sweeps": ("Sweeps", "Trials over grids of parameters, on one machine or a cluster.", "sweep Sweep"),
    "particles": ("Particles", "Links as particles: the second engine.", "particles"),
    "traces": (
        "Traces and pictures",
        "What a run did, as numbers, pictures, films and pages.",
        "Trace TraceWriter Columns plot draw Look export view",
    ),
    "files": (
        "Figures and robot files",
        "People, robots from URDF, SDF and MJCF, recorded motions from BVH.",
        "figures load load_postures save load_recording Recording",
    ),
    "errors": (
        "Errors and warnings",
        "One family; every message says what was found and what would be valid.",
        " ".join(name for name in vc.__all__ if name.endswith(("Error", "Warning", "Interrupted"))),
    ),
}
"""Title, a sentence and the names of each page."""


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    for page, text in pages().items():
        (FOLDER / f"{page}.md").write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Texts of the pages by name."""
    all_names = "All public names of `import varichain as vc`, by topic, from their docstrings."
    head = f"# API: list of all functions\n\n{all_names}\n"
    rows = ["| topic | names |", "| --- | --- |"]
    found = {}
    for page, (title, about, names) in TOPICS.items():
        rows.append(f"| [{title}]({page}.md) | {', '.join(f'`{name}`' for name in names.split())} |")
        parts = [f"::: {_home(name)}\n" for name in names.split()]
        found[page] = "\n".join([f"# {title}\n\n{about}\n", *parts])
    return found | {"index": "\n".join([head, *rows, ""])}


def _home(name: str) -> str:
    value = getattr(vc, name)
    return value.__name__ if isinstance(value, ModuleType) else f"{value.__module__}.{value.__qualname__}"


if __name__ == "__main__":
    main()
