"""Saving mechanisms to files that `load` and other tools read."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from varichain.errors import FileError, InputError, quoted
from varichain.files import check_free, completed, file_name, unwritable
from varichain.formats import write_mjcf, write_urdf
from varichain.formats.mesh_copies import MeshCopies
from varichain.formats.source import Note
from varichain.formats.write_sidecar import fields_record, loop_record
from varichain.formats.write_xml import text
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Free
from varichain.mechanism.mechanism import RANK_TOLERANCE, Mechanism

ENDINGS = (".urdf", ".xml", ".mjcf")
_GRAVITY = (0.0, 0.0, -9.81)


def save(m: Mechanism, path: str | os.PathLike[str], *, overwrite: bool = False) -> list[Note]:
    """Write a mechanism as URDF (.urdf) or MJCF (.xml, .mjcf); `load` reads the same mechanism back.

    Loops and fields of joints that the format has no words for go into a file with the ending .loops.yaml next to it,
    which `load` reads by itself. Mesh files stay where they are if `load` finds them there, beside the file or one
    folder up; others are copied into a folder with the ending .meshes next to it. Each file appears under its name when
    it is complete; meshes come first, then the file of loops.

    Args:
        m: Mechanism.
        path: File to write; its folder must exist.
        overwrite: Whether an old file and its file of loops may be replaced; the latter is removed if there are no
            loops.

    Returns:
        Notes on what could not be written: meshes that are not there, loads at which joints break, surfaces.

    Raises:
        InputError: The format has no such joints, or the ending is another.
        FileError: There is such a file already, or it cannot be written.
    """
    if not isinstance(m, Mechanism):
        raise InputError(f"expected a Mechanism, not {type(m).__name__}")
    file = Path(os.path.abspath(file_name(path)))
    if file.suffix.lower() not in ENDINGS:
        raise InputError(f"path must end in one of {', '.join(ENDINGS)}, not {quoted(file.suffix)}")
    notes = [
        Note(f"loads at which joint {joint.name!r} breaks are not written")
        for joint in m.joints
        if joint.breaks is not None
    ]
    if m.surfaces:
        notes.append(Note("surfaces and contact shapes are not written: the formats' contact is another one"))
    meshes = MeshCopies(file, notes)
    if file.suffix.lower() == ".urdf":
        root, extra = write_urdf.urdf_from(m, meshes), _extra(m, is_urdf=True)
    else:
        root, extra = write_mjcf.mjcf_from(m, meshes, notes), _extra(m, is_urdf=False)
    sidecar = file.with_suffix(".loops.yaml")
    for name in (file, sidecar):
        check_free(str(name), overwrite, FileError)
    meshes.write(overwrite)
    with completed(str(file), overwrite, FileError) as robot:
        Path(robot).write_text(text(root), encoding="utf-8")
        if extra:
            _write_sidecar(extra, str(sidecar), overwrite)
    if not extra:
        _remove(sidecar)
    return notes


def _write_sidecar(extra: dict[str, Any], path: str, overwrite: bool) -> None:
    import yaml

    with completed(path, overwrite, FileError) as temporary:
        content = yaml.safe_dump(extra, sort_keys=False, allow_unicode=True, width=120)
        Path(temporary).write_text(content, encoding="utf-8")


def _remove(sidecar: Path) -> None:
    try:
        sidecar.unlink(missing_ok=True)
    except OSError as fault:
        raise unwritable(str(sidecar), fault, FileError) from fault


def _extra(m: Mechanism, is_urdf: bool) -> dict[str, Any]:
    """What goes into the file of loops."""
    extra: dict[str, Any] = {}
    if is_urdf and tuple(m.gravity.tolist()) != _GRAVITY:
        extra["gravity"] = m.gravity.tolist()
    if m.rank_tolerance != RANK_TOLERANCE:
        extra["rank_tolerance"] = m.rank_tolerance
    loops = [
        loop_record(link)
        for link in m.virtual_links
        if link.joint is not None and (is_urdf or not write_mjcf.is_native_loop(link.joint))
    ]
    if loops:
        extra["loops"] = loops
    joints = _joint_records(m, is_urdf)
    if joints:
        extra["joints"] = joints
    names = [
        {"name": coupling.name, "joint": coupling.joint}
        for coupling in m.couplings
        if is_urdf and coupling.name != f"{coupling.joint} follows {coupling.to}"
    ]
    if names:
        extra["names_of_couplings"] = names
    return extra


def _joint_records(m: Mechanism, is_urdf: bool) -> list[dict[str, Any]]:
    followers = {coupling.joint for coupling in m.couplings}
    has_motors = any(joint.actuated and joint.n_v == 1 for joint in m.joints)
    records = []
    for link in m.links:
        joint = link.joint
        assert joint is not None
        written = (write_urdf.WRITTEN if is_urdf else write_mjcf.WRITTEN) if joint.n_v == 1 else ("name",)
        record = fields_record(joint, (*written, "actuated"))
        if joint.limits is not None and joint.n_v == 1 and not _stores_limits(joint, is_urdf):
            record |= fields_record(joint, tuple(key for key in (*written, "actuated") if key != "limits"))
        expected = joint.n_v > 0 and not isinstance(joint, Free) and str(joint.name) not in followers
        if not is_urdf:
            expected = bool(joint.actuated) if joint.n_v == 1 and has_motors else expected and not has_motors
        if joint.n_v and bool(joint.actuated) != expected:
            record["actuated"] = bool(joint.actuated)
        if not is_urdf and joint.n_v == 0 and joint.name != link.name:
            record["link"] = link.name
        if record:
            records.append({"name": joint.name, **record})
    return records


def _stores_limits(joint: Joint, is_urdf: bool) -> bool:
    """Whether the format can store the limits of a hinge or slider."""
    return all(abs(side[0]) < math.inf for side in joint.limits) if is_urdf else write_mjcf.stores_limits(joint)
