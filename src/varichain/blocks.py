"""Blocks of discrete controllers: filters, delays, samplers, quantisers and noise, for functions that Numba compiles.

A block with memory takes an array of the controller's state first, and changes it; an array of zeros is a block that
has not begun: its first input is taken as if it had always been there. `LOW_PASS`, `DERIVATIVE`, `HOLD` and
`delay_length` are the lengths of these arrays. Noise takes the controller's stream, an array too.

    def law(t, q, v, tau, state, parameters, stream):
        speed = vc.blocks.low_pass(state.filter, v[0], parameters.cutoff, 1e-3)
        tau[0] = -parameters.gain * speed + 0.1 * vc.blocks.normal(stream)

    vc.Discrete(law, 1e-3, {"filter": np.zeros(vc.blocks.LOW_PASS)}, {"cutoff": 10.0, "gain": 2.0}, seed=1)
"""

from __future__ import annotations

import math

from numba import njit

LOW_PASS, DERIVATIVE, HOLD = 2, 3, 2

_WORD = 0xFFFFFFFF
_BEGUN = 1.0


def delay_length(ticks: int) -> int:
    """Length of the memory of a `delay` by so many ticks."""
    return int(ticks) + 2


@njit
def low_pass(memory, x, cutoff, tick):  # type: ignore[no-untyped-def]
    """First-order low-pass filter, y += (1 - exp(-2 pi f T)) (x - y): exact if x is constant between calls.

    Args:
        memory: Array (2,) of the state.
        x: Input.
        cutoff: f [Hz].
        tick: T, time between calls [s].
    """
    if memory[0] != _BEGUN:
        memory[0], memory[1] = _BEGUN, x
    memory[1] += (1.0 - math.exp(-2.0 * math.pi * cutoff * tick)) * (x - memory[1])
    return memory[1]


@njit
def derivative(memory, x, cutoff, tick):  # type: ignore[no-untyped-def]
    """Low-pass filtered rate of x, from differences of one tick; zero at the first call.

    Args:
        memory: Array (3,) of the state.
        x: Input.
        cutoff: Of the filter [Hz].
        tick: Time between calls [s].
    """
    if memory[0] != _BEGUN:
        memory[0], memory[1], memory[2] = _BEGUN, x, 0.0
    rate = (x - memory[1]) / tick
    memory[1] = x
    memory[2] += (1.0 - math.exp(-2.0 * math.pi * cutoff * tick)) * (rate - memory[2])
    return memory[2]


@njit
def delay(memory, x):  # type: ignore[no-untyped-def]
    """Input of n calls ago, if the memory has the length `delay_length(n)`; x itself for n = 0."""
    n = len(memory) - 2
    if n <= 0:
        return x
    if memory[0] != _BEGUN:
        memory[0], memory[1] = _BEGUN, 0.0
        for i in range(n):
            memory[2 + i] = x
    place = 2 + int(memory[1])
    oldest = memory[place]
    memory[place] = x
    memory[1] = (memory[1] + 1.0) % n
    return oldest


@njit
def hold(memory, x, every):  # type: ignore[no-untyped-def]
    """Sample-and-hold: x of this call, and until `every` calls later.

    Args:
        memory: Array (2,) of the state: calls until the next sample, and the sample.
        x: Input.
        every: Calls from one sample to the next, at least 1.
    """
    if memory[0] < 1.0:
        memory[0], memory[1] = float(every), x
    memory[0] -= 1.0
    return memory[1]


@njit
def quantised(x, resolution):  # type: ignore[no-untyped-def]
    """Multiple of the resolution that is nearest to x; x itself if the resolution is zero."""
    return resolution * math.floor(x / resolution + 0.5) if resolution > 0.0 else x


@njit
def saturated(x, largest):  # type: ignore[no-untyped-def]
    """x within -largest and largest."""
    return min(max(x, -largest), largest)


@njit
def philox(a, b, c, d, k, l):  # type: ignore[no-untyped-def]
    """Four words of 32 bits of a counter (a, b, c, d) and a key (k, l): Philox-4x32-10 [Salmon 2011].

    All numbers are integers below 2^32. Products wrap in machine code and do not in Python: the masks make both equal.
    """
    for _ in range(10):
        x, y = a * 0xD2511F53, c * 0xCD9E8D57
        a, b = ((y >> 32) & _WORD) ^ b ^ k, y & _WORD
        c, d = ((x >> 32) & _WORD) ^ d ^ l, x & _WORD
        k, l = (k + 0x9E3779B9) & _WORD, (l + 0xBB67AE85) & _WORD
    return a, b, c, d


@njit
def _two_uniform(stream):  # type: ignore[no-untyped-def]
    n = int(stream[4])
    stream[4] += 1.0
    words = philox(n & _WORD, n >> 32, int(stream[2]), int(stream[3]), int(stream[0]), int(stream[1]))
    first = ((words[0] >> 5) * 67108864.0 + (words[1] >> 6)) / 9007199254740992.0
    second = ((words[2] >> 5) * 67108864.0 + (words[3] >> 6)) / 9007199254740992.0
    return first, second


@njit
def uniform(stream):  # type: ignore[no-untyped-def]
    """Next number of a stream, evenly distributed from 0 to (not including) 1."""
    return _two_uniform(stream)[0]


@njit
def normal(stream):  # type: ignore[no-untyped-def]
    """Next number of a stream, normally distributed with mean 0 and standard deviation 1 [Box and Muller 1958]."""
    first, second = _two_uniform(stream)
    return math.sqrt(-2.0 * math.log(1.0 - first)) * math.cos(2.0 * math.pi * second)
