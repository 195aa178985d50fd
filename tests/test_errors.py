import pickle

import numpy as np
import pytest

from varichain import errors


def test_family():
    """Every error is a VarichainError and also the built-in error that its nearest relative would be."""
    relatives = {
        errors.InputError: ValueError,
        errors.UnknownNameError: KeyError,
        errors.DuplicateNameError: ValueError,
        errors.StructureError: ValueError,
        errors.InertiaError: ValueError,
        errors.SingularMassError: ArithmeticError,
        errors.TraceFileError: OSError,
    }
    for error, builtin in relatives.items():
        assert issubclass(error, errors.VarichainError)
        assert issubclass(error, builtin)


def test_unknown_name_suggests_close_names_first():
    """An unknown name's message is a sentence that begins with the closest valid names."""
    error = errors.UnknownNameError("link", "left_hnad", ["ground", "head", "left_hand"])
    assert error.valid[0] == "left_hand"
    assert sorted(error.valid) == ["ground", "head", "left_hand"]
    assert str(error).startswith("no link is called 'left_hnad' (did you mean 'left_hand'?); links: 'left_hand', ")


def test_unknown_name_without_relatives():
    """Without a close name nothing is suggested, and without any names the message says so."""
    assert "did you mean" not in str(errors.UnknownNameError("joint", "q", ["shoulder"]))
    assert str(errors.UnknownNameError("joint", "q", [])) == "no joint is called 'q'; joints: (none)"


def test_long_lists_are_cut():
    """The message lists some of a thousand names and says how many are left; the error carries all."""
    error = errors.UnknownNameError("link", "nothing", [f"l{i}" for i in range(1000)])
    assert len(error.valid) == 1000
    assert "and 980 more" in str(error)


@pytest.mark.parametrize(
    "error",
    [
        errors.InputError("mass must be positive"),
        errors.UnknownNameError("link", "hnd", ["hand", "head"]),
        errors.DuplicateNameError("joint", "knee"),
        errors.InertiaError("too flat", 1.0, np.eye(3)),
        errors.SingularMassError("weightless", "wrist"),
        errors.TraceFileError("cannot read 'run.h5'", "run.h5"),
    ],
)
def test_errors_survive_pickling(error):
    """An error comes back from a worker process with its message and its evidence."""
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert vars(twin).keys() == vars(error).keys()
