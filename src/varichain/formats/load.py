"""Loading robots from files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from varichain.errors import FormatError, InputError, MissingExtraError, VarichainError, quoted
from varichain.files import file_name
from varichain.formats.build import build_mechanism
from varichain.formats.description import Description
from varichain.formats.inertias import refuse_improper
from varichain.formats.meshes import MeshFolders
from varichain.formats.sdf import read_sdf
from varichain.formats.sidecar import read_sidecar
from varichain.formats.urdf import read_urdf
from varichain.formats.xacro import expanded
from varichain.formats.xml import Element, parse, read_bytes
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import flag, mapping

BASES = ("fixed", "free")
_WITH_CONTACTS = ("mujoco", "sdf")


def load(
    path: str | os.PathLike[str],
    *,
    base: str = "fixed",
    strict: bool = True,
    loops: str | os.PathLike[str] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    contacts: bool = False,
) -> Mechanism:
    """Mechanism of a robot file, as the file says; see `varichain.loading`, which looks at its loops too.

    Raises:
        FormatError: The file cannot be read whole; with file and line.
        MissingExtraError: MJCF needs the extra "mjcf", xacro the extra "xacro".
    """
    if not isinstance(base, str) or base not in BASES:
        raise InputError(f"base must be one of {', '.join(map(repr, BASES))}, not {quoted(base)}")
    flag(strict, "strict")
    flag(contacts, "contacts")
    file = Path(os.path.abspath(file_name(path)))
    packages = {
        name: file_name(folder, "a folder of packages") for name, folder in mapping(packages, "packages").items()
    }
    try:
        description = _read(file, base, strict, packages, contacts)
        refuse_improper(description)
        sidecar = _sidecar(file, loops)
        if sidecar is not None:
            read_sidecar(description, sidecar)
        return build_mechanism(description)
    except (FormatError, MissingExtraError):
        raise
    except VarichainError as error:  # a number that is fine in the format and in no mechanism
        raise FormatError(str(error), str(file)) from error
    except RecursionError:
        raise FormatError("is nested too deeply", str(file)) from None


def _read(
    file: Path, base: str, strict: bool, packages: Mapping[str, str | os.PathLike[str]] | None, contacts: bool
) -> Description:
    data = expanded(file) if file.suffix == ".xacro" else read_bytes(file)
    root = parse(data, str(file))
    folders = MeshFolders(file, packages)
    if contacts and root.tag not in _WITH_CONTACTS:
        raise root.error(
            "contacts=True is for MJCF and SDF; m.add_floor and m.set_contact_shapes say it for other files"
        )
    if root.tag == "robot":
        return read_urdf(root, file, folders, base, strict)
    if root.tag == "sdf":
        return read_sdf(root, file, folders, strict, contacts)
    if root.tag == "mujoco":
        from varichain.formats.mjcf import read_mjcf

        return read_mjcf(root, file, strict, contacts)
    raise _unknown(root)


def _sidecar(file: Path, given: str | os.PathLike[str] | None) -> Path | None:
    if given is not None:
        return Path(os.path.abspath(file_name(given, "loops")))
    beside = file.with_suffix(".loops.yaml")
    return beside if beside.is_file() else None


def _unknown(root: Element) -> FormatError:
    return root.error("is not supported as root element; expected <robot> (URDF), <sdf> (SDF) or <mujoco> (MJCF)")
