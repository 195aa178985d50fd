"""The glue between Python and the library's kernels: nothing but what was declared reaches machine code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from varichain.kernels import library
from varichain.kernels.jit import KERNELS, plain

library.import_kernels()
OURS = {k: kinds for k, kinds in KERNELS.items() if hasattr(k, "returned")}

pytestmark = pytest.mark.skipif(not OURS, reason="the library of kernels is not used here")


def sound(kind):
    """An argument as it was declared."""
    if kind.n_dims == 0:
        return kind.dtype.type(0)
    return np.zeros((2,) * kind.n_dims, kind.dtype)


def wrong(kind):
    """Arguments that were not declared so."""
    anything = st.sampled_from(
        [None, "1.0", b"1", [0.0, 0.0], (1, 2), 1j, object(), {}, np.zeros(2, object), np.zeros(2, "U3")]
    )
    if kind.n_dims == 0:
        others = st.sampled_from([np.zeros(()), np.zeros(1), np.array(1), np.datetime64("2020"), np.complex128(1)])
        return (
            anything | others if kind.dtype == np.float64 else anything | others | st.sampled_from([1.0, np.float64(1)])
        )
    shape, array = (2,) * kind.n_dims, sound(kind)
    damaged = [np.zeros(shape, dtype) for dtype in ("f4", "i4", "c16", "?", "M8[s]") if np.dtype(dtype) != kind.dtype]
    damaged += [np.zeros(shape, dtype) for dtype in ("f8", "i8", "u1") if np.dtype(dtype) != kind.dtype]
    damaged += [np.zeros((2,) * n, kind.dtype) for n in (0, kind.n_dims + 1)]
    damaged += [
        np.zeros((4,) * kind.n_dims, kind.dtype)[(slice(None, None, 2),) * kind.n_dims],
        array[0],
        memoryview(b"1"),
    ]
    damaged.append(np.zeros(shape, np.dtype([("x", f"V{kind.dtype.itemsize}")])))
    if kind.dtype.itemsize > 1:
        bytes_of = np.zeros(array.nbytes + 1, np.uint8)
        damaged.append(bytes_of[1:].view(kind.dtype).reshape(shape))  # not aligned
        damaged.append(np.zeros(shape, kind.dtype.newbyteorder()))
    if kind.is_written:
        read_only = sound(kind)
        read_only.flags.writeable = False
        damaged.append(read_only)
    return anything | st.sampled_from(damaged) | st.sampled_from([0, 0.0])


@st.composite
def calls(draw):
    """A kernel, arguments of which one is wrong, and the place of that one."""
    kernel, kinds = draw(st.sampled_from(list(OURS.items())))
    i = draw(st.integers(0, len(kinds) - 1))
    arguments = [sound(kind) for kind in kinds]
    arguments[i] = draw(wrong(kinds[i]))
    return kernel, arguments, i


@given(calls())
def test_wrong_arguments_are_type_errors(call):
    """An argument of another type, rank, item type, byte order, alignment or layout is a TypeError that names it."""
    kernel, arguments, i = call
    with pytest.raises(TypeError, match=f"^argument {i + 1} of kernel {library.name_of(plain(kernel))} must be "):
        kernel(*arguments)


@given(st.sampled_from(list(OURS.items()) or [None]), st.integers(-3, 3).filter(bool), st.booleans())
def test_wrong_counts_are_type_errors(chosen, more, is_named):
    """Arguments too few, too many or by name are a TypeError."""
    kernel, kinds = chosen
    arguments = [sound(kind) for kind in kinds] + [0] * more
    with pytest.raises(TypeError, match="takes"):
        kernel(*arguments[: max(0, len(kinds) + more)])
    if is_named:
        with pytest.raises(TypeError, match="by name"):
            kernel(*[sound(kind) for kind in kinds[1:]], first=sound(kinds[0]))


def test_integers_that_are_too_large_are_refused():
    """An integer beyond 64 bits is an OverflowError, as everywhere in Python."""
    for kernel, kinds in OURS.items():
        for i in [i for i, kind in enumerate(kinds) if kind.n_dims == 0 and kind.dtype == np.int64]:
            arguments = [sound(kind) for kind in kinds]
            arguments[i] = 2**80
            with pytest.raises(OverflowError):
                kernel(*arguments)


def test_calls_leave_no_references(monkeypatch):
    """Ten thousand calls, refused ones too, leave the counts of references as they were."""
    import sys

    import varichain as vc
    from varichain.kernels.faults import first_fault
    from varichain.layout.layout import layout_of

    m = vc.figures.human16()
    s, workspace = m.state(), layout_of(m).new_workspace()
    table = workspace.table
    q, v, bad = s.q.copy(), s.v.copy(), np.zeros(3, np.float32)
    before = [sys.getrefcount(x) for x in (table, q, v, bad, q.dtype, first_fault)]
    for _ in range(10_000):
        assert first_fault(table, q, v) == 0
        with pytest.raises(TypeError):
            first_fault(table, q, bad)
    assert [sys.getrefcount(x) for x in (table, q, v, bad, q.dtype, first_fault)] == pytest.approx(before, abs=3)


def test_kernels_look_like_functions():
    """A kernel of the library has the name, the docstring and the Python function of its source."""
    for kernel in OURS:
        function = plain(kernel)
        assert kernel.__name__ == function.__name__ and kernel.__doc__ == function.__doc__ != None  # noqa: E711
        assert library.name_of(kernel) in repr(kernel) and kernel.address != 0
