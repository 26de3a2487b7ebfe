"""The literal of a constant against its shape: brackets and numbers of elements.

XLA takes literals without commas, too.
"""

from __future__ import annotations

import re

from hlodb.ingest.formats.hlo_text.grammar.shapes import array_parts, elements_of

_WORD = re.compile(
    r"\.\.\.|[{}(),]|-?nan\(0x[0-9a-fA-F]++\)|[+\-]?[\w.]++(?>(?:[+\-][0-9]++)?)|\S"
)
_VALUE = re.compile(r"-?nan\(0x[0-9a-fA-F]++\)|[+\-]?[\w.]++(?>(?:[+\-][0-9]++)?)")
_SIGNED = re.compile(r"-?[0-9]++")
_COMPLEX = frozenset(("c64", "c128"))
_TRUTHS = frozenset(("true", "false", "0", "1"))
_END = ""
_MOST_DIMENSIONS = 100


def fault_of_literal(literal: str, shape: str) -> str:
    """Return the fault in the literal of a shape; empty where it is sound."""
    words = [*_WORD.findall(literal), _END]
    try:
        at = _read(words, 0, shape)
    except _Fault as fault:
        return str(fault)
    return "" if words[at] == _END else f"expected `)` after the literal of {shape}"


class _Fault(Exception):
    pass


def _read(words: list[str], at: int, shape: str) -> int:
    """Return the place behind the literal of a shape."""
    elements = elements_of(shape)
    if elements is not None:
        at = _expect(words, at, "(")
        for number, element in enumerate(elements):
            at += number > 0 and words[at] == ","
            at = _read(words, at, element)
        return _expect(words, at, ")")
    parts = array_parts(shape)
    if parts is None or parts[0] in ("token", "opaque"):
        return len(words) - 1
    sizes = [size.removeprefix("<=") for size in parts[1]]
    if len(sizes) > _MOST_DIMENSIONS:
        raise _Fault(f"an array of {len(sizes)} dimensions")
    return _array(words, at, parts[0], sizes)


def _array(words: list[str], at: int, element_type: str, sizes: list[str]) -> int:
    if not sizes:
        return _value(words, at, element_type)
    at = _expect(words, at, "{")
    if words[at] == "...":
        return _expect(words, at + 1, "}")
    number = 0
    while words[at] != "}":
        at += number > 0 and words[at] == ","
        at = _array(words, at, element_type, sizes[1:])
        number += 1
    if sizes[0] not in ("?", str(number)) and "0" not in sizes:
        raise _Fault(f"expected {sizes[0]} elements, not {number}")
    return at + 1


def _value(words: list[str], at: int, element_type: str) -> int:
    if element_type in _COMPLEX and words[at] == "(":
        for mark in ("(", ","):
            at = _value(words, _expect(words, at, mark), "f64")
        return _expect(words, at, ")")
    word = words[at]
    is_sound = bool(_VALUE.fullmatch(word))
    if element_type == "pred":
        is_sound = word in _TRUTHS
    elif element_type[0] in "su":
        is_sound = bool(_SIGNED.fullmatch(word))
    if not is_sound:
        raise _Fault(f"expected a value of {element_type}")
    return at + 1


def _expect(words: list[str], at: int, mark: str) -> int:
    if words[at] != mark:
        raise _Fault(f"expected `{mark}` in a literal")
    return at + 1
