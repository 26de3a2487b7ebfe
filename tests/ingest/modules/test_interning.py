"""Distinct lines as rows: what is kept in columns is what each line prints."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text.instruction import parse_instruction
from hlodb.ingest.modules import interning as known_lines
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import Instruction
from tests.ingest.instructions import as_stored, changed_lines, real_lines

BATCHES = st.lists(st.lists(changed_lines(), max_size=4), max_size=3)
SHARED = Distinct()
"""Knows what earlier examples printed."""


def records(distinct: Distinct, lines: Sequence[str]) -> list[Instruction]:
    return list(distinct.sequence(distinct.read(lines)))


def alone(lines: Sequence[str]) -> list[Instruction]:
    return [as_stored(parse_instruction(line)) for line in lines]


def is_sound(line: str) -> bool:
    try:
        parse_instruction(line)
    except ParseError:
        return False
    return True


def read_and_compare(distinct: Distinct, lines: list[str]) -> None:
    """Compare what is read with each line alone; what is unsound adds no row."""
    sound = list(filter(is_sound, lines))
    if len(sound) < len(lines):
        before = len(distinct)
        with pytest.raises(ParseError):
            distinct.read(lines)
        assert len(distinct) == before
    assert records(distinct, sound) == alone(sound)
    assert records(distinct, sound[::-1]) == alone(sound[::-1])


def test_real_lines_are_kept_as_printed() -> None:
    lines = real_lines()
    distinct = Distinct()
    assert records(distinct, lines) == alone(lines)
    assert len(distinct) == len(lines)
    assert distinct.read(lines[::-1]).tolist() == list(range(len(lines)))[::-1]
    assert len(distinct) == len(lines)


@given(BATCHES)
@example([["a = f32[] add(\r)"], ["b = f32[] add(x, /*index=1*/%y%z)"]])
@example([["a = f32[] convert(/*index=5*/%91)"]])
def test_changed_lines_are_kept_as_printed(batches: list[list[str]]) -> None:
    distinct = Distinct()
    for lines in batches:
        read_and_compare(distinct, lines)


@given(BATCHES)
def test_changed_lines_are_kept_as_printed_whatever_came_before(
    batches: list[list[str]],
) -> None:
    for lines in batches:
        read_and_compare(SHARED, lines)


@settings(max_examples=20)
@given(BATCHES)
def test_records_taken_in_are_those_given_out(batches: list[list[str]]) -> None:
    for lines in batches:
        instructions = alone(list(filter(is_sound, lines)))
        assert list(SHARED.sequence(SHARED.add(instructions))) == instructions


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ("_MAX_LINES", 1),
        ("_MAX_LINES", 7),
        ("_MAX_SAYINGS", 1),
        ("_MAX_SAYINGS", 7),
        ("_MAX_CHARACTERS", 1),
        ("_MAX_CHARACTERS", 900),
    ],
)
def test_what_is_forgotten_is_read_anew(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_lines, limit, most)
    distinct = Distinct()
    lines = real_lines()[:60]
    for start in range(0, len(lines), 5):
        part = lines[start : start + 5] + lines[:5]
        assert records(distinct, part) == alone(part)


def test_places_are_those_of_the_first_of_equal_names() -> None:
    lines = [f"{name} = f32[] parameter(0)" for name in "abcab"]
    distinct = Distinct()
    rows = distinct.sequence(distinct.read(lines))
    assert rows.places == {"a": 0, "b": 1, "c": 2}
    assert (rows[3:] + rows[:3]).places == {"a": 0, "b": 1, "c": 4}
