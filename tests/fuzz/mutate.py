"""Changing inputs a little, or cruelly; equal random numbers, equal changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

LARGEST_BYTES = 300_000

_TOKENS = [
    *b"(){}[]<>=,;:%#\"'\\/*\n\r\t \x00\x1b\x7f\xff",
    b"HloModule ",
    b"ENTRY ",
    b"ROOT ",
    b"BufferAssignment:\n",
    b"Used values:\n",
    b"HloLiveRange (max 1):\n",
    b"allocation 0: size 1, ",
    b"value: <0 a @0> (size=1,offset=0): f32[]",
    b"/*index=1*/",
    b"metadata={",
    b"FileNames\n",
    b"StackFrames\n",
    b"99999999999999999999999",
    b"-1",
    b"0x",
    b"1e999",
    b"nan",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b"\xff\xff\xff\xff\x7f",
    b"\x80" * 10,
    b"<script>",
    b"'; DROP TABLE runs; --",
]
TOKENS = [token if isinstance(token, bytes) else bytes([token]) for token in _TOKENS]

Mutation = Callable[[Random, bytes, Sequence[bytes]], bytes]


def _cut(random: Random, data: bytes) -> tuple[int, int]:
    begin = random.randrange(len(data) + 1)
    return begin, min(len(data), begin + int(random.paretovariate(0.6)))


def _drop(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _cut(random, data)
    return data[:begin] + data[end:]


def _end_early(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _repeat(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _cut(random, data)
    times = random.choice((2, 3, 100))
    return data[:begin] + data[begin:end] * times + data[end:]


def _move(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _cut(random, data)
    to = random.randrange(len(data) + 1)
    return data[:to] + data[begin:end] + data[to:]


def _insert(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(TOKENS) + data[at:]


def _flip(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _splice(random: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    begin, end = _cut(random, other := random.choice(seeds))
    at = random.randrange(len(data) + 1)
    return data[:at] + other[begin:end] + data[at:]


def _swap_lines(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _pump(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Repeat a few bytes very often: what makes backtracking and recursion explode."""
    at = random.randrange(len(data) + 1)
    near = data[at : at + random.randrange(1, 9)]
    piece = random.choice((near, random.choice(TOKENS), near + random.choice(TOKENS)))
    times = random.choice((1_000, 20_000))
    keep = random.choice((data[at:], b"", b"\n" + data[at:]))
    return data[:at] + piece * times + keep


_MUTATIONS: tuple[Mutation, ...] = (
    _drop,
    _drop,
    _end_early,
    _repeat,
    _move,
    _insert,
    _insert,
    _flip,
    _flip,
    _splice,
    _swap_lines,
    _pump,
)


def mutate(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Return one of the seeds after a few changes."""
    data = random.choice(seeds)
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        data = random.choice(_MUTATIONS)(random, data, seeds)[:LARGEST_BYTES]
    return data
