import copy
import pickle

import numpy as np
import pytest

import varichain as vc
from varichain import errors
from varichain.bench.contenders import DisagreementError
from varichain.cli.failures import UsageError


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


# --- pickles and copies --------------------------------------------------------------------------------------------


def with_trace(error):
    """The error of a run, as a simulation leaves it."""
    error.trace = {"what was": "simulated"}
    return error


EXAMPLES = [
    errors.VarichainError("anything"),
    errors.InputError("mass must be positive"),
    errors.ArrayError("q must have the shape (3,)"),
    errors.FileError("no space left", "robot.urdf"),
    errors.UnknownNameError("link", "hnd", ["hand", "head"]),
    errors.DuplicateNameError("joint", "knee"),
    errors.StructureError("its own ancestor"),
    errors.StaleStateError("cut", ["lower"], ["elbow"], True),
    errors.InertiaError("too flat", 1.0, np.eye(3)),
    errors.SingularMassError("weightless", "wrist"),
    errors.AssemblyError("open", {"pin": 0.5}),
    errors.GapError("apart", 0.25),
    errors.FunctionError("no gradient", "distance"),
    errors.PreferenceError("dependent", ["crank"]),
    errors.ActuationError("too weak", 3.5, ["knee"]),
    with_trace(errors.TraceFileError("cannot read 'run.h5'", "run.h5")),
    errors.ScenarioFileError("mine.yaml", [(3, 1, "unknown key"), (1, 2, "no number")]),
    errors.FormatError("no link", "robot.urdf", 7),
    errors.MissingExtraError("plots need matplotlib"),
    errors.LimitError({"knee": 0.1}),
    errors.PenetrationError({("foot", "floor"): 0.01}),
    with_trace(errors.SimulationError("stuck", 1.5)),
    with_trace(errors.DivergenceError("lost", 2.5, "elbow")),
    errors.EquilibriumError("pushed", {"knee": 2.0}),
    errors.OptimisationError("too much", {"'hand' at the end of phase 1": 0.5}, {"the": "motion"}),
    errors.OptimisationInterrupted({"the": "motion"}, "interrupted"),
    with_trace(errors.ChatteringError("again and again", 0.5)),
    with_trace(errors.CoarseRunError("energy from nowhere", 0.5)),
    with_trace(errors.ControllerError("of yours", 0.75)),
    with_trace(errors.EventError("at t = 1 s, event let go: no joint", 1.0)),
    errors.SimulationInterrupted({"what was": "simulated"}, "interrupted at t = 1 s"),
    errors.SweepInterrupted("interrupted; 3 of 4 trials are kept"),
    errors.SweepError("the scheduler is gone"),
    UsageError("no such scenario"),
    DisagreementError("two answers"),
]

WAYS = {"pickle": lambda error: pickle.loads(pickle.dumps(error)), "copy": copy.copy, "deepcopy": copy.deepcopy}


def family(kind):
    """A class of errors and all classes below it, those of the library alone."""
    below = {one for child in kind.__subclasses__() for one in family(child)}
    return {one for one in {kind, *below} if one.__module__.startswith("varichain.")}


def test_every_error_has_an_example():
    """A new class of errors needs an example here."""
    found = {type(error) for error in EXAMPLES}
    interrupts = {errors.OptimisationInterrupted, errors.SimulationInterrupted, errors.SweepInterrupted}
    assert found == family(errors.VarichainError) | interrupts
    values = [getattr(vc, name) for name in vc.__all__ if name.endswith(("Error", "Interrupted"))]
    assert set(values) == found - {UsageError, DisagreementError}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_and_copies(error, way):
    """An error comes back from a worker process with its type, its message, its evidence and its notes."""
    error = copy.copy(error)
    error.add_note("in the third run")
    twin = way(error)
    assert type(twin) is type(error)
    assert (str(twin), twin.args, repr(twin)) == (str(error), error.args, repr(error))
    assert vars(twin).keys() == vars(error).keys()
    np.testing.assert_equal(vars(twin), vars(error))
    assert twin.__notes__ == ["in the third run"]
    assert str(pickle.loads(pickle.dumps(twin))) == str(error)


def test_errors_of_users_pickle_too():
    """A subclass with a constructor of its own comes back without a method of its own."""
    twin = pickle.loads(pickle.dumps(OfUsers(4)))
    assert (type(twin), str(twin), twin.number) == (OfUsers, "number 4", 4)


class OfUsers(errors.SimulationError):
    """An error that a user derives."""

    def __init__(self, number):
        """Take something else than a message and a time."""
        super().__init__(f"number {number}", 0.5)
        self.number = number
