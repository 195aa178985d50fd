"""Mechanisms as pure structure: links, joints, inertias, shapes. No dynamics, numpy only."""

from varichain.mechanism.breaks import Breaks
from varichain.mechanism.check import check
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.describe import description, mechanism_from
from varichain.mechanism.frames import Frame
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint, Primitive
from varichain.mechanism.joints import (
    JOINT_TYPES,
    Cylindrical,
    Fixed,
    Free,
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
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere

__all__ = [
    "JOINT_TYPES",
    "Box",
    "Breaks",
    "Capsule",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Edit",
    "Ellipsoid",
    "Fixed",
    "Frame",
    "Free",
    "Inertia",
    "Joint",
    "Link",
    "LogEntry",
    "Mechanism",
    "Mesh",
    "Planar",
    "Primitive",
    "Prismatic",
    "Revolute",
    "Screw",
    "Shape",
    "Sphere",
    "Spherical",
    "StructureLog",
    "SwingTwist",
    "Universal",
    "as_dict",
    "check",
    "description",
    "entry_from",
    "log_from",
    "mechanism_from",
]
