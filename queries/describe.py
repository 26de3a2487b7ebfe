"""The catalogue in words: listing, help of one query, plain objects for JSON."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import Any

from hlodb.queries.bounds import bounds_text
from hlodb.queries.catalogue import BUILDING_BLOCKS, GROUPS, Catalogue
from hlodb.queries.macros import needs
from hlodb.queries.query import Column, Parameter, Query
from hlodb.queries.result import plain_column

_WIDTH = 88


QUESTIONS = {
    "What fills the memory at the peak?": "hlodb query peak_contents PROGRAM",
    "How much does each program need?": "hlodb query peak_by_space",
    "Did the last change cost memory?": "hlodb report",
    "What differs between two runs, and why?": "hlodb diff RUN RUN",
    "How much memory is left?": "hlodb query headroom",
    "Which source lines own the peak?": "hlodb query peak_by_source_line PROGRAM",
}
"""The questions that most people come with, and the commands that answer them."""

_APART = ("checks", *BUILDING_BLOCKS)
"""Groups that are listed only if everything is."""


def catalogue_listing(catalogue: Catalogue, *, everything: bool = False) -> str:
    """Return frequent questions, then groups, names and titles as text.

    Building blocks and checks are left out unless `everything` is listed.
    """
    shown = [q for q in catalogue.values() if everything or q.group not in _APART]
    lines = ["Frequent questions"]
    width = max(map(len, QUESTIONS))
    lines += [f"  {asked:{width}}  {command}" for asked, command in QUESTIONS.items()]
    lines.append("")
    width = max((len(q.name) for q in shown), default=0)
    for group, queries in groupby(shown, key=lambda q: q.group):
        lines.append(f"{group}: {GROUPS.get(group, 'queries of your own')}")
        lines += [f"  {q.name:{width}}  {q.title}" for q in queries]
        lines.append("")
    lines.append("hlodb query NAME --help explains a query.")
    if hidden := len(catalogue) - len(shown):
        lines.append(f"{hidden} building blocks and checks: hlodb query --all")
    return "\n".join(lines)


def catalogue_objects(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Return every query as plain values, for JSON."""
    return [query_object(query, catalogue) for query in catalogue.values()]


def described_tables() -> list[dict[str, Any]]:
    """Return every public table: name, kind, comment and columns, as plain values."""
    # Loaded when asked for: SQLAlchemy takes as long as a small command.
    from hlodb.schema.tables import PUBLIC

    return [
        {
            "name": table.name,
            "kind": "view" if table.info.get("view") else "table",
            "comment": table.comment or "",
            "columns": [
                {
                    "name": column.name,
                    "type": (kind := _type_name(column.type)),
                    "unit": plain_column(column.name, kind).unit,
                    "comment": column.comment or "",
                }
                for column in table.columns
            ],
        }
        for table in PUBLIC.tables.values()
    ]


def query_help(query: Query, catalogue: Catalogue) -> str:
    """Return a query's question, parameters, columns and exact definition."""
    example = next((f"{p.name} := …" for p in query.parameters), "")
    parts = [
        f"{query.name}: {query.title}",
        _wrap(query.question),
        f"Parameters (-p name=value)\n{_parameter_lines(query)}",
        f"Columns, one row per {query.grain}\n{_column_lines(query)}",
        f"Definition\n{_wrap(query.definition, '  ')}",
        *([_wrap(f"Without rows: {query.empty}")] if query.empty else []),
        _wrap(f"Reads: {', '.join(needs(query, catalogue)) or 'nothing'}"),
        f"In the DuckDB CLI: FROM {query.name}({example});",
    ]
    return "\n\n".join(parts)


def query_object(query: Query, catalogue: Catalogue) -> dict[str, Any]:
    """Return a query as plain values, for JSON."""
    return {
        "name": query.name,
        "group": query.group,
        "title": query.title,
        "question": query.question,
        "definition": query.definition,
        "grain": query.grain,
        "needs": needs(query, catalogue),
        "empty": query.empty,
        "leading": list(query.leading),
        "parameters": [
            {
                "name": p.name,
                "type": p.type,
                "default": p.default,
                "choices": list(p.choices),
                "least": p.least,
                "most": p.most,
                "doc": p.doc,
            }
            for p in query.parameters
        ],
        "columns": [column._asdict() for column in query.columns],
    }


def _parameter_lines(query: Query) -> str:
    if not query.parameters:
        return "  none"
    heads = [f"{p.name} {p.type} = {p.default}" for p in query.parameters]
    return _definition_list(heads, [_parameter_text(p) for p in query.parameters])


def _parameter_text(p: Parameter) -> str:
    if p.choices:
        return f"{p.doc} One of {', '.join(p.choices)}."
    allowed = bounds_text(p.least, p.most)
    return f"{p.doc} {allowed.capitalize()}." if allowed else p.doc


def _column_lines(query: Query) -> str:
    heads = [f"{c.name} {c.type}" for c in query.columns]
    return _definition_list(heads, [_column_text(c) for c in query.columns])


def _column_text(column: Column) -> str:
    better = column.polarity.replace("_", " ")
    notes = [column.unit, better] if better != "neutral" else [column.unit]
    return f"[{', '.join(notes)}] {column.doc}"


def _definition_list(heads: list[str], texts: list[str]) -> str:
    width = max(len(head) for head in heads) + 4
    lines = []
    for head, text in zip(heads, texts, strict=True):
        first, *rest = textwrap.wrap(text, max(_WIDTH - width, 40))
        lines.append(f"  {head:{width - 2}}{first}")
        lines += [" " * width + line for line in rest]
    return "\n".join(lines)


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _type_name(type_: object) -> str:
    return str(type_).replace("TEXT", "VARCHAR")
