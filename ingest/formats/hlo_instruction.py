"""Instructions of HLO text, in every print form since 2018.

Grammar: `'ROOT '? '%'? NAME ' = ' shape? opcode '(' operands ')' (', ' attribute)*`.

Many lines are read at once, column by column: one rule takes all that have the common
form, and the others are scanned one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_attributes import Incomplete, parse_tail
from hlodb.ingest.formats.scan import (
    closing,
    split_commas,
    whole_number,
    without_comments,
)
from hlodb.ingest.formats.sections import rows
from hlodb.ingest.records import Instruction

# The common forms in one match: no bracket or string among the operands, and a shape
# whose tuples nest no deeper than a tile such as T(8,128). Anything else is scanned.
_COMMON = re.compile(
    r"^[ \t]*+(ROOT )?+%?+([^\s%=]++) = "
    r"([a-z][^ \n\[(]*+\[[^]\n]*+](?:\{[^{}\n]*+\})?+"
    r"|\((?:[^()\n]++|\([^()\n]*+\))*+\)) "
    r"([a-z][^ \n(]*+)\(([^()\"\n]*+)\)(.*+)\n?+",
    re.MULTILINE,
)
_COLUMNS = _COMMON.groups + 1
_START = re.compile(r"\s*(ROOT\s+)?%?([^\s%=]+)\s*=\s*")
_OPCODE = re.compile(r"\s*([A-Za-z][\w-]*)\(")
_ARRAY = re.compile(r"[a-z]\w*\[[^\]]*\]")
_BLANKS = re.compile(r"\s+")
# Characters that an operand list of bare names does not have; a line may also wrap.
_NOT_PLAIN = re.compile(r"[(\[{\"#/\n\t]")


def parse_instruction(text: str) -> Instruction:
    """Give the instruction that `text` (one line, or several joined) prints.

    Raises Incomplete where the text breaks off inside an instruction, ParseError where
    it is none.
    """
    match = _COMMON.fullmatch(text)
    if match is None:
        return _parse_scanned(text)
    [instruction] = _build([[group] for group in match.groups()])
    return instruction


def parse_instructions(lines: Sequence[str]) -> list[Instruction]:
    """Give the instruction that each line prints; raises as `parse_instruction` does.

    The lines have no line breaks.
    """
    parts = _COMMON.split("".join([f"{line}\n" for line in lines]))
    found = _build([parts[at::_COLUMNS] for at in range(1, _COLUMNS)])
    # What the rule left out stands before the instruction that follows it.
    gaps = [(at, gap) for at, gap in enumerate(parts[::_COLUMNS]) if gap]
    for at, gap in reversed(gaps):
        found[at:at] = map(_parse_scanned, gap.removesuffix("\n").split("\n"))
    return found


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
    groups = (start.group(1), start.group(2), shape, opcode.group(1), operands, tail)
    [instruction] = _build([[group] for group in groups])
    return instruction


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


def _build(columns: Sequence[Sequence[Any]]) -> list[Instruction]:
    """Make instructions of the columns that `_COMMON` gives."""
    roots, names, shapes, opcodes, insides, tails = columns
    if not names:
        return []
    operands, paths, numbers, literals = zip(
        *map(_parse_inside, opcodes, insides), strict=True
    )
    calls, attributes, locations = zip(*map(parse_tail, tails), strict=True)
    is_root = [root is not None for root in roots]
    return rows(
        Instruction, names, opcodes, shapes, operands, paths, is_root, numbers,
        literals, calls, attributes, locations,
    )  # fmt: skip


def _parse_inside(
    opcode: str, text: str
) -> tuple[tuple[str, ...], tuple[str | None, ...] | None, int | None, str | None]:
    """Give operands, their tuple paths, parameter number and literal."""
    if opcode == "parameter":
        return (), None, whole_number(text.strip()), None
    if opcode == "constant":
        return (), None, None, _BLANKS.sub(" ", text.strip())
    operands, paths = parse_operands(text)
    return operands, paths, None, None


def parse_operands(
    text: str,
) -> tuple[tuple[str, ...], tuple[str | None, ...] | None]:
    """Give the names in an operand list and their compact tuple paths.

    Shapes before the names and index comments are left out.
    """
    if not text or text.isspace():
        return (), None
    if not _NOT_PLAIN.search(text):
        return tuple(text.replace("%", "").split(", ")), None
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
