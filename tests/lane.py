"""The two lanes of the suite: compiled kernels, and the same sources as plain Python (NUMBA_DISABLE_JIT=1).

Plain Python is some hundred times slower, so there fewer and smaller mechanisms must do.
"""

import os

import pytest

PATIENCE = 600.0
"""Seconds until something that must happen has happened: a cold cache compiles, pages are drawn in software, and other
programs are busy."""

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"

compiled_only = pytest.mark.skipif(not IS_COMPILED, reason="plain Python compiles nothing and takes arrays of any type")


def scaled(compiled, interpreted):
    """The number that suits the lane."""
    return compiled if IS_COMPILED else interpreted


long_run = pytest.mark.skipif(not IS_COMPILED, reason="a whole run takes minutes in plain Python")
