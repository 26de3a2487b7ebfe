"""Looks at the SQL of a canned query without understanding it: tokens and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

_TOKEN = re.compile(
    r"((?:\s+|--[^\n]*|/\*.*?\*/)*)"
    r"([A-Za-z_]\w*|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$[A-Za-z_]\w*|:=|.|\Z)",
    re.DOTALL,
)
"""Blanks and comments, and the token after them: empty at the end."""

_PARAMETER = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\$([A-Za-z_]\w*)", re.DOTALL
)
"""A parameter, or what may hold its like: a text, a quoted name or a comment."""

BEFORE_SOURCES = ("FROM", "JOIN", "LATERAL")


@cache
def all_tokens(sql: str) -> tuple[tuple[str, str], ...]:
    """Return every token with the blanks and comments before it."""
    return tuple(_TOKEN.findall(sql))


@lru_cache(maxsize=4)
def code_tokens(sql: str) -> tuple[tuple[int, str], ...]:
    """Return the tokens of `sql` with their line, from 0, without blanks and comments.

    A string and a quoted name are one token each. Cached: a query is looked at in
    several ways, one after the other.
    """
    line = 0
    found = []
    for blank, token in _TOKEN.findall(sql):
        line += blank.count("\n")
        if token:
            found.append((line, token))
        line += token.count("\n")
    return tuple(found)


def parameter_names(sql: str) -> set[str]:
    """Return the names of the parameters that `sql` reads."""
    return set(filter(None, _PARAMETER.findall(sql)))


@cache
def source_names(sql: str) -> frozenset[str]:
    """Return every name of a table, query or CTE that is read, without its schema."""
    words = [token for _, token in _TOKEN.findall(sql)]
    names = set()
    for at, word in enumerate(words[:-2]):
        if word.upper() in BEFORE_SOURCES:
            is_qualified = words[at + 2 : at + 3] == ["."] and at + 3 < len(words)
            names.add(words[at + 3 if is_qualified else at + 1].strip('"'))
    return frozenset(names)


def macro_body(sql: str, handed: Mapping[str, Sequence[str]]) -> str:
    """Return the SQL of a macro: `$name` as plain `name`, and calls with parameters.

    `handed` maps the name of a query to the parameters that each of its calls gets,
    unless the call sets them itself.
    """
    tokens = _TOKEN.findall(sql)
    words = [token for _, token in tokens]
    texts = [token[1:] if token[:1] == "$" else token for token in words]
    for place, word in enumerate(words):
        if word in handed and words[place + 1] == "(" and _is_source(words, place):
            given = _arguments(words, place + 2)
            missing = [f"{p} := {p}" for p in handed[word] if p not in given]
            is_last = words[place + 2] == ")"
            text = ", ".join(missing) + (", " if missing and not is_last else "")
            texts[place + 1] = f"({text}"
    return "".join(blank + text for (blank, _), text in zip(tokens, texts, strict=True))


def _is_source(words: Sequence[str], place: int) -> bool:
    return place > 0 and words[place - 1].upper() in BEFORE_SOURCES


def _arguments(words: Sequence[str], start: int) -> set[str]:
    """Return the names that a call sets whose parenthesis opens before `start`."""
    found = set()
    depth = 1
    for at, word in enumerate(words[start:], start):
        depth += (word in "([{") - (word in ")]}")
        if depth == 0:
            break
        if depth == 1 and word == ":=":
            found.add(words[at - 1])
    return found


def parameter_faults(
    sql: str, declared: set[str], shared: set[str]
) -> Iterator[tuple[int, str]]:
    """Yield the line, from 0, and the fault of every parameter that is misused.

    DuckDB lets a parameter of a macro hide a column of the same name, silently, also in
    the macros that it reads. So a column that is called like a parameter, or like one
    of the `shared` ones, has to be qualified.
    """
    for line, token in code_tokens(sql):
        if token.startswith("$") and token[1:] not in declared:
            yield line, f"{token} is not declared: add `-- param {token[1:]} …`"
    for line, token in _hideable_names(sql):
        if token.strip('"').lower() in declared | shared:
            yield line, f"qualify the column {token} (t.{token}), or write ${token}"


def _hideable_names(sql: str) -> Iterator[tuple[int, str]]:
    """Names that a parameter would hide: not after a dot or AS, not in USING."""
    code = code_tokens(sql)
    following = [token for _, token in code[1:]] + [""]
    before = ""
    in_using = False
    for (line, token), after in zip(code, following, strict=True):
        in_using = token != ")" and (in_using or before.upper() == "USING")
        if not in_using and after != ":=" and before.upper() not in (".", "AS"):
            yield line, token
        before = token
