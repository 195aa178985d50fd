"""Sweeps on a cluster of real processes, which are killed."""

import os
import subprocess
import sys
import threading
import time

import pytest

import varichain as vc
from lane import PATIENCE, compiled_only

sys.path.insert(0, os.path.dirname(__file__))
import toys
from clusters import Cluster, kill
from test_sweeps import bits, client, rows, until

pytestmark = compiled_only  # the same processes in both lanes
pytest.importorskip("distributed")
GRID = {"x": [float(k) for k in range(40)]}


@pytest.fixture
def cluster(tmp_path):
    """A scheduler without workers."""
    found = Cluster(tmp_path)
    yield found
    found.close()


def serial(trial=toys.slow):
    """The table that every cluster must make."""
    return bits(vc.sweep(trial, GRID, processes=4))


def test_killed_workers_cost_nothing_but_time(cluster, tmp_path):
    """A worker that is killed has its trials done by the other; when all are gone the sweep waits for a new one."""
    out = tmp_path / "a.sweep"
    first, second = cluster.worker(), cluster.worker()
    found = []
    work = threading.Thread(
        target=lambda: found.append(vc.sweep(toys.slow, GRID, out=out, cluster=cluster.address, chunk=2))
    )
    work.start()
    until(lambda: rows(out) >= 6)
    kill(first)
    until(lambda: rows(out) >= 14)
    kill(second)
    time.sleep(1.0)
    assert work.is_alive()
    cluster.worker()
    work.join(timeout=PATIENCE)
    assert bits(found[0]) == serial()
    assert len(set(found[0].table["key"])) == 40


@pytest.mark.long
def test_a_killed_client_resumes_with_other_workers_and_chunks(cluster, tmp_path):
    """After kill -9 of the client only what is missing is done, by more workers in other chunks, to the same bits."""
    out = tmp_path / "a.sweep"
    cluster.worker()
    code = f"vc.sweep(toys.slow, {GRID!r}, out={str(out)!r}, cluster={cluster.address!r}, chunk=1)"
    process = client(code)
    until(lambda: rows(out) >= 6)
    kill(process)
    kept = rows(out)
    assert 6 <= kept < 40
    for _ in range(3):
        cluster.worker()
    found = vc.sweep(toys.slow, GRID, out=out, cluster=cluster.address, resume=True, chunk=7)
    assert bits(found) == serial()


@pytest.mark.long
def test_a_killed_scheduler_is_an_error_and_the_file_is_kept(cluster, tmp_path):
    """Without its scheduler the sweep ends within half a minute and says so; it resumes on this machine."""
    out = tmp_path / "a.sweep"
    cluster.worker()
    code = f"vc.sweep(toys.slow, {GRID!r}, out={str(out)!r}, cluster={cluster.address!r}, chunk=1)"
    process = client(code, stderr=subprocess.PIPE)
    until(lambda: rows(out) >= 4)
    kill(cluster.scheduler)
    begun = time.monotonic()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0 and "SweepError: the scheduler is gone" in said
    assert time.monotonic() - begun < 60.0
    assert 4 <= rows(out) < 40
    assert bits(vc.sweep(toys.slow, GRID, out=out, resume=True)) == serial()


@pytest.mark.parametrize("trial", [toys.crashing, toys.hanging, toys.raising])
def test_bad_trials_fail_alone_on_a_cluster(cluster, trial):
    """Trials that crash, hang or raise end their own process at most: the worker goes on."""
    cluster.worker()
    found = vc.sweep(trial, {"x": [0, 1, 2, 3]}, cluster=cluster.address, timeout=3.0, retries=1)
    assert found.table["status"] == ["done", "done", "failed", "done"]


def test_workers_with_other_code_are_refused(cluster, tmp_path):
    """A worker with another version of varichain is refused by its version."""
    (tmp_path / "sitecustomize.py").write_text("import varichain\nvarichain.__version__ = '0.0.7'\n")
    path = os.pathsep.join([str(tmp_path), *[entry for entry in sys.path if entry], os.path.dirname(__file__)])
    cluster.worker(PYTHONPATH=path)
    with pytest.raises(vc.SweepError, match=r"has varichain 0\.0\.7"):
        vc.sweep(toys.quick, GRID, cluster=cluster.address)
