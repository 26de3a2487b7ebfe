"""Instructions of HLO text, in every print form since 2018.

Grammar: `'ROOT '? '%'? NAME ' = ' shape? opcode '(' operands ')' (', ' attribute)*`.

Many lines are read at once, column by column: one rule takes all that have the common
form, and the others are scanned one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text.attributes import Incomplete, Tail, parse_tail
from hlodb.ingest.formats.hlo_text.grammar.opcodes import OPERANDS
from hlodb.ingest.formats.hlo_text.grammar.tokens import RESERVED
from hlodb.ingest.formats.hlo_text.usual import is_usual, unusual_names
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
    r"^[ \t]*+(?>(ROOT )?)%?+([A-Za-z_][A-Za-z0-9_.\-]*+) = "
    r"([a-z][a-z0-9]*+\[[0-9,<=?]*+](?>(?:\{[^{}\n]*+\})?)"
    r"|\((?>(?:[^()\n]++|\([^()\n]*+\))*)\)) "
    r"([a-z][^ \n(]*+)\(([^()\"\n]*+)\)(.*+)\n?+",
    re.MULTILINE,
)
_COLUMNS = _COMMON.groups + 1
_START = re.compile(r"\s*(ROOT\s+)?%?([A-Za-z_][A-Za-z0-9_.\-]*+)\s+=\s*")
_OPCODE = re.compile(r"\s*([A-Za-z][\w-]*)\(")
_ARRAY = re.compile(r"[a-z][a-z0-9]*+\[[0-9,<=?]*+\]")
_BLANKS = re.compile(r"\s+")
# Characters that an operand list of bare names does not have; a line may also wrap.
_NOT_PLAIN = re.compile(r"[(\[{\"/\n\t]")
# The same for many lists, one a line, whose index comments are left out: brackets and
# the like, blanks of other kinds, and a comma that has no name before or after it.
_NOT_LISTS = (*'([{"/', *"\t\v\f\r\x1c\x1d\x1e\x1f", ", ,", "\n,", ", \n", "\n\n")
_INDEX = re.compile(r"/\*index=[0-9]+\*/(?=[^\s,])")
# An operand: maybe a shape, then a name of whatever a plain list may hold.
_OPERAND = re.compile(r"(?:.*\s)?([^\s(\[{\",/]++)", re.DOTALL)
# Opcodes between whose parentheses something else stands.
_WITHOUT_OPERANDS = frozenset(("parameter", "constant"))

ELEMENT_MARK = "#"
"""Stands before each number where a tuple's element is read, as in `while.3#0#1`."""

# How much of what instructions say is remembered between texts.
_REMEMBERED = 1 << 14
_REMEMBERED_CHARACTERS = 8_000_000


class Printed(NamedTuple):
    """Instructions as they are printed, column by column.

    `roots` holds a text for a root, `insides` what stands between the parentheses,
    `tails` what follows them.
    """

    roots: Sequence[str | None]
    names: Sequence[str]
    shapes: Sequence[str | None]
    opcodes: Sequence[str]
    insides: Sequence[str]
    tails: Sequence[str]


def parse_instruction(text: str) -> Instruction:
    """Return the instruction that `text` (one line, or several joined) prints.

    Raises Incomplete where the text breaks off inside an instruction, ParseError where
    it is none.
    """
    match = _COMMON.fullmatch(text)
    columns: list[Any] = [[part] for part in (match.groups() if match else _scan(text))]
    printed = Printed(*columns)
    if not RESERVED.isdisjoint(printed.names):
        _refuse_reserved([text])
    operands = map(parse_operands, operand_texts(printed))
    [instruction] = _records(printed, operands, _MEANINGS.of(printed))
    return instruction


def parse_instructions(lines: Sequence[str]) -> list[Instruction]:
    """Return the instruction that each line prints; raises as `parse_instruction` does.

    The lines have no line breaks.
    """
    return parse_and_judge(lines)[0]


def parse_and_judge(
    lines: Sequence[str],
) -> tuple[list[Instruction], list[Instruction]]:
    """Return all instructions, and those among them that XLA would not print."""
    printed = take_apart(lines)
    meanings = _MEANINGS.of(printed)
    texts = operand_texts(printed)
    plain = _plain_lists(texts)
    if plain is None:
        operands = list(map(parse_operands, texts))
    else:
        lists = iter(plain.replace("%", "").split("\n"))
        operands = [tuple(next(lists).split(", ")) if text else () for text in texts]
    instructions = _records(printed, operands, meanings)
    unusual = {at for at, meaning in enumerate(meanings) if not meaning[-1]}
    unusual.update(unusual_names(printed.names))
    unusual.update(odd_operands(printed.opcodes, map(len, operands)))
    return instructions, [instructions[at] for at in sorted(unusual)]


def odd_operands(opcodes: Iterable[str], counts: Iterable[int]) -> list[int]:
    """Return which instructions have more or fewer operands than their opcode takes."""
    pairs = list(zip(opcodes, counts, strict=True))
    odd = {pair for pair in set(pairs) if OPERANDS.get(*pair) != pair[1]}
    return [at for at, pair in enumerate(pairs) if pair in odd] if odd else []


def take_apart(lines: Sequence[str]) -> Printed:
    """Return the parts of each line; raises as `parse_instruction`, but for tails.

    The lines have no line breaks.
    """
    parts = _COMMON.split("\n".join([*lines, ""]))
    found = Printed(*[parts[at::_COLUMNS] for at in range(1, _COLUMNS)])
    # What the rule left out stands before the instruction that follows it.
    gaps = [(at, gap) for at, gap in enumerate(parts[::_COLUMNS]) if gap]
    found = _with_gaps(found, gaps) if gaps else found
    if not RESERVED.isdisjoint(found.names):
        _refuse_reserved(lines)
    return found


def _refuse_reserved(lines: Sequence[str]) -> None:
    """Raise ParseError where a type or the like is a name, unless `%` is before it."""
    for line in lines:
        start = _START.match(line)
        if start and "%" not in start.group() and start.group(2) in RESERVED:
            raise ParseError("expected a name", column=start.start(2), snippet=line)


def _with_gaps(found: Printed, gaps: list[tuple[int, str]]) -> Printed:
    """Put in the lines that stand before the instructions at given places."""
    whole: list[tuple[Any, ...]] = []
    rest = zip(*found, strict=True)
    taken = 0
    for at, gap in gaps:
        whole += islice(rest, at - taken)
        whole += map(_scan, gap.removesuffix("\n").split("\n"))
        taken = at
    whole += rest
    return Printed(*zip(*whole, strict=True))


def _scan(text: str) -> tuple[str | None, ...]:
    """Return the fields of `_COMMON` for an instruction of any other form."""
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
    inside = text[open_at + 1 : close_at]
    return start.group(1), start.group(2), shape, opcode.group(1), inside, tail


def _missing_opcode(text: str, position: int) -> ParseError:
    error = Incomplete if text[position:].strip() == "" else ParseError
    return error("expected an opcode and `(`", column=position + 1, snippet=text)


def _shape_end(text: str, position: int) -> int:
    """Return the end of the shape at `position`; `position` where none is printed."""
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


Meaning = tuple[int | None, str | None, Tail, bool]
"""Parameter number, literal, tail, and whether XLA prints such instructions."""


def meaning(opcode: str, shape: str | None, own: str, tail: str) -> Meaning:
    """Return what an instruction says; `own` stands in the place of operands.

    Raises ParseError or Incomplete where the tail is broken.
    """
    said = parse_tail(tail)
    number = literal = None
    if opcode == "parameter":
        number = whole_number(own.strip())
    elif opcode == "constant":
        literal = _BLANKS.sub(" ", own.strip())
    return number, literal, said, is_usual(opcode, shape, number, literal, said.keys)


class _Meanings(dict[tuple[str, str | None, str, str], Meaning]):
    """The meaning of what was read, by its text; all is dropped once it is too much."""

    characters = 0

    def __missing__(self, key: tuple[str, str | None, str, str]) -> Meaning:
        self.characters += len(key[2]) + len(key[3])
        found = self[key] = meaning(*key)
        return found

    def of(self, printed: Printed) -> list[Meaning]:
        """Return the meaning of each instruction; equal text has the same one."""
        if self.characters > _REMEMBERED_CHARACTERS or len(self) > _REMEMBERED:
            self.clear()
            self.characters = 0
        opcodes, shapes, tails = printed.opcodes, printed.shapes, printed.tails
        keys = zip(opcodes, shapes, own_texts(printed), tails, strict=True)
        return list(map(self.__getitem__, keys))


_MEANINGS = _Meanings()


def _records(
    printed: Printed,
    operands: Iterable[tuple[str, ...]],
    meanings: Sequence[Meaning],
) -> list[Instruction]:
    if not meanings:
        return []
    numbers, literals, tails, _ = zip(*meanings, strict=True)
    calls, attributes, locations, _ = zip(*tails, strict=True)
    return rows(
        Instruction, printed.names, printed.opcodes, printed.shapes, operands,
        [root is not None for root in printed.roots],
        numbers, literals, calls, attributes, locations,
    )  # fmt: skip


def own_texts(printed: Printed) -> list[str]:
    """Return what stands between the parentheses of those without operands."""
    pairs = zip(printed.opcodes, printed.insides, strict=True)
    return [inside if opcode in _WITHOUT_OPERANDS else "" for opcode, inside in pairs]


def operand_texts(printed: Printed) -> list[str]:
    """Return the text of each instruction's operands."""
    pairs = zip(printed.opcodes, printed.insides, strict=True)
    return ["" if opcode in _WITHOUT_OPERANDS else inside for opcode, inside in pairs]


def parse_operand_lists(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the names in all operand lists end to end, and how many each has.

    As `parse_operands` does for each. The texts have no line breaks.
    """
    text = _plain_lists(texts)
    if text is None:
        found = list(map(parse_operands, texts))
        return list(chain.from_iterable(found)), list(map(len, found))
    names = text.replace("%", "").replace("\n", ", ").split(", ") if text else []
    return names, [list_.count(",") + 1 if list_ else 0 for list_ in texts]


def _plain_lists(texts: Sequence[str]) -> str | None:
    """Return the lists that are not empty, a line each, without index comments.

    None where they hold more than names, `%`, and a comma and a blank between them.
    """
    text = "\n".join(filter(None, texts)).replace(ELEMENT_MARK, "_")
    text = _INDEX.sub("", text) if "/*index=" in text else text
    blanks = text.count(" ")
    is_plain = text.isascii() and blanks == text.count(", ") == text.count(",")
    framed = f"\n{text}\n"
    if not is_plain or any(odd in framed for odd in _NOT_LISTS):
        return None
    return text


def parse_operands(text: str) -> tuple[str, ...]:
    """Return the names in an operand list.

    Shapes before the names and index comments are left out; instructions in the place
    of names raise ParseError. The element of a tuple, `while.3#0#1`, is called
    `while.3_0_1`, as by XLA's own parser.
    """
    if not text or text.isspace():
        return ()
    text = text.replace(ELEMENT_MARK, "_")
    if not _NOT_PLAIN.search(text) and (
        text.count(" ") == text.count(", ") == text.count(",")
    ):
        return tuple(text.replace("%", "").split(", "))
    if "//" in text:
        raise ParseError("expected operands without comments", snippet=text)
    text = without_comments(text)
    if any(c in text for c in '([{"'):
        parts = split_commas(text)
    else:
        parts = [part.strip() for part in text.split(",")]
    found = [_OPERAND.fullmatch(part.replace("%", "")) for part in parts]
    names = tuple(match[1] for match in found if match)
    if len(names) < len(parts):
        raise ParseError("expected the names of operands", snippet=text)
    return names
