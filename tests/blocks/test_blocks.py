"""Blocks of discrete controllers, each beside its definition."""

import math

import numpy as np
import pytest

from varichain import blocks

ROUNDING = 1e-12


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_has_the_known_answers(counter, key, words):
    """Counters and keys give the words that Random123 publishes for Philox-4x32-10."""
    assert blocks.philox(*counter, *key) == words


def test_noise_is_normal_and_uniform():
    """Means, variances and the lack of correlation are those of the distributions, within four standard errors."""
    stream = np.array([1.0, 2.0, 3.0, 4.0, 0.0])
    n = 4000
    x = np.array([blocks.normal(stream) for _ in range(n)])
    u = np.array([blocks.uniform(stream) for _ in range(n)])
    assert stream[4] == 2 * n
    assert abs(x.mean()) < 4 / math.sqrt(n)
    assert abs(x.var() - 1.0) < 4 * math.sqrt(2 / n)
    assert abs(np.mean(x[1:] * x[:-1])) < 4 / math.sqrt(n)
    assert abs(u.mean() - 0.5) < 4 * math.sqrt(1 / 12 / n)
    assert u.min() >= 0.0 and u.max() < 1.0


def test_low_pass_answers_a_step_as_the_continuous_filter_does():
    """After a step the output is 1 - exp(-2 pi f t); the first input is where it begins."""
    memory = np.zeros(blocks.LOW_PASS)
    assert blocks.low_pass(memory, 3.0, 5.0, 1e-3) == 3.0
    memory[:] = 1.0, 0.0
    y = [blocks.low_pass(memory, 1.0, 5.0, 1e-3) for _ in range(50)]
    assert y == pytest.approx([1.0 - math.exp(-2 * math.pi * 5.0 * 1e-3 * k) for k in range(1, 51)], abs=ROUNDING)


def test_derivative_of_a_ramp_is_its_slope():
    """The filtered rate of a ramp goes from zero to the slope, as a low-pass of the slope does."""
    memory = np.zeros(blocks.DERIVATIVE)
    rates = [blocks.derivative(memory, 2.0 * k * 1e-3, 20.0, 1e-3) for k in range(200)]
    assert rates[0] == 0.0
    assert rates[-1] == pytest.approx(2.0, abs=1e-9)
    assert rates[10] == pytest.approx(2.0 * (1.0 - math.exp(-2 * math.pi * 20.0 * 0.01)), abs=ROUNDING)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_delay_returns_the_input_of_n_calls_ago(n):
    """The output lags by n calls; before, it is the first input."""
    memory = np.zeros(blocks.delay_length(n))
    outputs = [blocks.delay(memory, float(k + 7)) for k in range(12)]
    assert outputs == [float(max(k - n, 0) + 7) for k in range(12)]


def test_hold_quantise_and_saturate():
    """A sampler keeps its value for so many calls, a quantiser rounds to its resolution, a limiter bounds."""
    memory = np.zeros(blocks.HOLD)
    assert [blocks.hold(memory, float(k), 3) for k in range(7)] == [0, 0, 0, 3, 3, 3, 6]
    assert blocks.quantised(0.26, 0.1) == pytest.approx(0.3, abs=ROUNDING)
    assert blocks.quantised(-0.26, 0.1) == pytest.approx(-0.3, abs=ROUNDING)
    assert blocks.quantised(0.26, 0.0) == 0.26
    assert [blocks.saturated(x, 2.0) for x in (-3.0, 1.0, 3.0)] == [-2.0, 1.0, 2.0]
