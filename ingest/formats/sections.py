"""Sections of a line-based dump: read whole by one rule, sifted where one breaks it.

A sound section is covered by the matches of one regular expression, so all its rows
are read at once. Where the matches leave a gap, `sift` goes line by line: it keeps the
lines that the section's grammar knows and explains the others.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, repeat, starmap
from operator import lt
from typing import Any, NamedTuple, TypeVar, cast

from hlodb.ingest.formats.scan import lines_of
from hlodb.ingest.records import Reject, Tally, TextColumn, Texts, Unclaimed

NAME = r"[^\s{}<>]+"
"""An instruction name: it may hold `.`, `-`, `:` and consist of digits."""

INDEX = r"\{[0-9,]*\}"
"""A shape index as printed: `{}`, `{0}`, `{1,0}`."""

NUMBER = r"[0-9]{1,9}"
"""An id, a step or a position: fits an INTEGER."""

BYTES = r"[0-9]{1,15}"
"""Bytes: under a petabyte, so that sums of thousands fit a BIGINT."""

VALUE_ID = rf"<({NUMBER}) ({NAME})({INDEX})?( \(phi\))?(?: @(-?{NUMBER}))?>"
"""A value as printed, `<12 name{0} (phi) @1>`: id, name, index, phi and space."""

Columns = list[Any]
"""The groups of a rule, one list each; a group that took no part is None."""

_SNIPPET = 120
SHOWN = 200
"""Characters that are kept of an unclaimed line."""

_DIGITS = re.compile(r"[0-9]+")
_Key = TypeVar("_Key")
_Row = TypeVar("_Row", bound=tuple[Any, ...])

_PIECE = 500_000
"""Characters whose matches are held at once; they take some ten times as much."""


class Section(NamedTuple):
    """A run of lines of one kind; `number` is the first one its header prints."""

    kind: str
    number: int
    text: str
    line: int


class LineRule(NamedTuple):
    """One kind of line: how it looks and what it may follow.

    A rule with no `after` opens a block and may stand anywhere. The first `key` groups
    must not repeat within a block. `holds` is a condition beyond the pattern.
    """

    kind: str
    pattern: re.Pattern[str]
    after: frozenset[str] = frozenset()
    key: int = 0
    holds: Callable[[re.Match[str]], bool] | None = None


class Grammar(NamedTuple):
    """The lines of a section; a line that begins with `opens` must open a block."""

    rules: tuple[LineRule, ...]
    opens: tuple[str, ...]


class Sifted(NamedTuple):
    """The text of the lines that fit, and what became of the others."""

    text: str
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


def cut(text: str, headers: re.Pattern[str]) -> list[Section]:
    """Cut text at its header lines; what stands before the first is the `preamble`.

    `headers` matches from a line break on; the name of the group that matched is the
    section's kind. Every section ends in one line break, or is empty.
    """
    sections: list[Section] = []
    kind, number, start, line = "preamble", 0, -1, 1
    for header, end, behind in chain(_found(headers, text), [(None, len(text), 0)]):
        body = _without_blank_ends(text, start + 1, end)
        sections.append(Section(kind, number, body, line))
        if header:
            line += (
                text.count("\n", max(start, 0), max(end, 0)) + 1 + (start < 0 <= end)
            )
            kind, start = header.lastgroup or "", behind
            digits = _DIGITS.search(header.group())
            number = int(digits.group()) if digits else 0
    return sections


def _found(
    headers: re.Pattern[str], text: str
) -> Iterator[tuple[re.Match[str], int, int]]:
    """Yield the headers with start and end; a line break counts as standing at -1.

    It is not put there, for that would copy the text.
    """
    first = headers.match("\n" + text[: text.find("\n") + 1 or len(text)])
    if first:
        yield first, -1, first.end() - 1
    for header in headers.finditer(text, first.end() - 1 if first else 0):
        yield header, header.start(), header.end()


def _without_blank_ends(text: str, start: int, end: int) -> str:
    """Return lines with one line break at their end, or nothing."""
    while end > start and text[end - 1] == "\n":
        end -= 1
    if end <= start:
        return ""
    return text[start : end + 1] if end < len(text) else f"{text[start:]}\n"


def columns(rule: re.Pattern[str], text: str) -> tuple[Columns, bool]:
    """Return the groups of `rule` as columns, and whether its matches cover `text`."""
    parts = rule.split(text)
    width = rule.groups + 1
    return [parts[i::width] for i in range(1, width)], not any(parts[::width])


def rows(kind: type[_Row], *fields: Iterable[Any]) -> list[_Row]:
    """Make a named tuple of each row, in half the time that calling `kind` takes."""
    made = map(tuple.__new__, repeat(kind), zip(*fields, strict=False))
    return cast("list[_Row]", list(made))


def pieces(text: str, opening: str = "") -> Iterator[str]:
    """Yield a text in pieces, each but the first of which begins with `opening`.

    They end at line breaks.
    """
    for start, end in spans(text, 0, len(text), opening):
        yield text[start:end]


def spans(
    text: str, start: int, stop: int, opening: str = ""
) -> Iterator[tuple[int, int]]:
    """Yield where the pieces of a part of a text begin and end."""
    while end := text.find(f"\n{opening}", start + _PIECE, stop - 1) + 1:
        yield start, end
        start = end
    yield start, stop


def packed_columns(
    rule: re.Pattern[str], text: str, codes: str, texts: Texts
) -> tuple[Columns, bool]:
    """Do as `columns` for a rule that matches lines; `codes` say how columns are kept.

    They are those of `add_to`.
    """
    found = empty_columns(codes, texts)
    whole = True
    for piece in pieces(text):
        more, is_covered = columns(rule, piece)
        whole &= is_covered
        add_to(found, more, codes, texts)
    return found, whole


def empty_columns(codes: str, texts: Texts) -> Columns:
    """Return columns that `add_to` fills."""
    return [_empty(code, texts) for code in codes]


def _empty(code: str, texts: Texts) -> Any:
    if code == ".":
        return TextColumn(array("i"), texts.by_number)
    return [] if code == "?" else array("q" if code == "q" else "i")


def add_to(found: Columns, more: Iterable[Any], codes: str, texts: Texts) -> None:
    """Append columns of texts: `i` and `q` are integers, in 4 and 8 bytes.

    `c` is an integer that may be missing and is 0 then, `?` whether there is a text,
    and `.` the text itself.
    """
    for code, column, new in zip(codes, found, more, strict=True):
        if code == ".":
            column.numbers.extend(map(texts.__getitem__, new))
        elif code == "?":
            column.extend([text is not None for text in new])
        elif code == "c":
            column.extend([int(text or 0) for text in new])
        else:
            column.extend(map(int, new))


def are_distinct(ids: Any) -> bool:
    """Return whether no number is there twice; they mostly count up."""
    if all(map(lt, ids, islice(ids, 1, None))):
        return True
    return len(set(ids)) == len(ids)


def once_per_line(keys: Iterable[_Key], blocks: Iterable[str]) -> Iterator[_Key]:
    """Return each key repeated once per line of its block."""
    counts = [block.count("\n") for block in blocks]
    return chain.from_iterable(map(repeat, keys, counts))


def numbered(section: Section) -> Iterator[tuple[int, str]]:
    """Yield each line that is not blank, with its number."""
    for number, line in enumerate(lines_of(section.text), section.line):
        if line.strip():
            yield number, line


def snippet(line: str) -> str:
    """Return the beginning of a line, to be shown beside what is wrong with it."""
    return line.strip()[:_SNIPPET]


def unclaimed_lines(section: Section) -> list[Unclaimed]:
    """Return all lines of a section that should hold none."""
    return Tally(starmap(_unclaimed, numbered(section)))


def _unclaimed(number: int, line: str) -> Unclaimed:
    return Unclaimed(number, line[:SHOWN])


def sift(kind: str, lines: Iterable[tuple[int, str]], grammar: Grammar) -> Sifted:
    """Keep the lines that fit the grammar, in order, and explain the others.

    Lines under a broken or repeated opening line have lost their owner: they count as
    unclaimed, so that one defect is one reject.
    """
    kept: list[str] = []
    rejects: Tally[Reject] = Tally()
    unclaimed: Tally[Unclaimed] = Tally()
    state, owner, seen = "start", "", set[tuple[str | None, ...]]()
    for number, line in lines:
        rule, match = _recognise(line, grammar)
        fault = _fault(rule, match, state, owner, seen)
        opens = line.startswith(grammar.opens)
        if rule and match and not fault:
            state = rule.kind
            owner = owner if rule.after else match.group(1)
            kept.append(line + "\n")
        elif opens or (state != "lost" and line.startswith(" ")):
            rejects.append(_reject(kind, number, line, fault, state, grammar))
            state = "lost" if opens else state
        else:
            unclaimed.append(_unclaimed(number, line))
    return Sifted("".join(kept), rejects, unclaimed)


def _recognise(
    line: str, grammar: Grammar
) -> tuple[LineRule, re.Match[str]] | tuple[None, None]:
    for rule in grammar.rules:
        if match := rule.pattern.fullmatch(line):
            return rule, match
    return None, None


def _fault(
    rule: LineRule | None,
    match: re.Match[str] | None,
    state: str,
    owner: str,
    seen: set[tuple[str | None, ...]],
) -> str:
    """Name what is wrong with a line, or give ""; a sound line's key is remembered."""
    if rule is None or match is None:
        return "malformed"
    if rule.after and state not in rule.after:
        return "misplaced"
    if rule.holds and not rule.holds(match):
        return "contradiction"
    if rule.key:
        key = (rule.kind, owner if rule.after else "", *match.groups()[: rule.key])
        if key in seen:
            return "duplicate"
        seen.add(key)
    return ""


def _reject(
    kind: str, number: int, line: str, code: str, state: str, grammar: Grammar
) -> Reject:
    if code == "duplicate":
        message = "listed before; the first one is kept"
    elif code == "contradiction":
        message = "the numbers of this line contradict each other"
    else:
        kinds = [r.kind for r in grammar.rules if not r.after or state in r.after]
        message = f"expected {' or '.join(kinds)}"
    column = len(line) - len(line.lstrip()) + 1
    return Reject(number, column, kind, code, message, snippet(line))
