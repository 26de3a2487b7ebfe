"""Balanced brackets, strings, top-level commas, numbers: the scanner of all formats."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from typing import TypeVar

# A string, a bracket, a comma or a comment; nothing else matters to nesting. What isn't
# closed reaches to the end: looking for its end anew from each place takes for ever.
_TOKEN = re.compile(
    r"""
    "(?>(?:[^"\\]++|\\.)*)(?:"|\\?\Z)    # double-quoted, with escapes
  | '(?>(?:[^'\\\n]|\\.){0,200})'      # single-quoted, as mesh axes are
  | /\*(?>.*?(?:\*/|\Z))            # comment
  | [()\[\]{},]
    """,
    re.VERBOSE | re.DOTALL,
)
_NESTED = re.compile(r"[()\[\]{}\"'/]")
_OPEN = frozenset("([{")
_CLOSE = frozenset(")]}")
_COMMENT = re.compile(r"/\*(?>.*?(?:\*/|\Z))", re.DOTALL)
# Bytes by their numbers, or one character.
_ESCAPE = re.compile(r"((?>(?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}))+))|\\(.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r"}
_REMEMBERED_CHARACTERS = 16_000_000
_RECORD_CHARACTERS = 500
"""What is read of a short text takes more memory than the text: so much more."""
_Text = TypeVar("_Text", str, bytes)
_Read = TypeVar("_Read")


def remembered(read: Callable[[_Text], _Read]) -> Callable[[_Text], _Read]:
    """Return a function that caches its results by text, up to so many characters.

    A number of texts would be no bound: kernels and device lists have 100 KB each.
    """
    known: dict[_Text, _Read] = {}
    size = 0

    @wraps(read)
    def look_up(text: _Text) -> _Read:
        nonlocal size
        try:
            return known[text]
        except KeyError:
            pass
        added = len(text) + _RECORD_CHARACTERS
        size += added
        if size > _REMEMBERED_CHARACTERS:
            known.clear()
            size = added
        found = known[text] = read(text)
        return found

    return look_up


def decoded(data: bytes, errors: str = "replace") -> str:
    """Return a file's text: UTF-8, or UTF-16 behind its mark, as Windows' shell writes.

    A byte order mark is left out.
    """
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", errors).removeprefix("\ufeff")


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text; a list of short ones takes many times its memory."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def closing(text: str, start: int) -> int:
    """Return the index of the bracket that closes the one at `start`, or -1."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        first = token.group()[0]
        if first in _OPEN:
            depth += 1
        elif first in _CLOSE:
            depth -= 1
            if depth == 0:
                return token.start()
    return -1


def is_balanced(text: str) -> bool:
    """Return whether every bracket outside strings and comments is closed."""
    depth = 0
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first in _OPEN:
            depth += 1
        elif first in _CLOSE:
            depth -= 1
    return depth <= 0


def deepest(text: str) -> int:
    """Return the depth of the deepest nested brackets."""
    depth = most = 0
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first in _OPEN:
            depth += 1
            most = max(most, depth)
        elif first in _CLOSE:
            depth -= 1
    return most


def split_commas(text: str) -> list[str]:
    """Split at commas outside brackets, strings and comments; parts are stripped.

    An empty or blank text gives no parts.
    """
    if not _NESTED.search(text):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    parts: list[str] = []
    depth = start = 0
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first in _OPEN:
            depth += 1
        elif first in _CLOSE:
            depth -= 1
        elif first == "," and depth == 0:
            parts.append(text[start : token.start()].strip())
            start = token.end()
    last = text[start:].strip()
    if last or parts:
        parts.append(last)
    return parts


def without_comments(text: str) -> str:
    """Return the text without its `/*…*/` comments."""
    return _COMMENT.sub("", text) if "/*" in text else text


def whole_number(text: str | None, most_digits: int = 9) -> int | None:
    """Return a number of ASCII digits, None for all else and for what is too long.

    Nine digits fit an INTEGER, eighteen a BIGINT; Python would read thousands.
    """
    if text is None or len(text) > most_digits or not text.isascii():
        return None
    return int(text) if text.isdigit() else None


@lru_cache(maxsize=4096)
def human_bytes(text: str) -> int:
    """Return the bytes of `41.22G`, `528.00MiB` or `0B`, rounded to whole ones."""
    number = text.rstrip("BiKMGTPE")
    power = "BKMGTPE".index(text[len(number)])
    return round(float(number) * (1 << 10 * power))


def unescape(text: str) -> str:
    r"""Return the text of a C-escaped string body, octal and hex escapes included.

    Escaped bytes are read as UTF-8, as absl's CEscape and protobuf write other letters
    than ASCII; one that is none stays an escape, as in `\xff`.
    """
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    numbers, named = match.groups()
    if numbers is None:
        return _NAMED.get(named, named)
    escaped = (
        int(number[1:], 16) if number[0] == "x" else int(number, 8) & 0xFF
        for number in numbers.split("\\")[1:]
    )
    return bytes(escaped).decode("utf-8", "backslashreplace")


def unquote(text: str) -> str:
    """Return the body of a quoted string unescaped, any other text as it is."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return unescape(text[1:-1])
    return text


def printable(text: str) -> str:
    """Return text without surrogates, which stand for bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
