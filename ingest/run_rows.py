"""Rows of `runs`: begun, and finished with what the dump says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import duckdb

from hlodb.ingest.evidence import Evidence, load_evidence
from hlodb.ingest.forget import forget_paths, restore_pruned
from hlodb.ingest.run_facts import FACT_KINDS, RunFacts
from hlodb.ingest.run_records import LABEL_COLUMNS, RunRequest, moment, run_id_of
from hlodb.ingest.statements import statement
from hlodb.version import __version__

Connection = duckdb.DuckDBPyConnection


def begin_run(
    connection: Connection, name: str, origin: str, request: RunRequest
) -> tuple[int, bool]:
    """Give the id of the run called `name`, and whether it was begun just now.

    A pruned run is begun anew: its details come back.
    """
    known = run_id_of(connection, name)
    if known is not None:
        restore_pruned(connection, known)
        return known, False
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
    return run_id, True


def finish_run(
    connection: Connection, run_id: int, request: RunRequest, facts: RunFacts
) -> None:
    """Write what the dump says of itself, and labels where it is silent."""
    values = {
        name: facts.facts.get(name) or request.labels.get(name)
        for name in LABEL_COLUMNS
    } | {
        "device_memory_bytes": facts.facts.get("device_memory_bytes"),
        "started_at": request.started_at or moment(facts.newest_file_at),
    }
    assignments = ", ".join(f"{name} = coalesce(?, {name})" for name in values)
    connection.execute(
        f"UPDATE runs SET {assignments} WHERE run_id = ?", [*values.values(), run_id]
    )


def load_facts(connection: Connection, found: Iterable[tuple[int, RunFacts]]) -> None:
    """Store flags, timings of passes and memory as listed, given with their runs."""
    load_evidence(
        connection,
        [
            (run_id, Evidence(table, row))
            for run_id, facts in found
            for table, rows in (
                ("compiler_flags", facts.flag_rows()),
                ("passes", facts.pass_rows()),
                ("memory_analysis", facts.analysis_rows()),
            )
            for row in rows
        ],
    )


def forget_facts(connection: Connection, run_id: int, facts: RunFacts) -> None:
    """Delete what an earlier reading of a run found, and `load_facts` will store.

    What files of earlier days say of programs' memory stays.
    """
    _forget_gone(connection, run_id, facts)
    for table in ("compiler_flags", "passes"):
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])
    connection.execute(
        "DELETE FROM memory_analysis"
        " WHERE run_id = ? AND path IN (SELECT unnest(?::VARCHAR[]))",
        [run_id, list(facts.analyses)],
    )


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


def count_runs(
    connection: Connection, run_ids: Sequence[int]
) -> dict[int, dict[str, int]]:
    """Give how many modules, details of modules and rejects runs hold, by name."""
    counts = connection.execute(statement("count_runs"), {"run_ids": list(run_ids)})
    names = [column[0] for column in counts.description]
    rows = [dict(zip(names, row, strict=True)) for row in counts.fetchall()]
    return {row.pop("run_id"): row for row in rows}
