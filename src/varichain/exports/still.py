"""Stills: one configuration of a mechanism as a picture."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath

import numpy as np

from varichain.errors import InputError, MissingExtraError
from varichain.exports.look import Look
from varichain.files import Path, check_free, completed, file_name
from varichain.mechanism import Mechanism, description
from varichain.scene import Playback
from varichain.spatial.arrays import Array
from varichain.spatial.checks import is_index, is_sequence, shown
from varichain.trace import Columns, Trace, TraceWriter

SUFFIXES = (".png", ".svg")


@dataclass(frozen=True, eq=False, repr=False)
class Still:
    """A picture of a mechanism in one configuration; a notebook shows it.

    Attributes:
        playback: Its one frame.
        size: Width and height [pixels].
        look: Camera, colours and so on.
    """

    playback: Playback
    size: tuple[int, int]
    look: Look

    @cached_property
    def png(self) -> bytes:
        """The picture, shaded, as a PNG file.

        Raises:
            MissingExtraError: The packages of the extra `video` are not installed.
        """
        from varichain.exports.picture import Painter

        try:
            from PIL import Image
        except ImportError:
            raise MissingExtraError("PNG files need the package pillow: pip install 'varichain[video]'") from None
        twice = (2 * self.size[0], 2 * self.size[1])  # drawn larger and made smaller: smooth edges
        painter = Painter(self.playback, twice, self.look)
        try:
            picture = Image.fromarray(painter.image(0)).resize(self.size, Image.Resampling.LANCZOS)
        finally:
            painter.close()
        buffer = io.BytesIO()
        picture.save(buffer, "PNG", optimize=True)
        return buffer.getvalue()

    @cached_property
    def svg(self) -> str:
        """The picture in outlines, as an SVG file; of a planar mechanism its plane, unless a camera is chosen."""
        from varichain.exports.svg import planar_view, svg_of

        plane = planar_view(self.playback) if self.look.camera == "corner" else None
        flat = self.look if plane is None else replace(self.look, camera=plane, ground=False)
        return svg_of(self.playback, self.size, flat)

    def save(self, path: Path, overwrite: bool = False) -> None:
        """Write a PNG or an SVG file, by its suffix; it appears under its name when it is complete.

        Raises:
            InputError: Another suffix.
            TraceFileError: The file exists already, or cannot be written.
        """
        name = file_name(path)
        suffix = FilePath(name).suffix.lower()
        if suffix not in SUFFIXES:
            raise InputError(f"{name!r} must end with {' or '.join(SUFFIXES)}: the suffix says what is drawn")
        check_free(name, overwrite)
        content = self.png if suffix == ".png" else self.svg.encode()
        with completed(name, overwrite) as temporary:
            FilePath(temporary).write_bytes(content)

    def __repr__(self) -> str:
        """Name and size."""
        return f"<Still of {self.playback.scenes[0].mechanism.name!r}, {self.size[0]} x {self.size[1]}>"

    def _repr_html_(self) -> str:
        return self.svg


def still_of(
    m: Mechanism,
    q: Array,
    size: tuple[int, int],
    look: Look,
    loop_forces: Mapping[str, Array] | None = None,
    aims: Mapping[str, Array] | None = None,
) -> Still:
    """The picture of a mechanism with coordinates q (n_q,).

    It has wrenches [moment; force] of loops by name, and points with their targets (2, 3) [m] by name.
    """
    wrenches = [np.zeros(6)] * len(m.virtual_links)
    if loop_forces is not None:
        wrenches = [np.asarray(loop_forces[str(link.joint and link.joint.name)]) for link in m.virtual_links]
    aims = {} if aims is None else aims
    labels = [f"{name}[{i}]" for name in aims for i in range(3)]
    both = np.array(list(aims.values())).reshape(-1, 2, 3)
    blocks = [("time", 1), ("q", len(q)), ("loop_forces", 6 * len(wrenches))]
    blocks += [("tracked", len(labels)), ("targets", len(labels))] if aims else []
    columns = Columns(blocks, {"tracked": labels, "targets": labels} if aims else None)
    with TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(description(m), columns)
        writer.append(np.concatenate([[0.0], q, *wrenches, both[:, 0].ravel(), both[:, 1].ravel()])[None])
        trace = writer.finish()
    return still_of_trace(trace, 0.0, size, look)


def still_of_trace(trace: Trace, time: float, size: tuple[int, int], look: Look) -> Still:
    """The picture of a trace at a time [s]: with forces of loops and contacts, footprints, and tracked points."""
    is_pair = is_sequence(size) and len(size) == 2 and all(is_index(number, 7681) for number in size)
    if not is_pair or min(size) < 64:
        text = shown(size)
        raise InputError(f"size must be width and height of the picture, whole numbers from 64 to 7680, not {text}")
    playback = Playback(trace, at=time, by_points=look.cones)
    look.check(playback.parts)
    return Still(playback, size, look)
