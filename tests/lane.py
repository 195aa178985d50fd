"""The two lanes of the suite: compiled kernels, and the same sources as plain Python (NUMBA_DISABLE_JIT=1).

Plain Python is some hundred times slower, so there fewer and smaller mechanisms must do.
"""

import os

import pytest

from varichain.kernels.jit import COMPILES

PATIENCE = 600.0
"""Seconds until something that must happen has happened: a cold cache compiles, pages are drawn in software, and other
programs are busy."""

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"

compiled_only = pytest.mark.skipif(not IS_COMPILED, reason="plain Python compiles nothing and takes arrays of any type")


jit_only = pytest.mark.skipif(
    not COMPILES, reason="Numba compiles no kernels here; `make test` has a lane of its own for it (VARICHAIN_JIT=1)"
)


def scaled(compiled, interpreted):
    """The number that suits the lane."""
    return compiled if IS_COMPILED else interpreted


long_run = pytest.mark.skipif(not IS_COMPILED, reason="a whole run takes minutes in plain Python")
