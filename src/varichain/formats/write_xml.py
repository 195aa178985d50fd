"""XML to be written: elements with attributes, numbers in full."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray


@dataclass
class XmlNode:
    """An element to be written."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[XmlNode] = field(default_factory=list)

    def add(self, tag: str, **attributes: str) -> XmlNode:
        """Append a child; a trailing underscore in an attribute's name is left out."""
        child = XmlNode(tag, {key.rstrip("_"): value for key, value in attributes.items()})
        self.children.append(child)
        return child

    def lines(self, indent: str = "") -> Iterable[str]:
        """The element as lines; a loop, since chains may be longer than the recursion limit."""
        waiting: list[tuple[XmlNode | str, str]] = [(self, indent)]
        while waiting:
            node, indent = waiting.pop()
            if isinstance(node, str):
                yield node
                continue
            head = " ".join([node.tag, *(f"{key}={quoteattr(value)}" for key, value in node.attributes.items())])
            if not node.children:
                yield f"{indent}<{head}/>"
                continue
            yield f"{indent}<{head}>"
            waiting.append((f"{indent}</{node.tag}>", indent))
            waiting += [(child, indent + "  ") for child in reversed(node.children)]


def text(root: XmlNode) -> str:
    """The whole file."""
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *root.lines(), ""])


def numbers(*values: float) -> str:
    """Numbers that read back as they are."""
    return " ".join(repr(float(value)) for value in values)


def rpy(R: NDArray[np.float64]) -> tuple[float, float, float]:
    """Roll, pitch, yaw [rad] of a rotation matrix, about the fixed axes x, y, z."""
    pitch, yaw = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0])), math.atan2(R[1, 0], R[0, 0])
    # the roll that is left after the yaw: exact also where the pitch is a right angle, and the yaw is anything
    sine, cosine = math.sin(yaw), math.cos(yaw)
    roll = math.atan2(sine * R[0, 2] - cosine * R[1, 2], cosine * R[1, 1] - sine * R[0, 1])
    return roll, pitch, yaw
