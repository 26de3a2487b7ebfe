"""Rows of `runs`: begun, and finished with what the dump says of itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa

from hlodb.ingest.columns import arrow_schema
from hlodb.ingest.evidence import Evidence, load_evidence
from hlodb.ingest.forget import forget_paths, restore_pruned
from hlodb.ingest.run_facts import FACT_KINDS, RunFacts
from hlodb.ingest.run_records import LABEL_COLUMNS, RunRequest, moment, run_id_of
from hlodb.version import __version__

Connection = duckdb.DuckDBPyConnection


def begin_run(
    connection: Connection, name: str, origin: str, request: RunRequest
) -> int:
    """Give the id of the run called `name`, which is begun where there is none.

    A pruned run is begun anew: its details come back.
    """
    known = run_id_of(connection, name)
    if known is not None:
        restore_pruned(connection, known)
        return known
    newest = connection.execute("SELECT coalesce(max(run_id), 0) FROM runs").fetchone()
    run_id = int(newest[0]) + 1 if newest else 1
    connection.execute(
        "INSERT INTO runs BY NAME SELECT ? AS run_id, ? AS name, ? AS origin,"
        " ? AS series, ? AS commit_sha, ? AS labels, ? AS hlodb_version,"
        " ?::TIMESTAMP AS ingested_at",
        [
            run_id,
            name,
            origin,
            request.series,
            request.commit,
            json.dumps(dict(request.labels), sort_keys=True),
            __version__,
            datetime.now(UTC).replace(tzinfo=None),
        ],
    )
    return run_id


def finish_run(
    connection: Connection, run_id: int, request: RunRequest, facts: RunFacts
) -> None:
    """Write what the dump says of itself, labels where it is silent, and the flags."""
    values = {
        name: facts.facts.get(name) or request.labels.get(name)
        for name in LABEL_COLUMNS
    }
    started = request.started_at or moment(facts.newest_file_at)
    assignments = ", ".join(f"{n} = coalesce(?, {n})" for n in [*values, "started_at"])
    connection.execute(
        f"UPDATE runs SET {assignments} WHERE run_id = ?",
        [*values.values(), started, run_id],
    )
    _forget_gone(connection, run_id, facts)
    _replace_rows(connection, "compiler_flags", run_id, facts.flag_rows())
    _replace_rows(connection, "passes", run_id, facts.pass_rows())
    _replace_analyses(connection, run_id, facts)


def _forget_gone(connection: Connection, run_id: int, facts: RunFacts) -> None:
    """Take files out whose facts are replaced by those of a dump that lacks them.

    Should they come back, the run is not as it was finished, and learns from them.
    """
    kinds = sorted(FACT_KINDS - {"memory_analysis"})
    recorded = connection.execute(
        "SELECT path FROM dump_files"
        " WHERE run_id = ? AND kind IN (SELECT unnest(?::VARCHAR[]))",
        [run_id, kinds],
    ).fetchall()
    gone = {path for (path,) in recorded} - facts.files
    if gone:
        forget_paths(connection, run_id, gone)


def _replace_rows(
    connection: Connection, table: str, run_id: int, rows: list[dict[str, Any]]
) -> None:
    connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])
    if not rows:
        return
    schema = arrow_schema(table, dropped=("run_id",))
    connection.register("incoming", pa.Table.from_pylist(rows, schema))
    connection.execute(
        f"INSERT INTO {table} BY NAME SELECT ? AS run_id, * FROM incoming", [run_id]
    )
    connection.unregister("incoming")


def _replace_analyses(connection: Connection, run_id: int, facts: RunFacts) -> None:
    """Write what the files say of programs' memory; files of earlier days stay."""
    connection.execute(
        "DELETE FROM memory_analysis"
        " WHERE run_id = ? AND path IN (SELECT unnest(?::VARCHAR[]))",
        [run_id, list(facts.analyses)],
    )
    rows = [Evidence("memory_analysis", row) for row in facts.analysis_rows()]
    load_evidence(connection, [(run_id, row) for row in rows])
