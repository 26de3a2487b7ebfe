"""What follows an instruction's operands: called computations, metadata, attributes.

Split generically, so that an attribute never seen before is kept as text.
Equal text is parsed once: the functions are cached on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from hlodb.errors import ParseError
from hlodb.ingest.formats.scan import (
    closing,
    is_balanced,
    remembered,
    split_commas,
    unescape,
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
    r', metadata=\{((?>(?:[^"{}]++|"(?>(?:[^"\\]++|\\.)*)"|\{[^{}]*\})*))\}(?=,|\Z)',
    re.DOTALL,
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


def _printed_attribute() -> re.Pattern[str]:
    """Return the rule of an attribute as XLA prints it: brackets nest eight deep.

    A value that is no string and begins with no brace has no blanks, not even in its
    brackets; one that begins as a list of numbers is one.
    """
    string = r'"(?>(?:[^"\\]++|\\.)*)"'
    flat = r"""[^()\[\]{}"'/;]++|'[^'\\\n]{0,200}+'|/\*index=[0-9]++\*/|""" + string
    nested = rf"(?>(?:{flat})*)[)\]}}]"
    for _ in range(7):
        nested = rf"(?>(?:{flat}|[(\[{{]{nested})*)[)\]}}]"
    numbers = _NUMBERS.pattern
    bare = r"""[^\s()\[\]{}"'/;"""
    word = rf"(?!\{{)(?>(?:{bare},]++|[(\[{{]{bare}]*+[)\]}}])+)"
    name = r"[A-Za-z_][A-Za-z0-9_.\-]*+"
    value = rf"{string}|{numbers}|\{{(?!\s*\d){nested}|{word}"
    return re.compile(rf", ({name})=({value})", re.DOTALL)


_PRINTED = _printed_attribute()
# What JAX says of an instruction, in the order in which XLA prints it.
_PRINTED_METADATA = re.compile(
    "".join(
        rf"(?:{key}={value}(?: |\Z))?"
        for key, value in (
            ("op_type", r'"((?>(?:[^"\\]++|\\.)*))"'),
            ("op_name", r'"((?>(?:[^"\\]++|\\.)*))"'),
            ("source_file", r'"((?>(?:[^"\\]++|\\.)*))"'),
            ("source_line", "([0-9]{1,9}+)"),
            ("source_end_line", "([0-9]{1,9}+)"),
            ("source_column", "([0-9]{1,9}+)"),
            ("source_end_column", "([0-9]{1,9}+)"),
            ("stack_frame_id", "([0-9]{1,9}+)"),
        )
    ),
    re.DOTALL,
)
# Metadata that are not where JAX's are, and what belongs to the attribute before it.
_LONG_WAY = frozenset(("metadata", "device_ids"))
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
    """Everything after the operands of one instruction; `keys` are its attributes."""

    calls: tuple[Call, ...] = ()
    attributes: Attributes = NO_ATTRIBUTES
    location: Location | None = None
    keys: frozenset[str] = frozenset()


class _Metadata(NamedTuple):
    op_name: str | None = None
    op_type: str | None = None
    other: str | None = None
    location: Location | None = None


_NOTHING = Tail()


@remembered
def parse_tail(text: str) -> Tail:
    """Return the calls, attributes and location of `, key=value, …`.

    Raises Incomplete where the text breaks off.
    """
    if not text:
        return _NOTHING
    start = text.find(", metadata={")
    match = _METADATA.match(text, start) if start >= 0 else None
    if match is None or not _is_balanced(text[:start]):
        return _printed_tail(text) or _parse_generic(text)
    rest, body = text[:start] + text[match.end() :], match[1]
    tail, metadata = _printed_tail(rest), _printed_metadata(body)
    if tail is None or metadata is None:
        _check(text)
        tail = tail or _parse_attributes(_attribute_parts(rest))
        metadata = metadata or _parse_metadata(body)
    return _join(tail, metadata)


def _check(text: str) -> None:
    """Raise Incomplete or ParseError where a text cannot be attributes."""
    if _breaks_off(text):
        raise Incomplete("expected the rest of the attributes", snippet=text)
    if not text.startswith(",") or is_strange(text):
        raise ParseError("expected `, name=value`", snippet=text)


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
    _check(text)
    parts = _attribute_parts(text)
    metadata = [p for p in parts if p.startswith("metadata={")]
    if len(metadata) > 1:
        raise ParseError("duplicated metadata", snippet=text)
    tail = _parse_attributes([p for p in parts if not p.startswith("metadata={")])
    if not metadata:
        return tail
    return _join(tail, _parse_metadata(metadata[0][len("metadata={") : -1]))


def _join(tail: Tail, metadata: _Metadata) -> Tail:
    calls, attributes, _, keys = tail
    op_name, op_type, unknown, location = metadata
    other = attributes.other
    if unknown:
        other = f"{other}, {unknown}" if other else unknown
    # Straight from a tuple: this is done for most lines that are read.
    said = (op_name, op_type, *attributes[2:-1], other)
    attributes = tuple.__new__(Attributes, said)
    return tuple.__new__(Tail, (calls, attributes, location, keys))


@remembered
def _printed_tail(text: str) -> Tail | None:
    """Return attributes as XLA prints them; None where they need a closer look."""
    pairs = printed_pairs(text)
    if pairs is None or not _LONG_WAY.isdisjoint(pairs):
        return None
    return _tail(pairs)


def printed_pairs(text: str) -> dict[str, str] | None:
    """Return names and values of `, name=value, …` as XLA prints it; None for others.

    One look at most text; what XLA might refuse is none.
    """
    found = _PRINTED.findall(text)
    pairs = dict(found)
    length = sum(map(len, pairs)) + sum(map(len, pairs.values())) + 3 * len(found)
    return pairs if length == len(text) else None


def _parse_attributes(parts: Sequence[str]) -> Tail:
    pairs: dict[str, str] = {}
    for part in parts:
        key, _, value = part.partition("=")
        if key in pairs or key == "metadata" or not _is_attribute(part, value):
            raise ParseError("expected `name=value`, each once", snippet=part)
        pairs[key] = value
    return _tail(pairs)


def _tail(pairs: Mapping[str, str]) -> Tail:
    fields: dict[str, str | int | None] = {}
    calls: list[Call] = []
    other: list[str] = []
    for key, value in pairs.items():
        if key in CALL_ROLES and value[0] != '"':
            calls.append(Call(key, _computation_names(key, value)))
        elif key in _FIELDS:
            fields[_FIELDS[key]] = _field_value(key, value)
        else:
            other.append(f"{key}={value}")
    fields["other"] = ", ".join(other) or None
    attributes = Attributes(**fields)  # type: ignore[arg-type]
    return Tail(tuple(calls), attributes, None, _keys(*pairs))


@lru_cache(maxsize=1 << 12)
def _keys(*names: str) -> frozenset[str]:
    """Return a set of names; most instructions have one of a few."""
    return frozenset(names)


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
def _printed_metadata(body: str) -> _Metadata | None:
    """Return metadata as XLA prints it of JAX; None where it says more."""
    found = _PRINTED_METADATA.fullmatch(body)
    if found is None:
        return None
    op_type, op_name, file, *numbers = found.groups()
    return _Metadata(
        op_name and unescape(op_name),
        op_type and unescape(op_type),
        None,
        _location(file and unescape(file), numbers),
    )


@remembered
def _parse_metadata(body: str) -> _Metadata:
    if not _FIELDS_ALONE.fullmatch(body):
        raise ParseError("expected `name=value`", snippet=body)
    fields = dict(_FIELD.findall(body))
    op_name = fields.pop("op_name", None)
    op_type = fields.pop("op_type", None)
    file, *numbers = [fields.pop(name, None) for name in _SOURCE_FIELDS]
    other = " ".join(f"{k}={v}" for k, v in fields.items())
    return _Metadata(
        op_name and unquote(op_name),
        op_type and unquote(op_type),
        f"metadata={{{other}}}" if other else None,
        _location(file and unquote(file), numbers),
    )


def _location(file: str | None, numbers: Sequence[str | None]) -> Location | None:
    if file is None and not any(numbers):
        return None
    return Location(file, *map(whole_number, numbers))
