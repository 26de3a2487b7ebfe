"""Arrow tables → warehouse, a batch of modules a transaction.

Details of a module are stored once; what another run brought already is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from hlodb.errors import WarehouseError, WarehouseLocked
from hlodb.ingest.arrow import arrow_schema
from hlodb.ingest.load.delete import forget_metrics
from hlodb.ingest.load.occurrences import (
    load_evidence,
    load_files,
    load_modules,
    load_numbered,
    run_on,
)
from hlodb.ingest.load.statements import execute_on
from hlodb.ingest.records import Reject
from hlodb.ingest.tables.batch import BatchResult
from hlodb.ingest.tables.content_keys import file_table
from hlodb.ingest.tables.location_rows import LOCATION_TABLES
from hlodb.ingest.tables.normalise import DETAIL_TABLES
from hlodb.schema.connection import Connection
from hlodb.schema.stored import REPORT_TABLES


class _Group(NamedTuple):
    """Tables whose rows are stored once per `key`; `stored` selects those that are.

    `name` is what a result calls the keys of which it has rows.
    """

    name: str
    tables: Sequence[str]
    key: str
    stored: str


_FORMS = "store.instruction_forms"
_DETAILS = _Group(
    "details",
    DETAIL_TABLES,
    "module_id",
    "SELECT module_id FROM modules JOIN runs USING (run_id)"
    " WHERE pruned_at IS NULL AND is_detailed",
)
_OTHERS = (
    *(
        _Group(key, (table,), key, f"SELECT {key} FROM store.location_sets")
        for table, key in LOCATION_TABLES.items()
    ),
    _Group(
        "reports", REPORT_TABLES, "module_id", "SELECT module_id FROM memory_reports"
    ),
    _Group(
        "literals",
        ("elided_literals",),
        "module_id",
        "SELECT module_id FROM elided_literals",
    ),
)


def load_batches(
    connection: Connection, results: Sequence[tuple[int, BatchResult]]
) -> list[int]:
    """Store results, given with their runs in order; count new modules of each.

    New are modules whose details neither the warehouse nor an earlier result holds.
    Belongs in a transaction. Takes the rows out of the results.
    """
    if not results:
        return []
    counts = _load_details(connection, [result for _, result in results])
    modules = [_of_run(result.tables["modules"], run) for run, result in results]
    load_modules(connection, pa.concat_tables(modules))
    files = [(run, report) for run, result in results for report in result.files]
    load_files(connection, file_table(files))
    rejects = [(run, *r) for run, result in results for r in result.rejects]
    load_rejects(connection, rejects)
    load_evidence(connection, [(run, e) for run, r in results for e in r.evidence])
    return counts


def _of_run(table: pa.Table, run_id: int) -> pa.Table:
    runs = pa.repeat(pa.scalar(run_id, pa.int64()), table.num_rows)
    return table.append_column("run_id", runs)


def _load_details(connection: Connection, results: Sequence[BatchResult]) -> list[int]:
    held = [_detailed_modules(result.tables["modules"]) for result in results]
    modules = _stored(connection, _DETAILS, held)
    brought = set().union(*(_members(_DETAILS, result) for result in results))
    if set().union(*held) - modules - brought:
        raise WarehouseLocked(
            "modules were removed with another run while runs that share them were"
            " being ingested"
        )
    forget_metrics(connection, brought - modules)
    tables: dict[str, list[pa.Table]] = defaultdict(list)
    tables[_FORMS] = [r.tables.pop(_FORMS) for r in results if _FORMS in r.tables]
    counts = _take_new(_DETAILS, results, modules, tables)
    for group in _OTHERS:
        known = _stored(connection, group, [_members(group, r) for r in results])
        _take_new(group, results, known, tables)
    _insert_all(connection, tables)
    return counts


def _members(group: _Group, result: BatchResult) -> frozenset[int]:
    """Return the keys of which a result has rows."""
    return result.brought.get(group.name, frozenset())


def _detailed_modules(modules: pa.Table) -> set[int]:
    ids, is_detailed = modules["module_id"].to_pylist(), modules["is_detailed"]
    return set(compress(ids, is_detailed.to_pylist()))


def _take_new(
    group: _Group,
    results: Iterable[BatchResult],
    known: set[int],
    tables: dict[str, list[pa.Table]],
) -> list[int]:
    """Put rows whose key is not `known` yet into `tables`; count the new keys."""
    counts: list[int] = []
    for result in results:
        members = _members(group, result)
        for name in filter(result.tables.__contains__, group.tables):
            rows = _without(result.tables.pop(name), group.key, members & known)
            tables[name].append(rows)
        counts.append(len(members - known))
        known |= members
    return counts


def _insert_all(connection: Connection, tables: dict[str, list[pa.Table]]) -> None:
    """Insert the rows of all tables, which are held no longer than that."""
    if forms := tables.pop(_FORMS):
        load_numbered(connection, _FORMS, _joined(forms))
    del forms
    if parts := tables.pop("store.instructions", []):
        instructions = _joined(parts)
        stored = run_on(connection, "insert_instructions", instructions)
        if lost := instructions.num_rows - stored:
            raise WarehouseError(f"{lost} instructions have no form; ingest again")
        del instructions
    del parts
    while tables:
        name = next(iter(tables))
        if rows := tables.pop(name):
            _insert(connection, name, _joined(rows))
        del rows


def _joined(parts: list[pa.Table]) -> pa.Table:
    """Join tables; an empty one does not know whether its texts are dictionaries."""
    return pa.concat_tables([p for p in parts if p.num_rows] or parts[:1])


def _stored(
    connection: Connection, group: _Group, keys: Iterable[Set[int]]
) -> set[int]:
    """Return those of `keys` whose rows the warehouse holds; pruned runs have none."""
    wanted = set().union(*keys)
    if not wanted:
        return set()
    ids = pa.table({"id": pa.array(sorted(wanted), pa.int64())})
    text = f"SELECT id FROM incoming WHERE id IN ({group.stored})"
    return {row[0] for row in execute_on(connection, text, ids)}


def _without(table: pa.Table, key: str, ids: set[int] | frozenset[int]) -> pa.Table:
    """Return the rows with other keys; those of one key mostly follow one another."""
    if not ids or not table.num_rows:
        return table
    is_known = np.isin(table[key].to_numpy(), list(ids))
    edges = [0, *(np.flatnonzero(np.diff(is_known)) + 1).tolist(), table.num_rows]
    # Slices, because to filter a table pyarrow loads what takes 30 ms to load.
    kept = [
        table.slice(start, stop - start)
        for start, stop in pairwise(edges)
        if not is_known[start]
    ]
    return pa.concat_tables(kept or [table.slice(0, 0)])


def _insert(connection: Connection, name: str, table: pa.Table) -> None:
    if not table.num_rows:
        return
    target = ".".join(f'"{part}"' for part in name.split("."))
    execute_on(connection, f"INSERT INTO {target} BY NAME FROM incoming", table)


def load_rejects(
    connection: Connection, rejects: Sequence[tuple[int, str, Reject]]
) -> None:
    """Store rows of rejects, given with their runs and paths."""
    rows = [
        {
            "run_id": run_id,
            "path": path,
            "line": reject.line or None,
            "column_number": reject.column or None,
            "section": reject.section,
            "code": reject.code,
            "message": reject.message,
            "snippet": reject.snippet,
        }
        for run_id, path, reject in rejects
    ]
    _insert(connection, "rejects", pa.Table.from_pylist(rows, arrow_schema("rejects")))
