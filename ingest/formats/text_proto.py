"""Protobuf text format, read without a schema: nested fields in the order of the text.

    fields  ::= (name (':' value | ':'? message) [',' ';']?)*
    name    ::= identifier | NUMBER (a field unknown to the writer) | '[' ext.name ']'
    value   ::= string+ | number | identifier | '[' (value | message), … ']'
    message ::= '{' fields '}' | '<' fields '>'

Comments run from `#` to the end of the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hlodb.ingest.formats.scan import unescape
from hlodb.ingest.records import Reject

_DEEPEST = 100  # protobuf's own limit
_WORD = r"[^\s,;#\"'{}<>:\[\]]+"
_TOKEN = re.compile(
    r"(?P<space>\s+|\#[^\n]*)"
    r"|(?P<between>[,;])"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<open>[{<])"
    r"|(?P<close>[}>])"
    r"|(?P<mark>[:\[\]])"
    rf"|(?P<word>{_WORD})"
)
_SCALAR = re.compile(rf"\s*(?P<name>{_WORD})\s*:\s*(?P<value>{_WORD})")
"""`name: value` without quotes, as most lines are."""

_SHOWN = 80
_MOST_REJECTS = 100


class Field(NamedTuple):
    """A field: `value` is its text, or its fields if a message.

    Strings have no quotes, and are unescaped unless their bytes were asked for.
    """

    name: str
    value: str | tuple[Field, ...]
    line: int


@dataclass(frozen=True, slots=True)
class TextProto:
    """What a text proto says; rejects tell what could not be read."""

    fields: tuple[Field, ...] = ()
    rejects: list[Reject] = field(default_factory=list)


def parse_text_proto(text: str, keep_escapes: bool = False) -> TextProto:
    r"""Read a text proto; what breaks the format is rejected and passed over.

    With `keep_escapes` strings stay as they are: bytes such as `\xff` are no text.
    """
    reader = _Reader(text, keep_escapes)
    fields = reader.read()
    return TextProto(fields, reader.rejects)


def flatten(fields: Iterable[Field], prefix: str = "") -> list[tuple[str, str]]:
    """Return (dotted path, value) of each scalar, in order; `{}` for empty messages."""
    flat: list[tuple[str, str]] = []
    # At most as deep as the reader lets messages nest.
    for name, value, _ in fields:
        path = f"{prefix}{name}"
        if isinstance(value, str):
            flat.append((path, value))
        elif value:
            flat.extend(flatten(value, f"{path}."))
        else:
            flat.append((path, "{}"))
    return flat


def messages(fields: Iterable[Field], name: str) -> Iterator[tuple[Field, ...]]:
    """Yield the fields of each message called `name`."""
    for found, value, _ in fields:
        if found == name and not isinstance(value, str):
            yield value


def texts(fields: Iterable[Field], name: str) -> list[str]:
    """Return the scalar values of a repeated field."""
    return [
        value for found, value, _ in fields if found == name and isinstance(value, str)
    ]


def text_at(fields: Iterable[Field], path: str) -> str | None:
    """Return the last scalar at a dotted path, as protobuf does for singular fields."""
    *outer, name = path.split(".")
    for message in outer:
        fields = [inner for found in messages(fields, message) for inner in found]
    found = texts(fields, name)
    return found[-1] if found else None


def int_at(fields: Iterable[Field], path: str) -> int | None:
    """Return the integer at a dotted path; None where there is none of 64 bits."""
    return to_int(text_at(fields, path))


def to_int(text: str | None) -> int | None:
    """Read a signed 64-bit integer; None where it is none."""
    if text is None or not re.fullmatch(r"-?[0-9]{1,19}", text):
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


@dataclass(slots=True)
class _Message:
    """A message being read; the outermost has no name."""

    name: str
    line: int
    fields: list[Field] = field(default_factory=list)
    in_list: bool = False


class _Reader:
    """Takes tokens one by one; open messages are on a stack, not in calls."""

    def __init__(self, text: str, keep_escapes: bool) -> None:
        self.rejects: list[Reject] = []
        self._text = text
        self._unescape = str if keep_escapes else unescape
        self._stack = [_Message("", 1)]
        # The field whose value is awaited, and how far it has come.
        self._name = ""
        self._has_colon = False
        self._in_list = False
        self._in_extension = False
        self._after_string = False
        self._line = 1
        self._counted = 0

    def read(self) -> tuple[Field, ...]:
        position = 0
        while position < len(self._text) and len(self.rejects) < _MOST_REJECTS:
            scalar = self._scalar_at(position)
            if scalar is not None:
                position = scalar.end()
                continue
            token = _TOKEN.match(self._text, position)
            if token is None:
                self._reject(position, "a string that does not end on its line")
                position = self._end_of_line(position)
                self._name, self._has_colon, self._in_list = "", False, False
                continue
            position = token.end()
            if token.lastgroup == "between":
                # Strings side by side are one; a comma parts them.
                self._after_string = False
            elif token.lastgroup != "space":
                self._take(token.lastgroup or "", token[0], token.start())
        return self._end()

    def _scalar_at(self, position: int) -> re.Match[str] | None:
        """Take a whole field, where one begins that is a scalar without quotes."""
        if self._name or self._in_extension:
            return None
        found = _SCALAR.match(self._text, position)
        if found is not None:
            self._after_string = False
            line = self._line_at(found.start("value"))
            self._stack[-1].fields.append(Field(found["name"], found["value"], line))
        return found

    def _take(self, kind: str, text: str, start: int) -> None:
        if kind == "string":
            self._take_string(text, start)
            return
        self._after_string = False
        if kind == "word":
            self._take_word(text, start)
        elif kind == "open":
            self._open(start)
        elif kind == "close":
            self._close(start)
        else:
            self._take_mark(text, start)

    def _take_string(self, text: str, start: int) -> None:
        value, fields = self._unescape(text[1:-1]), self._stack[-1].fields
        if self._after_string:
            last = fields.pop()
            fields.append(last._replace(value=f"{last.value}{value}"))
        elif self._name and self._has_colon:
            self._add(value, start)
            self._after_string = True
        else:
            self._reject(start, "a string where the name of a field should be")

    def _take_word(self, word: str, start: int) -> None:
        if self._name and self._has_colon:
            self._add(word, start)
            return
        if self._name and not self._in_extension:
            self._reject(start, f"neither ':' nor '{{' behind {self._name}")
        self._name, self._has_colon = word, False

    def _add(self, value: str, start: int) -> None:
        self._stack[-1].fields.append(Field(self._name, value, self._line_at(start)))
        self._end_value()

    def _end_value(self) -> None:
        if not self._in_list:
            self._name, self._has_colon = "", False

    def _open(self, start: int) -> None:
        if not self._name:
            self._reject(start, "a bracket without the name of a field")
        if len(self._stack) > _DEEPEST:
            self._reject(start, f"more than {_DEEPEST} messages inside each other")
            return
        line = self._line_at(start)
        self._stack.append(_Message(self._name or "?", line, in_list=self._in_list))
        self._name, self._has_colon, self._in_list = "", False, False

    def _close(self, start: int) -> None:
        if len(self._stack) == 1:
            self._reject(start, "a closing bracket that nothing opened")
            return
        if self._name and not self._in_list:
            self._reject(start, f"no value for {self._name}")
        message = self._stack.pop()
        value = Field(message.name, tuple(message.fields), message.line)
        self._stack[-1].fields.append(value)
        self._name, self._has_colon = message.name, message.in_list
        self._in_list = message.in_list
        self._end_value()

    def _take_mark(self, mark: str, start: int) -> None:
        if mark == ":" and self._name and not self._has_colon:
            self._has_colon = True
        elif mark == "[" and self._name and self._has_colon and not self._in_list:
            self._in_list = True
        elif mark == "]" and self._in_list:
            self._in_list = False
            self._end_value()
        elif mark == "[" and not self._name:
            self._in_extension = True
        elif mark == "]" and self._in_extension:
            self._in_extension = False
        else:
            self._reject(start, f"{mark!r} out of place")

    def _end(self) -> tuple[Field, ...]:
        if len(self._stack) > 1 and not self.rejects:
            last = self._stack[-1]
            self._reject(len(self._text), f"the text ends inside {last.name}")
        elif (self._name or self._in_extension) and not self.rejects:
            self._reject(len(self._text), f"the text ends inside {self._name or '['}")
        while len(self._stack) > 1:
            message = self._stack.pop()
            value = Field(message.name, tuple(message.fields), message.line)
            self._stack[-1].fields.append(value)
        return tuple(self._stack[0].fields)

    def _end_of_line(self, position: int) -> int:
        end = self._text.find("\n", position)
        return end if end >= 0 else len(self._text)

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = max(self._counted, position)
        return self._line

    def _reject(self, position: int, message: str) -> None:
        line = self._line_at(position)
        start = self._text.rfind("\n", 0, position) + 1
        snippet = self._text[start : min(self._end_of_line(position), start + _SHOWN)]
        self.rejects.append(
            Reject(
                line,
                position - start + 1,
                "text proto",
                "bad_text_proto",
                message,
                snippet,
            )
        )
