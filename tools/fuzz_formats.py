"""Feed mutated robot files to the readers, and report anything but a mechanism or a named error within a second.

    python tools/fuzz_formats.py 10000 [seed]

Files are those of example-robot-data, reachy-mini and gymnasium. What loads must also pass `check` and have a finite
mass matrix.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from importlib import metadata
from pathlib import Path

import numpy as np

import varichain as vc

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from mutations import mutated  # type: ignore[import-not-found]

MOST_SECONDS = 1.0
LARGEST = 200_000  # bytes: larger originals only take longer
SOURCES = (
    ("example-robot-data", (".urdf", ".sdf"), ""),
    ("gymnasium", (".xml",), "mujoco/assets"),
)


def main(n: int, seed: int) -> int:
    """Run n mutations; returns the number of faults."""
    originals = [path for source in SOURCES for path in _files(*source)]
    rng = np.random.default_rng(seed)
    attempt(originals[0])  # what is compiled or loaded once is not the file's fault
    attempt(originals[-1])
    outcomes: Counter[str] = Counter()
    slowest, faults = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(n):
            original = originals[int(rng.integers(len(originals)))]
            data = original.read_bytes()
            for _ in range(int(rng.integers(1, 3))):
                data = mutated(rng, data) or b" "
            path = Path(folder) / f"mutant{original.suffix}"
            path.write_bytes(data)
            start = time.perf_counter()
            outcome = attempt(path)
            seconds = time.perf_counter() - start
            slowest = max(slowest, seconds)
            outcomes[outcome.partition(":")[0]] += 1
            if outcome.startswith("fault") or seconds > MOST_SECONDS:
                faults += 1
                kept = Path(tempfile.gettempdir()) / f"mutant-{i}{original.suffix}"
                kept.write_bytes(data)
                print(f"{outcome[:300]} in {seconds:.2f} s, from {original.name}, kept as {kept}")
    print(f"{n} mutations: {dict(outcomes)}, slowest {slowest:.2f} s, {faults} faults")
    return faults


def attempt(path: Path) -> str:
    """What became of one file."""
    try:
        m = vc.load(path, strict=False)
        vc.check(m)
        if m.n_v and not np.isfinite(_mass_matrix(m)).all():
            return "fault: mass matrix is not finite"
    except vc.FormatError:
        return "refused"
    except vc.SingularMassError:
        return "loaded, massless"
    except Exception as error:
        return f"fault: {type(error).__name__}: {error}"
    return "loaded"


def _mass_matrix(m: vc.Mechanism) -> np.ndarray:
    return m.prepare().mass_matrix(m.state().q, np.empty((m.n_v, m.n_v)))


def _files(package: str, endings: tuple[str, ...], part: str) -> list[Path]:
    files = metadata.files(package) or []
    paths = {Path(str(file.locate())) for file in files if str(file).endswith(endings) and part in str(file)}
    return sorted(path for path in paths if path.stat().st_size < LARGEST)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:3]]
    raise SystemExit(main(*(given + [1000, 0][len(given) :])) > 0)
