"""What releases spell in different ways is spelt alike, and nothing else is changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.hlo_text.instruction import parse_instruction
from hlodb.ingest.modules.form_comparison import in_six_digits, plain_shape, spelt_alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ', backend_config={"a":1,"b":{"c":2}}',
            ', backend_config={"b":{"c":2},"a":1}',
        ),
        (", control-predecessors={%a.1, %b}", ", control-predecessors={a.1, b}"),
        (
            ", replica_groups=mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'a'}",
            ", replica_groups=mesh['a'=4,'b'=2], device_ids=(0,4,1,5,2,6,3,7) {'a'}",
        ),
    ],
)
def test_spelt_alike(one: str, other: str) -> None:
    printed = (f"a = f32[] all-reduce(b){tail}" for tail in (one, other))
    ours, theirs = (parse_instruction(text).attributes for text in printed)
    assert ours != theirs
    assert spelt_alike(ours) == spelt_alike(theirs)


@pytest.mark.parametrize(
    "tail",
    [
        ', backend_config={"a":1}',
        ', backend_config={"a":[2,1]}',
        ', backend_config="not json {"',
        ", replica_groups=mesh['a'=8], device_ids=([2,4]T(1,1)) {'a'}",
        ", replica_groups=mesh['a'=8], device_ids=([2,4]T(1)) {'a'}",
        ", replica_groups=mesh['a'=8], device_ids=([99999999,4]T(1,0)) {'a'}",
        ', frontend_attributes={a="%b"}',
        "",
    ],
)
def test_what_differs_stays_different(tail: str) -> None:
    plain = parse_instruction("a = f32[] all-reduce(b), x=1").attributes
    found = parse_instruction(f"a = f32[] all-reduce(b){tail}").attributes
    assert spelt_alike(found) != spelt_alike(plain)
    again = spelt_alike(found)
    assert spelt_alike(again) == again


def test_shapes_have_no_comments() -> None:
    assert plain_shape("(s32[], /*index=1*/f32[2]{0})") == "(s32[], f32[2]{0})"
    assert plain_shape(None) is None


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_six_digits_are_those_of_c(values: list[float]) -> None:
    full = [np.format_float_positional(np.float32(v), min_digits=1) for v in values]
    literal = f"{{{', '.join(full)}}}"
    assert in_six_digits(literal) == f"{{{', '.join(f'{float(v):g}' for v in full)}}}"


def test_whole_numbers_and_words_are_left_alone() -> None:
    assert in_six_digits("{12345678, -inf, nan, true}") == "{12345678, -inf, nan, true}"
