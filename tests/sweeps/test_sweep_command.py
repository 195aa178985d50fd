"""`varichain sweep`: files, resuming, status, and what it refuses."""

import json
import os
import subprocess
import sys

import pytest

import varichain as vc

sys.path.insert(0, os.path.dirname(__file__))
from clusters import environment

from varichain.sweeps.files import read_sweep

TEXT = """trial: toys:raising
grid:
  x: {from: 0, to: 3, levels: 4}
repeats: 2
"""


def run(folder, *words):
    """A command, with its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "varichain", "sweep", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_file_is_swept_resumed_and_looked_at(tmp_path):
    """A sweep of a file has its exit code, is not overwritten, is resumed, and says how far it is."""
    (tmp_path / "a.yaml").write_text(TEXT)
    code, said, _ = run(tmp_path, "a.yaml", "--dry-run")
    assert code == 0 and "8 trials of toys:raising" in said and not (tmp_path / "a.sweep").exists()
    code, said, _ = run(tmp_path, "a.yaml", "--json", "--table", "a.csv")
    assert code == 1 and json.loads(said) | {"earlier": 0} == json.loads(said)
    assert (json.loads(said)["done"], json.loads(said)["failed"]) == (6, 2)
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 8
    code, _, said = run(tmp_path, "a.yaml")
    assert code == 1 and "exists" in said
    code, said, _ = run(tmp_path, "a.yaml", "--resume")
    assert "6 done, 2 failed" in said
    code, said, _ = run(tmp_path, "a.sweep", "--status")
    assert "x is two" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trial: toys:quick\ngrid: {x: [1]}\nrepats: 3\n", "repats"),
        ("grid: {x: [1]}\n", "trial"),
        ("trial: toys:quick\ngrid: {x: {from: 0, to: 1}}\n", "levels"),
        ("trial: [", "not valid YAML"),
        ("- 1\n", "the file"),
    ],
)
def test_files_with_mistakes_are_refused(tmp_path, text, message):
    """Unknown fields, missing ones and broken YAML are named."""
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(vc.FormatError, match=message):
        read_sweep(tmp_path / "a.yaml")


def test_whole_numbers_stay_whole(tmp_path):
    """Numbers stay what they are in the file: a count, such as the links of a chain, must not become a float."""
    (tmp_path / "a.yaml").write_text("trial: chain\ngrid: {links: [3, 4], duration: [0.1, 1.0], note: [on, 'on']}\n")
    grid = read_sweep(tmp_path / "a.yaml")["grid"]
    assert [[type(value) for value in values] for values in grid.values()] == [[int] * 2, [float] * 2, [bool, str]]
