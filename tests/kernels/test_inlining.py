"""Which functions are copied into their callers: helpers, and no routine because a helper calls it."""

from lane import jit_only
from varichain.kernels.jit import VECTOR, helper, routine


@routine
def _long_work(x):
    for i in range(len(x)):
        x[i] += 1.0


@helper
def _short_work(x):
    _long_work(x)


@jit_only
def test_a_routine_that_a_helper_calls_is_not_forced_into_its_callers():
    """Numba lets options of the caller pass on to what it compiles meanwhile; a routine has its own."""
    from varichain.kernels.compiling import types_of

    types = types_of((VECTOR,))
    # the helper itself, not a kernel, whose machine code may come from the cache
    _short_work.compile(types)
    forced = ["alwaysinline" in part.overloads[types].library.get_llvm_str() for part in (_short_work, _long_work)]
    assert forced == [True, False]
