"""How commands fail: one message, no traceback, an exit code that says whose fault it is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from click.exceptions import Exit

from varichain.cli.console import warn
from varichain.errors import VarichainError

FAILURE, USAGE, INTERRUPTED = 1, 2, 130


class UsageError(VarichainError, ValueError):
    """A command line that cannot be: an unknown name, option value or kind of file."""


@contextmanager
def reported(debug: bool) -> Iterator[None]:
    """Turn errors of the house into a message and an exit code; others are bugs and keep their traceback."""
    try:
        with warnings.catch_warnings(record=not debug) as caught:
            try:
                yield
            finally:
                for warning in caught or []:
                    warn(f"warning: {warning.message}")
    except KeyboardInterrupt:
        if debug:
            raise
        warn("interrupted")
        raise Exit(INTERRUPTED) from None
    except VarichainError as error:
        if debug:
            raise
        warn(f"error: {error}")
        raise Exit(USAGE if isinstance(error, UsageError) else FAILURE) from None


@contextmanager
def usage() -> Iterator[None]:
    """Errors of the house that come from the command line itself."""
    try:
        yield
    except VarichainError as error:
        raise UsageError(str(error)) from error
