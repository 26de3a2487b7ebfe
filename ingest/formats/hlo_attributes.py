"""What follows an instruction's operands: called computations, metadata, attributes.

Split generically, so that an attribute never seen before is kept as text.
Equal text is parsed once: the functions are cached on it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hlodb.errors import ParseError
from hlodb.ingest.formats.scan import (
    is_balanced,
    remembered,
    split_commas,
    unquote,
    whole_number,
)
from hlodb.ingest.records import NO_ATTRIBUTES, Attributes, Call, Location

CALL_ROLES = frozenset(
    (
        "to_apply",
        "calls",
        "condition",
        "body",
        "true_computation",
        "false_computation",
        "branch_computations",
        "called_computations",
        "select",
        "scatter",
    )
)
"""Attributes whose values are names of computations."""

_METADATA = re.compile(
    r', metadata=\{((?:[^"{}]++|"(?:[^"\\]++|\\.)*+"|\{[^{}]*\})*+)\}', re.DOTALL
)
_FIELD = re.compile(r'\b(\w+)=("(?:[^"\\]++|\\.)*+"|\{[^{}]*\}|[^\s,]+)', re.DOTALL)
_FIELDS = {
    "sharding": "sharding",
    "kind": "fusion_kind",
    "custom_call_target": "custom_call_target",
    "channel_id": "channel_id",
    "replica_groups": "replica_groups",
    "backend_config": "backend_config",
}
_QUOTED = frozenset(("custom_call_target", "backend_config"))
_SOURCE_FIELDS = (
    "source_file",
    "source_line",
    "source_end_line",
    "source_column",
    "source_end_column",
    "stack_frame_id",
)


class Incomplete(ParseError):
    """The text ends inside an instruction: it goes on in the next line."""


class Tail(NamedTuple):
    """Everything after the operands of one instruction."""

    calls: tuple[Call, ...] = ()
    attributes: Attributes = NO_ATTRIBUTES
    location: Location | None = None


_NOTHING = Tail()


@remembered
def parse_tail(text: str) -> Tail:
    """Give the calls, attributes and location of `, key=value, …`.

    Raises Incomplete where the text breaks off.
    """
    if not text:
        return _NOTHING
    if _breaks_off(text):
        raise Incomplete("expected the rest of the attributes", snippet=text)
    start = text.find(", metadata={")
    match = _METADATA.match(text, start) if start >= 0 else None
    if not match or not _is_balanced(text[:start]):
        return _parse_generic(text)
    rest = text[: match.start()] + text[match.end() :]
    calls, attributes = _parse_attributes(rest)
    return _join(calls, attributes, match.group(1))


@remembered
def _is_balanced(text: str) -> bool:
    return is_balanced(text)


def _breaks_off(tail: str) -> bool:
    if tail.count("{") != tail.count("}") and not is_balanced(tail):
        return True
    return tail.endswith((",", ", "))


def _parse_generic(text: str) -> Tail:
    parts = _attribute_parts(text)
    metadata = [p for p in parts if p.startswith("metadata={")]
    rest = ", ".join(p for p in parts if not p.startswith("metadata={"))
    calls, attributes = _parse_attributes(", " + rest if rest else "")
    body = metadata[0][len("metadata={") : -1] if metadata else ""
    return _join(calls, attributes, body)


def _join(calls: tuple[Call, ...], attributes: Attributes, metadata: str) -> Tail:
    op_name, op_type, unknown, location = _parse_metadata(metadata)
    other = attributes.other
    if unknown:
        other = f"{other}, {unknown}" if other else unknown
    return Tail(calls, Attributes(op_name, op_type, *attributes[2:-1], other), location)


@remembered
def _parse_attributes(text: str) -> tuple[tuple[Call, ...], Attributes]:
    fields: dict[str, str | int | None] = {}
    calls: list[Call] = []
    other: list[str] = []
    for part in _attribute_parts(text):
        key, _, value = part.partition("=")
        if key in CALL_ROLES and not value.startswith('"'):
            calls.append(Call(key, _computation_names(value)))
        elif key in _FIELDS and _FIELDS[key] not in fields:
            fields[_FIELDS[key]] = _field_value(key, value)
        else:
            other.append(part)
    fields["other"] = ", ".join(other) or None
    return tuple(calls), Attributes(**fields)  # type: ignore[arg-type]


def _attribute_parts(text: str) -> list[str]:
    """Split at top-level commas; `device_ids=(…)` belongs to the mesh before it."""
    parts: list[str] = []
    for part in split_commas(text):
        if part.startswith("device_ids=") and parts:
            parts[-1] += ", " + part
        elif part:
            parts.append(part)
    return parts


def _computation_names(value: str) -> tuple[str, ...]:
    names = split_commas(value.strip("{}"))
    return tuple(name.lstrip("%") for name in names if name)


def _field_value(key: str, value: str) -> str | int | None:
    if key == "channel_id":
        number = whole_number(value.removeprefix("-"), 18)
        return -number if number is not None and value[0] == "-" else number
    return unquote(value) if key in _QUOTED else value


@remembered
def _parse_metadata(
    body: str,
) -> tuple[str | None, str | None, str | None, Location | None]:
    fields = dict(_FIELD.findall(body))
    op_name = fields.pop("op_name", None)
    op_type = fields.pop("op_type", None)
    source = [fields.pop(name, None) for name in _SOURCE_FIELDS]
    other = " ".join(f"{k}={v}" for k, v in fields.items())
    return (
        unquote(op_name) if op_name is not None else None,
        unquote(op_type) if op_type is not None else None,
        f"metadata={{{other}}}" if other else None,
        _location(source) if any(s is not None for s in source) else None,
    )


def _location(source: list[str | None]) -> Location:
    numbers = [whole_number(text) for text in source[1:]]
    return Location(unquote(source[0]) if source[0] is not None else None, *numbers)
