"""Every regular expression that reads input, and its worst cases."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import product
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from hlodb.rules import rule_rows

_ROOM = Path(__file__).parents[2] / "ingest"
_MOST_PIECES = 7
_SEARCHED = re.compile(r"\b(\w+)\.(?:search|finditer|findall|sub|subn|split)\(")


def patterns() -> dict[str, re.Pattern[Any]]:
    """Return every expression of hlodb.ingest by module and number, and of rules."""
    found: dict[str, re.Pattern[Any]] = {
        f"rules.program_names.{place}": re.compile(pattern)
        for place, _, pattern, _ in rule_rows("program_names")
    }
    for path in sorted(_ROOM.rglob("*.py")):
        parts = path.relative_to(_ROOM.parent).with_suffix("").parts
        if path.stem.endswith("_pb2"):
            continue
        module = import_module("hlodb." + ".".join(p for p in parts if p != "__init__"))
        for name, value in sorted(vars(module).items()):
            for number, pattern in enumerate(_patterns_in(value, 0)):
                found.setdefault(f"{_place(path)}.{name}.{number}", pattern)
    # One expression imported into several modules counts once.
    return {name: pattern for pattern, name in {p: n for n, p in found.items()}.items()}


def _place(path: Path) -> str:
    return path.relative_to(_ROOM).with_suffix("").as_posix()


def _patterns_in(value: object, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict) and depth < 4:
        for one in value.values():
            yield from _patterns_in(one, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 4:
        for one in value:
            yield from _patterns_in(one, depth + 1)


def pieces(pattern: re.Pattern[Any]) -> list[str]:
    """Return texts that parts of the expression match: literals, members of sets."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    flags = pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags
    found = dict.fromkeys(_pieces_of(_parser.parse(text, flags)))
    return [*found][:_MOST_PIECES]


def _pieces_of(parsed: Any) -> Iterator[str]:
    literal = ""
    for kind, value in parsed:
        if kind is _constants.LITERAL:
            literal += chr(value)
            continue
        if literal:
            yield literal
            literal = ""
        yield from _pieces_of_one(kind, value)
    if literal:
        yield literal


def _pieces_of_one(kind: Any, value: Any) -> Iterator[str]:
    if kind is _constants.IN:
        yield from _members(value)
    elif kind is _constants.NOT_LITERAL or kind is _constants.ANY:
        yield "a"
    elif kind is _constants.BRANCH:
        for branch in value[1]:
            yield from _pieces_of(branch)
    elif isinstance(value, tuple):
        for part in value:
            if isinstance(part, _parser.SubPattern):
                yield from _pieces_of(part)
    elif isinstance(value, _parser.SubPattern):
        yield from _pieces_of(value)


def _members(items: list[tuple[Any, Any]]) -> Iterator[str]:
    samples = {
        _constants.CATEGORY_DIGIT: "1",
        _constants.CATEGORY_SPACE: " ",
        _constants.CATEGORY_WORD: "a",
    }
    for kind, value in items[:3]:
        if kind is _constants.LITERAL:
            yield chr(value)
        elif kind is _constants.RANGE:
            yield chr(value[0])
        elif kind is _constants.CATEGORY:
            yield samples.get(value, "a")
        elif kind is _constants.NEGATE:
            yield "a"


def repeats_group_possessively(pattern: re.Pattern[Any]) -> bool:
    """Return whether more than one character is repeated by `*+`, `++` or `?+`.

    Python before 3.11.5 goes on at the wrong place where such a group matches its
    beginning only (https://github.com/python/cpython/issues/106052); `(?>(?:…)*)` is
    the same and sound everywhere.
    """
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    flags = pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags
    return any(
        kind is _constants.POSSESSIVE_REPEAT
        and (len(value[2]) != 1 or value[2][0][0] not in _ONE_CHARACTER)
        for kind, value in _parts_of(_parser.parse(text, flags))
    )


_ONE_CHARACTER = (
    *(_constants.LITERAL, _constants.NOT_LITERAL),
    *(_constants.IN, _constants.ANY),
)


def _parts_of(found: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(found, _parser.SubPattern):
        for kind, value in found:
            yield kind, value
            yield from _parts_of(value)
    elif isinstance(found, (list, tuple)):
        for part in found:
            yield from _parts_of(part)


def attacks(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    """Yield texts of about `size` characters that repeat parts of what it matches."""
    found = pieces(pattern)
    whole = "".join(found)
    pumps = [*found, *("".join(pair) for pair in product(found, repeat=2)), whole]
    for pump in dict.fromkeys(pumps):
        repeated = pump * (size // len(pump))
        yield repeated
        yield repeated + "\0"
        for head in (found[0], whole[: len(whole) // 2]):
            yield head + repeated + "\0"


def seconds(name: str, pattern: re.Pattern[Any], text: str) -> float:
    """Return the CPU time of using the expression on a text as the code does."""
    subject: Any = text
    if isinstance(pattern.pattern, bytes):
        subject = text.encode("utf-8", "replace")
    began = time.process_time()
    if is_searched(name):
        for _ in pattern.finditer(subject):
            pass
    else:
        pattern.match(subject)
        pattern.fullmatch(subject)
    return time.process_time() - began


@lru_cache(maxsize=1)
def _searched_names() -> frozenset[tuple[str, str]]:
    return frozenset(
        (_place(path), name)
        for path in _ROOM.rglob("*.py")
        for name in _SEARCHED.findall(path.read_text(encoding="utf-8"))
    )


def is_searched(name: str) -> bool:
    """Return whether an expression is tried at every place, not just at one."""
    module, variable, _ = name.split(".")
    return (module, variable) in _searched_names()


def slowest(name: str, pattern: re.Pattern[Any], sizes: Iterable[int]) -> list[float]:
    """Return the time of the first size's worst attack in each of the sizes."""
    first, *_ = grown = [list(attacks(pattern, size)) for size in sizes]
    times = [_least(name, pattern, text) for text in first]
    if not times:
        return [0.0 for _ in grown]
    worst = times.index(max(times))
    return [_least(name, pattern, texts[worst]) for texts in grown]


def _least(name: str, pattern: re.Pattern[Any], text: str) -> float:
    return min(seconds(name, pattern, text) for _ in range(3))
