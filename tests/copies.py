"""Copies of the package that tests edit, and processes that run them with a kernel cache of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import varichain

PACKAGE = Path(varichain.__file__).parent


def copy_package(folder):
    """Copy the package's sources into a folder, which is returned; bytecode goes along, and fits until an edit."""
    shutil.copytree(PACKAGE, folder / "varichain")
    return folder


def run(code, sources, cache, **environment):
    """Standard output and error of a new Python process."""
    settings = {"PYTHONPATH": str(sources), "VARICHAIN_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    settings["VARICHAIN_JIT"] = "1"  # unless a test is about the library
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "COVERAGE"))}
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | settings | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split(), finished.stderr.splitlines()
