"""Mutations of robot files: what a careless editor, a broken disk or an enemy makes of a valid one."""

import re

NUMBERS = (
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "",
    "0",
    "-1",
    "1e308",
    "1e-320",
    "abc",
    "0x10",
    "1_0",
    "1,5",
    "--1",
    "9" * 400,
    "9" * 5000,
)
WORDS = ("", "world", "ground", "../../../etc/passwd", "a" * 5000, "\u0000"[:0], "%s%n", "package://../../x", "&lt;")
_NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
_VALUE = re.compile(rb'"([^"]*)"')
_TAG = re.compile(rb"<[/!?]?[A-Za-z_][^<>]*>")


def mutated(rng, data):
    """One mutation of a file's bytes."""
    return MUTATIONS[rng.integers(len(MUTATIONS))](rng, data)


def _pick(rng, pattern, data):
    found = list(pattern.finditer(data))
    return found[rng.integers(len(found))] if found else None


def number(rng, data):
    """Another number, or none, where a number is."""
    match = _pick(rng, _NUMBER, data)
    return (
        data
        if match is None
        else data[: match.start()] + NUMBERS[rng.integers(len(NUMBERS))].encode() + data[match.end() :]
    )


def value(rng, data):
    """Another word where an attribute's value is."""
    match = _pick(rng, _VALUE, data)
    return (
        data
        if match is None
        else data[: match.start(1)] + WORDS[rng.integers(len(WORDS))].encode() + data[match.end(1) :]
    )


def swapped_values(rng, data):
    """Two attributes' values, exchanged."""
    found = [_pick(rng, _VALUE, data) for _ in range(2)]
    if None in found:
        return data
    a, b = sorted(found, key=lambda match: match.start())
    if a.start() == b.start():
        return data
    return data[: a.start(1)] + b[1] + data[a.end(1) : b.start(1)] + a[1] + data[b.end(1) :]


def tag(rng, data):
    """A tag lost, doubled, or put elsewhere."""
    match = _pick(rng, _TAG, data)
    if match is None:
        return data
    kind = rng.integers(3)
    if kind == 0:
        return data[: match.start()] + data[match.end() :]
    if kind == 1:
        return data[: match.end()] + match[0] + data[match.end() :]
    place = rng.integers(len(data))
    return data[:place] + match[0] + data[place:]


def truncated(rng, data):
    """The beginning alone."""
    return data[: rng.integers(len(data))]


def noise(rng, data):
    """A few bytes of something else."""
    place = rng.integers(len(data))
    return data[:place] + rng.bytes(int(rng.integers(1, 9))) + data[place + int(rng.integers(9)) :]


def chunk(rng, data):
    """A stretch lost or doubled."""
    a, b = sorted(rng.integers(len(data), size=2))
    b = min(b, a + 2000)
    return data[:a] + data[b:] if rng.random() < 0.5 else data[:b] + data[a:]


MUTATIONS = (number, number, number, value, value, swapped_values, tag, tag, truncated, noise, chunk)
