"""Install the wheel into an empty environment, as users do, and run the main job there without any compiler.

Prints how long first results take. The exit code is 0 if the library of kernels was used and everything went well.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_FORWARD = """
import sys
import varichain as vc
m = vc.figures.human40()
vc.forward_dynamics(m, m.state())
assert "numba" not in sys.modules, "Numba was imported: the library of kernels was not used"
"""


def say(what: str, command: list[str], environment: dict[str, str]) -> None:
    """Run a command, and print how long it took, by the clock and by the processor [s]."""
    start, used = time.perf_counter(), _processor_seconds()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds, used = time.perf_counter() - start, _processor_seconds() - used
    if done.returncode != 0:
        sys.exit(f"{what} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    print(f"{what}: {seconds:.2f} s, {used:.2f} s of the processor", flush=True)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Build, install and run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = os.environ | {"VARICHAIN_PURE": "0", "NUMBA_DISABLE_JIT": "0"}
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name, str(ROOT)]
        say("wheel built", build, given)
        (wheel,) = folder.glob("*.whl")
        say("empty environment made", [sys.executable, "-m", "venv", str(folder / "venv")], given)
        python = str(folder / "venv" / "bin" / "python")
        install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", str(wheel)]
        say(f"{wheel.name} installed", install, given)
        (folder / "nothing").mkdir()  # on the path: no compiler, nothing at all
        bare = {"PATH": str(folder / "nothing"), "HOME": name, "VARICHAIN_CACHE": str(folder / "cache")}
        say("first forward dynamics", [python, "-c", _FORWARD], bare)
        command = [str(folder / "venv" / "bin" / "varichain"), "run", "highbar", "--out", str(folder / "highbar.h5")]
        say("first varichain run highbar", command, bare)
        if (folder / "cache").exists():
            sys.exit("kernels were compiled: the library was not used")


if __name__ == "__main__":
    main()
