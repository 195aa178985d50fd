"""Files that are written are the old ones or the new ones, whole: killed, out of space, or led astray by links."""

import os
import resource
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import shows
import varichain as vc
from cli.commands import call
from varichain.files import bytes_of, completed, file_name
from varichain.scenarios.template import template

TESTS = Path(__file__).resolve().parent
KINDS = ("urdf", "xml", "h5", "html", "csv", "json", "yaml", "glb", "bvh", "parquet", "png", "svg", "gif", "mp4")
SLOW = ("yaml", "png", "gif", "mp4")  # take a second and more

# A process that writes a file over and over in children of its own, each of which it kills at another moment.
KILLER = """
import os, random, signal, sys, time
import shows, varichain as vc
from test_files import written

kind, path, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
written(kind, path, "old")
before = time.perf_counter()
written(kind, path, "new")
took = time.perf_counter() - before
written(kind, path, "old")
whole = [open(path, "rb").read()]
chance, n_killed = random.Random(0), 0
for i in range(n):
    child = os.fork()
    if not child:
        written(kind, path, "new")
        os._exit(0)
    time.sleep(chance.random() * 1.2 * took if i else 0.0)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    n_killed += os.WIFSIGNALED(status)
    assert shown(kind, path) in ("old", "new"), i
print(n_killed)
""".replace("shown(", "__import__('test_files').shown(")


def robot(name):
    """A link on a hinge, with a damper that URDF has a word for and a spring that it has none for."""
    m = vc.Mechanism(name)
    m.add_link("rod", joint=vc.Revolute("y", stiffness=2.0, damping=1.0), inertia=vc.Inertia.sphere(1.0, 0.1))
    return m


def written(kind, path, name):
    """Write a file of a kind, in which a name is to be found."""
    if kind in ("urdf", "xml"):
        vc.save(robot(name), path, overwrite=True)
    elif kind == "yaml":
        assert call("new", path, "--from", {"old": "pendulum", "new": "chain"}[name], "--force").exit_code == 0
    elif kind in ("png", "svg"):
        vc.draw(robot(name), path=path, size=(64, 64), overwrite=True)
    else:
        cuts = () if kind == "bvh" else shows.CUTS  # its tree must stay as it is
        trace = vc.Trace(shows.show(0.3, cuts).epochs, {"name": name})
        options = {"fps": 20, "size": (64, 64)} if kind in SLOW else {}
        trace.save(path, overwrite=True) if kind == "h5" else vc.export(trace, path, overwrite=True, **options)


@cache
def templates():
    """The two scenario files that are written, by their text."""
    return {template("pendulum"): "old", template("chain"): "new"}


def shown(kind, path):
    """Which of the two a whole file is."""
    if kind in ("urdf", "xml"):
        return vc.load(path).name
    if kind == "h5":
        trace = vc.Trace.load(path)
        assert not trace.damage and len(trace) == len(shows.show(0.3))
        return trace.meta["name"]
    if kind not in ("html", "csv", "json", "yaml"):
        assert is_whole(kind, Path(path))
        return "new"
    text = Path(path).read_text(encoding="utf-8")
    if kind == "yaml":
        return templates()[text]
    assert text.rstrip().endswith({"html": "</html>", "csv": "", "json": "}"}[kind])
    return "new"


def is_whole(kind, path):
    """Whether a picture or a table has its end."""
    data = path.read_bytes()
    if kind == "bvh":
        lines = data.decode().splitlines()
        n = next(int(line.split()[1]) for line in lines if line.startswith("Frames:"))
        return lines[-n - 1].startswith("Frame Time:") and len(set(map(len, map(str.split, lines[-n:])))) == 1
    if kind == "glb":
        return int.from_bytes(data[8:12], "little") == len(data)
    if kind == "mp4":
        return sum(data.count(box) for box in (b"ftyp", b"moov", b"mdat")) >= 3
    return data.endswith({"svg": b"</svg>\n", "gif": b";", "png": b"IEND\xaeB`\x82", "parquet": b"PAR1"}[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_program_leaves_whole_files(kind, tmp_path):
    """Killed at any moment of writing, a program leaves the old file or the new one, which reads without damage."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    command = [sys.executable, "-c", KILLER, kind, str(tmp_path / f"file.{kind}"), str(5 if kind in SLOW else 30)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of pipes to an ffmpeg that has ended
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_leaves_the_old_file(kind, tmp_path):
    """Out of space at any byte, the old file stays as it is, nothing else is left, and the error says so."""
    path = tmp_path / f"file.{kind}"
    written(kind, path, "new")
    size = path.stat().st_size
    written(kind, path, "old")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (0, 1, size // 3, size - size // 8, size - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            with pytest.raises((vc.FileError, AssertionError)):
                written(kind, path, "new")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("kind", ["urdf", "yaml"])
def test_links_are_not_written_through(kind, tmp_path):
    """A dangling link is a file that exists; asked to replace it, its target is not created."""
    path, target = tmp_path / f"file.{kind}", tmp_path / "elsewhere"
    path.symlink_to(target)
    if kind == "urdf":
        with pytest.raises(vc.FileError, match="exists already"):
            vc.save(robot("new"), path)
    else:
        assert call("new", path).exit_code == 2
    assert path.is_symlink()
    written(kind, path, "new")
    assert not path.is_symlink() and shown(kind, path) == "new" and not target.exists()


def test_a_file_of_loops_is_not_removed_unasked(tmp_path):
    """Where there is a file of loops already, a robot is not saved beside it unless both may be replaced."""
    sidecar = tmp_path / "robot.loops.yaml"
    sidecar.write_text("precious: 1\n", encoding="utf-8")
    with pytest.raises(vc.FileError, match=r"loops\.yaml.* exists already"):
        vc.save(robot("new"), tmp_path / "robot.urdf")
    assert sidecar.read_text(encoding="utf-8") == "precious: 1\n" and not (tmp_path / "robot.urdf").exists()


def test_what_lies_under_the_name_of_a_part_is_not_written_through(tmp_path, monkeypatch):
    """A link under the name that the unfinished file would have is an error, and its target is not written."""
    path, target = tmp_path / "run.h5", tmp_path / "target"
    monkeypatch.setattr("varichain.files.part_of", lambda path: f"{path}.part")
    (tmp_path / "run.h5.part").symlink_to(target)
    with pytest.raises(vc.TraceFileError, match="cannot write"), completed(str(path), False):
        raise AssertionError("not reached")
    assert not target.exists()


@pytest.mark.parametrize("bad", [None, 5, "", b"name", "a\0b", ["x"]])
def test_what_is_no_name_is_refused(bad):
    """A file name is a str or a path with something in it; the message says what was found."""
    with pytest.raises(vc.InputError, match="must be a str or a path"):
        file_name(bad)


def test_endless_and_large_files_are_refused(tmp_path):
    """Devices are not read, nor more than the bytes that were allowed."""
    with pytest.raises(vc.FileError, match="not a regular file"):
        bytes_of("/dev/zero", 10)
    path = tmp_path / "large"
    path.write_bytes(bytes(11))
    assert bytes_of(str(path), 11) == bytes(11)
    with pytest.raises(vc.FileError, match="larger than"):
        bytes_of(str(path), 10)
    with pytest.raises(vc.FileError, match="cannot read"):
        bytes_of(str(tmp_path / "missing"), 10)
