"""Tendons of MJCF files: springs and dampers between two sites are force elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varichain.formats.description import Description, JointEntry
from varichain.formats.mjcf_equalities import free_name
from varichain.mechanism.force_elements import SpringDamper
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.formats.mjcf import Names

_SITE = 3  # mjtWrap


def read_tendons(description: Description, model: Any, names: Names) -> None:
    """Enter tendons that are straight lines between two sites; the others are left out, with a note."""
    for t in range(model.ntendon):
        name, line = names.of("tendon", t), names.line("tendon", t)
        sites, why = _ends(model, t)
        if why:
            description.source.note(f"tendon {name!r} is left out: {why}", line)
            continue
        with description.located(line):
            spring, remarks = _spring(model, t, free_name(description, name))
        for remark in remarks:
            description.source.note(f"tendon {name!r}: {remark}", line)
        if spring is None:
            continue
        on = [Pose(model.site_pos[site], quaternion=model.site_quat[site]) for site in sites]
        links = [names.link(int(model.site_bodyid[site])) for site in sites]
        if links[0] == links[1]:
            description.source.note(f"tendon {name!r} is left out: both its sites are on {links[0]!r}", line)
            continue
        description.add_joint(JointEntry(spring, links[1], links[0], on[1], on[0], line, closes=True))


def _ends(model: Any, t: int) -> tuple[list[int], str]:
    """The two sites of a tendon, or why it has none."""
    first, n = int(model.tendon_adr[t]), int(model.tendon_num[t])
    kinds = [int(kind) for kind in model.wrap_type[first : first + n]]
    if any(kind != _SITE for kind in kinds):
        return [], "it is a combination of joints, or runs over pulleys or shapes"
    if n != 2:
        return [], f"it runs through {n} sites, not two"
    return [int(site) for site in model.wrap_objid[first : first + n]], ""


def _spring(model: Any, t: int, name: str) -> tuple[SpringDamper | None, list[str]]:
    """Spring and damper of a tendon, None if it has neither; and what of it is not represented."""
    stiffness, damping = (float(np.ravel(array[t])[0]) for array in (model.tendon_stiffness, model.tendon_damping))
    remarks = []
    if model.tendon_limited[t]:
        remarks.append("its range is not represented")
    if float(model.tendon_frictionloss[t]):
        remarks.append("its dry friction is not represented")
    if float(np.ravel(getattr(model, "tendon_armature", np.zeros(model.ntendon))[t])[0]):
        remarks.append("its armature is not represented")
    if stiffness == 0.0 and damping == 0.0:
        return None, [*remarks, "it has neither spring nor damper: left out"]
    shortest, longest = (float(x) for x in model.tendon_lengthspring[t])
    slack = longest > shortest
    if slack and shortest > 0.0:
        remarks.append(f"its spring rests from {shortest:g} to {longest:g} m; here it is slack below {longest:g} m")
    if slack and damping:
        remarks.append("its damper acts while the spring is stretched alone")
    return SpringDamper(stiffness=stiffness, damping=damping, length=longest, slack=slack, name=name), remarks
