"""Mesh files of a mechanism that is saved: named where they can be found again, copied beside the file where not."""

from __future__ import annotations

import filecmp
import os
import shutil
from pathlib import Path

from varichain.errors import FileError
from varichain.files import check_free, completed, unwritable
from varichain.formats.source import Note
from varichain.mechanism.shapes import Mesh

_REFERRING = (".obj", ".dae", ".gltf")


class MeshCopies:
    """Names of meshes as seen from a robot file, and the copies that this takes, in a folder named after the file."""

    def __init__(self, file: Path, notes: list[Note]) -> None:
        """Copy nothing yet."""
        self._base = file.parent.resolve()
        self._folder = f"{file.stem}.meshes"
        self._notes = notes
        self._copies: dict[str, str] = {}  # name in the folder by the file's own

    def name(self, mesh: Mesh) -> str | None:
        """Name of a mesh for the robot file; None, with a note, if there is no such file or it may not be opened."""
        path = str(mesh.path)
        if "://" in path:
            return path
        refusal = mesh.refusal()
        if refusal:
            self._notes.append(Note(f"mesh {path!r} is left out: {refusal}"))
            return None
        real = os.path.realpath(path)
        if Path(real).is_relative_to(self._base.parent):  # where `load` looks for meshes
            return os.path.relpath(real, self._base)
        if real not in self._copies:
            self._copies[real] = self._free_name(os.path.basename(real))
            if real.lower().endswith(_REFERRING):
                self._notes.append(Note(f"mesh {path!r} is copied without files that it may name, such as textures"))
        return f"{self._folder}/{self._copies[real]}"

    def _free_name(self, name: str) -> str:
        stem, ending = os.path.splitext(name)
        number = 2
        while name.lower() in (taken.lower() for taken in self._copies.values()):
            name, number = f"{stem}-{number}{ending}", number + 1
        return name

    def write(self, overwrite: bool) -> None:
        """Copy the files; those that are there already with the same content stay.

        Raises:
            FileError: There is another file of that name, or it cannot be written.
        """
        folder = self._base / self._folder
        try:
            if self._copies:
                folder.mkdir(exist_ok=True)
        except OSError as fault:
            raise unwritable(str(folder), fault, FileError) from fault
        for real, name in self._copies.items():
            target = str(folder / name)
            if os.path.isfile(target) and filecmp.cmp(real, target, shallow=False):
                continue
            check_free(target, overwrite, FileError)
            with completed(target, overwrite, FileError) as temporary:
                shutil.copyfile(real, temporary)
