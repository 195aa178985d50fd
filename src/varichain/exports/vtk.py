"""VTK by pyvista: an extra, and one that warns where there is no screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from varichain.errors import MissingExtraError


def require_pyvista() -> Any:
    """The package.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import pyvista
    except ImportError:
        needed = "films need the packages pyvista and imageio-ffmpeg: pip install 'varichain[video]'"
        raise MissingExtraError(needed) from None
    return pyvista


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep VTK from warning that there is no screen; it finds another way to draw, and still reports errors."""
    from vtkmodules.vtkCommonCore import vtkLogger

    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    try:
        yield
    finally:
        vtkLogger.SetStderrVerbosity(before)
