"""Protobuf text format: nesting, repetition, escapes, and what breaks it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats import text_proto
from hlodb.ingest.formats.text_proto import (
    Field,
    TextProto,
    flatten,
    int_at,
    messages,
    parse_text_proto,
    text_at,
    texts,
    to_int,
)
from hlodb.ingest.records import Reject

# The package brings no types.
struct_pb2 = pytest.importorskip("google.protobuf.struct_pb2")
text_format = pytest.importorskip("google.protobuf.text_format")


def test_nested_fields() -> None:
    text = 'a: 1\nb {\n  c: "x"\n  c: FOO\n}\n'
    assert parse_text_proto(text) == TextProto(
        (
            Field("a", "1", 1),
            Field("b", (Field("c", "x", 3), Field("c", "FOO", 4)), 2),
        )
    )


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("", []),
        ("a: -1.5e+3", [("a", "-1.5e+3")]),
        ("a:1 b:2,c:3;d:4", [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]),
        ("a { b: { c < d: 1 > } }", [("a.b.c.d", "1")]),
        ("a {}\nb { }", [("a", "{}"), ("b", "{}")]),
        ("a: [1, 2]\na: 3", [("a", "1"), ("a", "2"), ("a", "3")]),
        ("a: [{b: 1}, <b: 2>] c: 3", [("a.b", "1"), ("a.b", "2"), ("c", "3")]),
        ("a: []", []),
        ("493: 1", [("493", "1")]),
        ("[x.googleapis.com/p.M] { a: 1 }", [("x.googleapis.com/p.M.a", "1")]),
        ("# all\na: 1 # one\n", [("a", "1")]),
        ('a: "#{:}"', [("a", "#{:}")]),
        ("a: 'it' \"'s\"\n  ' me'", [("a", "it's me")]),
        ('a: ["x" "y", "z"]', [("a", "xy"), ("a", "z")]),
        (r'a: "\n\t\"\\\101\303\244"', [("a", '\n\t"\\Aä')]),
        (r'a: "\377"', [("a", r"\xff")]),
        ('a: "ä"', [("a", "ä")]),
        ("a: 1\r\nb: 2\r\n", [("a", "1"), ("b", "2")]),
    ],
)
def test_forms(text: str, flat: list[tuple[str, str]]) -> None:
    proto = parse_text_proto(text)
    assert (flatten(proto.fields), proto.rejects) == (flat, [])


def reject(line: int, column: int, message: str, snippet: str) -> Reject:
    return Reject(line, column, "text proto", "bad_text_proto", message, snippet)


@pytest.mark.parametrize(
    ("text", "flat", "rejects"),
    [
        (
            "a: 1\n} b: 2\n",
            [("a", "1"), ("b", "2")],
            [reject(2, 1, "a closing bracket that nothing opened", "} b: 2")],
        ),
        (
            'a: "open\nb: 2\n',
            [("b", "2")],
            [reject(1, 4, "a string that does not end on its line", 'a: "open')],
        ),
        (
            "a b: 2",
            [("b", "2")],
            [reject(1, 3, "neither ':' nor '{' behind a", "a b: 2")],
        ),
        (
            "a {\n  b: 1\n",
            [("a.b", "1")],
            [reject(3, 1, "the text ends inside a", "")],
        ),
        ("a:", [], [reject(1, 3, "the text ends inside a", "a:")]),
        ("[a", [], [reject(1, 3, "the text ends inside a", "[a")]),
        ("a { b }", [("a", "{}")], [reject(1, 7, "no value for b", "a { b }")]),
        (
            '"x" a: 1',
            [("a", "1")],
            [reject(1, 1, "a string where the name of a field should be", '"x" a: 1')],
        ),
        (": a: 1", [("a", "1")], [reject(1, 1, "':' out of place", ": a: 1")]),
        (
            "{ a: 1 }",
            [("?.a", "1")],
            [reject(1, 1, "a bracket without the name of a field", "{ a: 1 }")],
        ),
    ],
)
def test_broken(text: str, flat: list[tuple[str, str]], rejects: list[Reject]) -> None:
    proto = parse_text_proto(text)
    assert (flatten(proto.fields), proto.rejects) == (flat, rejects)


def test_nesting_has_a_limit() -> None:
    deep = parse_text_proto("a {" * 100 + "b: 1" + "}" * 100)
    assert (flatten(deep.fields), deep.rejects) == (
        [(".".join("a" * 100) + ".b", "1")],
        [],
    )
    deeper = parse_text_proto("a {" * 101 + "}" * 101)
    assert deeper.rejects[0].message == "more than 100 messages inside each other"


FIELDS = parse_text_proto('a { b: 1 c: "x" }\na { b: 2 }\nd: 3\nd: 4\ne: FOO').fields


def test_access() -> None:
    assert [len(message) for message in messages(FIELDS, "a")] == [2, 1]
    assert texts(FIELDS, "d") == ["3", "4"]
    assert (text_at(FIELDS, "d"), text_at(FIELDS, "a.b")) == ("4", "2")
    assert (text_at(FIELDS, "a"), text_at(FIELDS, "a.b.c")) == (None, None)
    assert (int_at(FIELDS, "d"), int_at(FIELDS, "e"), int_at(FIELDS, "x")) == (
        4,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("-9223372036854775808", -(1 << 63)),
        ("9223372036854775807", (1 << 63) - 1),
        ("9223372036854775808", None),
        ("9" * 5000, None),
        ("1.0", None),
        ("", None),
        (None, None),
    ],
)
def test_to_int(text: str | None, number: int | None) -> None:
    assert to_int(text) == number


VALUES = st.recursive(
    st.none() | st.booleans() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(VALUES, st.booleans())
def test_agrees_with_protobuf(value: object, as_utf8: bool) -> None:
    """What protobuf's own writer prints, its own reader and ours understand alike."""
    struct = struct_pb2.Struct()
    struct.update({"root": value})
    text = text_format.MessageToString(struct, as_utf8=as_utf8)
    proto = parse_text_proto(text)
    strings = [
        value for path, value in flatten(proto.fields) if path.endswith("string_value")
    ]
    assert proto.rejects == []
    assert sorted(strings) == sorted(strings_of(struct["root"]))


def strings_of(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, struct_pb2.ListValue):
        return [text for item in value for text in strings_of(item)]
    if isinstance(value, struct_pb2.Struct):
        return [text for key in value for text in strings_of(value[key])]
    return []


@given(st.text(st.sampled_from("ab:{}<>[]\"'\\\n #,;1x"), max_size=200))
def test_any_text_ends_in_fields_and_rejects(text: str) -> None:
    proto = parse_text_proto(text)
    flatten(proto.fields)
    assert all(1 <= found.line <= text.count("\n") + 1 for found in proto.rejects)


WORDS = st.sampled_from(
    ["a", "b1", ": ", "a: 1\n", "[x.y]", ' "s"', "{", "}", "[", "]"]
)


@given(st.lists(WORDS | st.text("a:{}[]\"' #,\n", max_size=2)).map("".join))
def test_scalars_taken_whole_are_those_taken_token_by_token(text: str) -> None:
    whole = parse_text_proto(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_proto, "_SCALAR", re.compile(r"(?!)"))
        assert parse_text_proto(text) == whole


@pytest.mark.parametrize(
    "text",
    [
        "a {" * 200_000,
        "}" * 200_000,
        '"' * 200_000,
        'a: "' + "\\" * 200_000,
        "[" * 200_000,
        "a" * 1_000_000,
        "a " * 200_000,
        " " * 1_000_000,
        "a" + " " * 1_000_000 + "b",
        "#" * 1_000_000,
        "a: 1\n" * 100_000,
    ],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    assert len(parse_text_proto(text).rejects) <= 100
