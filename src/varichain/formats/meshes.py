"""Names of mesh files as references into folders that the caller allows; no mesh is opened here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from varichain.errors import FormatError

_SCHEMES = ("package://", "model://")


class MeshFolders:
    """Where a robot file may refer to.

    Relative names are looked for from the file's folder, and may go one folder up: `../meshes` is the common layout.
    package://name/... and model://name/... mean the folder of `packages` with that name, or else a folder above the
    file that has that name.
    """

    def __init__(self, path: Path, packages: Mapping[str, str | os.PathLike[str]] | None = None) -> None:
        """Note the folders."""
        self._path = path
        self._folder = path.parent.resolve()
        self._packages = {name: Path(folder).resolve() for name, folder in (packages or {}).items()}

    def reference(self, name: str, line: int | None, folder: str = "") -> tuple[str | None, str]:
        """What a mesh's name refers to: an absolute path, or the name itself if nothing is there; and a remark.

        None if it must not be kept at all: it belongs to another scheme than the file system's, or to another computer.

        Raises:
            FormatError: The name leads out of the allowed folders.
        """
        for scheme in _SCHEMES:
            if name.startswith(scheme):
                package, _, rest = name[len(scheme) :].partition("/")
                root = self._packages.get(package) or self._above(package)
                if root is None:
                    if ".." in Path(rest).parts:
                        raise self._leads_out(name, line, f"package {package!r}")
                    return name, f"package {package!r} is not known: give packages={{{package!r}: folder}}"
                return self._found(root, rest, name, line)
        if "://" in name and not name.startswith("file://"):
            return None, f"{name.partition('://')[0]}:// is not fetched"
        plain = name.removeprefix("file://")
        if os.path.isabs(plain) and not Path(os.path.realpath(plain)).is_relative_to(self._folder.parent):
            return None, "absolute, from another computer's folders"
        return self._found(self._folder.parent, os.path.join(self._folder, folder, plain), name, line)

    def _above(self, package: str) -> Path | None:
        return next((folder for folder in self._folder.parents if folder.name == package), None) if package else None

    def _found(self, root: Path, rest: str, name: str, line: int | None) -> tuple[str, str]:
        target = self._inside(root, rest, name, line)
        return str(target), "" if os.path.exists(target) else "no such file"

    def _inside(self, root: Path, rest: str, name: str, line: int | None) -> Path:
        """The file, which must lie inside the root; links to elsewhere count as elsewhere."""
        try:
            target = Path(os.path.realpath(os.path.join(root, rest)))
        except (OSError, ValueError):  # too long, or with a null character
            raise FormatError(f"mesh name {name[:80]!r} is not a file name", str(self._path), line) from None
        if not target.is_relative_to(root):
            raise self._leads_out(name, line, str(root))
        return target

    def _leads_out(self, name: str, line: int | None, where: str) -> FormatError:
        message = f"mesh {name[:80]!r} leads out of {where}; name its folder in packages=..., or correct the file"
        return FormatError(message, str(self._path), line)
