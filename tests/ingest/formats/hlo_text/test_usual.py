"""Rules for what XLA mostly prints take nothing that the longer way reads otherwise."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text import attributes, header, usual
from hlodb.ingest.formats.hlo_text.grammar.literals import fault_of_literal
from hlodb.ingest.formats.hlo_text.grammar.shapes import is_whole_shape
from hlodb.ingest.formats.scan import is_balanced


def texts(*pieces: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=12).map("".join)


SHAPES = texts(
    *("f32[", "s4[", "token[", "u1", "8", "128", "<=2", "?", ",", ", ", "]", "{1,0"),
    *("{0", "{", ":T(8,128)", "(2,1)", "S(1)", "E(4)", "}", "(", ")", "/*index=5*/"),
    *("b(", " ", "f32[2]{0}", "f32[]", "s32[2,3]{1,0:T(8,128)}", "f99"),
)
ATTRIBUTES = texts(
    *(", ", ",", "a=", "b=", "calls=", "kind=", "metadata={", "device_ids=", "dims="),
    *("{", "}", "[", "]", "(", ")", '"', "'", "\\", "/*index=5*/", "/*", "//", ";"),
    *(" ", "\n", "x", "%f", "1", "-2", "{0,1}", "{0, x}", '"s"', "mesh['a'=2]", "<="),
    *(", a={0,1}", ', b="x, y"', ", c=[1,8]<=[8]", ", calls=%f.1", ', d={"e":[1, 2]}'),
)
METADATA = texts(
    *('op_type="add"', 'op_name="a/\\"b"', 'source_file="x.py"', "source_line=3"),
    *("source_end_line=4", "source_column=5", "source_end_column=6", "op_name="),
    *("stack_frame_id=7", " ", ",", '"', "{", "profile_type={1}", "1234567890", "x"),
)


@given(SHAPES)
@example("f32[2,3]{0}")
@example("(f32[2]{0}, f32[])")
@example("(f32[2], , f32[])")
@example("(, f32[2])")
def test_shapes_that_a_rule_takes_are_shapes(text: str) -> None:
    if usual._is_printed_shape(text):
        assert is_whole_shape(text)


@pytest.mark.parametrize(
    "shape",
    [
        "f32[]",
        "pred[3]{0}",
        "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}",
        "f32[]{:T(128)}",
        "s32[<=4,2]{1,0}",
        "(f32[2]{0}, /*index=1*/u4[3]{0:E(4)}, token[])",
    ],
)
def test_shapes_that_xla_prints_need_no_grammar(shape: str) -> None:
    assert usual._is_printed_shape(shape)


@given(
    st.sampled_from(["f32[]", "bf16[]{:T(256)}", "s8[]", "u32[]", "pred[]", "c64[]"]),
    texts("1", "-", "+", ".", "e", "5", "inf", "nan", "true", "false", "(", ")", ", "),
)
def test_literals_that_a_rule_takes_are_literals(shape: str, literal: str) -> None:
    if usual._SCALAR.fullmatch(f"{shape}\0{literal}"):
        assert not fault_of_literal(literal, shape)


@given(ATTRIBUTES)
@example(", a=b, a=c")
@example(", a={0,1} ")
@example(', a={"/*"}')
@example(", a={;}")
@example(", a={0 x}")
@example(", mesh=['a'], device_ids=([2]0,1)")
def test_attributes_that_a_rule_takes_are_read_alike(text: str) -> None:
    try:
        found = attributes._printed_tail(text)
    except ParseError as error:
        with pytest.raises(ParseError, match=error.message):
            attributes._parse_generic(text)
        return
    if found is not None and text:
        assert found == attributes._parse_generic(text)


@given(METADATA)
@example('op_type="a" op_name="b" source_file="c" source_line=1 stack_frame_id=2')
def test_metadata_that_a_rule_takes_are_read_alike(body: str) -> None:
    found = attributes._printed_metadata(body)
    if found is not None:
        assert found == attributes._parse_metadata(body)


@given(ATTRIBUTES)
@example(", is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[]}")
@example(", a.b=c")
@example(", a=b\n")
def test_headers_that_a_rule_takes_are_read_alike(text: str) -> None:
    title = f"HloModule jit_f{text}"
    printed = header._printed_header(title)
    if printed is not None:
        assert printed == header._long_header(title)
        assert is_balanced(title)
