"""Arrow tables → warehouse, a batch of modules a transaction.

Details of a module are stored once; what another run brought already is left out. The
file is opened late and closed early, since no other process can use it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from hlodb.errors import WarehouseError
from hlodb.ingest.batch import BatchResult
from hlodb.ingest.columns import arrow_schema
from hlodb.ingest.evidence import copy_evidence, load_evidence
from hlodb.ingest.forget import forget_metrics
from hlodb.ingest.normalise import DETAIL_TABLES, LOCATION_TABLES
from hlodb.ingest.proto_rows import PROTO_TABLES
from hlodb.ingest.records import Reject
from hlodb.ingest.report_rows import REPORT_TABLES
from hlodb.ingest.statements import statement
from hlodb.ingest.unit_files import FileReport

Connection = duckdb.DuckDBPyConnection


def load_batches(
    connection: Connection, run_id: int, results: Sequence[BatchResult]
) -> int:
    """Store what the batches hold, given in their order; give how many modules are new.

    Belongs in a transaction.
    """
    new = _load_details(connection, results)
    for result in results:
        _insert(connection, "modules", result.tables["modules"], run_id=run_id)
        load_files(connection, run_id, result.files)
        load_rejects(connection, run_id, result.rejects)
        load_evidence(connection, run_id, result.evidence)
    return new


def _load_details(connection: Connection, results: Sequence[BatchResult]) -> int:
    modules = _stored(connection, "module_id", (r.detailed for r in results))
    places = _stored(connection, "locations_id", (r.located for r in results))
    reports = _all_modules(connection, "memory_reports")
    protos = _all_modules(connection, "proto_facts")
    known = len(modules)
    detailed = frozenset().union(*(r.detailed for r in results))
    forget_metrics(connection, detailed - modules)
    tables: dict[str, list[pa.Table]] = {}
    for result in results:
        for name, table in result.tables.items():
            if name == "modules":
                continue
            if name in DETAIL_TABLES:
                table = _without(table, "module_id", result.detailed & modules)
            elif name in LOCATION_TABLES:
                table = _without(table, "locations_id", result.located & places)
            elif name in REPORT_TABLES:
                table = _without(table, "module_id", result.reported & reports)
            elif name in PROTO_TABLES:
                table = _without(table, "module_id", result.described & protos)
            tables.setdefault(name, []).append(table)
        modules |= result.detailed
        places |= result.located
        reports |= result.reported
        protos |= result.described
    forms = _joined(tables.pop("store.instruction_forms"))
    _run_on(connection, "insert_forms", forms)
    instructions = _joined(tables.pop("store.instructions"))
    stored = _run_on(connection, "insert_instructions", instructions)
    if stored != instructions.num_rows:
        lost = instructions.num_rows - stored
        raise WarehouseError(f"{lost} instructions have no form; ingest again")
    for name, parts in tables.items():
        _insert(connection, name, _joined(parts))
    return len(modules) - known


def _joined(parts: list[pa.Table]) -> pa.Table:
    """Join tables; an empty one does not know whether its texts are dictionaries."""
    return pa.concat_tables([p for p in parts if p.num_rows] or parts[:1])


def _stored(
    connection: Connection, column: str, ids: Iterable[frozenset[int]]
) -> set[int]:
    """Give those of `ids` whose rows the warehouse holds; pruned runs have none."""
    wanted = pa.table({"id": pa.array(sorted(set().union(*ids)), pa.int64())})
    connection.register("wanted_ids", wanted)
    rows = connection.execute(
        f"SELECT id FROM wanted_ids WHERE id IN (SELECT {column} FROM modules"
        " JOIN runs USING (run_id) WHERE pruned_at IS NULL AND is_detailed)"
    ).fetchall()
    connection.unregister("wanted_ids")
    return {row[0] for row in rows}


def _all_modules(connection: Connection, table: str) -> set[int]:
    """Give the modules of which a table of evidence has rows."""
    rows = connection.execute(f"SELECT DISTINCT module_id FROM {table}")
    return {row[0] for row in rows.fetchall()}


def _without(table: pa.Table, key: str, ids: set[int] | frozenset[int]) -> pa.Table:
    if not ids or not table.num_rows:
        return table
    is_known = np.isin(table[key].to_numpy(), list(ids))
    return table.filter(pa.array(~is_known))


def _run_on(
    connection: Connection, name: str, incoming: pa.Table, **parameters: int
) -> int:
    """Execute `sql/NAME.sql`, which reads the table `incoming`; give its row count."""
    connection.register("incoming", incoming)
    row = connection.execute(statement(name), parameters or None).fetchone()
    connection.unregister("incoming")
    return int(row[0]) if row else 0


def _insert(connection: Connection, name: str, table: pa.Table, **fixed: Any) -> None:
    if not table.num_rows:
        return
    extra = "".join(f", {int(value)} AS {key}" for key, value in fixed.items())
    connection.register("incoming", table)
    target = ".".join(f'"{part}"' for part in name.split("."))
    connection.execute(f"INSERT INTO {target} BY NAME SELECT *{extra} FROM incoming")
    connection.unregister("incoming")


def load_files(
    connection: Connection, run_id: int, reports: Sequence[FileReport]
) -> None:
    """Store rows of dump_files."""
    names = [n for n in arrow_schema("dump_files").names if n != "run_id"]
    rows = [{name: getattr(report, name) for name in names} for report in reports]
    schema = arrow_schema("dump_files", dropped=("run_id",))
    _insert(connection, "dump_files", pa.Table.from_pylist(rows, schema), run_id=run_id)


def load_rejects(
    connection: Connection, run_id: int, rejects: Sequence[tuple[str, Reject]]
) -> None:
    """Store rows of rejects."""
    rows = [
        {
            "path": path,
            "line": reject.line,
            "column_number": reject.column,
            "section": reject.section,
            "code": reject.code,
            "message": reject.message,
            "snippet": reject.snippet,
        }
        for path, reject in rejects
    ]
    schema = arrow_schema("rejects", dropped=("run_id",))
    _insert(connection, "rejects", pa.Table.from_pylist(rows, schema), run_id=run_id)


def load_known(
    connection: Connection,
    run_id: int,
    occurrences: list[dict[str, Any]],
    files: list[dict[str, Any]],
) -> None:
    """Store units whose bytes the warehouse knows, without parsing them.

    `occurrences` hold unit_digest and the columns of `modules` that come from names and
    places; `files` hold unit_digest, path, kind, stage, sha256 and size_bytes.
    """
    if not occurrences:
        return
    modules = arrow_schema("modules")
    names = pa.schema([modules.field(name) for name in occurrences[0]])
    table = pa.Table.from_pylist(occurrences, names)
    _run_on(connection, "insert_known_modules", table, run_id=run_id)
    dumped = arrow_schema("dump_files", {"unit_digest": pa.int64()})
    names = pa.schema([dumped.field(name) for name in files[0]])
    table = pa.Table.from_pylist(files, names)
    _run_on(connection, "insert_known_files", table, run_id=run_id)
    copy_evidence(connection, run_id, table)
