"""Equalities of MJCF files: connect and weld close loops, joint equalities couple."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varichain.formats.description import Description, JointEntry, MimicEntry
from varichain.mechanism.joints import Fixed, Spherical
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.formats.mjcf import Names

_CONNECT, _WELD, _JOINT = 0, 1, 2
_SITE = 6  # mjtObj
_KINDS = {3: "tendon", 4: "flex", 5: "flex vertex", 6: "flex strain"}


def read_equalities(description: Description, model: Any, names: Names) -> None:
    """Enter all equalities that are active at the start.

    Raises:
        FormatError: One that ties tendons or soft bodies, or a joint by a polynomial of higher order.
    """
    for e in range(model.neq):
        name, line, kind = names.of("equality", e), names.line("equality", e), int(model.eq_type[e])
        if not model.eq_active0[e]:
            description.source.note(f"equality {name!r} is not active at the start: left out", line)
            continue
        with description.located(line):
            if kind in (_CONNECT, _WELD):
                _close(description, model, names, e, free_name(description, name), kind == _WELD, line)
            elif kind == _JOINT:
                _couple(description, model, names, e, name, line)
            else:
                raise description.error(
                    f"equality {name!r} ties a {_KINDS.get(kind, kind)}, which is not supported", line
                )


def _close(
    description: Description, model: Any, names: Names, e: int, name: str, is_weld: bool, line: int | None
) -> None:
    """A loop between two bodies, or two sites: a ball joint at a point, or a weld."""
    data = np.asarray(model.eq_data[e], dtype=float)
    first, second = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    if int(model.eq_objtype[e]) == _SITE:
        on = [Pose(model.site_pos[site], quaternion=model.site_quat[site]) for site in (first, second)]
        first, second = int(model.site_bodyid[first]), int(model.site_bodyid[second])
    elif is_weld:  # relpose is body 2 in body 1; the anchor is a point of body 2
        on = [Pose(data[3:6], quaternion=data[6:10]) @ Pose(data[:3]), Pose(data[:3])]
    else:
        on = [Pose(data[:3]), Pose(data[3:6])]
    joint = Fixed(name=name) if is_weld else Spherical(name=name)
    links = names.link(first), names.link(second)
    # body 2 carries the virtual copy, unless it is the world
    description.add_joint(JointEntry(joint, links[1], links[0], on[1], on[0], line, closes=True))


def _couple(description: Description, model: Any, names: Names, e: int, name: str, line: int | None) -> None:
    c = [float(x) for x in model.eq_data[e][:5]]
    joint, other = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    if other < 0:
        raise description.error(
            f"equality {name!r} keeps joint {names.of('joint', joint)!r} at a constant: make it a weld, or the joint a "
            "fixed one",
            line,
        )
    if any(c[2:]):
        raise description.error(
            f"equality {name!r} is a polynomial of order {max(i for i in range(5) if c[i])}, not linear", line
        )
    entry = MimicEntry(
        names.of("joint", joint), names.of("joint", other), c[1], c[0], line, free_name(description, name)
    )
    description.mimics.append(entry)


def free_name(description: Description, name: str) -> str:
    """The name, or one like it that no joint has."""
    while name in description.joints:
        name += " equality"
    return name
