import numpy as np
import pytest

from varichain.bench import report
from varichain.bench.cases import Case, measure
from varichain.bench.contenders import Contender, DisagreementError, differences
from varichain.bench.interleave import Timings, interleave
from varichain.bench.measures import Effort
from varichain.bench.plot import curves
from varichain.bench.rows import Row, row_alone, row_beside, row_growth
from varichain.errors import InputError

TIMINGS = Timings({"ours": np.array([1.0, 2.0, 4.0, 1.0, 1.0]), "Peer: call": np.array([3.0, 4.0, 8.0, 5.0, 4.0])})


def test_ratios_are_formed_within_rounds():
    """The ratio is the median of the rounds' ratios, with their quartiles, and not the ratio of two medians."""
    ratio = TIMINGS.ratio("Peer: call", "ours")  # of 3, 2, 2, 5 and 4
    assert (ratio.median, ratio.low, ratio.high) == (3.0, 2.0, 4.0)
    assert TIMINGS.median("ours") == 1.0 and TIMINGS.quartiles("ours") == (1.0, 2.0) and TIMINGS.best("ours") == 1.0
    assert TIMINGS.fastest("ours", "Peer: call") == "ours"


def test_targets_are_judged_by_the_median():
    """A row meets its target if the median does."""
    assert row_beside("task", "it", TIMINGS, "ours", "Peer: call", 3.0).met
    row = row_beside("task", "it", TIMINGS, "ours", "Peer: call", 3.1, 1e-12, "soft")
    assert row.met is False and row.target == ">= 3.1x" and (row.library, row.calls) == ("Peer", "call")
    assert (
        row_alone("task", "it", TIMINGS, "ours", 1.5, "s").met and not row_alone("task", "it", TIMINGS, "ours", 0.5).met
    )
    assert row_alone("task", "it", TIMINGS, "ours").met is None
    assert row_growth("task", "large", TIMINGS, "Peer: call", "ours", 3.0).met
    assert report.judged([row, row_alone("task", "it", TIMINGS, "ours")]) == (1, [row])


def test_contenders_are_called_in_turn():
    """Every contender is timed in every round, and the times are per call."""
    calls = {"a": 0, "b": 0}

    def count(name):
        calls[name] += 1

    timings = interleave({name: lambda name=name: count(name) for name in calls}, 4, 1e-5, 1e-4)
    assert all(len(seconds) == 4 and (seconds > 0.0).all() for seconds in timings.seconds.values())
    assert min(calls.values()) >= 4


def _contender(name, value, **options):
    return Contender(name, "call", lambda: None, lambda: np.array(value), **options)


def test_answers_are_compared_before_anything_is_timed():
    """Answers that must agree and do not stop the run; those that may differ are told by how much."""
    ours, same = _contender("ours", [2.0, 4.0]), _contender("same", [2.0, 4.0 + 1e-12])
    soft = _contender("soft", [2.0, 3.0], differs="soft")
    assert differences([ours, same, soft])["soft: call"] == 0.25
    with pytest.raises(DisagreementError, match=r"other: call differs from ours: call by 2\.5e-01"):
        differences([ours, _contender("other", [2.0, 3.0])])
    with pytest.raises(DisagreementError):
        differences([ours, _contender("lost", [np.nan, 3.0])])


def test_tables_go_between_the_marks_of_a_file(tmp_path):
    """A document keeps all that stands outside its marks; a file without marks becomes the table."""
    path = tmp_path / "table.md"
    report.write_markdown(path, "first\n")
    assert path.read_text() == "first\n"
    path.write_text(f"head\n{report.BEGIN}\nold\n{report.END}\ntail\n")
    for text in ("new\n", "newer\n"):
        report.write_markdown(path, text)
    assert path.read_text() == f"head\n{report.BEGIN}\n\nnewer\n\n{report.END}\ntail\n"
    rows = [
        row_beside("task", "it", TIMINGS, "ours", "Peer: call", 3.0, 1e-12, "soft"),
        row_alone("b", "c", TIMINGS, "ours"),
    ]
    told = report.markdown(rows, ["Drake is not installed"])
    assert (
        "| task | it | 1000000 us | Peer: call | 4000000 us | 3.00 (2.00-4.00) | 1e-12 (soft) | >= 3x | yes |" in told
    )
    assert "Drake is not installed." in told


def test_curves_are_sorted_by_size():
    """Times of a family are gathered by library and size, and other rows left out."""
    rows = [
        Row("inverse dynamics", "chain of 100", 2.0, 2.0, 2.0, "Peer", "call", 5.0),
        Row("inverse dynamics", "chain of 10", 1.0, 1.0, 1.0, "Peer", "call", 3.0),
        Row("inverse dynamics", "four-bar", 9.0, 9.0, 9.0),
    ]
    found = curves(rows, "inverse dynamics", "chain")
    assert found == {"varichain": [(10, 1.0), (100, 2.0)], "Peer": [(10, 3.0), (100, 5.0)]}


def test_a_plot_of_nothing_is_refused(tmp_path):
    """Without chains and ladders there is nothing to plot, and the error says what to measure."""
    pytest.importorskip("matplotlib")
    from varichain.bench.plot import plot_growth

    with pytest.raises(InputError, match="measure chains or ladders"):
        plot_growth([], tmp_path / "plot.png")


def test_one_disagreement_does_not_stop_the_others():
    """A case on which libraries disagree is told of and has no rows; the others have theirs."""

    def disagree(effort):
        raise DisagreementError("apart")

    row, told = row_alone("task", "it", TIMINGS, "ours"), []
    chosen = [Case("first", disagree), Case("second", lambda effort: [row])]
    assert measure(chosen, Effort(), told.append) == ([row], ["first was not measured: apart"])
    assert told == ["1 of 2  first", "first was not measured: apart", "2 of 2  second"]
