"""What makes one schema no part of another; small cases, so that the proof can fail."""

from __future__ import annotations

import jsonschema
import pytest

from tests.oracle.schema_part import Schema, excess

WHOLE: Schema = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "level": {"enum": ["note", "error"]},
        "rank": {"type": "number", "minimum": -1, "maximum": 100},
        "places": {
            "type": "array",
            "uniqueItems": True,
            "items": {"$ref": "#/$defs/p"},
        },
        "bag": {"type": "object", "properties": {"tags": {"type": "array"}}},
        "text": {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    },
    "$defs": {"p": {"type": "string", "format": "uri"}},
}


def part(**properties: object) -> Schema:
    return {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {"name": {"type": "string"}, **properties},
    }


TRUE_PARTS = [
    part(),
    part(level={"const": "note"}),
    part(rank={"type": "number", "minimum": 0, "maximum": 100}),
    part(bag={"type": "object", "properties": {"tags": False}}),
    part(text={"type": "object", "required": ["a"]}),
]

# What one schema admits and the whole refuses, why, and a value that shows it.
NO_PARTS = [
    ({**part(), "required": []}, "log: required", {}),
    (
        {**part(), "additionalProperties": True},
        "log.*: is not in the whole",
        {"name": "", "x": 1},
    ),
    (part(other={}), "log.other: is not in the whole", {"name": "", "other": 1}),
    (
        part(level={"enum": ["note", "x"]}),
        "log.level: enum",
        {"name": "", "level": "x"},
    ),
    (
        part(rank={"type": "number", "minimum": -2, "maximum": 100}),
        "log.rank: minimum",
        {"name": "", "rank": -2},
    ),
    (
        part(
            places={"type": "array", "uniqueItems": True, "items": {"type": "number"}}
        ),
        "log.places[]: type",
        {"name": "", "places": [1]},
    ),
    (
        part(bag={"type": "object"}),
        "log.bag.tags: type",
        {"name": "", "bag": {"tags": 1}},
    ),
    (part(text={"type": "object"}), "log.text: anyOf", {"name": "", "text": {}}),
]


@pytest.mark.parametrize("schema", TRUE_PARTS)
def test_a_part(schema: Schema) -> None:
    assert excess(schema, WHOLE) == []


@pytest.mark.parametrize(("schema", "reason", "value"), NO_PARTS)
def test_no_part(schema: Schema, reason: str, value: object) -> None:
    jsonschema.Draft202012Validator(schema).validate(value)
    assert not jsonschema.Draft202012Validator(WHOLE).is_valid(value)
    assert reason in excess(schema, WHOLE)


def test_a_keyword_that_is_not_known() -> None:
    assert excess(part(), {**WHOLE, "not": {}}) == ["log: not"]
