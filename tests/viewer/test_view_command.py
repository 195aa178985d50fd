"""`varichain view` as a program: where it listens, what it says, how it ends."""

import json
import socket
import sys

import pytest

import varichain as vc
from cli.commands import call, interrupt, start
from lane import PATIENCE

pytest.importorskip("viser")


def listening(port):
    """Addresses of this machine that answer at a port."""
    found = []
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in {"127.0.0.1", *others}:
        with socket.socket() as caller:
            caller.settimeout(1.0)
            if caller.connect_ex((address, port)) == 0:
                found.append(address)
    return found


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """File of a short trace."""
    path = tmp_path_factory.mktemp("view") / "stone.h5"
    m = vc.Mechanism("stone")
    m.add_link("stone", parent=None, inertia=vc.Inertia.sphere(1.0, 0.1))
    vc.simulate(m, m.state(), until=0.01, out=path)
    return path


@pytest.mark.parametrize("target", ["pendulum", "trace"])
def test_it_listens_on_loopback_until_ctrl_c(target, trace, tmp_path):
    """The port that was asked for is taken, so another one is used and said; only loopback answers; Ctrl-C ends it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        asked = taken.getsockname()[1]
        words = ["view", trace if target == "trace" else target, "--json", "--port", asked]
        process = start(*words, cwd=tmp_path)
        told = json.loads(process.stdout.readline())
        assert told["mode"] == ("replay" if target == "trace" else "live") and told["host"] == "127.0.0.1"
        assert told["port"] != asked and f":{told['port']}/" in told["address"]
        assert [x for x in listening(told["port"]) if not x.startswith("127.")] == []
        assert "127.0.0.1" in listening(told["port"])
    interrupt(process)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and out == "" and "Traceback" not in err
    assert f"port {asked} is taken" in err and "stopped" in err
    assert listening(told["port"]) == []


def test_a_live_run_is_kept(tmp_path):
    """With --out the trace of a live run is in the file when Ctrl-C has ended it; --replay simulates first."""
    path = tmp_path / "live.h5"
    process = start("view", "pendulum", "--json", "--port", 0, "--running", "--out", path, cwd=tmp_path)
    assert json.loads(process.stdout.readline())["mode"] == "live"
    interrupt(process)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and str(path) in err
    assert len(vc.Trace.load(path)) > 0
    process = start("view", "pendulum", "--json", "--port", 0, "--replay", cwd=tmp_path)
    assert json.loads(process.stdout.readline())["mode"] == "replay"
    interrupt(process)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_mistakes_are_told(trace, tmp_path):
    """A missing file, a file that is no trace, and options that do not fit are errors that say what is wrong."""
    broken = tmp_path / "broken.h5"
    broken.write_bytes(b"not a trace at all")
    for words, code, said in (
        (["view", "nonsense"], 2, "nonsense"),
        (["view", tmp_path / "none.h5"], 2, "none.h5"),
        (["view", broken], 1, "broken.h5"),
        (["view", trace, "--live"], 2, "replayed"),
        (["view", trace, "--out", tmp_path / "new.h5"], 2, "--out"),
        (["view", "pendulum", "--limits", "rubber"], 2, "soft"),
        (["view", trace, "--port", 70000], 2, "65535"),
        (["view", trace, "--host", "203.0.113.7"], 1, "203.0.113.7"),
    ):
        result = call(*words)
        assert result.exit_code == code and said in result.output


def test_a_missing_package_is_an_error(monkeypatch, trace):
    """Without viser the command says what to install."""
    monkeypatch.setitem(sys.modules, "viser", None)
    result = call("view", trace)
    assert result.exit_code == 1 and "pip install 'varichain[view]'" in result.output
