"""Films: MP4 through ffmpeg, which comes with imageio-ffmpeg, and GIF through Pillow."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from varichain.errors import InputError, MissingExtraError, quoted
from varichain.exports.look import Look
from varichain.exports.picture import Painter
from varichain.scene import Playback

Progress = Callable[[int, int], None]


def write_mp4(
    playback: Playback, path: str, size: tuple[int, int], progress: Progress, look: Look
) -> tuple[int, Sequence[str]]:
    """Write all frames as H.264; returns their number, and notes.

    Raises:
        MissingExtraError: pyvista or imageio-ffmpeg is not installed.
        InputError: A size that no film has.
    """
    width, height = _even(size)
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingExtraError("films need the package imageio-ffmpeg: pip install 'varichain[video]'") from None
    painter = Painter(playback, (width, height), look)
    # the file's name does not say what it is until it is complete: hence -f
    film = imageio_ffmpeg.write_frames(
        path, (width, height), fps=playback.fps, quality=7, macro_block_size=2, output_params=["-f", "mp4"]
    )
    film.send(None)
    try:
        for i in range(len(playback)):
            _send(film, painter.image(i).tobytes())
            progress(i + 1, len(playback))
    finally:
        film.close()
        painter.close()
    _require_end(path)
    return len(playback), playback.notes


def _send(film: Any, frame: bytes) -> None:
    try:
        film.send(frame)
    except OSError as error:  # its message is ffmpeg's command line
        raise OSError("ffmpeg ended before the film did; is the disk full?") from error


def _require_end(path: str) -> None:
    """Raise OSError if the boxes that an MP4 file is made of end beyond it, or the last one is missing.

    How ffmpeg ended is not reported, and disks are full at times.
    """
    size, place, kinds = os.path.getsize(path), 0, list[bytes]()
    with open(path, "rb") as file:
        while place < size:
            file.seek(place)
            head = file.read(16)
            length, kind = int.from_bytes(head[:4], "big"), head[4:8]
            if length == 1:  # of a box beyond 4 GB
                length = int.from_bytes(head[8:], "big")
            kinds.append(kind)
            place += max(length, 8)
    if place != size or b"moov" not in kinds:
        raise OSError("ffmpeg left it without its end; is the disk full?")


def write_gif(
    playback: Playback, path: str, size: tuple[int, int], progress: Progress, look: Look
) -> tuple[int, Sequence[str]]:
    """Write all frames as a GIF of 256 colours that repeats itself; returns their number, and notes.

    Raises:
        MissingExtraError: pyvista or Pillow is not installed.
        InputError: A size that no film has.
    """
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("films need the package pillow: pip install 'varichain[video]'") from None
    painter = Painter(playback, _even(size), look)
    frames: list[Any] = []
    try:
        for i in range(len(playback)):
            picture = Image.fromarray(painter.image(i))
            # keeps rare colours; a median cut would make thin links as grey as the ground
            frames.append(picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE))
            progress(i + 1, len(playback))
    finally:
        painter.close()
    hundredths = max(2, round(100.0 / playback.fps))  # a GIF counts in these, and viewers take less than two for ten
    frames[0].save(path, format="GIF", save_all=True, append_images=frames[1:], duration=10 * hundredths, loop=0)
    return len(playback), playback.notes


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """Width and height, which H.264 wants even."""
    is_fine = len(size) == 2 and all(isinstance(number, int) and 64 <= number <= 7680 for number in size)
    if not is_fine:
        raise InputError(
            f"size must be width and height of the film, whole numbers from 64 to 7680, not {quoted(size)}"
        )
    return size[0] - size[0] % 2, size[1] - size[1] % 2
