"""Names and texts of strangers in terminals, tables, plots and messages: shown, not obeyed."""

import csv
import io

import pytest

import shows
import varichain as vc
from cli.commands import call
from varichain.cli import console


def odd(joint):
    """A trace of a link on a joint of that name."""
    m = vc.Mechanism("[/x] [red]$\\frac{$")
    m.add_link("link", joint=vc.Revolute("y", name=joint), inertia=vc.Inertia.sphere(1.0, 0.1))
    return vc.simulate(m, m.state(), until=0.02, events=[vc.at(0.01, vc.cut(joint), name="[/bold] $x")])


def test_markup_and_escapes_are_shown(capsys):
    """What looks like markup is printed as it is; what a terminal would obey is printed as an escape."""
    console.say("[/x] [red] \x1b[2J \x07 \ud800 \u202e :smile:")
    assert capsys.readouterr().out == "[/x] [red] \\x1b[2J \\x07 \\xd800 \\x202e :smile:\n"
    console.warn("[/x]\x1b]0;title\x07")
    assert capsys.readouterr().err == "[/x]\\x1b]0;title\\x07\n"


@pytest.mark.parametrize("command", ["info", "plot", "export"])
def test_commands_print_odd_names(command, tmp_path):
    """A trace whose names look like markup and mathematics is described, plotted and exported."""
    path = tmp_path / "odd.h5"
    odd("[/x]$\\frac{$").save(path)
    more = {"info": [], "plot": ["--what", "angles,energy"], "export": ["--to", tmp_path / "odd.html"]}[command]
    result = call(command, path, *more)
    assert result.exit_code == 0, result.output


def test_no_cell_is_a_formula(tmp_path):
    """A name that a spreadsheet would take for a formula begins with an apostrophe in a CSV file."""
    for name in ("=1+1", "+x", "-x", "@x"):
        odd(name).to_csv(tmp_path / "x.csv", overwrite=True)
        head = next(csv.reader(io.StringIO((tmp_path / "x.csv").read_text(encoding="utf-8"))))
        assert f"'{name}.q" in head and not any(cell[0] in "=+-@" for cell in head)


def test_half_characters_do_not_stop_exports(tmp_path):
    """A message with half a character in it is exported as its escape."""
    trace = shows.show(0.2)
    trace.message = "half \ud800"
    trace.meta["note"] = "half \ud800"
    for suffix in (".json", ".html", ".csv", ".glb"):
        vc.export(trace, tmp_path / f"x{suffix}")


@pytest.mark.parametrize("name", ["x" * 10**6, 10**5000, object()], ids=["long", "number", "object"])
def test_messages_are_short(name):
    """A message does not repeat a megabyte, or a number that Python does not write."""
    m = vc.Mechanism("m")
    m.add_link("link", joint=vc.Revolute("y", name="hinge"), inertia=vc.Inertia.sphere(1.0, 0.1))
    for call_it in (m.link, m.joint, m.frame, m.cut):
        with pytest.raises(vc.VarichainError) as caught:
            call_it(name)
        assert len(str(caught.value)) < 1000
