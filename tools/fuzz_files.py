"""Feed mutated files of all kinds to their readers; report all but answers and named errors.

    python tools/fuzz_files.py 10000 [seed] [trace|scenario|loops|recording ...]

Traces are mutated frame by frame, with right checksums, so that the readers believe them; what loads is also exported.
A fault is an error that is not of the house, more than two seconds, or more memory than five times the file and 200 MB.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import varichain as vc
from varichain.trace.file import TraceFile
from varichain.trace.frames import frame
from varichain.trace.records import text_of
from varichain.trace.scan import Scan

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import shows  # type: ignore[import-not-found]
from mutations import mutated  # type: ignore[import-not-found]

MOST_SECONDS, MOST_MEMORY, PER_BYTE = 2.0, 200e6, 5.0
WORDS: tuple[Any, ...] = (
    "",
    None,
    -1,
    2**63,
    2**64,
    1e300,
    True,
    [],
    {},
    "x" * 5000,
    "\ud800",
    "/etc/passwd",
    10**400,
    "<digits>",
    [[]] * 99,
)
LENGTHS = (0, 1, 7, 2**16, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
Frames = list[tuple[bytes, int, bytes]]
ROBOT = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
LOOPS = """loops:
  - {name: pin, joint: revolute, axis: [0, 1, 0], link: b, at: {xyz: [0.3, 0, 0], rpy: [0, 0, 1]}, other: a}
joints:
  - {name: j, armature: [0.01], damping: [1.0], actuated: false, limits: [[-1], [1]]}
gravity: [0, 0, -9.81]
"""


def main(n: int, seed: int, kinds: list[str]) -> int:
    """Make n mutations of each kind; returns the number of faults."""
    with tempfile.TemporaryDirectory() as folder:
        return sum(fuzzed(kind, n, seed, Path(folder)) for kind in kinds or FUZZERS)


def fuzzed(kind: str, n: int, seed: int, folder: Path, most_seconds: float = MOST_SECONDS) -> int:
    """Mutate files of a kind; returns the number of faults, which are printed."""
    rng, (begin, mutate, read, suffix) = np.random.default_rng(seed), FUZZERS[kind]
    originals, path = begin(folder), folder / f"mutant{suffix}"
    outcomes: Counter[str] = Counter()
    slowest, faults = 0.0, 0
    for original in originals:  # what is loaded once is not the mutant's fault
        path.write_bytes(original)
        attempt(read, path)
    before, largest = memory(), 0
    for i in range(n):
        data = mutate(rng, originals[int(rng.integers(len(originals)))])
        path.write_bytes(data)
        largest = max(largest, len(data))
        start = time.perf_counter()
        outcome = attempt(read, path)
        seconds = time.perf_counter() - start
        slowest = max(slowest, seconds)
        is_large = memory() - before > PER_BYTE * largest + MOST_MEMORY
        outcomes[outcome.partition("\n")[0][:60]] += 1
        if outcome.startswith("fault") or seconds > most_seconds or is_large:
            faults += 1
            kept = Path(tempfile.gettempdir()) / f"mutant-{kind}-{seed}-{i}{suffix}"
            kept.write_bytes(data)
            print(f"{outcome[-1500:]}\nin {seconds:.2f} s, {memory() / 1e6:.0f} MB, kept as {kept}")
            before = memory()
    grown = (memory() - before) / 1e6
    print(f"{n} of {kind}: {dict(outcomes)}, slowest {slowest:.2f} s, memory +{grown:.0f} MB, {faults} faults")
    return faults


def attempt(read: Callable[[Path], None], path: Path) -> str:
    """What became of one file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
    except vc.VarichainError:
        return "refused"
    except Exception:
        return f"fault: {traceback.format_exc()}"
    return "read"


def memory() -> float:
    """Largest memory of this process so far [bytes]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


# Traces


def frames_of(path: Path) -> Frames:
    """Frames of a file: kind, number, content."""
    file = TraceFile(str(path))
    found = sorted(Scan(file).intact.items())
    return [(item.kind, number, file.read(item.offset, item.length)) for number, item in found]


def begin_traces(folder: Path) -> list[bytes]:
    """A growing and a finished file."""
    growing, finished = folder / "growing.h5", folder / "finished.h5"
    shows.show(0.3, path=growing)
    shows.show(0.3).save(finished, overwrite=True)
    return [growing.read_bytes(), finished.read_bytes()]


def mutate_trace(rng: Any, data: bytes) -> bytes:
    """Another file: bytes changed, or frames changed that are believed."""
    if rng.random() < 0.15:
        return bytes(mutated(rng, data)) or b" "
    with tempfile.NamedTemporaryFile(suffix=".h5") as file:
        file.write(data)
        file.flush()
        frames = frames_of(Path(file.name))
    is_bare = rng.random() < 0.3
    for _ in range(int(rng.integers(1, 4))):
        frames = _mutated_frames(rng, frames)
    text = b"".join(part for kind, number, content in frames for part in frame(kind, number % 2**32, content))
    return text if is_bare else text + data[len(text) :]


def _mutated_frames(rng: Any, frames: Frames) -> Frames:
    i = int(rng.integers(len(frames)))
    kind, number, content = frames[i]
    choice = rng.integers(5)
    if choice == 0:
        return frames[:i] + frames[i + 1 :]
    if choice == 1:
        changed = kind, int(rng.choice([0, 1, number + 1, 10**8, 2**32 - 1])), content
    elif choice == 2:
        changed = frames[int(rng.integers(len(frames)))][0], number, content
    elif choice == 3 or kind in (b"ROWS", b"DATA", b"REST"):
        changed = kind, number, _mutated_numbers(rng, content)
    else:
        changed = kind, number, _mutated_text(rng, content)
    return [*frames[:i], changed, *frames[i + 1 :]]


def _mutated_numbers(rng: Any, content: bytes) -> bytes:
    """Another length or place among the first numbers."""
    at, size = 4 * int(rng.integers(0, 8)), rng.choice([4, 8])
    value = struct.pack("<Q", int(LENGTHS[rng.integers(len(LENGTHS))]))[:size]
    return content[:at] + value + content[at + len(value) :]


def _mutated_text(rng: Any, content: bytes) -> bytes:
    """Another value somewhere in a text, or a bomb, or deep brackets."""
    head = content[:8] if content[8:9] in (b"{", b"x") and content[:1] not in (b"{", b"x") else b""
    kind = rng.integers(12)
    if kind == 0:
        return head + bomb()
    if kind == 1:
        return head + b'{"a":' + b"[" * 10**5 + b"]" * 10**5 + b"}"
    try:
        body = content[len(head) :]
        value = json.loads(text_of(body))
    except (ValueError, RecursionError, zlib.error):
        return bytes(rng.permutation(np.frombuffer(content, np.uint8)).tobytes())
    _mutate_value(rng, value)
    return head + zlib.compress(_json(value))


def _json(value: Any) -> bytes:
    """A text of JSON, in which a word of `WORDS` is a number with more digits than Python reads or writes."""
    return json.dumps(value).replace('"<digits>"', "9" * 5000).encode()


@cache
def bomb() -> bytes:
    """A text of a gigabyte, packed: a packed megabyte a thousand times, for memory is measured and time is short."""
    packer, times = zlib.compressobj(), 1000
    first, piece, last = b'{"meta":"', b"a" * 10**6, b'"}'
    packed = [packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in (first, piece)]
    end = (packer.compress(last) + packer.flush())[:-4]
    checksum = zlib.adler32(first)
    for part in (*[piece] * times, last):
        checksum = zlib.adler32(part, checksum)
    return packed[0] + packed[1] * times + end + checksum.to_bytes(4, "big")


def _mutate_value(rng: Any, value: Any) -> None:
    """Change one entry of nested dicts and lists."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = keys[int(rng.integers(len(keys)))]
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.1:
            value[key] = WORDS[rng.integers(len(WORDS))]
            return
        value = inner


def read_trace(path: Path) -> None:
    """Load a trace, look at all of it, and export it."""
    trace = vc.Trace.load(path)
    str(trace)
    trace.structure_log()
    for epoch in trace.epochs:
        epoch.mechanism.check() if hasattr(epoch.mechanism, "check") else vc.check(epoch.mechanism)
        epoch.samples.sum()
    if len(trace):
        trace.to_numpy()
        for suffix in (".json", ".html", ".csv"):
            vc.export(trace, path.with_suffix(suffix), overwrite=True)


# Texts


def begin_scenarios(folder: Path) -> list[bytes]:
    """Scenario files of all kinds of entries."""
    from varichain.scenarios.template import template

    return [template(name).encode() for name in ("pendulum", "fourbar", "chain", "swing")]


def mutate_text(rng: Any, data: bytes) -> bytes:
    """Another text: lines, numbers and words changed, doubled or lost, brackets nested."""
    for _ in range(int(rng.integers(1, 4))):
        lines = data.split(b"\n")
        i = int(rng.integers(len(lines)))
        kind = rng.integers(6)
        if kind == 0:
            lines.insert(int(rng.integers(len(lines))), lines[i])
        elif kind == 1:
            lines[i] = lines[i].partition(b":")[0] + b": " + _json(WORDS[rng.integers(len(WORDS))])
        elif kind == 2:
            lines[i] = lines[i].replace(b"# ", b"", 1)
        elif kind == 3 and rng.random() < 0.2:
            lines[i] += b"[" * int(rng.integers(1, 3000))
        else:
            lines[i] = bytes(mutated(rng, lines[i] or b" "))
        data = b"\n".join(lines)
    return data


def read_scenario(path: Path) -> None:
    """Load a scenario file."""
    vc.load_scenario(path)


def begin_loops(folder: Path) -> list[bytes]:
    """A robot, and its file of loops."""
    (folder / "robot.urdf").write_text(ROBOT, encoding="utf-8")
    return [LOOPS.encode()]


def read_loops(path: Path) -> None:
    """Load a robot with a file of loops."""
    vc.check(vc.load(path.with_name("robot.urdf"), loops=path))


def begin_recordings(folder: Path) -> list[bytes]:
    """A recording by hand, and one of ours."""
    from entries import RECORDING  # type: ignore[import-not-found]
    from varichain.scenarios import SCENARIOS

    ours = folder / "pendulum.bvh"
    vc.export(SCENARIOS["pendulum"]().run(0.1), ours, overwrite=True)
    return [RECORDING.encode(), ours.read_bytes()]


def read_recording(path: Path) -> None:
    """Load a recording, and look at all of it."""
    found = vc.load_recording(path)
    repr(found)
    for name in found.names:
        found.position(name), found.orientation(name)


FUZZERS: dict[str, tuple[Callable[[Path], list[bytes]], Callable[[Any, bytes], bytes], Callable[[Path], None], str]] = {
    "trace": (begin_traces, mutate_trace, read_trace, ".h5"),
    "scenario": (begin_scenarios, mutate_text, read_scenario, ".yaml"),
    "loops": (begin_loops, mutate_text, read_loops, ".yaml"),
    "recording": (begin_recordings, mutate_text, read_recording, ".bvh"),
}


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    n, seed = (numbers + [1000, 0][len(numbers) :])[:2]
    raise SystemExit(main(n, seed, [word for word in sys.argv[1:] if word in FUZZERS]) > 0)
