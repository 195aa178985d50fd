"""Mechanisms as pure structure: links, joints, inertias, shapes. No dynamics, numpy only."""

from varichain.mechanism.breaks import Breaks
from varichain.mechanism.check import check
from varichain.mechanism.contact import ContactPoint, HalfSpace, Surface
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.describe import description, mechanism_from
from varichain.mechanism.force_elements import ConstantForce, LineForce, SpringDamper, TorsionSpring
from varichain.mechanism.frames import Frame
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import JOINT_TYPES, Joint, Primitive
from varichain.mechanism.joints import (
    Cylindrical,
    Fixed,
    Free,
    PinInSlot,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from varichain.mechanism.limits import SwingTwist
from varichain.mechanism.link import Link
from varichain.mechanism.log import Edit, LogEntry, StructureLog, as_dict, entry_from, log_from
from varichain.mechanism.loop_joints import Distance, PointInPlane, PointOnLine
from varichain.mechanism.loop_rows import LoopGeometry
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere

__all__ = [
    "JOINT_TYPES",
    "Box",
    "Breaks",
    "Capsule",
    "ConstantForce",
    "ContactPoint",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Distance",
    "Edit",
    "Ellipsoid",
    "Fixed",
    "Frame",
    "Free",
    "HalfSpace",
    "HeightField",
    "Inertia",
    "Joint",
    "LineForce",
    "Link",
    "LogEntry",
    "LoopGeometry",
    "Mechanism",
    "Mesh",
    "PinInSlot",
    "Planar",
    "PointInPlane",
    "PointOnLine",
    "Primitive",
    "Prismatic",
    "Revolute",
    "Screw",
    "Shape",
    "Sphere",
    "Spherical",
    "SpringDamper",
    "StructureLog",
    "Surface",
    "SwingTwist",
    "TorsionSpring",
    "Universal",
    "as_dict",
    "check",
    "description",
    "entry_from",
    "log_from",
    "mechanism_from",
]
