"""Whether one JSON schema admits nothing that another refuses, keyword by keyword."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Schema = dict[str, Any]

_SILENT = {"$schema", "title", "description", "default", "definitions", "$defs"}
"""Keywords that refuse nothing."""

_INNER = {"items", "properties", "additionalProperties", "anyOf"}
"""Keywords with schemas inside, which are compared in their turn."""

_AS_STRICT: dict[str, Callable[[Any, Any], bool]] = {
    "type": lambda part, whole: part == whole,
    "format": lambda part, whole: part == whole,
    "enum": lambda part, whole: set(part) <= set(whole),
    "required": lambda part, whole: set(part) >= set(whole),
    "minimum": lambda part, whole: part >= whole,
    "maximum": lambda part, whole: part <= whole,
    "minItems": lambda part, whole: part >= whole,
    "uniqueItems": lambda part, whole: part >= whole,
}
"""Whether a keyword of the part refuses all that the same keyword of the whole does."""

_ABSENT = {"minItems": 0, "uniqueItems": False, "required": []}
"""What a keyword says where it isn't written; others say nothing."""


class _Pair(NamedTuple):
    part: Any
    whole: Any
    place: str


def excess(part: Schema, whole: Schema) -> list[str]:
    """Name every place and keyword by which `whole` may refuse what `part` admits.

    An empty list proves that whatever holds to `part` holds to `whole`. Keywords of
    `whole` that aren't known here are named too: nothing is taken on trust.
    """

    def found(pair: _Pair) -> Iterator[str]:
        ours, theirs = _plain(pair.part, part), _plain(pair.whole, whole)
        if ours is False or theirs == {}:
            return
        if theirs is False:
            yield f"{pair.place}: is not in the whole"
            return
        for keyword in theirs.keys() - _INNER - _SILENT:
            if not _as_strict(keyword, ours, theirs):
                yield f"{pair.place}: {keyword}"
        for inner in _inside(ours, theirs, pair.place):
            yield from found(inner)
        choices = [_Pair(ours, one, pair.place) for one in theirs.get("anyOf", [{}])]
        if all(any(found(choice)) for choice in choices):
            yield f"{pair.place}: anyOf"

    return sorted(found(_Pair(part, whole, "log")))


def _plain(node: Any, root: Schema) -> Any:
    """Follow references; true refuses nothing, a constant is one value of a list."""
    while isinstance(node, dict) and "$ref" in node:
        folder, name = node["$ref"].removeprefix("#/").split("/")
        node = root[folder][name]
    if isinstance(node, bool):
        return {} if node else False
    return {**node, "enum": [node["const"]]} if "const" in node else node


def _as_strict(keyword: str, ours: Schema, theirs: Schema) -> bool:
    said = ours.get(keyword, _ABSENT.get(keyword))
    known = said is not None and keyword in _AS_STRICT
    return known and _AS_STRICT[keyword](said, theirs[keyword])


def _inside(ours: Schema, theirs: Schema, place: str) -> Iterator[_Pair]:
    """Yield what both schemas require of items and of every property."""
    yield from (
        _Pair(ours.get("items", True), schema, f"{place}[]")
        for schema in [theirs.get("items")]
        if schema is not None
    )
    named, also_named = ours.get("properties", {}), theirs.get("properties", {})
    rest = ours.get("additionalProperties", True)
    also_rest = theirs.get("additionalProperties", True)
    for name in named.keys() | also_named.keys():
        pair = named.get(name, rest), also_named.get(name, also_rest)
        yield _Pair(*pair, f"{place}.{name}")
    yield _Pair(rest, also_rest, f"{place}.*")
