"""Cost against size, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from varichain.bench.contenders import CONSTRAINED, FORWARD, INVERSE
from varichain.bench.mechanisms import FAMILIES, size_of
from varichain.bench.rows import Row
from varichain.errors import InputError, MissingExtraError

_PANELS = (
    (INVERSE, "chain", "links"),
    (FORWARD, "chain", "links"),
    (CONSTRAINED, "pinned chain", "links"),
    (CONSTRAINED, "ladder", "loops"),
)
_MARKS = {"varichain": "o-", "Pinocchio": "s--", "MuJoCo": "^--", "Drake": "v--"}


def check_plot() -> None:
    """Raise MissingExtraError if matplotlib is not installed."""
    if not find_spec("matplotlib"):
        raise MissingExtraError("plots need matplotlib: pip install 'varichain[plot]'")


def plot_growth(rows: Sequence[Row], path: Path) -> None:
    """Draw the time of each library against the size of chains and ladders, both logarithmic, to a file.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: No row belongs to a chain or ladder, or the file's kind is unknown.
    """
    check_plot()
    import matplotlib

    matplotlib.use("Agg")
    # files that are small, and the same for the same rows
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "varichain"}
    from matplotlib import pyplot

    panels = {panel: curves(rows, *panel[:2]) for panel in _PANELS}
    if not any(panels.values()):
        raise InputError("nothing to plot: measure chains or ladders, such as --only chain")
    figure, axes = pyplot.subplots(1, len(_PANELS), figsize=(4 * len(_PANELS), 4), layout="constrained")
    for axis, ((task, family, unit), found) in zip(axes, panels.items(), strict=True):
        _draw(axis, found)
        axis.set(title=f"{task},\n{family}", xlabel=unit, ylabel="time per call [us]")
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except (ValueError, OSError) as error:
        raise InputError(f"{path} cannot be written: {error}") from None
    finally:
        pyplot.close(figure)


def curves(rows: Sequence[Row], task: str, family: str) -> dict[str, list[tuple[int, float]]]:
    """Sizes and times [s] of every library for a task on a family."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.task == task and row.mechanism in FAMILIES[family]:
            size = size_of(row.mechanism)
            found.setdefault("varichain", {})[size] = row.ours
            if row.theirs is not None:
                found.setdefault(row.library, {})[size] = row.theirs
    return {library: sorted(times.items()) for library, times in found.items()}


def _draw(axis: Any, found: dict[str, list[tuple[int, float]]]) -> None:
    for library, points in found.items():
        sizes, times = zip(*points, strict=True)
        axis.loglog(sizes, [1e6 * seconds for seconds in times], _MARKS[library], label=library)
    if found:
        axis.legend()
    axis.grid(alpha=0.3, which="both")
