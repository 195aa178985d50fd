"""Xacro files, expanded by the package xacrodoc.

Xacro is a programming language: its expressions are evaluated, and it includes files from anywhere. Only a file whose
name ends in .xacro is expanded, for only its user can know whether to trust it.
"""

from __future__ import annotations

from pathlib import Path

from varichain.errors import FormatError, MissingExtraError
from varichain.formats.xml import read_bytes


def expanded(path: Path) -> bytes:
    """URDF text of a xacro file.

    Raises:
        MissingExtraError: xacrodoc is not installed.
        FormatError: The file cannot be expanded.
    """
    try:
        from xacrodoc import XacroDoc
    except ImportError:
        raise MissingExtraError("xacro files need the package xacrodoc: pip install 'varichain[xacro]'") from None
    read_bytes(path)
    try:
        text: str = XacroDoc.from_file(str(path), resolve_packages=False).to_urdf_string()
    except Exception as error:  # xacro raises what the file's own expressions raise
        raise FormatError(f"xacro cannot expand it: {type(error).__name__}: {error}", str(path)) from None
    return text.encode()
