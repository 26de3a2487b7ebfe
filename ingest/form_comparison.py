"""Text and proto of one module held side by side: how far the two agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hlodb.ingest.comparable_rows import Row, alike, comparable, rows_of_both
from hlodb.ingest.evidence import Evidence
from hlodb.ingest.formats.hlo_elements import implied_elements
from hlodb.ingest.records import BufferAssignment, HloModule


class Described(NamedTuple):
    """A module and its assignment in one of the two forms."""

    hlo: HloModule
    assignment: BufferAssignment | None


def compare_forms(path: str, text: Described, proto: Described) -> Iterator[Evidence]:
    """Give a row of proto_comparisons for every table that both forms fill."""
    is_compact = bool(implied_elements(text.hlo.lines))
    ours, theirs = (comparable(*form, is_compact) for form in (text, proto))
    same = alike(ours, theirs)
    of_text = dict(rows_of_both(ours, theirs, same))
    of_proto = dict(rows_of_both(theirs, ours, same))
    for table, rows in of_text.items():
        if table in of_proto:
            yield Evidence(
                "proto_comparisons", _compared(path, table, rows, of_proto[table])
            )


def _compared(
    path: str, table: str, ours: Sequence[Row], theirs: Sequence[Row]
) -> dict[str, Any]:
    differing = [] if ours == theirs else _differing(Counter(ours), Counter(theirs))
    return {
        "path": path,
        "table_name": table,
        "compared_count": max(len(ours), len(theirs)),
        "difference_count": len(differing),
        "example": _shown(differing[0]) if differing else None,
    }


def _differing(ours: Counter[Row], theirs: Counter[Row]) -> list[Row]:
    return [*(ours - theirs).elements(), *(theirs - ours).elements()]


def _shown(row: Row) -> str:
    return ", ".join(str(part) for part in row)[:200]
