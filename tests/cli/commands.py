"""How the tests call the command line: in this process, or as a program of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from varichain.cli.app import app

SOURCES = Path(__file__).resolve().parents[2] / "src"
# A test run in the background has Ctrl-C switched off for all that it starts: switch it on again.
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from varichain.cli.app import main; main()"
)


def call(*words):
    """Result of a command, run in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def start(*words, cwd):
    """A command as a process."""
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(SOURCES), "COLUMNS": "120"}
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def interrupt(process):
    """What Ctrl-C does."""
    process.send_signal(signal.SIGINT)
