"""One instruction of HLO text, in every print form since 2018.

Grammar: `'ROOT '? '%'? NAME ' = ' shape? opcode '(' operands ')' (', ' attribute)*`.
"""

from __future__ import annotations

import re

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_attributes import Tail, parse_tail
from hlodb.ingest.formats.scan import (
    closing,
    is_balanced,
    split_commas,
    without_comments,
)
from hlodb.ingest.records import Instruction

# The common forms in one match: no bracket or string among the operands, and a shape
# whose tuples nest no deeper than a tile such as T(8,128). Anything else is scanned.
_COMMON = re.compile(
    r"\s*(ROOT )?%?([^\s%=]+) = "
    r"([a-z]\w*\[[^\]]*\](?:\{[^{}]*\})?|\((?:[^()]|\([^()]*\))*+\)) "
    r"([a-z][\w-]*)\(([^()\"]*)\)(.*)",
    re.DOTALL,
)
_START = re.compile(r"\s*(ROOT\s+)?%?([^\s%=]+)\s*=\s*")
_OPCODE = re.compile(r"\s*([A-Za-z][\w-]*)\(")
_ARRAY = re.compile(r"[a-z]\w*\[[^\]]*\]")
_BLANKS = re.compile(r"\s+")
_NO_TAIL = Tail()
_OPAQUE = frozenset(("constant", "parameter"))


class Incomplete(ParseError):
    """The text ends inside an instruction: it goes on in the next line."""


def parse_instruction(text: str) -> Instruction:
    """Give the instruction that `text` (one line, or several joined) prints.

    Raises Incomplete where the text breaks off inside an instruction, ParseError where
    it is none.
    """
    match = _COMMON.fullmatch(text)
    if match is None:
        return _parse_scanned(text)
    root, name, shape, opcode, operands, tail = match.groups()
    return _build(root is not None, name, shape, opcode, operands, tail)


def _parse_scanned(text: str) -> Instruction:
    start = _START.match(text)
    if not start:
        raise ParseError("expected `name = shape opcode(…)`", snippet=text)
    position = start.end()
    shape_end = _shape_end(text, position)
    opcode = _OPCODE.match(text, shape_end)
    if not opcode:
        raise _missing_opcode(text, shape_end)
    open_at = opcode.end() - 1
    close_at = closing(text, open_at)
    if close_at < 0:
        raise Incomplete("expected `)` after the operands", snippet=text)
    tail = text[close_at + 1 :]
    shape = text[position:shape_end].strip() or None
    operands = text[open_at + 1 : close_at]
    is_root = start.group(1) is not None
    return _build(is_root, start.group(2), shape, opcode.group(1), operands, tail)


def _missing_opcode(text: str, position: int) -> ParseError:
    error = Incomplete if text[position:].strip() == "" else ParseError
    return error("expected an opcode and `(`", column=position + 1, snippet=text)


def _shape_end(text: str, position: int) -> int:
    """Give where the shape at `position` ends; `position` where none is printed."""
    if text.startswith("(", position):
        end = closing(text, position)
        if end < 0:
            raise Incomplete("expected `)` after a tuple shape", snippet=text)
        return end + 1
    if text.startswith("b(", position):
        return max(closing(text, position + 1) + 1, position)
    array = _ARRAY.match(text, position)
    if not array:
        return position
    if text.startswith("{", array.end()):
        return max(closing(text, array.end()) + 1, array.end())
    return array.end()


def _build(
    is_root: bool, name: str, shape: str | None, opcode: str, inside: str, tail: str
) -> Instruction:
    if _breaks_off(tail):
        raise Incomplete("expected the rest of the attributes", snippet=tail)
    calls, attributes, location = parse_tail(tail) if tail else _NO_TAIL
    if opcode in _OPAQUE:
        number = inside.strip() if opcode == "parameter" else ""
        return Instruction(
            name, opcode, shape, (), None, is_root,
            int(number) if number.isdigit() else None,
            _BLANKS.sub(" ", inside.strip()) if opcode == "constant" else None,
            calls, attributes, location,
        )  # fmt: skip
    operands, paths = parse_operands(inside)
    return Instruction(
        name, opcode, shape, operands, paths, is_root, None, None,
        calls, attributes, location,
    )  # fmt: skip


def _breaks_off(tail: str) -> bool:
    if tail.count("{") != tail.count("}") and not is_balanced(tail):
        return True
    return tail.endswith((",", ", "))


def parse_operands(
    text: str,
) -> tuple[tuple[str, ...], tuple[str | None, ...] | None]:
    """Give the names in an operand list and their compact tuple paths.

    Shapes before the names and index comments are left out.
    """
    if not text or text.isspace():
        return (), None
    text = without_comments(text)
    if any(c in text for c in '([{"'):
        parts = split_commas(text)
    else:
        parts = [part.strip() for part in text.split(",")]
    names = [part.rsplit(None, 1)[-1].removeprefix("%") for part in parts if part]
    if "#" not in text:
        return tuple(names), None
    split = [name.partition("#") for name in names]
    paths = tuple(path.replace("#", ".") if mark else None for _, mark, path in split)
    return tuple(name for name, _, _ in split), paths
