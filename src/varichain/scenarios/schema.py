"""The schema of scenario files: what may stand where, and in which units."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from varichain.errors import InputError
from varichain.mechanism import Joint
from varichain.mechanism.joint_text import examples, joint_from_plain
from varichain.scenarios.units import Quantity, quantity
from varichain.spatial.checks import shown

_JOINTS = examples()
_FIELDS = "{kind: spring-damper, stiffness: 200, damping: 5, length: 0.3}"


def _joint(value: Any) -> Joint:
    """A joint, or the joint of a text or of a mapping."""
    return value if isinstance(value, Joint) else joint_from_plain(value)


def _number(*dimensions: str, above: float | None = None, at_least: float | None = None) -> BeforeValidator:
    """Reads a quantity as a number in SI units."""

    def read(value: Any) -> float:
        number = quantity(value, *dimensions).value
        if above is not None and not number > above:
            raise InputError(f"must be greater than {above:g}, not {shown(value)}")
        if at_least is not None and not number >= at_least:
            raise InputError(f"must be at least {at_least:g}, not {shown(value)}")
        return number

    return BeforeValidator(read)


def _triple(*dimensions: str) -> BeforeValidator:
    """Reads three quantities."""

    def read(value: Any) -> tuple[float, ...]:
        if not isinstance(value, list) or len(value) != 3:
            raise InputError(f"must be three numbers [x, y, z], not {shown(value)}")
        return tuple(quantity(entry, *dimensions).value for entry in value)

    return BeforeValidator(read)


Triple = tuple[float, float, float]
Duration = Annotated[float, _number("time", above=0.0)]
Instant = Annotated[float, _number("time", at_least=0.0)]
Length = Annotated[float, _number("length", above=0.0)]
Arm = Annotated[float, _number("length", at_least=0.0)]
Gains = Annotated[Any, BeforeValidator(lambda value: _gains(value))]
Torque = Annotated[float, _number("moment", "force", at_least=0.0)]
Tolerance = Annotated[float, _number("ratio", above=0.0)]
Threshold = Annotated[Any, BeforeValidator(quantity)]
Coordinates = Annotated[Any, BeforeValidator(lambda value: _coordinates(value))]
Point = Annotated[Triple, _triple("length")]
ForceVector = Annotated[Triple, _triple("force")]
MomentVector = Annotated[Triple, _triple("moment")]
ImpulseVector = Annotated[Triple, _triple("impulse")]
AngularImpulse = Annotated[Triple, _triple("angular impulse")]
JointText = Annotated[Any, BeforeValidator(_joint)]
# YAML reads `off` as false
Limits = Annotated[Literal["hard", "soft", "off"], BeforeValidator(lambda value: "off" if value is False else value)]
Text = Annotated[str, Field(min_length=1, strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Friction = Annotated[float, _number("ratio", at_least=0.0)]
Angles = Annotated[Triple, _triple("angle")]
Contacts = Annotated[
    Literal["exact", "stepping", "off"], BeforeValidator(lambda value: "off" if value is False else value)
]
ShapeKind = Literal["half-space", "box", "sphere", "capsule", "cylinder", "ellipsoid", "point", "height-field"]
Heights = Annotated[Any, BeforeValidator(lambda value: _heights(value))]


def _heights(value: Any) -> list[list[float]]:
    """Rows of lengths."""
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise InputError(f"must be rows of lengths, [[...], [...]], not {shown(value)}")
    return [[quantity(entry, "length").value for entry in row] for row in value]


def _gains(value: Any) -> float | dict[str, float]:
    """One gain, or gains by joint."""
    return {str(name): _gain(entry) for name, entry in value.items()} if isinstance(value, dict) else _gain(value)


def _gain(value: Any) -> float:
    number = quantity(value, "stiffness", "linear stiffness", "damping", "linear damping").value
    if number < 0.0:
        raise InputError(f"must be at least 0, not {shown(value)}")
    return number


def _coordinates(value: Any) -> Quantity | tuple[Quantity, ...]:
    """One coordinate, or three: a rotation vector."""
    if not isinstance(value, list):
        return quantity(value, "angle", "length")
    if len(value) != 3:
        raise InputError(f"must be one coordinate, or three of a rotation vector, not {shown(value)}")
    return tuple(quantity(entry, "angle") for entry in value)


class Part(BaseModel):
    """A mapping with known keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def one_of(part: Part, *names: str) -> None:
    """Check that exactly one of some keys is given."""
    given = [name for name in names if getattr(part, name) is not None]
    if len(given) != 1:
        found = f"both {' and '.join(given)}" if given else "none of them"
        raise InputError(f"needs exactly one of the keys {', '.join(names)}; it has {found}")


class When(Part):
    """A condition on the motion; the event happens when the value passes the threshold."""

    joint: Text | None = Field(None, description="Joint of one coordinate, whose coordinate is compared.")
    height_of: Text | None = Field(None, description="Link or frame whose height z is compared.")
    force_in: Text | None = Field(None, description="Joint whose force [N] is compared; only with `above`.")
    above: Threshold | None = Field(None, description="Happens when the value rises above this.")
    below: Threshold | None = Field(None, description="Happens when the value falls below this.")

    @model_validator(mode="after")
    def _check(self) -> When:
        one_of(self, "joint", "height_of", "force_in")
        one_of(self, "above", "below")
        if self.force_in is not None and self.above is None:
            raise InputError("force_in needs `above`: a load counts when it rises beyond a threshold")
        return self


class Connection(Part):
    """A connection to be made where the two ends are at that instant."""

    a: Text = Field(description="Link or frame.")
    b: Text = Field(description="The other link or frame, or ground.")
    joint: JointText = Field(description=f"Kind and axes: {_JOINTS}; or kind and fields: {_FIELDS}.")
    at: Point | None = Field(None, description="Joint frame in a's frame; its origin by default.")
    at_other: Point | None = Field(None, description="Joint frame in b's frame; where it is now by default.")
    name: Text | None = Field(None, description="Name of the new joint.")
    snap: Length | None = Field(None, description="Gap that may be closed by moving the links.")


class Impulse(Part):
    """An impulse on a link."""

    link: Text = Field(description="Link that is pushed.")
    impulse: ImpulseVector = Field((0.0, 0.0, 0.0), description="Impulse [N s].")
    angular: AngularImpulse = Field((0.0, 0.0, 0.0), description="Additional angular impulse [N m s].")
    at: Point = Field((0.0, 0.0, 0.0), description="Point of the link, in its frame.")
    axes: Literal["world", "local"] = Field("world", description="Axes of both impulses.")


class Action(Part):
    """What an event does: exactly one of the keys."""

    cut: Text | None = Field(None, description="Joint to be cut.")
    connect: Connection | None = Field(None, description="Connection to be made.")
    push: Impulse | None = Field(None, description="Impulse on a link.")
    stop: Text | None = Field(None, description="Ends the run; the reason, in words.")

    @model_validator(mode="after")
    def _check(self) -> Action:
        one_of(self, "cut", "connect", "push", "stop")
        return self


class Event(Part):
    """Something that happens: `at` a time or `when` a condition holds."""

    at: Instant | None = Field(None, description="Time.")
    when: When | None = Field(None, description="Condition.")
    do: Annotated[list[Action], BeforeValidator(lambda value: [value] if isinstance(value, dict) else value)] = Field(
        min_length=1, description="One action, or a list of actions that are one change."
    )
    once: Flag = Field(True, description="Whether a condition counts the first time only.")
    name: Text | None = Field(None, description="Name, for the trace.")

    @model_validator(mode="after")
    def _check(self) -> Event:
        one_of(self, "at", "when")
        if self.at is not None and not self.once:
            raise InputError("once: false is for events with `when`; a time comes once")
        return self


class Pd(Part):
    """Torques towards a pose: stiffness (target - q) - damping v."""

    target: dict[str, Coordinates] = Field(min_length=1, description="Coordinates by joint; balls: rotation vectors.")
    stiffness: Gains = Field(description="One for all joints, or by joint.")
    damping: Gains = Field(description="One for all joints, or by joint.")
    largest: Torque | None = Field(None, description="Bound of the torque of a freedom.")


class Controller(Part):
    """What drives the joints."""

    pd: Pd = Field(description="Proportional-derivative control.")


class Load(Part):
    """A constant force on a link."""

    link: Text = Field(description="Link that the force acts on.")
    force: ForceVector = Field((0.0, 0.0, 0.0), description="Force [N].")
    moment: MomentVector = Field((0.0, 0.0, 0.0), description="Additional moment [N m].")
    at: Point = Field((0.0, 0.0, 0.0), description="Point of the link, in its frame.")
    axes: Literal["world", "local"] = Field("world", description="Axes of force and moment.")


SIZES: dict[str, tuple[str, ...]] = {
    "half-space": (),
    "box": ("size",),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "cylinder": ("radius", "length"),
    "ellipsoid": ("radii",),
    "point": (),
    "height-field": ("heights", "spacing"),
}
"""Keys that say how large a shape is, by its kind."""


class TouchingShape(Part):
    """A shape that touches or is touched; its kind says which of the sizes it has."""

    kind: ShapeKind = Field(description="What it is; the z axis of a half-space points out of it.")
    at: Point = Field((0.0, 0.0, 0.0), description="Its place in the link's frame.")
    rpy: Angles = Field((0.0, 0.0, 0.0), description="Roll, pitch and yaw of its axes in the link's frame.")
    size: Point | None = Field(None, description="Edges of a box.")
    radius: Length | None = Field(None, description="Of a sphere, capsule or cylinder.")
    length: Length | None = Field(None, description="Of a capsule between its end balls, or of a cylinder; along z.")
    radii: Point | None = Field(None, description="Half axes of an ellipsoid.")
    heights: Heights | None = Field(None, description="Of a height field: rows along y, one for each x.")
    spacing: Length | None = Field(None, description="Of a height field: from point to point, along x and y.")

    @model_validator(mode="after")
    def _check(self) -> TouchingShape:
        wanted = SIZES[self.kind]
        for name in ("size", "radius", "length", "radii", "heights", "spacing"):
            if (getattr(self, name) is not None) != (name in wanted):
                found = f"a {self.kind} {'needs' if name in wanted else 'has no'} {name!r}"
                raise InputError(f"{found}; its sizes: {', '.join(wanted) or '(none)'}")
        return self


Shapes = Annotated[
    list[TouchingShape],
    BeforeValidator(lambda value: [value] if isinstance(value, dict) else value),
]


class TouchedSurface(Part):
    """A surface that links may touch."""

    name: Text = Field(description="Its name.")
    link: Text = Field("ground", description="Link that it is fixed to.")
    shapes: Shapes | None = Field(
        None,
        description="Its shapes: half-spaces, boxes, spheres, capsules, cylinders, height fields; else the link's.",
    )
    friction: Friction | None = Field(None, description="Coefficient of friction; 0.8 by default.")
    restitution: Friction | None = Field(None, description="Part of the closing velocity that turns round, 0 to 1.")
    torsional: Arm | None = Field(None, description="Largest moment about the normal per normal force; 0 by default.")
    rolling: Arm | None = Field(None, description="Largest moment against rolling per normal force; 0 by default.")
    touched_by: list[Text] | None = Field(
        None, description="Links that may touch it; else all but the link's neighbours."
    )


class ScenarioFile(Part):
    """The complete file."""

    scenario: Text = Field(description="Name of the scenario to start from.")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Parameters of that scenario.")
    until: Duration | None = Field(None, description="When the run ends.")
    method: Literal["euler", "rk4", "rk45", "gbs", "implicit"] | None = Field(
        None, description="Method of integration."
    )
    step: Duration | None = Field(None, description="Grid of time.")
    sample: Duration | None = Field(None, description="Time between stored samples, a multiple of `step`.")
    tolerance: Tolerance | None = Field(None, description="Error allowed in a step of rk45 and gbs.")
    limits: Limits | None = Field(None, description="What joint limits do.")
    contacts: Contacts | None = Field(None, description="How links touch surfaces, if at all.")
    surfaces: list[TouchedSurface] = Field(
        default_factory=list, description="What links may touch, besides the scenario's own surfaces."
    )
    contact_shapes: dict[str, Shapes] = Field(
        default_factory=dict, description="What links touch with, by link, in place of their own shapes."
    )
    without: list[Literal["events", "controller", "motion", "forces"]] = Field(
        default_factory=list, description="Parts of the scenario that are left out."
    )
    events: list[Event] = Field(default_factory=list, description="Events, in addition to the scenario's own.")
    controller: Controller | None = Field(None, description="Acts in addition to the scenario's own.")
    forces: list[Load] = Field(default_factory=list, description="Act in addition to the scenario's own.")


PARTS: tuple[type[Part], ...] = (
    ScenarioFile,
    Event,
    When,
    Action,
    Connection,
    Impulse,
    Controller,
    Pd,
    Load,
    TouchedSurface,
    TouchingShape,
)
"""All models, the whole file first."""

WORDS: tuple[tuple[Any, str], ...] = (
    (Duration, "time"),
    (Instant, "time"),
    (Length, "length"),
    (Arm, "length"),
    (Heights, "list of lists of lengths"),
    (Gains, "number, or number by joint"),
    (Torque, "moment or force"),
    (Tolerance, "number"),
    (Threshold, "angle, length or force"),
    (Coordinates, "angle or length, or three angles"),
    (Point, "three lengths"),
    (ForceVector, "three forces"),
    (MomentVector, "three moments"),
    (ImpulseVector, "three impulses"),
    (AngularImpulse, "three angular impulses"),
    (JointText, "joint"),
    (Limits, "hard, soft, off"),
    (Contacts, "exact, stepping, off"),
    (Friction, "number"),
    (Angles, "three angles"),
    (Shapes, "list of [TouchingShape](#touchingshape)"),
    (Text, "text"),
    (Flag, "true or false"),
    (Any, "value"),
)
"""What the kinds of values are called in the documents."""
