"""Exports to pages, films and tables, and what all exports share."""

import base64
import csv
import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import shows
import varichain as vc
from cli.commands import SOURCES, call
from lane import PATIENCE
from varichain.scene import Playback


@pytest.fixture(scope="module")
def trace():
    """Three epochs, two cuts."""
    return shows.show()


# --- pages -----------------------------------------------------------------------------------------------------------


def data_of(path):
    """The data in a page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL).group(1))


def test_a_page_holds_all_frames_and_nothing_from_elsewhere(trace, tmp_path):
    """Times and poses in the page are the playback's, and no address is in it that a browser would load."""
    path = tmp_path / "arm.html"
    done = vc.export(trace, path, fps=50, trails=["tip"])
    assert done.n_frames == 61 and done.size == path.stat().st_size < 500_000
    data, playback = data_of(path), Playback(trace, fps=50)
    assert np.array_equal(np.frombuffer(base64.b64decode(data["time"])), playback.time)
    poses = np.frombuffer(base64.b64decode(data["poses"]), "<f4").reshape(61, 3, 7)
    assert np.array_equal(poses[..., :3], playback.p.astype("<f4"))
    assert [marker["text"] for marker in data["markers"]] == ["cut 'hold'", "cut 'elbow'"]
    assert [epoch["in_loops"] for epoch in data["epochs"]] == [[1], [], []]
    assert len(data["trails"]) == 1
    text = path.read_text()
    assert not re.search(r"https?://|src=|url\(|import\s*\(|fetch\(|XMLHttpRequest|WebSocket", text)
    assert "default-src 'none'" in text


def test_names_cannot_break_out_of_a_page(tmp_path):
    """A mechanism called like the end of a script is shown by its name, and ends nothing."""
    m = vc.Mechanism("</script><script>alert(1)</script>")
    m.add_link("<b>", joint=vc.Revolute(name="<i>"), inertia=vc.Inertia.rod(1.0, 1.0))
    with vc.TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(vc.mechanism.description(m), vc.Columns([("time", 1), ("q", 1)]))
        writer.append(np.array([[0.0, 0.1], [0.1, 0.2]]))
    vc.export(writer.finish(), tmp_path / "page.html")
    assert data_of(tmp_path / "page.html")["name"] == m.name
    assert (tmp_path / "page.html").read_text().count("<script") == 2


# --- tables ----------------------------------------------------------------------------------------------------------


def test_csv_and_json_have_every_number_exactly(trace, tmp_path):
    """Numbers read back from CSV and JSON are the samples to the bit."""
    vc.export(trace, tmp_path / "arm.csv")
    vc.export(trace, tmp_path / "arm.json")
    with open(tmp_path / "arm.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    table = trace.to_numpy()
    assert [float(row["time"]) for row in rows] == table["time"].tolist()
    assert [float(row["elbow.q"]) for row in rows if row["elbow.q"]] == trace.joint("elbow").q.tolist()
    content = json.loads((tmp_path / "arm.json").read_text())
    assert content["outcome"] == "complete" and len(content["epochs"]) == 3
    for found, epoch in zip(content["epochs"], trace.epochs, strict=True):
        assert found["event"] == epoch.event and found["structure"] == epoch.description
        for name, width in epoch.columns:
            assert len(found["columns"][name]) == width
            assert found["samples"][name] == epoch.samples[:, epoch.columns.slice(name)].tolist()


def test_json_has_no_place_for_numbers_that_are_none(tmp_path):
    """NaN and infinity become null, so that every reader of JSON reads the file."""
    m = shows.arm()
    row = shows.sample(m, 0.0)
    row[-1], row[-2] = np.nan, np.inf
    with vc.TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(vc.mechanism.description(m), shows.columns_of(m))
        writer.append(row[None])
    vc.export(writer.finish(), tmp_path / "arm.json")
    samples = json.loads((tmp_path / "arm.json").read_text(), parse_constant=pytest.fail)["epochs"][0]["samples"]
    assert samples["closure"] == [[None]] and samples["energy"] == [[1.0, 2.0, None]]


def test_parquet_is_written_too(trace, tmp_path):
    """The table of the trace goes to Parquet by its suffix."""
    parquet = pytest.importorskip("pyarrow.parquet")
    done = vc.export(trace, tmp_path / "arm.parquet")
    assert parquet.read_table(tmp_path / "arm.parquet").num_rows == done.n_frames == len(trace)


# --- films -----------------------------------------------------------------------------------------------------------


def test_mp4_has_all_frames_and_shows_something(trace, tmp_path):
    """Decoded, the film has as many frames as were told, of the wanted size, in colour, and they differ."""
    pytest.importorskip("pyvista")
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    seen = []
    path = tmp_path / "arm.mp4"
    done = vc.export(trace, path, fps=5, size=(320, 181), progress=lambda i, n: seen.append((i, n)))
    assert done.n_frames == 7 and seen == [(i + 1, 7) for i in range(7)]
    decode = [ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    decoded = subprocess.run(decode, capture_output=True, check=True)
    assert b"320x180" in decoded.stderr and b"5 fps" in decoded.stderr
    frames = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, 180, 320, 3)
    assert len(frames) == 7
    assert all(frame.std() > 5.0 for frame in frames)
    reddish = (frames[0][..., 0].astype(int) - frames[0][..., 1] > 60).mean()
    assert 0.001 < reddish < 0.3  # the upper arm is red
    assert np.abs(frames[0].astype(int) - frames[3]).max() > 100


def test_gif_has_all_frames(trace, tmp_path):
    """A GIF repeats itself, with as many frames as were told."""
    pytest.importorskip("pyvista")
    image = pytest.importorskip("PIL.Image")
    done = vc.export(trace, tmp_path / "arm.gif", fps=4, size=(160, 120))
    with image.open(tmp_path / "arm.gif") as film:
        assert film.n_frames == done.n_frames == 5 and film.size == (160, 120)
        assert film.info["loop"] == 0 and film.info["duration"] == 250


def test_sizes_that_no_film_has_are_refused(trace, tmp_path):
    """A size of nothing is an error that tells the range."""
    pytest.importorskip("imageio_ffmpeg")
    with pytest.raises(vc.InputError, match="whole numbers from 64 to 7680"):
        vc.export(trace, tmp_path / "arm.mp4", size=(0, 100))
    assert list(tmp_path.iterdir()) == []


# --- all of them -----------------------------------------------------------------------------------------------------


def test_missing_packages_are_named_with_what_to_install(trace, tmp_path, monkeypatch):
    """Without its package an export says which extra to install, and leaves no file."""
    for package in ("pyvista", "imageio_ffmpeg", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(vc.MissingExtraError, match=r"pip install 'varichain\[video\]'"):
        vc.export(trace, tmp_path / "arm.mp4")
    with pytest.raises(vc.MissingExtraError, match=r"pip install 'varichain\[video\]'"):
        vc.export(trace, tmp_path / "arm.gif")
    with pytest.raises(vc.MissingExtraError, match=r"pip install 'varichain\[plot\]'"):
        vc.plot(trace)
    assert list(tmp_path.iterdir()) == []


def test_files_are_not_replaced_unasked(trace, tmp_path):
    """A file that exists stays, unless overwriting is wanted; an unknown suffix is told."""
    path = tmp_path / "arm.json"
    path.write_text("mine")
    with pytest.raises(vc.TraceFileError, match="exists already"):
        vc.export(trace, path)
    assert path.read_text() == "mine"
    vc.export(trace, path, overwrite=True)
    assert json.loads(path.read_text())
    with pytest.raises(vc.InputError, match=r"must end with \.html, \.mp4"):
        vc.export(trace, tmp_path / "arm.fbx")
    with pytest.raises(vc.InputError, match="no samples"):
        vc.export(vc.Trace([], {}), tmp_path / "nothing.csv")


@pytest.mark.filterwarnings("always::varichain.errors.DamagedTraceWarning")
def test_the_good_part_of_a_damaged_trace_is_exported_and_that_is_said(tmp_path):
    """What is lost is told beside what was written, by the function and by the command."""
    path = tmp_path / "arm.h5"
    shows.show(path=path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.warns(vc.DamagedTraceWarning):
        trace = vc.Trace.load(path)
    done = vc.export(trace, tmp_path / "arm.csv")
    assert "the rest was exported: lost" in done.notes[0]
    told = call("export", path, "--to", tmp_path / "arm.html")
    assert told.exit_code == 0 and "part of the trace is lost" in told.output and (tmp_path / "arm.html").exists()
    path.write_bytes(b"no trace at all")
    refused = call("export", path, "--to", tmp_path / "b.html")
    assert refused.exit_code == 1 and "error:" in refused.output and not (tmp_path / "b.html").exists()


def test_the_command_exports_and_refuses(tmp_path):
    """The command tells programs what it wrote, and people what is wrong with the command line."""
    path = tmp_path / "arm.h5"
    shows.show(path=path)
    done = call("export", path, "--to", tmp_path / "arm.glb", "--fps", "10", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["frames"] == 13
    for words, said in (
        (("--to", tmp_path / "arm.glb"), "exists already"),
        (("--to", tmp_path / "arm.fbx"), "must end with .html"),
        (("--to", tmp_path / "a.html", "--fps", "0"), "--fps must be between 0 and 1000"),
        (("--to", tmp_path / "a.mp4", "--size", "big"), "--size must be width and height"),
        (("--to", tmp_path / "none" / "a.html"), "there is no folder"),
    ):
        failed = call("export", path, *words)
        assert failed.exit_code == 2 and said in failed.output
    unknown = call("export", path, "--to", tmp_path / "a.html", "--trails", "nose")
    assert unknown.exit_code == 1 and "no link or frame is called 'nose'" in unknown.output


def test_an_interrupted_film_leaves_no_half_file(tmp_path):
    """Ctrl-C while a film is drawn ends the program, and no part of the film is left."""
    pytest.importorskip("pyvista")
    shows.show(path=tmp_path / "arm.h5")
    code = (
        "import signal, time, varichain as vc; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"trace = vc.Trace.load({str(tmp_path / 'arm.h5')!r})\n"
        "tell = lambda i, n: print(i, flush=True) or time.sleep(600 if i == 3 else 0)\n"  # until it is interrupted
        f"vc.export(trace, {str(tmp_path / 'arm.mp4')!r}, fps=1000, size=(64, 64), progress=tell)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(SOURCES), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while process.stdout.readline() not in (b"3\n", b""):
        pass
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0 and b"KeyboardInterrupt" in said
    assert [file.name for file in tmp_path.iterdir()] == ["arm.h5"]
