"""Repeat parts of a query for every key or reference that the tables declare.

    -- for each key of a small table:
    SELECT '{table} by {columns}' AS place, … FROM {source} GROUP BY {t_columns}
    -- end

becomes one such SELECT for each key of that kind, joined by UNION ALL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from hlodb.schema.declared import (
    DeclaredKey,
    DeclaredReference,
    declared_keys,
    declared_references,
)

_BLOCK = re.compile(
    r"^( *)-- for each ([^\n]+):\n(.*?)^ *-- end(?:\n|\Z)", re.MULTILINE | re.DOTALL
)
_FIELD = re.compile(r"\{(\w+)\}")

_ELSEWHERE = ("modules", "runs", "instructions", "computations", "values")
_BY_HAND = ("files", "location_sets")
"""Targets that check_references looks up with SQL written for them."""

_UNNAMED = {"instructions": "computation_id", "values": "instruction_id"}
"""Columns of which module_rows counts the NULLs."""

Fields = Mapping[str, str]


def with_blocks(sql: str) -> str:
    """Return `sql` with every block repeated."""
    return _BLOCK.sub(_repeat, sql) if "-- for each " in sql else sql


def _repeat(match: re.Match[str]) -> str:
    indent, kind, body = match.groups()
    texts = [
        _FIELD.sub(lambda field, row=row: row[field[1]], body) for row in _kinds()[kind]
    ]
    return f"{indent}UNION ALL\n".join(texts)


@cache
def _kinds() -> dict[str, list[Fields]]:
    """Return the fields of every key or reference of a kind."""
    keys = [*map(_key_fields, declared_keys())]
    references = [*map(_reference_fields, declared_references())]
    checked = [row for row in references if row["lacks"]]
    public = [row for row in references if row["is_public"]]
    modules = _to("modules", [row for row in checked if row["column"] == "module_id"])
    return {
        "key of a large table": [row for row in keys if row["proof"]],
        "key of a small table": [row for row in keys if not row["proof"]],
        "table in the order of its key": [r for r in keys if r["proof"] == "order"],
        "table of modules": [{**r, "figures": _figures(r["table"])} for r in modules],
        "table of runs": _to("runs", checked),
        "reference to an instruction": _to("instructions", checked),
        "reference to a computation": _to("computations", checked),
        "reference to a value": _to("values", checked),
        "other reference": [
            row for row in checked if row["target"] not in (*_ELSEWHERE, *_BY_HAND)
        ],
        "public reference to a module": [row for row in modules if row in public],
        "public reference by number": [
            row
            for row in public
            if row["lacks"] and row["target"] in ("instructions", "computations")
        ],
        "other public reference": [
            row
            for row in public
            if not row["lacks"]
            or row["target"] not in ("modules", "instructions", "computations")
        ],
    }


def _to(target: str, rows: list[Fields]) -> list[Fields]:
    return [row for row in rows if row["target"] == target]


def _key_fields(key: DeclaredKey) -> Fields:
    owner, *others = columns = key.columns.split()
    return {
        "table": key.table,
        "source": key.source,
        "columns": ", ".join(columns),
        "t_columns": ", ".join(f"t.{column}" for column in columns),
        "owner": owner,
        "number": " * 4294967296 + ".join(f"t.{column}" for column in others),
        "proof": key.proof,
    }


def _reference_fields(reference: DeclaredReference) -> Fields:
    columns, targets = reference.columns.split(), reference.targets.split()
    pairs = zip(columns, targets, strict=True)
    named = f"{reference.table}.{columns[-1]} -> {reference.target}.{targets[-1]}"
    return {
        "reference": named,
        "table": reference.table,
        "source": reference.source,
        "owner": columns[0],
        "column": columns[-1],
        "target": reference.target,
        "target_source": reference.target_source,
        "equal": " AND ".join(f"b.{target} = a.{column}" for column, target in pairs),
        "lacks": reference.lacks,
        "is_public": reference.is_public,
    }


def _figures(table: str) -> str:
    """Return the SQL of what module_rows says of a table."""
    parts = ["'row_count': count(*)"]
    if table in _UNNAMED:
        parts.append(f"'unnamed_count': count(*) - count({_UNNAMED[table]})")
    for target, number in (
        ("instructions", "instruction_id"),
        ("computations", "computation_id"),
    ):
        columns = [*_numbers(table, target), *([number] if table == target else [])]
        for word, function in (("least", "min"), ("greatest", "max")):
            ends = ", ".join(f"{function}({column})" for column in columns)
            value = f"{word}({ends})" if columns else "NULL::INTEGER"
            parts.append(f"'{word}_{number}': {value}")
    return "{" + ", ".join(parts) + "}"


def _numbers(table: str, target: str) -> Iterator[str]:
    """Yield the columns of `table` that hold numbers of instructions, or the like."""
    for reference in declared_references():
        if (reference.table, reference.target) == (table, target):
            yield reference.columns.split()[-1]
