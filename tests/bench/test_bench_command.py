import json

import pytest
from click.testing import CliRunner

from varichain.bench.cases import cases
from varichain.bench.contenders import missing_peers
from varichain.cli.app import app
from varichain.errors import InputError


def bench(*arguments):
    """Run the command."""
    return CliRunner().invoke(app, ["bench", *arguments])


def test_one_mechanism_beside_its_peers(tmp_path):
    """The command measures one mechanism, tells of every peer that it is there or missing, and fills a file."""
    path, plot = tmp_path / "bench.md", tmp_path / "growth.svg"
    chosen = ["--only", "constrained forward dynamics: pinned chain of 10", "--quick", "--rounds", "2"]
    done = bench(*chosen, "--json", "--markdown", str(path), "--plot", str(plot))
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    libraries = {row["library"] for row in found["rows"]} - {""}
    assert len(found["notes"]) == len(missing_peers()) and libraries.isdisjoint(missing_peers())
    for row in found["rows"]:
        assert 0.0 < row["low"] <= row["ours"] <= row["high"]
        if row["library"] == "Pinocchio":
            assert row["difference"] < 1e-8 and row["ratio"]["low"] <= row["ratio"]["median"] <= row["ratio"]["high"]
    assert "| constrained forward dynamics | pinned chain of 10 |" in path.read_text()
    assert plot.exists()


def test_names_are_listed():
    """`--list` names what would be measured and measures nothing."""
    done = bench("--list", "--only", "LADDER")
    assert done.exit_code == 0
    assert "constrained forward dynamics: ladder of 40" in done.stdout and "figure" not in done.stdout


def test_mistakes_of_the_command_line():
    """Unknown words and impossible numbers of rounds are mistakes of usage that say what would be valid."""
    done = bench("--only", "teapot")
    assert done.exit_code == 2 and "no benchmark has 'teapot' in its name; they are inverse dynamics" in done.output
    done = bench("--list", "--plot", "no/such/folder/growth.png")
    assert done.exit_code == 2 and "there is no folder no/such/folder to write growth.png to" in done.output
    done = bench("--rounds", "0")
    assert done.exit_code == 2 and "--rounds must be 1 or more" in done.output


def test_a_quick_run_leaves_out_what_is_long():
    """Large mechanisms and first starts are not part of a quick run."""
    everything, quick = {case.name for case in cases()}, {case.name for case in cases(is_quick=True)}
    assert quick < everything and "inverse dynamics: chain of 1000" in everything - quick
    assert "first start: figure, open" in everything - quick
    with pytest.raises(InputError, match="no benchmark"):
        cases(["nothing of the kind"])
