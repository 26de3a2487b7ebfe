"""Find what the first lines of a report say of causes, and which of it is false.

A sentence about a cause, an undo, a line, bytes or an effect is false if the truth of
the pair does not have it: what nobody wrote down counts as false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

FIRST_LINES = 12
TOLERANCE = 0.1

_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = r"([+-][\d,.]+) ([KMG]iB|B)"
_LINE = r"[\w./-]+\.py:\d+"
_HEADLINE = re.compile(r", (?:likely )?cause: (?P<items>.*)$")
_GAIN = re.compile(rf"^\S+ .*{_SIZE} \([^)]*\): (?P<items>.*)\.$")
_SHARE = re.compile(rf"^(?:about )?{_SIZE} from (?P<line>{_LINE})")
_EFFECT = re.compile(r"^(?P<label>[^:]*)")
# Facts of arrays and of arguments, and counts of programs and of places that differ:
# rows, no conclusions.
_FACT = re.compile(
    r"^(resized|retyped|(and )?inputs changed|argument layout|no regression)\b"
    r"|^(weights|averaged weights|optimiser state|arguments) (new|gone)\b"
    r"|^\d+ (new )?buffers? of "
    r"|^shapes of all [\d,]+ devices\)|^headroom \d"
    r"|^\d+ (more )?(same|missing|new|improved|worse|regressions?|with other inputs)\b"
    r"|^(the programs differ in )?\d+ more (places?( differs?)?|changes? of inputs)$"
)
# The line of what is returned or recomputed is where it is computed. A type or shape
# that first differs at a line was edited elsewhere: there the line only says where.
_ELSEWHERE = re.compile("output|remat|recomput|, (?:first|for example) at ")


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a pair; patterns are searched in sentences.

    `parts` has the bytes of one edit by each of its lines, where a pair of that edit
    alone exists; `delta_bytes` those of all edits. Lines are what `place` returns.
    """

    delta_bytes: int
    causes: tuple[str, ...]
    undo: tuple[str, ...]
    false: tuple[str, ...]
    lines: frozenset[str]
    operation: str | None
    is_silent: bool
    parts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a report: kind is cause, undo, share, effect, blame or alarm."""

    kind: str
    text: str
    line: str | None = None
    bytes: int | None = None


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of the first lines of a report's text, each once."""
    found: dict[tuple[str, str], Sentence] = {}
    rows = text.split("\n")[:FIRST_LINES]
    if rows and rows[0].startswith(("❌", "⚠")):
        found["alarm", rows[0]] = Sentence("alarm", rows[0])
    for row in rows:
        for sentence in _of_row(row):
            found.setdefault((sentence.kind, sentence.text), sentence)
    yield from found.values()


def _of_row(row: str) -> Iterator[Sentence]:
    label, _, rest = row.partition(": ")
    if label.startswith("To undo"):
        yield from (Sentence("undo", t) for t in re.split(r"(?<=\.) (?=[A-Z])", rest))
    elif label == "Split":
        for item in rest.removesuffix(".").split("; "):
            if found := _SHARE.search(item):
                size = _bytes(found[1], found[2])
                yield Sentence("share", item, found["line"], size)
    elif label == "Likely cause":
        yield Sentence("blame", rest.split(". ")[0])
    elif label == "Effect":
        found = _EFFECT.search(rest)
        yield Sentence("effect", rest if found is None else found["label"])
    else:
        items = rest.removesuffix(".") if label == "Why" else None
        if items is None and (match := _HEADLINE.search(row) or _GAIN.search(row)):
            items = match["items"]
        for item in (items or "").split("; "):
            if item and not _FACT.search(item):
                line = re.search(_LINE, item)
                yield Sentence("cause", item, line[0] if line else None)


def _bytes(number: str, unit: str) -> int:
    return round(float(number.replace(",", "")) * _UNITS[unit])


def place(line: str) -> str:
    """Return a line without the folders of its file: reports leave most of them out."""
    return line.rpartition("/")[2]


def fault(sentence: Sentence, truth: Truth) -> str | None:
    """Return what is false in a sentence, or None if the truth has it."""
    if sentence.kind == "alarm":
        return "alarm" if truth.is_silent else None
    if truth.is_silent:
        return f"{sentence.kind} of nothing"
    if _has(truth.false, sentence.text):
        return f"{sentence.kind}: not so"
    if sentence.kind == "undo" and not _has(truth.undo, sentence.text):
        return "undo: does not undo it"
    if sentence.kind == "blame" and "XLA" in sentence.text:
        return "blame: the compiler, of an edit"
    if sentence.kind == "cause" and not _has(truth.causes, sentence.text):
        return "cause: not edited"
    if sentence.line is not None and place(sentence.line) not in truth.lines:
        operation = truth.operation or "^$"
        if not (_ELSEWHERE.search(sentence.text) and _has((operation,), sentence.text)):
            return f"{sentence.kind}: other line"
    size = sentence.bytes if sentence.kind == "share" else None
    if size and sentence.line and not is_effect(size, sentence.line, truth):
        return "share: other bytes"
    return None


def is_effect(size: int, line: str, truth: Truth) -> bool:
    """Return whether an edit of a line has these bytes, by what was compiled."""
    right = _right_bytes(line, truth)
    return not right or any(abs(size - r) <= TOLERANCE * abs(r) for r in right)


def _right_bytes(line: str, truth: Truth) -> list[int]:
    """Return what the edit of a line adds: by itself, and on top of the others.

    The line of an argument is none: any of the edits may be meant.
    """
    if not truth.parts:
        return [truth.delta_bytes] if len(truth.causes) == 1 else []
    every = set(truth.parts.values())
    rest = truth.delta_bytes - sum(every)
    if place(line) in truth.parts:
        alone = truth.parts[place(line)]
        return [alone, alone + rest]
    return [*every, *(alone + rest for alone in every), rest]


def _has(patterns: tuple[str, ...], text: str) -> bool:
    return any(re.search(p, text, re.IGNORECASE) for p in patterns)
