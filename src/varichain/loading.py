"""Loading robots from files, with a look at their loops."""

from __future__ import annotations

import os
from collections.abc import Mapping

from varichain import formats
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import flag


def load(
    path: str | os.PathLike[str],
    *,
    base: str = "fixed",
    strict: bool = True,
    loops: str | os.PathLike[str] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    keep_locked: bool = False,
    contacts: bool = False,
) -> Mechanism:
    """Mechanism of a robot file: URDF, SDF or MJCF, distinguished by the root element.

    Mimic joints become couplings; loops (MJCF equalities, SDF graphs, URDF <loop_joint> and closing_ frames, and a file
    ROBOT.loops.yaml next to it) become virtual links. `m.source.notes` says what was left out, repaired or assumed.
    The file cannot reach anything but meshes and includes in its own folders.

    Args:
        path: The file. One that ends in .xacro is expanded first, which runs its expressions: trust it.
        base: Of URDF: whether the root link is "fixed" to the world or "free". SDF and MJCF say so themselves.
        strict: Whether an inertia that no body has is an error; otherwise it is repaired, with a note.
        loops: File with loops and couplings; by default `path` with the ending .loops.yaml, if it is there.
        packages: Folders that package:// and model:// names mean.
        keep_locked: Whether linkages stay as they are that are nearly planar, and that a ball joint locks for that;
            otherwise they are made planar, with a note.
        contacts: Of MJCF and SDF: whether shapes that collide become contact shapes of their links, and those of the
            world surfaces, with the coefficients of friction of the file, and of SDF those of restitution.

    Raises:
        FormatError: The file cannot be read whole; with file and line.
        MissingExtraError: MJCF needs the extra "mjcf", xacro the extra "xacro".
    """
    flag(keep_locked, "keep_locked")
    m = formats.load(path, base=base, strict=strict, loops=loops, packages=packages, contacts=contacts)
    if m.virtual_links and not keep_locked:
        from varichain.dynamics.nearly_planar import loosen_locked_loops

        for note in loosen_locked_loops(m):
            m.source.note(note)
        m.log.forget()
    return m
