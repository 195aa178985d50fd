"""Every public entry refuses bad values by name: none is taken in silence, none ends in a bare error or a crash."""

import importlib
import inspect
import re
import traceback
from pathlib import Path

import pytest

import entries
import varichain as vc
from varichain.errors import quoted

FOUND = entries.entries()


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Bad values are names of files too: nothing is to be written where the tests are started."""
    monkeypatch.chdir(tmp_path)


def attempt(name, parameter=None, value=None):
    """What became of a call: "taken", "refused", or the traceback of a bare error."""
    try:
        entries.closed(entries.called(name, FOUND[name], parameter, value))
    except vc.VarichainError:
        return "refused"
    except Exception:
        return traceback.format_exc()
    return "taken"


@pytest.mark.parametrize("name", [*FOUND])
def test_good_values_are_taken(name):
    """Each entry takes the good arguments that the registry has for it."""
    entries.closed(entries.called(name, FOUND[name]))


@pytest.mark.parametrize("name", [*FOUND])
def test_bad_values_are_refused(name):
    """No bad value in any place ends in a bare error; what contradicts the annotation is not taken."""
    faults = []
    for parameter in entries.parameters(name, FOUND[name]):
        wrong = entries.refused_values(parameter)
        for value in (*entries.VALUES, *wrong):
            outcome = attempt(name, parameter.name, value)
            if outcome not in ("taken", "refused"):
                faults.append(f"{parameter.name}={quoted(value)}: {outcome.strip().splitlines()[-1][:200]}")
            elif outcome == "taken" and any(value is x for x in wrong):
                faults.append(f"{parameter.name}={quoted(value)} is taken")
    assert [*dict.fromkeys(faults)] == []


def test_the_registry_has_everything():
    """Every public name is an entry, a result, an error, a module or a constant; results are not in both."""
    for module in entries.MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            is_error = inspect.isclass(value) and issubclass(value, BaseException)
            is_entry = any(entry.rpartition(".")[2] == name for entry in FOUND)
            assert is_entry or is_error or name in entries.RESULTS or not callable(value), name


@pytest.mark.parametrize("value", [1e160, -1e200])
@pytest.mark.parametrize(
    "name", ["forward_dynamics", "inverse_dynamics", "energy", "momentum", "mass_matrix", "simulate"]
)
def test_numbers_whose_squares_overflow_are_refused(name, value):
    """A coordinate or a velocity of 1e160 is refused, where it would make results NaN in silence."""
    for part in ("q", "v"):
        m = entries.arm()
        s = m.state()
        setattr(s["elbow"], part, value)
        with pytest.raises(vc.InputError, match="smaller than"):
            getattr(vc, name)(m, s, *([0.01] if name == "simulate" else []))


DOCS = Path(__file__).resolve().parent.parent / "docs"
IMPORTED = re.compile(r"^from (varichain[\w.]*) import ([\w, ]+)$|^::: (varichain[\w.]*)\.(\w+)$", re.MULTILINE)


def test_the_registry_has_what_documents_name():
    """Functions and classes that the pages import, or describe, are entries too, in whatever module they are."""
    known = {name.rpartition(".")[2] for name in FOUND} | set(entries.RESULTS)
    missing = []
    for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        for found in IMPORTED.finditer(path.read_text(encoding="utf-8")):
            module = importlib.import_module(found[1] or found[3])
            for name in (found[2] or found[4]).split(", "):
                value = getattr(module, name)
                is_error = inspect.isclass(value) and issubclass(value, BaseException)
                if callable(value) and not is_error and name not in known:
                    missing.append(f"{path.name}: {module.__name__}.{name}")
    assert missing == []
