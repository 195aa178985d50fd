"""Sweeps as files of YAML, checked by pydantic."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from varichain.errors import FormatError, InputError
from varichain.files import bytes_of, file_name

_LARGEST = 2**20  # bytes
_MOST_LEVELS = 10**6


class Range(BaseModel):
    """Levels at even distances."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    start: float = Field(alias="from")
    end: float = Field(alias="to")
    levels: int = Field(ge=2, le=_MOST_LEVELS)


class SweepFile(BaseModel):
    """A sweep, as a file says it."""

    model_config = ConfigDict(extra="forbid")
    trial: str
    grid: dict[str, Range | list[int | float | str | bool]]
    repeats: int = 1
    seed: int = 0
    common_noise: bool = False
    out: str | None = None
    timeout: float | None = None
    retries: int = 2
    processes: int | None = None

    def arguments(self) -> dict[str, Any]:
        """Arguments of `vc.sweep`."""
        grid = {
            name: np.linspace(values.start, values.end, values.levels).tolist() if isinstance(values, Range) else values
            for name, values in self.grid.items()
        }
        return self.model_dump(exclude={"grid"}) | {"grid": grid}


def read_sweep(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Arguments of `vc.sweep` from a file; `out` is beside the file, with its name, unless the file says another.

    Raises:
        FormatError: It is not valid YAML, has a field that sweeps do not have, or a value that cannot be.
    """
    import yaml

    name = file_name(path)
    try:
        content = yaml.safe_load(bytes_of(name, _LARGEST).decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{name!r} is not valid YAML: {error}", name) from error
    try:
        found = SweepFile.model_validate(content).arguments()
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}" for fault in error.errors()
        )
        raise FormatError(f"{name!r}: {faults}", name) from None
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name!r}: {error}") from None
    beside = os.path.splitext(name)[0] + ".sweep"
    return found | {"out": beside if found["out"] is None else os.path.join(os.path.dirname(name), found["out"])}
