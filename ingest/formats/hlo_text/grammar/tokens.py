"""The words of HLO text, as XLA's lexer parts them (openxla `hlo_lexer.cc`)."""

from __future__ import annotations

import re
from typing import NamedTuple

from hlodb.ingest.formats.shapes import ELEMENT_BITS

END = "end"
"""The kind of the token behind the last one."""

RESERVED = frozenset(ELEMENT_BITS) | frozenset(
    [
        "true",
        "false",
        "inf",
        "nan",
        "HloModule",
        "ENTRY",
        "ROOT",
        "maximal",
        "replicated",
        "manual",
        "unknown",
        "unreduced",
        "last_tile_dim_replicate",
        "shard_as",
        "shard_like",
        "FileNames",
        "FunctionNames",
        "FileLocations",
        "StackFrames",
    ]
)
"""Words that name nothing, unless `%` stands before them."""

# White space and comments, then a token or nothing. The order counts: a name before `=`
# is that of an attribute, and `1_1x0_2` is no number.
_TOKEN = re.compile(
    r"""
    (?>(?:[ \t\r\n]++|/\*(?>(?:[^*]++|\*(?!/))*)\*/|//[^\r\n]*+)*)
    (?:
    (?P<attribute>[A-Za-z_][\w.\-]*+=)
  | (?P<name>%[A-Za-z_][\w.\-]*+|[A-Za-z_][\w.\-]*+:)
  | (?P<word>[A-Za-z_][\w.\-]*+)
  | (?P<string>"(?>(?:[^"\\]++|\\.)*)"|'(?>(?:[^'\\]++|\\.)*)')
  | (?P<pattern>[0-9bf?]{2,}+_[0-9io?]{2,}+->[0-9bf?]{2,}+
      | -?[0-9]++(?>(?:_-?[0-9]++)+)(?>(?:x-?[0-9]++(?>(?:_-?[0-9]++)+))*)
      | [0-9]++(?>(?:x[0-9]++)+))
  | (?P<decimal>-?(?:[0-9]++\.[0-9]*+|\.[0-9]++)(?>(?:[eE][+\-]?[0-9]++)?)
      | -?[0-9]++[eE][+\-]?[0-9]++
      | -inf|-nan)
  | (?P<integer>-?[0-9]++)
  | (?P<mark>->|<=|\.\.\.|[=,:*\[\](){}+~?\#|@/<>])
    |)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)


class Refused(Exception):
    """Text at a place that XLA's parser would refuse."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class Token(NamedTuple):
    """A word of the text: its kind, what it says, and where it stands.

    An attribute has no `=`, a name neither `%` nor `:`.
    """

    kind: str
    text: str
    start: int
    end: int


class Tokens:
    """The tokens of a text from a place on, read one by one; `now` is the next."""

    def __init__(self, text: str, at: int, stop: int) -> None:
        self.text = text
        self._stop = stop
        self.last_end = at
        self.now = self._read(at)

    @property
    def after(self) -> Token:
        """The token behind the next."""
        return self._read(self.now.end)

    def take(self) -> Token:
        """Take a token."""
        token = self.now
        self.last_end = token.end
        self.now = self._read(token.end)
        return token

    def go_on_at(self, place: int) -> None:
        """Leave out everything before a place in the text."""
        self.last_end = place
        self.now = self._read(place)

    def is_at(self, *marks: str) -> bool:
        """Return whether one of some marks is next."""
        token = self.now
        return token.kind == "mark" and token.text in marks

    def is_word(self, *words: str) -> bool:
        """Return whether one of some words is next."""
        token = self.now
        return token.kind == "word" and token.text in words

    def eat(self, mark: str) -> bool:
        """Take a mark if it is next; tell whether it was."""
        found = self.is_at(mark)
        if found:
            self.take()
        return found

    def expect(self, mark: str, message: str) -> Token:
        """Take a mark, or raise Refused."""
        if not self.is_at(mark):
            raise self.error(message)
        return self.take()

    def error(self, message: str, at: int | None = None) -> Refused:
        """Return the error that something at a place (by default here) is wrong."""
        return Refused(message, self.now.start if at is None else at)

    def _read(self, at: int) -> Token:
        found = _TOKEN.match(self.text, at, self._stop)
        kind = found.lastgroup if found else None
        if found is None or kind is None:
            start = found.end() if found else at
            is_end = start >= self._stop
            end = start if is_end else start + 1
            return Token(END if is_end else "unknown", self.text[start:end], start, end)
        start, end = found.span(kind)
        said = self.text[start:end]
        if kind == "name":
            said = said[1:] if said[0] == "%" else said[:-1]
        elif kind == "attribute":
            said = said[:-1]
        return Token(kind, said, start, end)
