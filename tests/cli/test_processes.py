"""The command line as a program: exit codes, standard output, Ctrl-C."""

import json
import subprocess
import sys
import time
import warnings

import varichain as vc
from cli.commands import SOURCES, interrupt, start
from lane import PATIENCE


def test_json_is_all_there_is_on_standard_output(tmp_path):
    """A run with --json prints one JSON object to standard output, even if it is the first to compile kernels."""
    process = start("run", "pendulum", "--until", "20ms", "--json", cwd=tmp_path)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert json.loads(out)["scenario"] == "pendulum"
    assert "\x1b" not in err  # no progress bar where there is no terminal


def has_samples(path):
    """Whether a trace that is being written has samples."""
    try:
        with warnings.catch_warnings(action="ignore", category=vc.TraceFileWarning):
            return len(vc.Trace.load(path)) > 0
    except vc.TraceFileError:
        return False


def test_ctrl_c_leaves_a_trace(tmp_path):
    """Ctrl-C ends a run with exit code 130; the trace so far is in the file, and the message says so."""
    path = tmp_path / "run.h5"
    process = start("run", "pendulum", "--until", "1e7", "--sample", "100ms", "--out", path, "--json", cwd=tmp_path)
    begun = time.monotonic()
    while not has_samples(path) and process.poll() is None and time.monotonic() - begun < PATIENCE:
        time.sleep(0.1)
    interrupt(process)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert out == "" and str(path) in err and "Traceback" not in err
    trace = vc.Trace.load(path)
    assert trace.outcome == "interrupted" and len(trace) > 0


def test_exit_codes_of_the_program(tmp_path):
    """`python -m varichain` ends with 0, or with 2 and a message for a wrong command line."""
    for words, code in ((["--version"], 0), (["run", "nonsense"], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "varichain", *words],
            env={"PYTHONPATH": str(SOURCES), "PATH": ""},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        assert ("error:" in done.stderr) == (code != 0) and "Traceback" not in done.stderr


def test_help_completion_and_the_list_need_no_numbers():
    """Help, completion and the list answer at once: they import neither numpy nor the scenarios."""
    code = (
        "import sys\nfrom varichain.cli.app import app\nfrom varichain.cli.listing import scenario_names\n"
        "app(['run', '--help'], standalone_mode=False)\napp(['list'], standalone_mode=False)\n"
        "assert scenario_names('pend') == ['pendulum']\n"
        "print(sorted({'numpy', 'varichain.scenarios', 'rich.markdown'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": str(SOURCES), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "pendulum" in done.stdout and done.stdout.splitlines()[-1] == "[]"
