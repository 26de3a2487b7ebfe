"""Fuzzing in short: whatever comes in, records and rejects come out, and soon."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import attempt
from tests.fuzz.mutate import mutate
from tests.fuzz.regexes import patterns, repeats_group_possessively, slowest
from tests.fuzz.seeds import FOUND, found_inputs, seeds
from tests.fuzz.targets import TARGETS

_HLO = b"HloModule f\n\nENTRY %f () -> f32[] {\n"
ONCE_HARMFUL = {
    "a message that ends in many letters": (
        "oom_log",
        b"step 1\nFailed to allocate 4 bytes\n" + b"F" * 90 + b"ailed: out of memory\n",
    ),
    "long lines that tell of memory": (
        "oom_log",
        (b"RESOURCE_EXHAUSTED memory " * 2_000 + b"\n") * 20,
    ),
    "headers that never close": ("hlo_text", b"HloModule f, a={\n" * 6_000),
    "operands that never close": ("hlo_text", _HLO + b" %x = f32[] add((((\n" * 5_000),
    "a name that is a word of XLA's": ("hlo_lines", b"FunctionNames = u32[] add(%a)"),
    "comments that never close": ("shapes", b"f32[] " + b"/*" * 40_000),
    "a path without end": (
        "hlo_text",
        _HLO + b" %t = " + b"(" * 9_000 + b"f32[]" + b")" * 9_000 + b" parameter(0)\n"
        b" %x = f32[] negate(%t" + b"#0" * 90_000 + b")\n}\n",
    ),
    "a reader of many elements": (
        "text_in_unit",
        _HLO + b" %t = (" + b"f32[]," * 30_000 + b"f32[]) parameter(0)\n"
        b" ROOT %x = f32[] add("
        + b", ".join(b"%%t#%d" % n for n in range(30_000))
        + b")\n}\n",
    ),
    "one value in many unknown places": (
        "values_in_unit",
        b"Total bytes used: 4 (4B)\n\nUsed values:\n<0 arg_tuple.1{0} @0>\n"
        b" positions:\n  arg_tuple.1 {0}\n"
        + b"".join(b"  x.%d\n  y.%d {0}\n" % (n, n) for n in range(9_000)),
    ),
}  # fmt: skip
"""Took quadratic time: each was read again to its end from every place."""

INPUTS = 15
"""Of each target; `make fuzz` tries as many as there is time for."""

PATTERNS = sorted(patterns().items())
_SIZES = (500, 10_000, 40_000)
_UNNOTICED_SECONDS = 0.002


def test_every_target_has_seeds() -> None:
    known = seeds()
    assert {n for n, t in TARGETS.items() if not any(map(known.get, t.kinds))} == set()
    assert {path.name for path in FOUND.glob("*")} <= TARGETS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", ONCE_HARMFUL)
def test_what_once_did_harm(name: str) -> None:
    target, data = ONCE_HARMFUL[name]
    assert attempt(TARGETS[target], data) == ""


def test_what_fuzzing_has_just_found() -> None:
    for name, target in TARGETS.items():
        for path in found_inputs(name):
            assert attempt(target, path.read_bytes()) == "", path


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_dumps(name: str) -> None:
    random = Random(name)
    starts = [data for kind in TARGETS[name].kinds for data in seeds().get(kind, [])]
    for _ in range(INPUTS):
        data = mutate(random, starts)[:20_000]
        assert attempt(TARGETS[name], data) == "", data[:2000]


@pytest.mark.slow
@settings(max_examples=INPUTS)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_anything_at_all(data: bytes) -> None:
    for name, target in TARGETS.items():
        assert attempt(target, data) == "", name


def test_every_python_matches_alike() -> None:
    assert repeats_group_possessively(re.compile(r"(a(?:b|cd)*+)"))
    assert repeats_group_possessively(re.compile(rb"(?:x(?=y))?+"))
    assert not repeats_group_possessively(re.compile(r"[^a]++b*+(?>(?:ab)*)"))
    assert [name for name, p in PATTERNS if repeats_group_possessively(p)] == []


@pytest.mark.parametrize(
    ("name", "pattern"), PATTERNS, ids=[name for name, _ in PATTERNS]
)
def test_expressions_are_linear(name: str, pattern: re.Pattern[Any]) -> None:
    """The worst attack takes four times as long when it is four times as long.

    Quadratic ones take sixteen times as long, those that explode do not end. What takes
    no time worth telling does no harm.
    """
    _, short, long = slowest(name, pattern, _SIZES)
    assert long < max(9 * short, _UNNOTICED_SECONDS)
