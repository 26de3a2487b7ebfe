"""A query and the blocks that it reads, composed into statements.

`FROM value_places() AS v` in a query becomes `FROM (…) AS v`, with the block's SQL.
A query hands its parameters on: a block's parameter of the same name gets the same
value, unless the call sets it. The statements need no macro of the warehouse, so that
nothing in a file can take the place of a block.

What several calls read with equal arguments is answered once, into a temporary table
before the query (a shared answer): DuckDB then plans less text (190 kB of 460 kB for
`remedies`), and knows how many rows there are. It is not a common table expression:
with DuckDB 1.5.6 a statement that recurses (`remedy_marks` of 4,000 instructions)
waited for ever for one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hlodb.errors import UsageError
from hlodb.queries.catalogue import Catalogue
from hlodb.queries.query import Query
from hlodb.queries.sql_text import BEFORE_SOURCES, all_tokens

Tokens = Sequence[tuple[str, str]]
"""Blanks and comments, and the token after them."""

_AFTER_SOURCES = frozenset(
    ("ANTI", "AS", "ASOF", "CROSS", "EXCEPT", "FULL", "GROUP", "HAVING", "INNER",
     "INTERSECT", "JOIN", "LEFT", "LIMIT", "NATURAL", "OFFSET", "ON", "ORDER", "PIVOT",
     "POSITIONAL", "QUALIFY", "RIGHT", "SEMI", "TABLESAMPLE", "UNION", "UNPIVOT",
     "USING", "WHERE", "WINDOW")
)  # fmt: skip
"""Words that follow a source and are not its alias."""


class Composed(NamedTuple):
    """A SELECT, and the SELECTs of shared answers that it reads, by name.

    Each reads those before it, all as tables of the schema `temp`.
    """

    shared: Mapping[str, str]
    select: str


class _Read(NamedTuple):
    """A call of a block, and the alias that it needs: empty where it has one."""

    block: str
    arguments: Sequence[Tokens]
    is_lateral: bool
    alias: str


_Pieces = Sequence[str | _Read]
"""SQL cut at calls of blocks and at `$names`; a `$name` is a piece of its own."""


class _Value(NamedTuple):
    """SQL of an argument, the type that it is cast to, and whether no row is in it."""

    sql: str
    type: str | None
    is_fixed: bool = True


_Values = Mapping[str, _Value]
_Call = tuple[str, tuple[_Value, ...]]

_CONSTANTS = ("NULL", "TRUE", "FALSE")


def compose_query(
    query: Query,
    given: Mapping[str, str],
    catalogue: Catalogue,
    answered: Mapping[str, str] | None = None,
) -> Composed:
    """Return the statements of a query; `given` has the SQL of its arguments.

    `answered` names the table that takes the place of a block, whatever its arguments.
    """
    if answered and query.name in answered:
        return Composed({}, f"SELECT * FROM {answered[query.name]}")
    values = _with_defaults(query, {k: _Value(sql, None) for k, sql in given.items()})
    composer = _Composer(catalogue, answered or {}, query.name)
    return composer.composed(query.sql, values)


def compose_text(
    sql: str, catalogue: Catalogue, answered: Mapping[str, str] | None = None
) -> Composed:
    """Return the statements of SQL that calls queries; its `$names` are to be bound."""
    return _Composer(catalogue, answered or {}).composed(sql, {})


@dataclass(slots=True)
class _Answer:
    """The SELECT of a block with some arguments, and how often it is read."""

    block: str
    sql: str
    reads: int = 0


_MARK = re.compile("\0([0-9]+)\0")
"""Stands for an answer in SQL, by its place."""


class _Composer:
    """Puts answers in the place of calls of blocks."""

    def __init__(
        self, catalogue: Catalogue, answered: Mapping[str, str], *path: str
    ) -> None:
        self._catalogue = catalogue
        self._names = frozenset(catalogue)
        self._answered = answered
        self._path = [*path]
        self._answers: list[_Answer] = []
        self._places: dict[_Call, int] = {}

    def composed(self, sql: str, values: _Values) -> Composed:
        """Return the statements of `sql`; `values` are its parameters."""
        select = self._text(_pieces(sql, self._names), values)
        shared: dict[str, str] = {}
        sources: list[str] = []
        numbers: Counter[str] = Counter()

        def whole(text: str) -> str:
            return _MARK.sub(lambda mark: sources[int(mark[1])], text)

        for answer in self._answers:
            if answer.reads == 1:
                sources.append(f"(\n{whole(answer.sql)}\n)")
                continue
            numbers[answer.block] += 1
            name = f"{answer.block}_{numbers[answer.block]}"
            shared[name] = whole(answer.sql)
            sources.append(f"temp.{name}")
        return Composed(shared, whole(select))

    def _text(self, pieces: _Pieces, values: _Values) -> str:
        parts = []
        for piece in pieces:
            if isinstance(piece, _Read):
                parts.append(self._source(piece, values) + piece.alias)
            elif piece[:1] == "$" and piece[1:] in values:
                parts.append(values[piece[1:]].sql)
            else:
                parts.append(piece)
        return "".join(parts)

    def _source(self, read: _Read, values: _Values) -> str:
        """Return what a call becomes, without its alias."""
        name, is_lateral = read.block, read.is_lateral
        if name in self._answered:
            table = self._answered[name]
            return f"(FROM {table})" if is_lateral else table
        query = self._catalogue[name]
        if name in self._path:
            circle = " → ".join((*self._path, name))
            raise UsageError(f"{query.path}:1: queries read one another: {circle}")
        given = {**values, **self._given(query, read.arguments, values)}
        values = _with_defaults(query, given)
        if is_lateral or not all(value.is_fixed for value in values.values()):
            return f"(\n{self._body(query, values)}\n)"
        call = name, tuple(values.values())
        if call not in self._places:
            answer = _Answer(name, self._body(query, values))
            self._places[call] = len(self._answers)
            self._answers.append(answer)
        place = self._places[call]
        self._answers[place].reads += 1
        return f"\0{place}\0"

    def _body(self, query: Query, values: _Values) -> str:
        self._path.append(query.name)
        body = self._text(_pieces(query.sql, self._names), values)
        self._path.pop()
        return body

    def _given(
        self, query: Query, arguments: Iterable[Tokens], values: _Values
    ) -> dict[str, _Value]:
        given = {}
        for place, tokens in enumerate(arguments):
            words = [token for _, token in tokens]
            if words[1:2] == [":="]:
                given[words[0]] = self._value(tokens[2:], values)
            else:
                given[query.parameters[place].name] = self._value(tokens, values)
        return given

    def _value(self, tokens: Tokens, values: _Values) -> _Value:
        if len(tokens) == 1 and tokens[0][1][1:] in values and tokens[0][1][0] == "$":
            return values[tokens[0][1][1:]]
        is_fixed = all(_is_fixed(token, values) for _, token in tokens)
        text = self._text(_cut(tokens, self._names), values)
        return _Value(text.strip(), None, is_fixed)


@cache
def _pieces(sql: str, blocks: frozenset[str]) -> _Pieces:
    """Return the pieces of SQL: the same for all arguments, and so cut once."""
    return _cut(all_tokens(sql), blocks)


def _cut(tokens: Tokens, blocks: Collection[str]) -> _Pieces:
    pieces: list[str | _Read] = []
    texts: list[str] = []
    before = ""
    at = 0
    while at < len(tokens):
        blank, token = tokens[at]
        piece: str | _Read | None = token if token[:1] == "$" else None
        if token in blocks and _is_call(tokens, at, before):
            end = _end_of_call(tokens, at + 1)
            piece = _Read(
                token,
                _arguments(tokens[at + 2 : end]),
                before.upper() == "LATERAL",
                _alias(token, tokens[end + 1 : end + 2]),
            )
            at = end
        if piece is None:
            texts.append(blank + token)
        else:
            pieces += "".join([*texts, blank]), piece
            texts = []
        before = tokens[at][1]
        at += 1
    return [*pieces, "".join(texts)]


def _is_call(tokens: Tokens, at: int, before: str) -> bool:
    following = tokens[at + 1][1] if at + 1 < len(tokens) else ""
    return before.upper() in BEFORE_SOURCES and following == "("


def _is_fixed(token: str, values: _Values) -> bool:
    """Return whether a token of an argument is the same for all rows."""
    if token[:1] == "$":
        return token[1:] not in values or values[token[1:]].is_fixed
    is_name = token[:1].isalpha() or token[:1] in ("_", '"')
    return not is_name or token.upper() in _CONSTANTS


def _with_defaults(query: Query, given: Mapping[str, _Value]) -> dict[str, _Value]:
    """Return the value of every parameter, each cast to its type."""
    values = {}
    for parameter in query.parameters:
        value = given.get(parameter.name, _Value(parameter.default, None))
        if value.type != parameter.type:
            sql = f"CAST({value.sql} AS {parameter.type})"
            value = _Value(sql, parameter.type, value.is_fixed)
        values[parameter.name] = value
    return values


def _end_of_call(tokens: Tokens, start: int) -> int:
    """Return the place of the parenthesis that closes the one at `start`."""
    depth = 0
    for at in range(start, len(tokens)):
        token = tokens[at][1]
        if token:
            depth += (token in "([{") - (token in ")]}")
        if depth == 0:
            return at
    return len(tokens) - 1


def _arguments(tokens: Tokens) -> list[Tokens]:
    """Return the tokens between the commas of a call."""
    found: list[list[tuple[str, str]]] = [[]]
    depth = 0
    for blank, token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if token == "," and depth == 0:
            found.append([])
        else:
            found[-1].append((blank, token))
    return [each for each in found if each]


def _alias(name: str, rest: Tokens) -> str:
    """Return the alias of a source that has none: columns may be named by its name."""
    following = rest[0][1] if rest else ""
    is_word = following[:1].isalpha() or following[:1] in ("_", '"')
    if following.upper() == "AS" or (
        is_word and following.upper() not in _AFTER_SOURCES
    ):
        return ""
    return f" AS {name}"
