"""The steps of a long query, each a relation in a file of its own.

    source_edits.sql                    the query; its `-- steps:` lists them in order
    source_edits/loops/loop_edits.sql   a step

A step says what it does and what a row is, then has one SELECT:

    -- step: Loops that one side lacks, or that run another number of times.
    -- grain: pair, loop
    SELECT … FROM unmatched_loops AS l

The query and later steps read it by the name of its file, as they read a table. Its
parameters are those of the query. In the statement each step is one materialised common
table expression, computed once however many read it; with `-- materialised: no` below
its grain DuckDB decides whether it is materialised or becomes a part of what reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hlodb.errors import UsageError
from hlodb.queries.sql_text import source_names

_HEAD = re.compile(
    r"-- step: \S.*\n(?:--   \S.*\n)*-- grain: \S.*\n(?:--   \S.*\n)*"
    r"(-- materialised: no\n)?(?!--)"
)
_WITH = re.compile(r"WITH\s+(RECURSIVE\s+)?", re.IGNORECASE)


class Step(NamedTuple):
    """A step: its SELECT, and the line of its file, from 1, at which that begins."""

    path: str
    sql: str
    first_line: int
    is_materialised: bool = True


def parse_step(text: str, path: str) -> Step:
    """Return the step that `text` holds; raises UsageError without its head."""
    head = _HEAD.match(text)
    if head is None:
        raise UsageError(f"{path}:1: expected `-- step: text`, then `-- grain: text`")
    sql = text[head.end() :].rstrip()
    return Step(path, sql, head[0].count("\n") + 1, head[1] is None)


def with_steps(sql: str, names: Sequence[str], steps: Mapping[str, Step]) -> str:
    """Return `sql` with the steps called `names` before it, in their order."""
    if not names:
        return sql
    own = _WITH.match(sql)
    recursive = own[1] or "" if own else ""
    before = ",\n".join(_expression(name, steps[name]) for name in names)
    rest = f",\n{sql[own.end() :]}" if own else f"\n{sql}"
    return f"WITH {recursive}{before}{rest}"


def _expression(name: str, step: Step) -> str:
    fixed = "MATERIALIZED " if step.is_materialised else ""
    return f"{name} AS {fixed}(\n{step.sql}\n)"


def unread_steps(sql: str, steps: Mapping[str, Step]) -> Iterator[Step]:
    """Yield the steps that neither `sql` nor another step reads."""
    read = source_names(sql).union(*(source_names(s.sql) for s in steps.values()))
    for name, step in steps.items():
        if name not in read:
            yield step
