"""Tables for other programs: every number of every sample, exactly, under its name."""

import csv
import json
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

import varichain as vc
from runs import Run
from varichain.errors import MissingExtraError
from varichain.mechanism import description
from varichain.trace import Columns, TraceWriter

RUN = {"counts": (30, 1, 0, 25)}


def expected(run):
    """Columns of a run by name, None where an epoch does not have one; made the slow way, from the joints' tables."""
    table = {}
    n_before = 0
    for index, (structure, columns, rows, _) in enumerate(run.epochs):
        named = names(structure, columns)
        for row in rows.tolist():
            for name, value in zip(named, row, strict=True):
                table.setdefault(name, [None] * n_before).append(value)
            table.setdefault("epoch", []).append(index)
            n_before += 1
            for column in table.values():
                column += [None] * (n_before - len(column))
        for name in named:
            table.setdefault(name, [None] * n_before)
    return table


def names(structure, columns):
    """Names of an epoch's columns, by hand."""
    q = {
        "Free": ("qw", "qx", "qy", "qz", "px", "py", "pz"),
        "Spherical": ("qw", "qx", "qy", "qz"),
        "Revolute": ("q",),
    }
    freedoms = {"Free": ("wx", "wy", "wz", "vx", "vy", "vz"), "Spherical": ("wx", "wy", "wz"), "Revolute": ()}
    joints = [link["joint"] for link in structure["links"] if "real" not in link]
    found = ["time", *(f"{joint['name']}.{label}" for joint in joints for label in q[joint["type"]])]
    for block in ("v", "tau"):
        for joint in joints:
            labels = [f"{block}.{label}" for label in freedoms[joint["type"]]] or [block]
            found += [f"{joint['name']}.{label}" for label in labels]
    loops = [link["joint"]["name"] for link in structure["links"] if "real" in link]
    found += [f"{loop}.{part}" for loop in loops for part in ("mx", "my", "mz", "fx", "fy", "fz")]
    found += ["energy.kinetic", "energy.gravitational", "energy.elastic", "work.motor", "work.wind", "closure"]
    extra = columns.width_of("extra")
    return found + (["extra"] if extra == 1 else [f"extra.{i}" for i in range(extra)])


def test_numpy():
    """to_numpy gives every column by name, NaN where an epoch does not have it."""
    run = Run(**RUN)
    table = run.trace.to_numpy()
    wanted = expected(run)
    assert set(table) == set(wanted)
    assert list(table)[:3] == ["epoch", "time", "torso.qw"]
    for name, column in wanted.items():
        found = [None if np.isnan(x) else x for x in table[name].tolist()]
        assert found == column, name


def test_csv(tmp_path):
    """to_csv gives the same with every float exact and empty cells where there is none; names may need quotes."""
    run = Run(**RUN)
    run.trace.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    wanted = expected(run)
    assert set(head) == set(wanted)
    for i, name in enumerate(head):
        convert = int if name == "epoch" else float
        assert [None if row[i] == "" else convert(row[i]) for row in rows] == wanted[name], name


def test_parquet(tmp_path):
    """to_parquet gives the same with nulls where there is none, and tells what the run was."""
    run = Run(**RUN)
    run.trace.to_parquet(tmp_path / "run.parquet")
    table = pq.read_table(tmp_path / "run.parquet")
    wanted = expected(run)
    assert set(table.column_names) == set(wanted)
    for name, column in wanted.items():
        assert table[name].to_pylist() == column, name
    about = json.loads(table.schema.metadata[b"varichain"])
    assert about["outcome"] == "complete"
    assert about["meta"] == run.trace.meta
    assert about["log"] == run.trace.log


def odd():
    """A run whose joints have names that need care, and numbers that are not finite."""
    m = vc.Mechanism("odd")
    for i, name in enumerate(['comma, "quote"', "odd; name", "a", "a.q", "ü"]):
        joint = vc.Cylindrical("z", name=name) if name == "a" else vc.Revolute("z", name=name)
        m.add_link(f"link {i}", joint=joint, inertia=vc.Inertia.point(1.0))
    writer = TraceWriter()
    writer.begin({})
    columns = Columns([("time", 1), ("q", 6), ("epoch", 1), ("angle", 1)], {"angle": ("deg",)})
    writer.open_epoch(description(m), columns)
    writer.append([[0.0, np.nan, np.inf, -np.inf, -0.0, 5e-324, 0.1 + 0.2, 7.0, 8.0]])
    return writer.finish()


def test_odd_names_and_numbers(tmp_path):
    """Names with commas, quotes and semicolons, names that clash, and numbers that are not finite come through."""
    trace = odd()
    head = ["epoch", "time", 'comma, "quote".q', "odd; name.q", "a.q.angle", "a.q.displacement", "a.q.q", "ü.q"]
    head += ["epoch (2)", "angle.deg"]
    assert list(trace.to_numpy()) == head
    trace.to_csv(tmp_path / "odd.csv")
    with open(tmp_path / "odd.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [head, ["0", "0.0", "nan", "inf", "-inf", "-0.0", "5e-324", "0.30000000000000004", "7.0", "8.0"]]
    trace.to_parquet(tmp_path / "odd.parquet")
    table = pq.read_table(tmp_path / "odd.parquet")
    assert np.array_equal([table[name][0].as_py() for name in head[1:]], trace.epochs[0].samples[0], equal_nan=True)
    trace.save(tmp_path / "odd.h5")
    assert vc.Trace.load(tmp_path / "odd.h5").epochs[0].samples.tobytes() == trace.epochs[0].samples.tobytes()


def test_strings_that_hdf5_cannot_hold(tmp_path):
    """Texts with NUL characters and halves of characters are saved and come back; names cannot have any."""
    m = vc.Mechanism("plain")
    for name in ("nul \0", "half \ud800", "escape \x1b[2J", "line\nbreak", "n" * 1001):
        with pytest.raises(vc.InputError, match="must not"):
            vc.Revolute("z", name=name)
    m.add_link("link", joint=vc.Revolute("z", name="hinge"), inertia=vc.Inertia.point(1.0))
    writer = TraceWriter(tmp_path / "run.h5")
    writer.begin({"text": "\0\ud800"})
    writer.open_epoch(description(m), Columns([("time", 1), ("q", 1)]))
    writer.append([[0.0, 1.0]])
    writer.finish("stopped", "by \0")
    trace = vc.Trace.load(tmp_path / "run.h5")
    assert (trace.meta["text"], trace.message) == ("\0\ud800", "by \0")
    assert trace.joint("hinge").q.tolist() == [1.0]


def test_empty_traces(tmp_path):
    """A trace without samples makes tables without rows."""
    trace = Run(counts=(0,)).trace
    trace.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().startswith("epoch,time,torso.qw,")
    assert len((tmp_path / "run.csv").read_text().splitlines()) == 1
    trace.to_parquet(tmp_path / "run.parquet")
    assert pq.read_table(tmp_path / "run.parquet").num_rows == 0
    assert all(len(column) == 0 for column in trace.to_numpy().values())


def test_without_pyarrow(tmp_path, monkeypatch):
    """Without pyarrow, to_parquet says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'varichain\[parquet\]'"):
        Run(counts=(1,)).trace.to_parquet(tmp_path / "run.parquet")
