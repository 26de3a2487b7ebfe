"""A query and the blocks that it reads, composed into one statement.

`FROM value_places() AS v` in a query becomes `FROM value_places__2 AS v`, and the SQL
of the block a common table expression of that name. Calls of a block with the same
arguments read one expression, which is materialised where several do. Where arguments
come from other rows, the block is a subquery in its place.

A query hands its parameters on: a block's parameter of the same name gets the same
value, unless the call sets it. The statement needs no macro of the warehouse, so that
nothing in a file can take the place of a block.
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

_CONSTANT_WORDS = frozenset(("NULL", "TRUE", "FALSE"))


class _Value(NamedTuple):
    """SQL of an argument, cast to its type; constant if it reads no row."""

    sql: str
    type: str | None
    is_constant: bool


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
    arguments = {name: _Value(sql, None, True) for name, sql in given.items()}
    composer = _Composer(catalogue, answered or {}, [query.name])
    return composer.statement(query.sql, _with_defaults(query, arguments))


def compose_text(
    sql: str, catalogue: Catalogue, answered: Mapping[str, str] | None = None
) -> str:
    """Return SQL that calls queries as one statement; its `$names` stay to be bound."""
    return _Composer(catalogue, answered or {}, []).statement(sql, {})


class _Composer:
    """The blocks of one statement, each after those that it reads."""

    def __init__(
        self,
        catalogue: Catalogue,
        answered: Mapping[str, str],
        path: list[str],
    ) -> None:
        self._catalogue = catalogue
        self._answered = answered
        self._path = path
        self._names: dict[tuple[str, tuple[tuple[str, _Value], ...]], str] = {}
        self._bodies: dict[str, str] = {}
        self._reads: dict[str, int] = {}

    def statement(self, sql: str, values: _Values) -> str:
        tokens = all_tokens(sql)
        words = [token.upper() for _, token in tokens[:2]]
        own = 0 if words[0] != "WITH" else 2 if words[1] == "RECURSIVE" else 1
        body = self._text(tokens[own:], values)
        blocks = ",\n".join(map(self._block, self._bodies))
        kind = " ".join(words[:own])
        if own:
            return f"{kind} {blocks},{body}" if blocks else f"{kind}{body}"
        return f"WITH {blocks}\n{body}" if blocks else body

    def _block(self, name: str) -> str:
        kind = "AS MATERIALIZED" if self._reads[name] > 1 else "AS"
        return f"{name} {kind} (\n{self._bodies[name]}\n)"

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
        self,
        name: str,
        arguments: Sequence[Tokens],
        values: _Values,
        before: str,
    ) -> str:
        """Return what a call becomes, without its alias."""
        if name in self._answered:
            source = self._answered[name]
        else:
            query = self._catalogue[name]
            given = {**values, **self._given(query, arguments, values)}
            whole = _with_defaults(query, given)
            if not all(value.is_constant for value in whole.values()):
                return f"(\n{self._body(query, whole)}\n)"
            source = self._shared(query, whole)
        return f"(FROM {source})" if before.upper() == "LATERAL" else source

    def _shared(self, query: Query, values: dict[str, _Value]) -> str:
        """Return the name of the expression that all calls with `values` read."""
        key = (query.name, tuple(values.items()))
        if key not in self._names:
            body = self._body(query, values)
            name = f"{query.name}__{len(self._names) + 1}"
            self._names[key] = name
            self._bodies[name] = body
            self._reads[name] = 0
        name = self._names[key]
        self._reads[name] += 1
        return name

    def _body(self, query: Query, values: _Values) -> str:
        if query.name in self._path:
            circle = " → ".join((*self._path, query.name))
            raise UsageError(f"{query.path}:1: queries read one another: {circle}")
        self._path.append(query.name)
        body = self._text(all_tokens(query.sql), values)
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
        words = [token for _, token in tokens]
        if len(words) == 1 and words[0][:1] == "$" and words[0][1:] in values:
            return values[words[0][1:]]
        is_constant = all(_is_constant(word, values) for word in words)
        return _Value(self._text(tokens, values).strip(), None, is_constant)


def _with_defaults(query: Query, given: Mapping[str, _Value]) -> dict[str, _Value]:
    """Return the value of every parameter, each cast to its type."""
    values = {}
    for parameter in query.parameters:
        value = given.get(parameter.name, _Value(parameter.default, None, True))
        if value.type != parameter.type:
            sql = f"CAST({value.sql} AS {parameter.type})"
            value = _Value(sql, parameter.type, value.is_constant)
        values[parameter.name] = value
    return values


def _is_constant(word: str, values: _Values) -> bool:
    if word[:1] == "$":
        return word[1:] not in values or values[word[1:]].is_constant
    return word[:1] in "'[],.-0123456789" or word.upper() in _CONSTANT_WORDS


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
