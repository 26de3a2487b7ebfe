"""What follows an instruction's operands: called computations, metadata, attributes.

Split generically, so that an attribute never seen before is kept as text.
Equal text is parsed once: the functions are cached on it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hlodb.errors import ParseError
from hlodb.ingest.formats.scan import (
    closing,
    is_balanced,
    remembered,
    split_commas,
    unquote,
    whole_number,
)
from hlodb.ingest.records import NO_ATTRIBUTES, Attributes, Call, Location

LIST_ROLES = frozenset(("branch_computations", "called_computations"))
"""Attributes whose values name several computations, in braces."""

CALL_ROLES = LIST_ROLES | frozenset(
    (
        "to_apply",
        "calls",
        "condition",
        "body",
        "true_computation",
        "false_computation",
        "select",
        "scatter",
    )
)
"""Attributes whose values are names of computations."""

_METADATA = re.compile(
    r', metadata=\{((?>(?:[^"{}]++|"(?>(?:[^"\\]++|\\.)*)"|\{[^{}]*\})*))\}', re.DOTALL
)
# One that nothing closes is read to the end, once: its group is empty.
_STRING = re.compile(r'"(?>(?:[^"\\]++|\\.)*)(?:(")|\\?+\Z)', re.DOTALL)
_STRANGE = ("/*", "//", ";")
_INDEX = re.compile(r"/\*index=[0-9]+\*/")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*+=\S")
_NAME = re.compile(r"%?[A-Za-z_][A-Za-z0-9_.\-]*+")
_BRACKETS = re.compile(r"[(\[{][^()\[\]{}]*+[)\]}]")
_NUMBERS = re.compile(r"\{\s*[0-9]++(?>(?:\s*,\s*-?[0-9]++)*)\s*\}")
_FIELD = re.compile(r'\b(\w+)=("(?>(?:[^"\\]++|\\.)*)"|\{[^{}]*\}|[^\s,]+)', re.DOTALL)
_FIELDS_ALONE = re.compile(rf"(?>(?:[\s,]*+{_FIELD.pattern})*)[\s,]*+", re.DOTALL)
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
    """Return the calls, attributes and location of `, key=value, …`.

    Raises Incomplete where the text breaks off.
    """
    if not text:
        return _NOTHING
    if _breaks_off(text):
        raise Incomplete("expected the rest of the attributes", snippet=text)
    if not text.startswith(",") or is_strange(text):
        raise ParseError("expected `, name=value`", snippet=text)
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


def is_strange(text: str) -> bool:
    """Return whether comments but `/*index=5*/`, or `;`, stand outside strings."""
    if not any(mark in text for mark in _STRANGE):
        return False
    bare = _INDEX.sub("", _STRING.sub(lambda m: "" if m[1] else m[0], text))
    return any(mark in bare for mark in _STRANGE)


def _breaks_off(tail: str) -> bool:
    if tail.count("{") != tail.count("}") and not is_balanced(tail):
        return True
    return tail.endswith((",", ", "))


def _parse_generic(text: str) -> Tail:
    parts = _attribute_parts(text)
    metadata = [p for p in parts if p.startswith("metadata={")]
    rest = ", ".join(p for p in parts if not p.startswith("metadata={"))
    if len(metadata) > 1:
        raise ParseError("duplicated metadata", snippet=text)
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
    keys: set[str] = set()
    for part in _attribute_parts(text):
        key, _, value = part.partition("=")
        if key in keys or key == "metadata" or not _is_attribute(part, value):
            raise ParseError("expected `name=value`, each once", snippet=part)
        keys.add(key)
        if key in CALL_ROLES and not value.startswith('"'):
            calls.append(Call(key, _computation_names(key, value)))
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


def is_broken_list(value: str) -> bool:
    """Return whether a value begins as a list of numbers, and is none."""
    is_list = value[0] == "{" and value[1:].lstrip()[:1].isdigit()
    return is_list and not _NUMBERS.fullmatch(value)


def _is_attribute(part: str, value: str) -> bool:
    """Return whether a part is one attribute, and nothing stands behind its value."""
    if not _ATTRIBUTE.match(part) or is_broken_list(value):
        return False
    if value[0] == '"':
        found = _STRING.fullmatch(value)
        return found is not None and found[1] is not None
    if " " not in value:
        return True
    if value[0] == "{":
        return closing(value, 0) == len(value) - 1
    return (
        "mesh[" in value
        or part.startswith("literal=")
        or " " not in _BRACKETS.sub("", value)
    )


def _computation_names(role: str, value: str) -> tuple[str, ...]:
    """Return the names of computations; bodies in their place raise ParseError."""
    if role in LIST_ROLES and value[0] == "{" and value[-1] == "}":
        names = [name for name in split_commas(value[1:-1]) if name]
    else:
        names = [value]
    if not all(map(_NAME.fullmatch, names)):
        raise ParseError("expected the name of a computation", snippet=value)
    return tuple(name.lstrip("%") for name in names)


def _field_value(key: str, value: str) -> str | int | None:
    if key == "channel_id":
        number = whole_number(value.removeprefix("-"), 18)
        return -number if number is not None and value[0] == "-" else number
    return unquote(value) if key in _QUOTED else value


@remembered
def _parse_metadata(
    body: str,
) -> tuple[str | None, str | None, str | None, Location | None]:
    if not _FIELDS_ALONE.fullmatch(body):
        raise ParseError("expected `name=value`", snippet=body)
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
