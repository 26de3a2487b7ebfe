"""Arguments and answers of tools as JSON Schema, and arguments checked by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hlodb.errors import UsageError
from hlodb.text import nearest

Schema = dict[str, Any]
Kind = Literal["text", "count", "names", "values"]

MOST_CHARACTERS = 20_000
"""Length of one argument."""

_KINDS: Mapping[Kind, Schema] = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "names": {"type": "array", "items": {"type": "string"}},
    "values": {"type": "object"},
}
_TYPES: Mapping[Kind, type] = {"text": str, "count": int, "names": list, "values": dict}


class Argument(NamedTuple):
    """An argument of a tool; a count is neither below `least` nor above `most`."""

    name: str
    kind: Kind
    doc: str
    is_required: bool = False
    default: Any = None
    least: int = 0
    most: int | None = None

    def schema(self) -> Schema:
        """Return it as a property of a schema."""
        found: Schema = {**_KINDS[self.kind], "description": self.doc}
        if self.kind == "count":
            found["minimum"] = self.least
            if self.most is not None:
                found["maximum"] = self.most
        if self.default is not None:
            found["default"] = self.default
        return found


def input_schema(arguments: Sequence[Argument]) -> Schema:
    """Return the schema of what a tool takes."""
    return {
        "type": "object",
        "properties": {each.name: each.schema() for each in arguments},
        "required": [each.name for each in arguments if each.is_required],
        "additionalProperties": False,
    }


def checked(
    tool: str, arguments: Sequence[Argument], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a value for every argument; raise UsageError for one that is not sound."""
    known = {each.name: each for each in arguments}
    for name in given:
        if name not in known:
            hint = nearest(name, known) or f"; it has {', '.join(known) or 'none'}"
            raise UsageError(f"tool {tool} has no argument {name!r}{hint}")
    return {each.name: _value(tool, each, given.get(each.name)) for each in arguments}


def _value(tool: str, argument: Argument, value: Any) -> Any:
    if value is None:
        if argument.is_required:
            raise UsageError(f"tool {tool} needs the argument {argument.name!r}")
        return argument.default
    wanted = _TYPES[argument.kind]
    is_fit = isinstance(value, wanted) and not isinstance(value, bool)
    if argument.kind == "names":
        is_fit = is_fit and all(isinstance(each, str) for each in value)
    if not is_fit:
        kind = _KINDS[argument.kind]["type"]
        raise UsageError(f"argument {argument.name!r} is of type {kind}")
    if argument.kind == "count":
        _require_within(argument, value)
    elif len(str(value)) > MOST_CHARACTERS:
        raise UsageError(
            f"argument {argument.name!r} has more than {MOST_CHARACTERS:,} characters"
        )
    if wanted is str:
        _require_unicode(argument, value)
    return value


def _require_within(argument: Argument, value: int) -> None:
    too_large = argument.most is not None and value > argument.most
    if value < argument.least or too_large:
        limits = f"at least {argument.least:,}"
        if argument.most is not None:
            limits = f"from {argument.least:,} to {argument.most:,}"
        raise UsageError(f"argument {argument.name!r} is {limits}")


def _require_unicode(argument: Argument, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"argument {argument.name!r} is not Unicode text") from error


TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
COUNT: Schema = {"type": "integer"}
COUNT_OR_NULL: Schema = {"type": ["integer", "null"]}
TEXTS: Schema = {"type": "array", "items": TEXT}
OBJECTS: Schema = {"type": "array", "items": {"type": "object"}}
OBJECT: Schema = {"type": "object"}
STATUS: Schema = {"enum": ["sound", "unknown", "not checked"]}
COLUMNS: Schema = {"type": "object", "additionalProperties": TEXT}
ROWS: Schema = {"type": "array", "items": {"type": "array"}}
TABLE: Schema = {
    "type": "object",
    "properties": {"columns": COLUMNS, "total_rows": COUNT_OR_NULL, "rows": ROWS},
    "required": ["columns", "total_rows", "rows"],
}


def output_schema(**properties: Schema) -> Schema:
    """Return the schema of an answer: `properties`, what is left out, the command."""
    whole = {**properties, "left_out": TEXTS, "command": TEXT}
    return {"type": "object", "properties": whole, "required": [*whole]}
