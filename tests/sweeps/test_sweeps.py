"""Sweeps on one machine: keys, seeds, results, files, and what may go wrong with trials."""

import json
import math
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

import varichain as vc
from lane import PATIENCE, compiled_only
from varichain.sweeps.trials import planned

sys.path.insert(0, os.path.dirname(__file__))
import toys
from clusters import environment, kill

GRID = {"x": [0.0, 1.0, 2.0], "y": ["a", "bb"]}


def bits(sweep):
    """All that must not depend on who did the work."""
    return {name: column for name, column in sweep.table.items() if name != "seconds"}


def until(condition):
    """Wait for something that must happen."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def client(code, **options):
    """A program of its own that sweeps."""
    head = "import varichain as vc, toys\n"
    return subprocess.Popen([sys.executable, "-c", head + code], env=environment(), text=True, **options)


def rows(path):
    """Number of trials in a file; 0 while there is none."""
    try:
        return vc.Sweep.load(path).counts["done"]
    except vc.FileError:
        return 0


def test_a_sweep_is_a_table():
    """Every point has its repeats; results are those of the function with the row's seed; means are by level."""
    found = vc.sweep(toys.quick, GRID, repeats=2, seed=5)
    assert len(found) == 12 and found.counts == {"done": 12, "failed": 0, "missing": 0, "not finite": 0}
    for i in range(12):
        row = {name: found.table[name][i] for name in ("x", "y", "seed")}
        assert found.table["value"][i] == toys.quick(**row)["value"]
    assert len(set(found.table["seed"])) == 12
    levels, values = found.values("value", "x", y="bb")
    assert levels == GRID["x"] and values.shape == (3, 2)
    assert found.mean("value", "x", y="bb")[1.0] == pytest.approx(values[1].mean())


def test_seeds_belong_to_points_and_common_noise_to_repeats():
    """A larger grid leaves the seeds of its points as they were; with common noise all points share them."""
    small, large = (planned(toys.quick, {"x": xs}, 3, 1, False) for xs in ([1.0, 2.0], [0.0, 2.0, 1.0, 5.0]))
    of = {(task.parameters["x"], task.repeat): task.seed for task in large.tasks()}
    assert all(of[task.parameters["x"], task.repeat] == task.seed for task in small.tasks())
    common = planned(toys.quick, {"x": [1.0, 2.0]}, 3, 1, True)
    assert len({task.seed for task in common.tasks()}) == 3
    assert len({task.key for task in common.tasks()}) == 6


def test_any_number_of_processes_and_any_chunks_give_the_same_bits():
    """One, two or eight processes, chunks of one, five or twenty-five: the same table."""
    first = bits(vc.sweep(toys.quick, GRID, repeats=10, processes=1, chunk=1))
    for n, chunk in ((2, 25), (8, 5), (8, None)):
        assert bits(vc.sweep(toys.quick, GRID, repeats=10, processes=n, chunk=chunk)) == first


@pytest.mark.parametrize(
    ("trial", "message"),
    [(toys.raising, "ValueError: x is two"), (toys.crashing, r"killed its process 3 times \(exit code -11\)"),
     (toys.hanging, "no result within 3 s")],
)  # fmt: skip
def test_one_bad_trial_spoils_no_other(trial, message):
    """A trial that raises, crashes or hangs has failed, with the reason; all others are done."""
    found = vc.sweep(trial, {"x": [0, 1, 2, 3, 4]}, timeout=3.0 if trial is toys.hanging else None, processes=2)
    assert found.table["status"] == ["done", "done", "failed", "done", "done"]
    import re

    assert re.search(message, found.table["failure"][2])
    assert math.isnan(found.table["value"][2])


def test_results_that_are_not_finite_are_kept_and_flagged():
    """NaN and infinity are in the table and counted, and neither they nor unstable trials enter means."""
    found = vc.sweep(toys.odd, {"x": [1, 2, 3, 4]})
    assert found.counts["not finite"] == 3  # of which one is not stable
    assert math.isnan(found.table["value"][1]) and math.isinf(found.table["value"][2])
    means = found.mean("value", "x")
    assert means[1] == 1.0 and all(math.isnan(means[x]) for x in (2, 3, 4))


def test_failed_trials_are_tried_again_when_asked(tmp_path):
    """A resumed sweep leaves failures alone; with `retry_failed` they get another chance."""
    given = (toys.mended, {"x": [1, 2], "folder": [str(tmp_path)]})
    out = tmp_path / "a.sweep"
    assert vc.sweep(*given, out=out).counts["failed"] == 2
    (tmp_path / "mended").touch()
    assert vc.sweep(*given, out=out, resume=True).counts["failed"] == 2
    assert vc.sweep(*given, out=out, resume=True, retry_failed=True).counts == {
        "done": 2, "failed": 0, "missing": 0, "not finite": 0,
    }  # fmt: skip


def test_a_killed_program_loses_little_and_resumes(tmp_path):
    """After kill -9 the file is whole, resuming does the missing trials alone, and the table has the same bits."""
    out = tmp_path / "killed.sweep"
    code = f"vc.sweep(toys.slow, {{'x': list(range(40))}}, out={str(out)!r}, processes=2)"
    process = client(code)
    until(lambda: rows(out) >= 6)
    kill(process)
    kept = rows(out)
    assert 6 <= kept < 40
    begun = time.monotonic()
    found = vc.sweep(toys.slow, {"x": list(range(40))}, out=out, resume=True, processes=2)
    assert found.counts["done"] == 40
    assert sum(found.table["seconds"]) > 0 and time.monotonic() - begun < PATIENCE
    assert bits(found) == bits(vc.sweep(toys.slow, {"x": list(range(40))}, processes=4))


def test_an_interrupt_ends_soon_and_leaves_a_whole_file(tmp_path):
    """Ctrl-C ends a sweep with its own error, the file keeps what was done, and no process is left."""
    out = tmp_path / "interrupted.sweep"
    code = (
        "try:\n"
        f"    vc.sweep(toys.slow, {{'x': list(range(400))}}, out={str(out)!r}, processes=2)\n"
        "except vc.SweepInterrupted as error:\n    print(error)\n"
    )
    process = client(code, stdout=subprocess.PIPE)
    until(lambda: rows(out) >= 4)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    assert "trials are kept" in said
    kept = rows(out)
    assert kept >= 4 and f"{kept} of 400" in said


@pytest.mark.parametrize("pause", [0.0, 0.01, 0.1])
def test_a_second_interrupt_ends_at_once_and_spoils_nothing(tmp_path, pause):
    """Ctrl-C twice, the second while the first is being obeyed: the program ends, and the file is whole."""
    out = tmp_path / "twice.sweep"
    process = client(f"vc.sweep(toys.slow, {{'x': list(range(400))}}, out={str(out)!r}, processes=2)", stderr=-3)
    until(lambda: rows(out) >= 4)
    process.send_signal(signal.SIGINT)
    time.sleep(pause)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) != 0
    kept = vc.Sweep.load(out).table["value"]
    done = [i for i, value in enumerate(kept) if not math.isnan(value)]  # not in order: two processes take trials
    assert len(done) >= 4
    found = vc.sweep(toys.slow, {"x": list(range(done[-1] + 1))}, processes=4).table["value"]
    assert [kept[i] for i in done] == [found[i] for i in done]


def test_a_file_that_is_gone_is_missed_by_name(tmp_path):
    """A table is read when somebody looks: if its file has been removed, the error says so, and no new file appears."""
    out = tmp_path / "gone.sweep"
    found = vc.sweep(toys.quick, {"x": [1.0]}, out=out, processes=1)
    out.unlink()
    with pytest.raises(vc.FileError, match="gone"):
        found.mean("value", "x")
    assert not out.exists()


def test_a_full_disk_stops_the_sweep_and_spoils_nothing(tmp_path):
    """When the file cannot grow any more the sweep ends with a message, and earlier rows are whole."""
    out = tmp_path / "full.sweep"
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60000, resource.RLIM_INFINITY))\n"
        "try:\n"
        f"    vc.sweep(toys.quick, {{'x': list(range(3000))}}, out={str(out)!r}, processes=1, chunk=20)\n"
        "except vc.SweepError as error:\n    print(error)\n"
    )
    assert resource.RLIMIT_FSIZE is not None
    said, _ = client(code, stdout=subprocess.PIPE).communicate(timeout=PATIENCE)
    assert "cannot be written" in said and "intact" in said
    kept = rows(out)
    found = vc.sweep(toys.quick, {"x": list(range(3000))}, out=out, resume=True)
    assert kept < 3000 and found.counts["done"] == 3000


def test_two_programs_do_not_write_to_one_file(tmp_path):
    """The second writer is refused by name, and can read meanwhile."""
    out = tmp_path / "shared.sweep"
    process = client(f"vc.sweep(toys.slow, {{'x': list(range(200))}}, out={str(out)!r}, processes=1)")
    until(lambda: rows(out) >= 1)
    with pytest.raises(vc.SweepError, match="another process writes"):
        vc.sweep(toys.slow, {"x": list(range(200))}, out=out, resume=True)
    kill(process)


@pytest.mark.long
@compiled_only
def test_very_many_trivial_trials(tmp_path):
    """A hundred thousand trials cost less than a millisecond each, and the program's memory stays as it is."""
    code = f"""
import threading, time
def megabytes():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
def watch():
    while True:
        sizes.append(megabytes())
        time.sleep(0.1)
sizes, n, begun = [], 100_000, time.process_time()
threading.Thread(target=watch, daemon=True).start()
found = vc.sweep(toys.quick, {{"x": list(range(n))}}, out={str(tmp_path / "many.sweep")!r}, processes=2)
half = len(sizes) // 2
print(sizes[half], max(sizes[half:]), (time.process_time() - begun) / n, found.counts["done"])
"""
    said, _ = client(code, stdout=subprocess.PIPE).communicate(timeout=10 * PATIENCE)
    half, most, seconds, done = map(float, said.split())
    assert done == 100_000 and seconds < 1e-3
    # the second half of the trials adds what the heap rounds up to; kept in memory, their rows would be 60 MB
    assert most - half < 8.0


def test_tables_for_other_programs(tmp_path):
    """CSV and Parquet hold a row a trial; nothing is overwritten."""
    found = vc.sweep(toys.quick, GRID)
    found.to_csv(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert len(lines) == 7 and lines[0].startswith("x,y,repeat,seed,value")
    with pytest.raises(vc.FileError):
        found.to_csv(tmp_path / "a.csv")
    pyarrow = pytest.importorskip("pyarrow.parquet")
    found.to_parquet(tmp_path / "a.parquet")
    assert pyarrow.read_table(tmp_path / "a.parquet").column("value").to_pylist() == found.table["value"]


def test_scenarios_are_trials_too():
    """A scenario's parameters are a grid, and its runs have numbers."""
    found = vc.sweep("pendulum", {"angle": [0.2, 0.4]}, processes=1)
    assert found.counts["done"] == 2 and max(found.table["energy_drift"]) < 1e-6


@pytest.mark.long
@compiled_only
def test_trials_of_exoskeletons_go_together():
    """A sweep of `vc.exo.trial` has the bits of single trials."""
    grid = {"viscosity": [1.0, 2.0], "operator": ["A", "C"], "duration": [0.3], "settle": [0.1]}
    found = vc.sweep(vc.exo.trial, grid, repeats=2, seed=3, common_noise=True)
    names = (*grid, "seed")
    for i in range(len(found)):
        single = vc.exo.trial(**{name: found.table[name][i] for name in names})
        assert found.table["moment"][i] == single.moment


def test_other_code_is_another_version(tmp_path, monkeypatch):
    """After a change of the trial's source its trials are missing again, and the old ones are counted."""
    out = tmp_path / "a.sweep"
    vc.sweep(toys.quick, GRID, out=out)
    monkeypatch.setattr("varichain.sweeps.trials.source_of", lambda function: "other")
    found = vc.sweep(toys.quick, GRID, out=out, resume=True)
    assert found.earlier == 6 and found.counts["done"] == 6 and "earlier version" in repr(found)


def test_bad_input_is_refused(tmp_path, monkeypatch):
    """A lambda, an empty grid, an unknown field, a file of another sweep or of no sweep: errors by name."""
    out = tmp_path / "a.sweep"
    vc.sweep(toys.quick, GRID, out=out)
    (tmp_path / "text").write_text("no sweep")
    monkeypatch.setattr("varichain.sweeps.cluster._PATIENCE", 1.0)
    cases = [
        (vc.InputError, "define it at the top", lambda: vc.sweep(lambda x, seed: {}, {"x": [1]})),
        (vc.InputError, "grid must have", lambda: vc.sweep(toys.quick, {})),
        (vc.InputError, "nothing to try", lambda: vc.sweep(toys.quick, {"x": []})),
        (vc.InputError, "by name", lambda: vc.sweep(toys.quick, {"z": [1]})),
        (vc.InputError, "value twice", lambda: vc.sweep(toys.quick, {"x": [1, 1]})),
        (vc.InputError, "finite numbers", lambda: vc.sweep(toys.quick, {"x": [math.nan]})),
        (vc.InputError, "cannot be imported", lambda: vc.sweep("no.such:thing", {"x": [1]})),
        (vc.InputError, "no scenario", lambda: vc.sweep("no such", {"x": [1]})),
        (vc.UnknownNameError, "'duration'; parameters: 'links'", lambda: vc.sweep("chain", {"duration": [1]})),
        (vc.InputError, "repeats", lambda: vc.sweep(toys.quick, GRID, repeats=0)),
        (vc.FileError, "exists", lambda: vc.sweep(toys.quick, GRID, out=out)),
        (vc.SweepError, "another sweep: grid", lambda: vc.sweep(toys.quick, {"x": [1]}, out=out, resume=True)),
        (vc.SweepError, "another sweep: function", lambda: vc.sweep(toys.odd, {"x": [1]}, out=out, resume=True)),
        (vc.FileError, "not a file of a sweep", lambda: vc.sweep(toys.quick, GRID, out=tmp_path / "text", resume=True)),
        (vc.FileError, "no file", lambda: vc.Sweep.load(tmp_path / "nothing")),
        (vc.FileError, "folder", lambda: vc.sweep(toys.quick, GRID, out=tmp_path / "no" / "where")),
        (vc.SweepError, "no scheduler answers", lambda: vc.sweep(toys.quick, GRID, cluster="tcp://127.0.0.1:9")),
    ]
    for error, message, make in cases:
        with pytest.raises(error, match=message):
            make()
    assert vc.sweep(toys.wordless, {"x": [1]}).counts["failed"] == 1
    assert json.dumps(vc.Sweep.load(out).counts)
