"""A figure that sits down on a chair, and stands up again [PFB: human sitting on a chair]."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

import varichain as vc
from varichain import figures
from varichain.mechanism import Fixed, Mechanism, Spherical
from varichain.scenarios.parameters import Duration, Positive, checked
from varichain.scenarios.reach import course_to
from varichain.scenarios.scenario import Scenario
from varichain.scenarios.sitter import Sitter, add_contacts
from varichain.scenarios.sitting import SIDES, Way
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.animation import Watch
    from varichain.layout.state import State
    from varichain.motion import Motion

_KNOTS = 25  # configurations between standing and sitting
_BEFORE, _SITTING, _AFTER = 0.3, 1.0, 0.7  # [s] of rest: standing, on the chair, standing again
_LATE = 6  # power of the way by which the centre of mass goes to the chair: the feet bear it nearly to the end
_ELBOW = 0.3  # [rad] that elbows are bent
_SINK = 0.02  # part of its height by which the pelvis of a figure on bent knees is lower
_FIRST_STEPS, _STEPS = 8, 3  # of Newton, at the first knot and at each other one
_IMPORTANCE = {"center": 1.0, "gaze": 0.1, "posture": 0.03}
_BEHIND = (
    0.05  # [m] that the middle of the seat is behind the thighs' undersides, by contact: calves are not in its way
)
_STIFFNESS, _DAMPING = 400.0, 40.0  # of the feedback about the planned motion [1/s^2, 1/s]


@checked
def chair(
    *, height: Positive = 1.75, mass: Positive = 70.0, duration: Duration = 2.0, contact: bool = False
) -> Scenario:
    """A figure of 40 joint freedoms sits down on a chair, rests, and stands up, by the torques of its joints.

    The way down is planned in animation space: soles stay where they are, the pelvis goes to the seat, the centre of
    mass stays above the feet as long as they bear alone, the gaze stays level. Soles are fixed to the floor; on the
    chair both thighs are tied to the seat by ball joints. N_J = 46, 52, 46, and N_F = 34, 28, 34.

    With `contact` nothing is connected: floor and seat bear soles and thighs by contact with friction, and could let
    the figure fall. It leans forward until it is on the seat, then back, see `sitting`. N_J = N_F = 46.

    Args:
        height: Of the figure [m].
        mass: Of the figure [kg].
        duration: Of sitting down, and of standing up [s].
        contact: Whether floor and seat bear the figure by contact rather than by connections.
    """
    m = figures.human40(height, mass, name="chair")
    if contact:
        return _by_contact(m, duration)
    figures.ground(m, size=(1.8, 1.2))
    seated = m.state()
    figures.place(m, seated, "sitting", "seat")
    figures.chair(m, height=-float(vc.pose(m, seated, "left sole").p[2]))
    seated = m.state()
    figures.place(m, seated, "sitting", "seat", vc.pose(m, seated, "chair seat"))
    way = _way(m, seated)
    sits, rises = _BEFORE + duration, _BEFORE + duration + _SITTING
    motion = _motion(way, duration, rises)
    s = way[0].copy()
    for side in SIDES:
        m.connect(f"{side} sole", "floor", Fixed(), state=s, name=f"{side} stance")
    ties = [vc.connect(f"{side} seat", "chair", Spherical(), name=f"{side} seat") for side in SIDES]
    events = (
        vc.at(sits + 0.1, *ties, name="the thighs are on the seat"),
        vc.at(rises, *(vc.cut(f"{side} seat") for side in SIDES), name="it stands up"),
    )
    controllers = [vc.ComputedTorque(motion, _STIFFNESS, _DAMPING), _watch(m, way, duration, rises)]
    settings = {"method": "rk45", "step": 1e-2, "control_step": 1e-2, "tolerance": 1e-7}
    return Scenario("chair", m, s, rises + duration + _AFTER, events, controllers, settings=settings)


def _by_contact(m: Mechanism, pace: float) -> Scenario:
    """The figure on a chair that is where its way leads it."""
    way = Way(m, pace)
    x, _, height = way.seat.tolist()
    figures.ground(m, size=(1.8, 1.2))
    figures.chair(m, height=height, at=(x - _BEHIND, 0.0, 0.0))
    add_contacts(m)
    s = m.state()
    s.q = way.start.q
    above = min(vc.clearances(m, s).values())  # what the plan leaves: some 1e-5 m
    s["pelvis"].position = s["pelvis"].position - (0.0, 0.0, above)
    settings = {"contacts": "stepping", "step": 1e-3, "sample": 1e-2, "control_step": 2e-3}
    return Scenario("chair", m, s, way.end, controller=Sitter(m, way), settings=settings)


def _way(m: Mechanism, seated: State) -> list[State]:
    """Configurations from standing to sitting with the soles in their places, planned in animation space."""
    soles = [vc.pose(m, seated, f"{side} sole") for side in SIDES]
    s = m.state()
    figures.place(m, s, "standing", "sole", Pose(0.5 * (soles[0].p + soles[1].p)))
    space = _space(m, soles)
    for state in (s, seated):
        for side in SIDES:
            state[f"{side} elbow"].q = _ELBOW  # away from the end of its range
    handle = vc.animation.PreparedSpace(space, _IMPORTANCE)
    start, end, course = space.value(s), space.value(seated), _courses(space)
    way: list[State] = []
    start[space.slices["pelvis"]][2] -= _SINK * float(start[space.slices["pelvis"]][2])
    for side in SIDES:
        s[f"{side} knee"].q = _ELBOW  # so that it can bend: a straight leg does not know where to
    for part in course_to(np.zeros(1), np.ones(1), 1.0)(np.linspace(0.0, 1.0, _KNOTS))[:, 0]:
        handle.target[:] = start + course(part) * (end - start)
        for _ in range(_STEPS if way else _FIRST_STEPS):
            s = s.integrate(handle.approach(s.q))
        way.append(s)
    return way


def _space(m: Mechanism, soles: list[Pose]) -> vc.AnimationSpace:
    """What sitting down is about."""
    an = vc.animation
    flat = [
        an.rotation(f"{side} sole", seen_from=vc.Frame("ground", sole)) for side, sole in zip(SIDES, soles, strict=True)
    ]
    functions = {
        "left sole": an.point("left sole"),
        "right sole": an.point("right sole"),
        "flat": an.stack(flat),
        "pelvis": an.point("pelvis"),
        "center": an.center_of_mass()[:2],
        "gaze": an.direction("head", "x")[2],
        "posture": an.posture(m, [str(joint.name) for joint in m.joints if joint.n_v and joint.kind != "free"]),
    }
    return vc.AnimationSpace(m, functions)


def _courses(space: vc.AnimationSpace) -> Callable[[float], Array]:
    """How much of its way each number has gone at a part of the whole: the centre of mass follows late."""
    late = np.zeros(len(space), dtype=bool)
    late[space.slices["center"]] = True
    return lambda part: np.where(late, part**_LATE, part)


def _motion(way: list[State], pace: float, rises: float) -> Motion:
    """Motion of all joints, the root among them: down the way, at rest on the chair, up again, and at rest."""
    down = _BEFORE + np.linspace(0.0, pace, _KNOTS)
    up = rises + np.linspace(0.0, pace, _KNOTS)
    rests = [
        np.linspace(0.0, _BEFORE, 4),
        np.linspace(down[-1], rises, 6),
        up[-1] + np.array([0.0, 0.1, 0.3, 1.0, 100.0]),
    ]
    times = np.concatenate([rests[0][:-1], down, rests[1][1:-1], up, rests[2][1:]])
    knots = [*[0] * 3, *range(_KNOTS), *[_KNOTS - 1] * 4, *reversed(range(_KNOTS)), *[0] * 4]
    samples = {}
    for slot in way[0].layout.slots:
        if slot.coordinates:
            q = np.array([way[i].q[slot.q] for i in knots])
            samples[slot.name] = q if slot.has_quaternion else q[:, 0]
    return vc.Motion.sampled(times, samples, ends="clamped")


def _watch(m: Mechanism, way: list[State], pace: float, rises: float) -> Watch:
    """Pelvis and centre of mass, with their courses, for the trace."""
    from scipy.interpolate import PchipInterpolator

    an = vc.animation
    functions = {"pelvis": an.point("pelvis"), "center": an.center_of_mass()}
    space = vc.AnimationSpace(m, functions)
    u = np.array([space.value(s) for s in way])
    down = _BEFORE + np.linspace(0.0, pace, _KNOTS)
    times = np.r_[0.0, down, rises + np.linspace(0.0, pace, _KNOTS), rises + pace + 100.0]
    u = np.concatenate([u[:1], u, u[::-1], u[:1]])
    return an.Watch(space, {name: PchipInterpolator(times, u[:, space.slices[name]]) for name in functions})
