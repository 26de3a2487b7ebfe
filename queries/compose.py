"""A query and the blocks that it reads, composed into one statement.

`FROM value_places() AS v` in a query becomes `FROM (…) AS v`, with the block's SQL.
A query hands its parameters on: a block's parameter of the same name gets the same
value, unless the call sets it. The statement needs no macro of the warehouse, so that
nothing in a file can take the place of a block.

Equal calls do not share one common table expression. With DuckDB 1.5.6 that made small
answers faster, but a statement that recurses (`remedy_marks` of 4,000 instructions)
waited for ever for one of them. What several parts of one query read is a step of it
(`steps`), which is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


class _Value(NamedTuple):
    """SQL of an argument, and the type that it is cast to."""

    sql: str
    type: str | None


_Values = Mapping[str, _Value]


def compose_query(
    query: Query,
    given: Mapping[str, str],
    catalogue: Catalogue,
    answered: Mapping[str, str] | None = None,
) -> str:
    """Return the statement of a query; `given` has the SQL of its arguments.

    `answered` names the table that takes the place of a block, whatever its arguments.
    """
    if answered and query.name in answered:
        return f"SELECT * FROM {answered[query.name]}"
    values = _with_defaults(query, {k: _Value(sql, None) for k, sql in given.items()})
    return _Composer(catalogue, answered or {}, query.name).text(query.sql, values)


def compose_text(
    sql: str, catalogue: Catalogue, answered: Mapping[str, str] | None = None
) -> str:
    """Return SQL that calls queries as one statement; its `$names` stay to be bound."""
    return _Composer(catalogue, answered or {}).text(sql, {})


class _Composer:
    """Puts blocks in the place of their calls."""

    def __init__(
        self, catalogue: Catalogue, answered: Mapping[str, str], *path: str
    ) -> None:
        self._catalogue = catalogue
        self._answered = answered
        self._path = [*path]

    def text(self, sql: str, values: _Values) -> str:
        """Return `sql` with the blocks that it calls; `values` are its parameters."""
        return self._text(all_tokens(sql), values)

    def _text(self, tokens: Tokens, values: _Values) -> str:
        parts = []
        before = ""
        at = 0
        while at < len(tokens):
            blank, token = tokens[at]
            if self._is_call(tokens, at, before):
                end = _end_of_call(tokens, at + 1)
                arguments = _arguments(tokens[at + 2 : end])
                source = self._source(token, arguments, values, before)
                parts.append(f"{blank}{source}{_alias(token, tokens[end + 1 :])}")
                at = end
            elif token[:1] == "$" and token[1:] in values:
                parts.append(blank + values[token[1:]].sql)
            else:
                parts.append(blank + token)
            before = tokens[at][1]
            at += 1
        return "".join(parts)

    def _is_call(self, tokens: Tokens, at: int, before: str) -> bool:
        return (
            tokens[at][1] in self._catalogue
            and before.upper() in BEFORE_SOURCES
            and tokens[at + 1 : at + 2] != []
            and tokens[at + 1][1] == "("
        )

    def _source(
        self, name: str, arguments: Sequence[Tokens], values: _Values, before: str
    ) -> str:
        """Return what a call becomes, without its alias."""
        if name in self._answered:
            table = self._answered[name]
            return f"(FROM {table})" if before.upper() == "LATERAL" else table
        query = self._catalogue[name]
        if name in self._path:
            circle = " → ".join((*self._path, name))
            raise UsageError(f"{query.path}:1: queries read one another: {circle}")
        given = {**values, **self._given(query, arguments, values)}
        self._path.append(name)
        body = self.text(query.sql, _with_defaults(query, given))
        self._path.pop()
        return f"(\n{body}\n)"

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
        return _Value(self._text(tokens, values).strip(), None)


def _with_defaults(query: Query, given: Mapping[str, _Value]) -> dict[str, _Value]:
    """Return the value of every parameter, each cast to its type."""
    values = {}
    for parameter in query.parameters:
        value = given.get(parameter.name, _Value(parameter.default, None))
        if value.type != parameter.type:
            value = _Value(f"CAST({value.sql} AS {parameter.type})", parameter.type)
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
