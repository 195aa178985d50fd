"""One function for all files that others can look at: the suffix says what is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path as FilePath
from typing import Any

from varichain.errors import InputError
from varichain.exports.look import Look, look_from
from varichain.files import Path, check_free, completed, file_name
from varichain.scene import Playback
from varichain.spatial.checks import is_index, is_sequence, listed, positive_scalar, shown
from varichain.trace import Trace

Progress = Callable[[int, int], None]

_SIZE = (960, 540)


@dataclass(frozen=True)
class Options:
    """How an export is made: see `export`."""

    fps: float | None
    speed: float
    size: tuple[int, int]
    trails: tuple[str, ...]
    progress: Progress
    look: Look

    def playback(self, trace: Trace, usual: float, most: int | None = None) -> Playback:
        """Frames at the wanted rate, or else at the usual one of the format."""
        return Playback(
            trace, usual if self.fps is None else self.fps, self.speed, self.trails, most, by_points=self.look.cones
        )


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        path: The file.
        n_frames: Number of frames, or of samples in a table.
        size: Bytes.
        notes: What could not be exported, in sentences.
    """

    path: str
    n_frames: int
    size: int
    notes: tuple[str, ...] = field(default=())


def export(
    trace: Trace,
    path: Path,
    *,
    fps: float | None = None,
    speed: float = 1.0,
    size: tuple[int, int] = _SIZE,
    trails: Sequence[str] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
    **look: Any,
) -> Exported:
    """Write a trace to a file for other programs; it appears under its name when it is complete.

    | suffix | what it is | needs |
    | --- | --- | --- |
    | .html | a page with a player in it, for any browser, without a network | |
    | .mp4, .gif | a film | extra `video` |
    | .glb | an animation for Blender, game engines, viewers: glTF 2.0 | |
    | .bvh | an animation of one figure's joints | |
    | .csv, .json, .parquet | numbers of all samples | extra `parquet` for the last |

    Args:
        trace: The trace.
        path: The file.
        fps: Frames per second [1/s]: 60 in pages, 30 in films and animations, 15 in a GIF by default.
        speed: Simulated seconds in a second of film or page.
        size: Width and height of a film [pixels]; glTF's camera has their ratio.
        trails: Links or named frames whose paths are drawn, in pages and films.
        overwrite: Whether a file of that name may be replaced.
        progress: Called with the number of frames done and of all, in between.
        look: Attributes of `Look`: camera, zoom, background, colors, labels, forces, joints, ground, title, cones.

    Returns:
        What was written; `notes` names the options that the format has no place for.

    Raises:
        InputError: An unknown suffix, no samples, or a mechanism that the format has no place for.
        MissingExtraError: A package is not installed; the message says which.
        TraceFileError: The file exists already, or cannot be written.
    """
    name = file_name(path)
    writer = _writer(name)
    if not isinstance(trace, Trace):
        raise InputError(f"expected a Trace, not {type(trace).__name__}; Trace.load reads one from a file")
    if not len(trace):
        raise InputError("the trace has no samples: there is nothing to export")
    check_free(name, overwrite)
    rate = None if fps is None else positive_scalar(fps, "fps")
    width, height = _checked_size(size)
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of two numbers, not {shown(progress)}")
    names, report = listed(trails, str, "trails"), progress or (lambda done, n: None)
    options = Options(rate, positive_scalar(speed, "speed"), (width, height), names, report, look_from(look))
    with completed(name, overwrite) as temporary:
        n_frames, notes = writer(trace, temporary, options)
    notes = (*_without_place(name, {*look, *_given(fps, speed, size, names)}), *notes)
    lost = (f"part of the trace is lost, the rest was exported: {trace.damage}",) if trace.damage else ()
    return Exported(name, n_frames, os.path.getsize(name), (*lost, *notes))


_LOOKS = {item.name for item in fields(Look)}
_FILM = {"fps", "speed", "size", "trails", *_LOOKS}
_TAKEN: dict[str, set[str]] = {
    ".html": _FILM - {"size"},
    ".mp4": _FILM,
    ".gif": _FILM,
    ".glb": {"fps", "speed", "size", "camera", "zoom", "colors", "forces", "joints"},
    ".bvh": {"fps", "speed"},
}
"""Options that a format has a place for; tables have none."""


def _given(fps: Any, speed: Any, size: Any, trails: Sequence[str]) -> set[str]:
    """Options that are not as they are by default."""
    values = {"fps": fps is not None, "speed": speed != 1.0, "size": tuple(size) != _SIZE, "trails": bool(trails)}
    return {name for name, is_given in values.items() if is_given}


def _without_place(name: str, given: set[str]) -> Sequence[str]:
    """A note on the options that a format has no place for."""
    suffix = FilePath(name).suffix.lower()
    lost = sorted(given - _TAKEN.get(suffix, set()))
    return (f"{suffix} files have no place for {', '.join(lost)}: left out",) if lost else ()


def _checked_size(size: Any) -> tuple[int, int]:
    """Width and height; a film has limits of its own."""
    if not is_sequence(size) or len(size) != 2 or not all(is_index(n, 2**31) for n in size):
        raise InputError(f"size must be width and height of the film, whole numbers from 64 to 7680, not {shown(size)}")
    return int(size[0]), int(size[1])


Writer = Callable[[Trace, str, Options], tuple[int, Sequence[str]]]


def _page(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    from varichain.exports.page import page_of

    playback = options.playback(trace, 60.0, most=36_000)
    FilePath(path).write_text(page_of(playback, options.look), encoding="utf-8", errors="backslashreplace")
    return len(playback), playback.notes


def _film(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    from varichain.exports.film import write_mp4

    return write_mp4(options.playback(trace, 30.0), path, options.size, options.progress, options.look)


def _gif(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    from varichain.exports.film import write_gif

    return write_gif(options.playback(trace, 15.0), path, options.size, options.progress, options.look)


def _glb(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    from varichain.exports.gltf import glb_of

    playback = options.playback(trace, 30.0)
    FilePath(path).write_bytes(glb_of(playback, options.look, options.size))
    return len(playback), playback.notes


def _bvh(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    from varichain.exports.bvh import bvh_of

    text, n_frames, notes = bvh_of(trace, options.fps or 30.0, options.speed)
    FilePath(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    return n_frames, notes


def _csv(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    trace.to_csv(path, overwrite=True)
    return len(trace), ()


def _parquet(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    trace.to_parquet(path, overwrite=True)
    return len(trace), ()


def _json(trace: Trace, path: str, options: Options) -> tuple[int, Sequence[str]]:
    from varichain.exports.plain import write_json

    write_json(trace, path)
    return len(trace), ()


WRITERS: dict[str, Writer] = {
    ".html": _page,
    ".mp4": _film,
    ".gif": _gif,
    ".glb": _glb,
    ".bvh": _bvh,
    ".csv": _csv,
    ".json": _json,
    ".parquet": _parquet,
}


def _writer(name: Any) -> Writer:
    suffix = FilePath(name).suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f"{name!r} must end with {', '.join(WRITERS)}: the suffix says what is written")
    return WRITERS[suffix]
