"""IPOPT [Wachter and Biegler 2006] through CasADi: the problem as callbacks with their own derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from varichain.errors import MissingExtraError
from varichain.optimise.pattern import Pattern
from varichain.optimise.solving import Best, Programme, Solution, Watch

_MISSING = "motions of this size are optimised by IPOPT, in the package casadi: pip install 'varichain[optimise]'"

_OPTIONS = {"print_level": 0, "sb": "yes", "nlp_scaling_method": "none", "mu_strategy": "monotone", "mu_init": 1e-3}


def solve(programme: Programme, tolerance: float, most: int, watch: Watch) -> Solution:
    """Solve with second derivatives.

    Raises:
        MissingExtraError: The package casadi is not installed.
    """
    casadi = imported()
    callbacks = _callbacks(casadi, programme)
    best = Best(programme, tolerance)
    faults: list[BaseException] = []
    watching = _watching(casadi, programme, best, watch, faults)
    n, rows = programme.n, len(programme.row_low)
    x, p = casadi.MX.sym("x", n), casadi.MX.sym("p", 0)
    f, g = callbacks["nlp"](x, p)
    options = {
        "grad_f": callbacks["gradf"],
        "jac_g": callbacks["jacg"],
        "hess_lag": callbacks["hessl"],
        "no_nlp_grad": True,
        "print_time": False,
        "inputs_check": False,
        "iteration_callback": watching,
        "error_on_fail": False,
        "show_eval_warnings": False,
        "ipopt": {**_OPTIONS, "tol": tolerance, "max_iter": most},
    }
    solver = casadi.nlpsol("solver", "ipopt", {"x": x, "f": f, "g": g}, options)
    found = solver(
        x0=programme.guess, lbx=programme.low, ubx=programme.high, lbg=programme.row_low, ubg=programme.row_high
    )
    if faults:
        raise faults[0]
    message = str(solver.stats()["return_status"])
    is_solved = message in ("Solve_Succeeded", "Solved_To_Acceptable_Level")
    x_found = np.array(found["x"]).ravel() if is_solved else best.x
    assert rows == len(programme.row_high)
    return Solution(x_found, is_solved, message, int(solver.stats()["iter_count"]))


def imported() -> Any:
    """The package casadi.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import casadi
    except ImportError:
        raise MissingExtraError(_MISSING) from None
    return casadi


def _callbacks(casadi: Any, programme: Programme) -> dict[str, Any]:
    """Cost and equations, and their derivatives, as functions of CasADi."""
    dense = casadi.Sparsity.dense
    n, rows = programme.n, len(programme.row_low)
    x, p, one, g = dense(n, 1), dense(0, 1), dense(1, 1), dense(rows, 1)
    J, H = _sparsity(casadi, programme.slopes_pattern), _sparsity(casadi, programme.curves_pattern)
    kinds: dict[str, tuple[list[Any], list[Any], list[Callable[..., Any]]]] = {
        "nlp": ([x, p], [one, g], [lambda x, p: programme.cost(x), lambda x, p: programme.equations(x)]),
        "gradf": ([x, p], [one, x], [lambda x, p: programme.cost(x), lambda x, p: programme.cost_slopes(x)]),
        "jacg": ([x, p], [g, J], [lambda x, p: programme.equations(x), lambda x, p: programme.slopes(x)]),
        "hessl": ([x, p, one, g], [H], [lambda x, p, s, y: programme.curves(x, float(s[0]), y)]),
    }

    class Called(casadi.Callback):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__()
            self._in, self._out, self._functions = kinds[name]
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self._in)

        def get_n_out(self) -> int:
            return len(self._out)

        def get_sparsity_in(self, i: int) -> Any:
            return self._in[i]

        def get_sparsity_out(self, i: int) -> Any:
            return self._out[i]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arguments: Sequence[Any], results: Sequence[Any]) -> int:
            given = [np.zeros(0) if one is None else np.frombuffer(one, np.float64) for one in arguments]
            for function, result in zip(self._functions, results, strict=True):
                if result is not None:
                    values = function(*given)
                    if not np.isfinite(values).all():
                        return 1
                    np.frombuffer(result, np.float64)[:] = values
            return 0

    return {name: Called(name) for name in kinds}


def _watching(casadi: Any, programme: Programme, best: Best, watch: Watch, faults: list[BaseException]) -> Any:
    """A callback of CasADi after each iteration, which keeps the best unknowns."""
    sizes = {"x": programme.n, "f": 1, "g": len(programme.row_low), "lam_x": programme.n}
    sizes |= {"lam_g": len(programme.row_low), "lam_p": 0}

    class Watching(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.construct("watching", {})

        def get_n_in(self) -> int:
            return len(sizes)

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(sizes[casadi.nlpsol_out(i)], 1)

        def eval(self, arguments: Sequence[Any]) -> list[int]:
            try:
                cost, off = best.take(np.array(arguments[0]).ravel())
                return [0 if watch(best.n, cost, off) else 1]
            except BaseException as fault:
                faults.append(fault)
                return [1]

    return Watching()


def _sparsity(casadi: Any, pattern: Pattern) -> Any:
    """The pattern, in CasADi's form."""
    n_rows, n_columns = pattern.shape
    starts = np.searchsorted(pattern.columns, np.arange(n_columns + 1))
    return casadi.Sparsity(n_rows, n_columns, starts.tolist(), pattern.rows.tolist())
