"""The registry of public entries: all names of `varichain`, its figures and closures, and methods of its main classes.

Each is called with good arguments, found by the names of its parameters, and with one of them replaced by a bad value.
A new public function is in the registry by being public; if it has a parameter of a new name, that is given here.
"""

import inspect
import itertools
import math
import re
import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

import closed_zoo
import shows
import varichain as vc
from varichain import scenarios
from varichain.mechanism import Revolute, description, mechanism_from
from varichain.scenarios.files import scenario_from_text
from varichain.scene import Playback, link_poses, scene_of

FOLDER = Path(tempfile.mkdtemp(prefix="varichain entries"))
NUMBERS = itertools.count()
JUNK = type("Junk", (), {"__repr__": lambda self: "junk"})()
NAN = float("nan")

MODULES = (vc, vc.figures, vc.closures, vc.animation, vc.exo, vc.particles, scenarios)
# What the documents import from other modules.
OTHERS = {
    "mechanism.description": description,
    "mechanism.mechanism_from": mechanism_from,
    "scenarios.scenario_from_text": scenario_from_text,
    "scene.Playback": Playback,
    "scene.link_poses": link_poses,
    "scene.scene_of": scene_of,
}
# Values that others return: users read them and do not make them.
RESULTS = [
    "Actuation", "Assembly", "CouplingMatrix", "Energy", "Equilibrium", "ForwardDynamics", "Frame",
    "ClosedContacts", "Impact",
    "InverseDynamics", "JointMotion", "JointState", "Link", "LoopForces", "LoopState", "Mobility", "Momentum",
    "Overload", "Rollout", "State", "StructureChange", "Trace", "Joint", "Shape", "Coupling", "Body", "Closure",
    "ConstantLoops", "Given",
    "BaseParameters", "Cycle", "Derivative", "DesignDerivatives", "Designs", "DrivenDynamicsDerivatives",
    "ForwardDynamicsDerivatives", "ImpactDerivatives",
    "InverseDynamicsDerivatives", "Linearisation", "Regressor", "Sensitivity", "TotalDerivatives",
    "Recording", "Surface", "Sweep",
    "Adjusted", "Findings", "Leg", "Minimum", "Stability", "StabilityMap", "Trial",
    "Closings", "Evaluation", "Function", "InverseMotion", "Plan", "Reached", "Reduced", "SpaceDynamics",
    "OptimisedMotion",
    "Ground", "LinkedSystem", "Stiffest",
    "Builder", "Scenario",
]  # fmt: skip
# Methods that users call, beside the functions.
METHODS = {
    "Mechanism": [
        "add_link",
        "connect",
        "cut",
        "couple",
        "add_frame",
        "add_floor",
        "add_surface",
        "set_contact_shapes",
        "set_inertia",
        "set_place",
        "edit_joint",
        "link",
        "joint",
        "state",
        "prepare",
        "copy",
    ],
    "State": ["integrate", "difference", "copy"],
    "Batch": [
        "forward_dynamics",
        "inverse_dynamics",
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
        "energy",
        "poses",
        "project",
        "difference",
        "advance",
    ],
    "Inertia": ["sphere", "box", "cylinder", "capsule", "rod", "ellipsoid", "point"],
    "Motion": ["save", "load"],
    "TimeFunctions": ["save", "load"],
    "Trace": ["at", "save", "load", "to_csv", "joint"],
    "Recording": ["position", "orientation"],
    "SwingTwist": ["angles"],
    "Scenario": ["run"],
    "System": ["add_particle", "add_spring", "add_joint", "particle", "advance"],
    "AnimationSpace": ["value", "at", "gradient", "rate", "bias", "acceleration", "hessian", "step_hessian", "reduced"],
}


def arm():
    """Two links on hinges, the second with a named frame."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.box(1.0, size=(0.1, 0.1, 0.4), com=(0, 0, -0.2))
    m.add_link("upper", "ground", Revolute("y", name="shoulder"), (0, 0, 1), rod, vc.Sphere(0.1))
    m.add_link("lower", "upper", Revolute("y", name="elbow"), (0, 0, -0.4), rod)
    m.add_frame("tip", "lower", (0, 0, -0.4))
    return m


def fresh(suffix=""):
    """A file name that is free."""
    return FOLDER / f"{next(NUMBERS)}{suffix}"


@cache
def four_bar():
    """A four-bar and its state."""
    return closed_zoo.four_bar()


@cache
def slider_crank():
    """A slider-crank and its state."""
    return closed_zoo.slider_crank()


def human():
    """A figure and its state."""
    m = vc.figures.human16()
    return m, m.state()


class Good:
    """Good arguments by the names of parameters, made anew for each call."""

    def __init__(self, entry):
        self.entry = entry
        self.mechanism = arm()
        self.state = self.mechanism.state()

    def __getitem__(self, name):
        m, s = self.mechanism, self.state
        own = SPECIAL.get((self.entry, name)) or SPECIAL.get(("", name))
        if own is None:
            raise KeyError(f"{self.entry} has a parameter {name!r} that tests/entries.py does not know")
        return own(m, s)


def short_trial():
    """A setting of an exoskeleton's trial that takes no time."""
    return vc.exo.Setting(duration=0.1, settle=0.05)


def on_a_floor(m):
    """The mechanism with a floor below it."""
    m.add_floor(-2.0)
    return m


def bent(s):
    """A state in which nothing is stretched."""
    s.q = (0.3, 0.5)
    return s


@cache
def pinned():
    """Three rods in a plane, pinned at the end of the second, and their state."""
    m = arm()
    m.add_link("hand", "lower", Revolute("y", name="wrist"), (0, 0, -0.4), vc.Inertia.box(0.5, size=(0.1, 0.1, 0.2)))
    s = m.state()
    s.q = (0.3, 0.5, 0.0)
    m.connect("lower", "ground", vc.Spherical(name="pin"), (0, 0, -0.4), vc.pose(m, s, "tip"))
    other = m.state()
    other.q = s.q
    return m, other


def swinging(x):
    """A damped pendulum just before its lowest place, where it may be as fast as at its start."""
    m = vc.Mechanism("bob")
    m.add_link(
        "bob", joint=Revolute("y", name="swing", damping=0.005), inertia=vc.Inertia.rod(1.0, 0.2, com=(0, 0, -0.1))
    )
    s = m.state()
    s["swing"].q, s["swing"].v = 0.01, x[0]
    return m, s


def robot_file():
    """A saved robot."""
    path = fresh(".urdf")
    vc.save(arm(), path)
    return path


def postures_file():
    """Postures of the arm."""
    path = fresh(".srdf")
    path.write_text('<robot><group_state name="bent"><joint name="elbow" value="0.5"/></group_state></robot>')
    return path


def scenario_file():
    """A scenario file."""
    path = fresh(".yaml")
    path.write_text("scenario: pendulum\n", encoding="utf-8")
    return path


RECORDING = """HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT knee
  {
    OFFSET 0 -0.4 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 -0.5 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.01
0 1 0 0 0 0 0 0 90
0.1 1 0 90 0 0 0 0 90
"""


def recording_file():
    """A recording of two joints."""
    path = FOLDER / "walk.bvh"
    path.write_text(RECORDING, encoding="utf-8")
    return path


def trace_file():
    """A saved trace."""
    path = fresh(".h5")
    shows.show(0.2).save(path)
    return path


def functions_file(kind):
    """A saved motion, or saved functions of time."""
    path = fresh(".json")
    kind({"elbow": 0.5}).save(path)
    return path


def motion(m, s):
    """A motion of the elbow."""
    return vc.Motion({"elbow": 0.5})


def idle(t, q, v, tau, state, parameters, stream):
    """A discrete controller that does nothing."""


def tracker(m, s):
    """A tracker of the elbow."""
    return vc.animation.Tracker(vc.AnimationSpace(m, {"x": vc.animation.coordinate("elbow")}), {"x": 0.6})


# (entry, parameter) -> function of mechanism and state; ("", parameter) for all entries.
SPECIAL = {
    ("", "m"): lambda m, s: m,
    ("", "mechanism"): lambda m, s: m,
    ("", "s"): lambda m, s: s,
    ("", "self"): lambda m, s: m,
    ("", "link"): lambda m, s: "lower",
    ("", "name"): lambda m, s: "new",
    ("", "parent"): lambda m, s: "lower",
    ("", "joint"): lambda m, s: "elbow",
    ("", "to"): lambda m, s: "shoulder",
    ("", "axis"): lambda m, s: "x",
    ("", "mass"): lambda m, s: 1.0,
    ("", "radius"): lambda m, s: 0.1,
    ("", "length"): lambda m, s: 0.2,
    ("", "size"): lambda m, s: (0.1, 0.2, 0.3),
    ("", "radii"): lambda m, s: (0.1, 0.2, 0.3),
    ("", "trace"): lambda m, s: shows.show(0.2),
    ("", "until"): lambda m, s: 0.02,
    ("", "time"): lambda m, s: 0.01,
    ("", "a"): lambda m, s: "lower",
    ("", "b"): lambda m, s: "ground",
    ("", "actions"): lambda m, s: [vc.cut("elbow")],
    ("", "condition"): lambda m, s: lambda m, s: 1.0,
    ("", "connections"): lambda m, s: [vc.connect("tip", "ground", vc.Spherical(), snap=10.0)],
    ("", "result"): lambda m, s: vc.forward_dynamics(m, s),
    ("", "motions"): lambda m, s: [(bent(s), [0.1, 0.2])],
    ("", "records"): lambda m, s: [(bent(s.copy()), [i, 0.2], [0.0, i]) for i in range(4)],
    ("", "by"): lambda m, s: ["elbow.x", "lower.mass"],
    ("designs", "change"): lambda m, s: lambda m, x: m.set_place("elbow", (0, 0, -x[0])),
    ("designs", "values"): lambda m, s: [[0.3], [0.4]],
    ("", "driven"): lambda m, s: {"shoulder": [0.1, 0.2], "elbow": [0.3, 0.4]},
    ("driven_dynamics_derivatives", "driven"): lambda m, s: {"elbow": 0.5},
    ("linearise", "step"): lambda m, s: 0.01,
    ("linearise", "s"): lambda m, s: bent(s),
    ("", "duration"): lambda m, s: 0.01,
    ("sensitivity", "step"): lambda m, s: 0.01,
    ("periodic", "start"): lambda m, s: lambda x: swinging(x),
    ("periodic", "until"): lambda m, s: vc.when(lambda m, s: s["swing"].q, vc.push("bob", (0, 0, 0)), direction=-1),
    ("periodic", "finish"): lambda m, s: lambda m, s: [s["swing"].v],
    ("periodic", "guess"): lambda m, s: [-1.0],
    ("", "states"): lambda m, s: (np.zeros((2, 2)), np.zeros((2, 2))),
    ("", "blocks"): lambda m, s: [("time", 1)],
    ("", "function"): lambda m, s: lambda t, q, v, tau: None,
    ("Discrete", "function"): lambda m, s: idle,
    ("", "tick"): lambda m, s: 0.01,
    ("", "trial"): lambda m, s: "pendulum",
    ("", "grid"): lambda m, s: {"angle": [0.1]},
    ("sweep", "processes"): lambda m, s: 1,
    ("", "motion"): motion,
    ("", "trajectories"): lambda m, s: {"elbow": 0.5},
    ("", "target"): lambda m, s: {"elbow": 0.1},
    ("", "stiffness"): lambda m, s: 1.0,
    ("", "damping"): lambda m, s: 1.0,
    ("", "functions"): lambda m, s: {"elbow": 0.5},
    ("AnimationSpace", "functions"): lambda m, s: {"tip": vc.animation.point("tip")},
    ("animation.AnimationSpace", "functions"): lambda m, s: {"tip": vc.animation.point("tip")},
    ("optimise_motion", "functions"): lambda m, s: {"tip": vc.animation.point("tip")},
    ("optimise_motion", "phases"): lambda m, s: vc.Phase(0.1, end={"elbow": 0.1}, intervals=1),
    ("animation.argument_of", "function"): lambda m, s: vc.animation.point("tip"),
    ("animation.space_dynamics", "space"): lambda m, s: vc.AnimationSpace(m, {"x": vc.animation.coordinate("elbow")}),
    ("animation.least_torque", "s"): lambda m, s: bent(s),
    ("animation.least_torque", "acceleration"): lambda m, s: {"tip": 0.1},
    ("animation.least_torque", "space"): lambda m, s: vc.AnimationSpace(m, {"tip": vc.animation.point("tip")[0]}),
    ("animation.closings", "m"): lambda m, s: pinned()[0],
    ("animation.closings", "s"): lambda m, s: pinned()[1],
    ("animation.closings", "loop"): lambda m, s: "pin",
    ("animation.closings", "samples"): lambda m, s: 2,
    ("", "tracks"): lambda m, s: {"tip": (0.1, 0.0, 0.5)},
    ("animation.Track", "target"): lambda m, s: (0.1, 0.0, 0.5),
    ("animation.plan", "tracker"): tracker,
    ("animation.plan", "s"): lambda m, s: bent(s),
    ("", "space"): lambda m, s: vc.AnimationSpace(m, {"tip": vc.animation.point("tip")}),
    ("", "rate"): lambda m, s: {"tip": (0.1, 0.0, 0.0)},
    ("animation.inverse_acceleration", "acceleration"): lambda m, s: {"tip": (0.1, 0.0, 0.0)},
    ("", "targets"): lambda m, s: {"tip": (0.1, 0.0, 0.5)},
    ("animation.distance", "other"): lambda m, s: "upper",
    ("animation.given", "curve"): lambda m, s: lambda t, nu=0: 1.0,
    ("animation.stack", "parts"): lambda m, s: [vc.animation.point("tip")],
    ("animation.closure_error", "m"): lambda m, s: four_bar()[0],
    ("animation.closure_error", "name"): lambda m, s: "pin",
    ("", "pitch"): lambda m, s: 0.1,
    ("Breaks", "force"): lambda m, s: 10.0,
    ("when_force", "force"): lambda m, s: 10.0,
    ("", "what"): lambda m, s: shows.show(0.2),
    ("", "inertia"): lambda m, s: vc.Inertia.sphere(1.0, 0.1),
    ("", "posture"): lambda m, s: "standing",
    ("", "frame"): lambda m, s: "sole",
    ("", "quaternion"): lambda m, s: (1.0, 0.0, 0.0, 0.0),
    ("", "step"): lambda m, s: np.zeros(2),
    ("", "t"): lambda m, s: 0.1,
    ("", "follows"): lambda m, s: ("elbow",),
    ("", "leads"): lambda m, s: ("shoulder",),
    ("", "M"): lambda m, s: np.ones((1, 1)),
    ("", "q"): lambda m, s: np.zeros((2, 2)),
    ("", "v"): lambda m, s: np.zeros((2, 2)),
    ("", "tau"): lambda m, s: np.zeros((2, 2)),
    ("", "orientation"): lambda m, s: (1.0, 0.0, 0.0, 0.0),
    ("", "q_from"): lambda m, s: np.zeros((2, 2)),
    ("", "q_to"): lambda m, s: np.zeros((2, 2)),
    ("", "dt"): lambda m, s: 0.01,
    ("", "other"): lambda m, s: m.state(),
    ("", "offset"): lambda m, s: (0.0, 0.0, 0.1),
    ("", "force"): lambda m, s: (0.0, 0.0, 1.0),
    ("", "height"): lambda m, s: 1.7,
    ("", "shapes"): lambda m, s: vc.Sphere(0.1),
    ("Mechanism.add_surface", "shapes"): lambda m, s: vc.Sphere(0.1),
    ("", "heights"): lambda m, s: [[0.0, 0.1], [0.2, 0.1]],
    ("clearances", "m"): lambda m, s: on_a_floor(m),
    ("separate", "m"): lambda m, s: on_a_floor(m),
    ("closed_contacts", "m"): lambda m, s: on_a_floor(m),
    ("load", "path"): lambda m, s: robot_file(),
    ("load_postures", "path"): lambda m, s: postures_file(),
    ("Mesh", "path"): lambda m, s: "x.stl",
    ("load_scenario", "path"): lambda m, s: scenario_file(),
    ("load_recording", "path"): lambda m, s: recording_file(),
    ("load_recording", "up"): lambda m, s: "z",
    ("Recording.position", "name"): lambda m, s: "hip",
    ("Recording.orientation", "name"): lambda m, s: "hip",
    ("save", "path"): lambda m, s: fresh(".urdf"),
    ("export", "path"): lambda m, s: fresh(".csv"),
    ("Trace.save", "path"): lambda m, s: fresh(".h5"),
    ("Trace.to_csv", "path"): lambda m, s: fresh(".csv"),
    ("Trace.load", "path"): lambda m, s: trace_file(),
    ("Motion.save", "path"): lambda m, s: fresh(".json"),
    ("Motion.load", "path"): lambda m, s: functions_file(vc.Motion),
    ("TimeFunctions.save", "path"): lambda m, s: fresh(".json"),
    ("TimeFunctions.load", "path"): lambda m, s: functions_file(vc.TimeFunctions),
    ("Connect", "joint"): lambda m, s: vc.Spherical(),
    ("connect", "joint"): lambda m, s: vc.Spherical(),
    ("Mechanism.connect", "joint"): lambda m, s: vc.Spherical(),
    ("Mechanism.set_place", "at"): lambda m, s: (0.0, 0.0, -0.5),
    ("Mechanism.connect", "state"): lambda m, s: s,
    ("Mechanism.joint", "name"): lambda m, s: "elbow",
    ("Mechanism.link", "name"): lambda m, s: "lower",
    ("Mechanism.add_link", "joint"): lambda m, s: Revolute("y", name="wrist"),
    ("Mechanism.add_link", "inertia"): lambda m, s: vc.Inertia.sphere(1.0, 0.1),
    ("Trace.joint", "name"): lambda m, s: "elbow",
    ("closures.Linear", "b"): lambda m, s: np.zeros(1),
    ("closures.ClosureFunction", "closures"): lambda m, s: [],
    ("closures.FourBar", "m"): lambda m, s: four_bar()[0],
    ("closures.FourBar", "s"): lambda m, s: four_bar()[1],
    ("closures.FourBar", "loop"): lambda m, s: four_bar()[0].virtual_links[0].joint.name,
    ("closures.FourBar", "lead"): lambda m, s: four_bar()[0].joints[0].name,
    ("closures.SliderCrank", "m"): lambda m, s: slider_crank()[0],
    ("closures.SliderCrank", "s"): lambda m, s: slider_crank()[1],
    ("closures.SliderCrank", "loop"): lambda m, s: slider_crank()[0].virtual_links[0].joint.name,
    ("closures.SliderCrank", "lead"): lambda m, s: slider_crank()[0].joints[0].name,
    ("exo.Cuff", "stiffness"): lambda m, s: 1000.0,
    ("exo.Wearer", "m"): lambda m, s: vc.exo.seated().m,
    ("exo.Wearer", "s"): lambda m, s: vc.exo.seated().s,
    ("exo.adjust", "setting"): lambda m, s: short_trial(),
    ("exo.adjust", "viscosity"): lambda m, s: [1.0, 2.0, 3.0, 4.0, 5.0],
    ("exo.adjust", "repeats"): lambda m, s: 1,
    ("exo.compensation", "exoskeleton"): lambda m, s: vc.exo.Exoskeleton(),
    ("exo.compensation", "virtual"): lambda m, s: vc.exo.Impedance(),
    ("exo.compensation", "q"): lambda m, s: 0,
    ("exo.compensation", "v"): lambda m, s: 0,
    ("exo.findings", "operators"): lambda m, s: ["B"],
    ("exo.findings", "setting"): lambda m, s: short_trial(),
    ("exo.findings", "levels"): lambda m, s: 5,
    ("exo.findings", "repeats"): lambda m, s: 1,
    ("exo.fitted", "levels"): lambda m, s: [0.0, 1.0, 2.0, 3.0, 4.0],
    ("exo.fitted", "values"): lambda m, s: [[2.0], [1.0], [0.5], [1.0], [2.0]],
    ("exo.minimum", "levels"): lambda m, s: [0.0, 1.0, 2.0, 3.0, 4.0],
    ("exo.minimum", "values"): lambda m, s: [[2.0], [1.0], [0.5], [1.0], [2.0]],
    ("exo.sensitivity", "names"): lambda m, s: ["delay"],
    ("exo.sensitivity", "setting"): lambda m, s: short_trial(),
    ("exo.sensitivity", "levels"): lambda m, s: 5,
    ("exo.sensitivity", "repeats"): lambda m, s: 1,
    ("exo.stability", "exoskeleton"): lambda m, s: vc.exo.Exoskeleton(),
    ("exo.stability", "virtual"): lambda m, s: vc.exo.Impedance(viscosity=1.0),
    ("exo.stability_map", "exoskeleton"): lambda m, s: vc.exo.Exoskeleton(),
    ("exo.stability_map", "viscosity"): lambda m, s: [0.0, 1.0],
    ("exo.stability_map", "inertia"): lambda m, s: [0.0, 0.1],
    ("exo.staged", "setting"): lambda m, s: short_trial(),
    ("exo.trial", "setting"): lambda m, s: short_trial(),
    ("exo.trials", "settings"): lambda m, s: [short_trial()],
    ("exo.trials", "seeds"): lambda m, s: [1],
    ("System.add_particle", "at"): lambda m, s: (0, 0, 5),
    ("System.add_spring", "a"): lambda m, s: "a",
    ("System.add_spring", "b"): lambda m, s: "c",
    ("System.add_spring", "stiffness"): lambda m, s: 10.0,
    ("System.add_joint", "a"): lambda m, s: "a",
    ("System.add_joint", "middle"): lambda m, s: "b",
    ("System.add_joint", "b"): lambda m, s: "c",
    ("System.particle", "name"): lambda m, s: "a",
    ("System.advance", "n_steps"): lambda m, s: 3,
    ("System.advance", "step"): lambda m, s: 1e-3,
    ("", "system"): lambda m, s: vc.particles.from_mechanism(m, s),
    ("particles.Contact", "link"): lambda m, s: "lower",
    ("particles.Contact", "radius"): lambda m, s: 0.1,
    ("particles.Law", "function"): lambda m, s: no_ground,
    ("particles.Law", "stiffness"): lambda m, s: 1e5,
    ("particles.Region", "ground"): lambda m, s: vc.particles.Hard(),
    ("particles.Terrain", "ground"): lambda m, s: vc.particles.Hard(),
    ("particles.resume", "trace"): lambda m, s: vc.particles.simulate(vc.particles.from_mechanism(m, s), 0.01),
    ("figures.place", "m"): lambda m, s: human()[0],
    ("figures.place", "s"): lambda m, s: human()[1],
    ("figures.take_posture", "s"): lambda m, s: human()[1],
    ("figures.compass_start", "m"): lambda m, s: vc.figures.compass_walker(),
    ("figures.compass_start", "step"): lambda m, s: (0.2, -0.3, -1.0, -0.3),
    ("figures.ground", "size"): lambda m, s: (10.0, 4.0),
    ("figures.arch", "segments"): lambda m, s: 10,
    ("figures.arch", "length"): lambda m, s: 0.005,
    ("figures.arch", "span"): lambda m, s: 0.03,
    ("figures.arch_up", "m"): lambda m, s: worm()[0],
    ("figures.arch_up", "s"): lambda m, s: worm()[1],
    ("figures.arch_up", "span"): lambda m, s: 0.03,
    ("figures.arch_up", "at"): lambda m, s: (0.0, 0.0),
    ("figures.inchworm", "color"): lambda m, s: None,
    ("mechanism.mechanism_from", "description"): lambda m, s: description(m),
    ("scenarios.scenario_from_text", "text"): lambda m, s: "scenario: pendulum",
    ("scenarios.summary", "scenario"): lambda m, s: "pendulum",
    ("scenarios.summary", "trace"): lambda m, s: scenarios.pendulum().run(0.02),
    ("scenarios.energy_drift", "trace"): lambda m, s: scenarios.pendulum().run(0.02),
    ("Scenario.run", "until"): lambda m, s: 0.02,
    ("Cut", "joint"): lambda m, s: "elbow",
    ("Distance", "length"): lambda m, s: 0.5,
    ("ConstantForce", "force"): lambda m, s: 0.5,
    ("FrictionCone", "friction"): lambda m, s: 0.5,
    ("LineForce", "function"): lambda m, s: math.hypot,
    ("LinkForces", "function"): lambda m, s: no_force,
    ("LinkForces", "links"): lambda m, s: ["lower"],
    ("with_joint_forces", "trace"): lambda m, s: vc.simulate(m, s, 0.01),
    ("acceleration", "a"): lambda m, s: np.zeros(2),
    ("set_pose", "m"): lambda m, s: (m.cut("shoulder", state=s), m)[1],
    ("set_pose", "link"): lambda m, s: "upper",
    ("set_pose", "to"): lambda m, s: vc.Pose(),
    ("view", "port"): lambda m, s: 0,
    ("resume", "trace"): lambda m, s: vc.simulate(m, s, 0.01),
    ("export", "size"): lambda m, s: (100, 100),
    ("Mechanism.couple", "joint"): lambda m, s: "elbow",
    ("rollout", "until"): lambda m, s: 0.02,
}


def worm():
    """An inchworm and a state of it."""
    m = vc.figures.inchworm()
    return m, m.state()


def no_ground(t, sunk, slid, out):
    """Ground that gives way to everything."""


def three_particles():
    """Three particles by hand, two of them on a spring."""
    system = vc.particles.System()
    for i, name in enumerate("abc"):
        system.add_particle(name, 1.0, (i, i * i, 0))
    system.add_spring("a", "b", 10.0)
    return system


def no_force(t, links):
    """Leave links alone."""


def entries():
    """Name -> (function, parameters); a method's first argument is an object of its class."""
    found = {}
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            is_error = inspect.isclass(value) and issubclass(value, BaseException | Warning)
            if callable(value) and not is_error and name not in RESULTS:
                prefix = "" if module is vc else module.__name__.rpartition(".")[2] + "."
                found[prefix + name] = value
    for name, methods in METHODS.items():
        for method in methods:
            home = {"System": vc.particles, "Scenario": scenarios}.get(name, vc)
            found[f"{name}.{method}"] = getattr(getattr(home, name), method)
    return found | OTHERS


def owner(name, m, s):
    """The object that a method belongs to."""
    makers = {
        "Mechanism": lambda: m,
        "State": lambda: s,
        "Batch": lambda: vc.Batch(m),
        "Motion": lambda: vc.Motion({"elbow": 0.5}),
        "TimeFunctions": lambda: vc.TimeFunctions({"elbow": 0.5}),
        "Trace": lambda: shows.show(0.2),
        "Recording": lambda: vc.load_recording(recording_file()),
        "SwingTwist": lambda: vc.SwingTwist(1.0),
        "Scenario": scenarios.pendulum,
        "System": three_particles,
        "AnimationSpace": lambda: vc.AnimationSpace(m, {"tip": vc.animation.point("tip")}),
    }
    return makers[name]()


EXTRA = {"use": {"forces": ()}}


def parameters(name, function):
    """Parameters of an entry that can be given by name or place, without `self`."""
    found = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    return [p for p in found if p.kind is not p.VAR_KEYWORD]


def called(name, function, parameter=None, value=None):
    """Call an entry with good arguments, but for one; returns the result."""
    good = Good(name)
    placed, named = [], dict(EXTRA.get(name, {}))
    if "self" in inspect.signature(function).parameters:
        placed.append(owner(name.partition(".")[0], good.mechanism, good.state))
    for p in parameters(name, function):
        is_bad = parameter is not None and p.name == parameter
        is_special = (name, p.name) in SPECIAL
        if p.kind is p.VAR_POSITIONAL:
            placed += [value] if is_bad else good[p.name]
        elif is_bad or is_special or p.default is p.empty:
            given = value if is_bad else good[p.name]
            if p.kind is p.POSITIONAL_ONLY or (p.default is p.empty and p.kind is not p.KEYWORD_ONLY):
                placed.append(given)
            else:
                named[p.name] = given
    return function(*placed, **named)


def closed(result):
    """Close what an entry has opened."""
    if hasattr(result, "close") and not isinstance(result, type):
        result.close()


KINDS = {
    "float": (NAN, "x", JUNK, 10**400, None, True, [1.0, 2.0, 3.0, 4.0]),
    "int": (NAN, "x", JUNK, 1.5, None, True),
    "str": (5, JUNK, None, NAN),
    "bool": ("no", JUNK, None, 2, NAN),
    "": (JUNK,),
}
_NUMBERS = (5, -1, 10**400, 10**5000, 1e300, -1e300, NAN, [NAN] * 3, True)
_ARRAYS = (np.array(NAN), np.zeros(0), np.array([None, 3]), np.zeros((2, 2, 2)), np.array(["x"]), [[1, 2], [3]])
_OTHERS = (5e-324, "\ud800", {1: 2}, frozenset([1]), range(3), Fraction(1, 3))
VALUES = (*_NUMBERS, None, "x", JUNK, [], {}, "a\0b", b"x", "/dev/zero/x", *_ARRAYS, *_OTHERS)


def refused_values(parameter):
    """Values that a parameter must refuse, by its annotation."""
    text = str(parameter.annotation)
    text = re.sub(r"Annotated\[(\w+),.*?\)\]", r"\1", text)
    text = re.sub(r"\b(Positive|NonNegative|Duration)\b", "float", text)
    alternatives = {part.strip() for part in text.split("|")}
    if "Any" in text or text.endswith("_empty'>"):
        return ()
    kind = next((kind for kind in ("float", "int", "str", "bool") if alternatives <= {kind, "None"}), "")
    return [x for x in KINDS[kind] if x is not None or not ("None" in text or parameter.default is None)]
