"""Looks at the SQL of a canned query without understanding it: tokens and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/"
    r"|\$[A-Za-z_]\w*|[A-Za-z_]\w*|:=|\s+|.",
    re.DOTALL,
)


@lru_cache(maxsize=4)
def code_tokens(sql: str) -> tuple[tuple[int, str], ...]:
    """Give the tokens of `sql` with their line, from 0, without blanks and comments.

    A string and a quoted name are one token each. Cached: a query is looked at in
    several ways, one after the other.
    """
    line = 0
    found = []
    for token in _TOKEN.findall(sql):
        if not token.isspace() and not token.startswith(("--", "/*")):
            found.append((line, token))
        line += token.count("\n")
    return tuple(found)


@cache
def source_names(sql: str) -> frozenset[str]:
    """Give every name after FROM or JOIN, without schema: tables, queries and CTEs."""
    words = [token for _, token in code_tokens(sql)]
    names = set()
    for at, word in enumerate(words[:-1]):
        if word.upper() in ("FROM", "JOIN"):
            is_qualified = words[at + 2 : at + 3] == ["."] and at + 3 < len(words)
            names.add(words[at + 3 if is_qualified else at + 1].strip('"'))
    return frozenset(names)


def macro_body(sql: str) -> str:
    """Give the SQL with every parameter `$name` as the plain `name` of a macro."""
    return "".join(
        token[1:] if token[0] == "$" else token for token in _TOKEN.findall(sql)
    )


def parameter_faults(
    sql: str, declared: set[str], shared: set[str]
) -> Iterator[tuple[int, str]]:
    """Give the line, from 0, and the fault of every parameter that is not used well.

    DuckDB lets a parameter of a macro hide a column of the same name, silently, also in
    the macros that it reads. So a column that is called like a parameter, or like one
    of the `shared` ones, has to be qualified.
    """
    used = set()
    for line, token in code_tokens(sql):
        if token.startswith("$"):
            used.add(token[1:])
            if token[1:] not in declared:
                yield line, f"{token} is not declared: add `-- param {token[1:]} …`"
    for line, token in _hideable_names(sql):
        if token.strip('"').lower() in declared | shared:
            yield line, f"qualify the column {token} (t.{token}), or write ${token}"
    for name in sorted(declared - used):
        yield 0, f"parameter {name!r} is declared but not used"


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
