"""Rows of `runs`: begun, and finished with what the dump says of itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from string import digits

from hlodb.ingest.load.delete import forget_paths, restore_pruned
from hlodb.ingest.load.occurrences import load_evidence
from hlodb.ingest.load.run_records import LABEL_COLUMNS, RunRequest, moment, run_id_of
from hlodb.ingest.load.statements import statement
from hlodb.ingest.recognise.file_kinds import FACT_KINDS
from hlodb.ingest.records import Evidence
from hlodb.ingest.tables.run_facts import RunFacts
from hlodb.schema.connection import Connection
from hlodb.version import __version__


def begin_run(connection: Connection, name: str, origin: str) -> tuple[int, bool]:
    """Return the id of the run called `name`, and whether it was begun just now.

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
        " '{}' AS labels, ? AS hlodb_version, ?::TIMESTAMP AS ingested_at",
        [
            run_id,
            name,
            origin,
            __version__,
            datetime.now(UTC).replace(tzinfo=None),
        ],
    )
    return run_id, True


def finish_run(
    connection: Connection, run_id: int, request: RunRequest, facts: RunFacts
) -> None:
    """Write what the dump says of itself, and what the user does where it is silent.

    A time that was given stays, whatever the files' times are when they are read again.
    """
    values: dict[str, tuple[str, list[object]]] = {
        name: (
            f"coalesce(?, {name}, ?)",
            [facts.facts.get(name), request.labels.get(name)],
        )
        for name in LABEL_COLUMNS
    }
    platform = facts.facts.get("platform")
    values["platform"] = (  # Files that come later may be of the host alone.
        "coalesce(nullif(?, 'cpu'), nullif(platform, 'cpu'), ?, platform, ?)",
        [platform, platform, request.labels.get("platform")],
    )
    values["device_memory_bytes"] = (
        "coalesce(?, device_memory_bytes)",
        [facts.facts.get("device_memory_bytes")],
    )
    values["started_at"] = (
        "coalesce(?, if(is_started_at_given, NULL, ?), started_at)",
        [request.started_at, moment(facts.newest_file_at)],
    )
    values["is_started_at_given"] = (
        "coalesce(is_started_at_given, false) OR ?",
        [request.started_at is not None],
    )
    _update(connection, run_id, values)


def note_of_future(connection: Connection, run_id: int, name: str) -> list[str]:
    """Return a note if a run is dated more than a day after the present."""
    row = connection.execute(
        "SELECT started_at FROM runs WHERE run_id = ?", [run_id]
    ).fetchone()
    started_at = row[0] if row else None
    present = datetime.now(UTC).replace(tzinfo=None)
    if started_at is None or started_at - present <= _TOLERATED:
        return []
    return [
        f"run {name} is dated {started_at:%Y-%m-%d %H:%M}, which is in the future, and"
        " counts as the latest run until then; correct the times of its files, or"
        " `hlodb rm` it and pass --started-at TIME"
    ]


def order_key(name: str) -> tuple[list[str], str]:
    """Return what orders runs of one time by their names, as run_order orders them.

    Numbers count as numbers: v0.10 follows v0.9.
    """
    parts = re.findall("[0-9]+|[^0-9]+", name)
    return [part.zfill(20) if part[0] in digits else part for part in parts], name


def note_of_order(connection: Connection, run_id: int, name: str) -> list[str]:
    """Return a note if the files of a new run are older than another of its series.

    That is so where nights are ingested late, but also where a copy took another time.
    """
    others = connection.execute(
        "SELECT o.started_at, o.name, r.started_at, r.series FROM runs AS r"
        " JOIN runs AS o USING (series) WHERE r.run_id = ? AND o.run_id <> r.run_id"
        " AND NOT coalesce(r.is_started_at_given, FALSE)"
        " AND o.started_at >= r.started_at",
        [run_id],
    ).fetchall()
    if not others:
        return []
    latest, other, mine, series = max(
        others, key=lambda row: (row[0], order_key(row[1]))
    )
    if (mine, order_key(name)) > (latest, order_key(other)):
        return []
    when = "at the same time as" if mine == latest else "before"
    return [
        f"run {name} is dated {mine:%Y-%m-%d %H:%M:%S} by its files, {when} run"
        f" {other} of series {series}, which counts as the later one: if it is not,"
        f" ingest it once more with --started-at TIME"
    ]


_TOLERATED = timedelta(days=1)
"""Clocks of machines and time zones may differ by so much."""


def say_of_run(
    connection: Connection, run_id: int, name: str, request: RunRequest
) -> list[str]:
    """Write what the user says of a run; give a note for what was said otherwise.

    That is kept: else the label of today would be on all nights that are read again.
    """
    row = connection.execute(
        "SELECT series, commit_sha, labels FROM runs WHERE run_id = ?", [run_id]
    ).fetchone()
    assert row is not None
    series, commit, labels = row[0], row[1], json.loads(row[2] or "{}")
    said = [
        ("series", series, request.series),
        ("commit", commit, request.commit),
        *((f"label {key}", labels.get(key), v) for key, v in request.labels.items()),
    ]
    _update(
        connection,
        run_id,
        {
            "series": ("coalesce(series, ?)", [request.series]),
            "commit_sha": ("coalesce(commit_sha, ?)", [request.commit]),
            "labels": ("?", [json.dumps({**request.labels, **labels}, sort_keys=True)]),
        },
    )
    return [
        f"run {name} keeps its {what} {old}, not {new}: `hlodb rm` forgets a run"
        for what, old, new in said
        if None not in (old, new) and old != new
    ]


def _update(
    connection: Connection, run_id: int, values: Mapping[str, tuple[str, list[object]]]
) -> None:
    """Set columns of a run, each to an expression with its parameters."""
    assignments = ", ".join(f"{name} = {value}" for name, (value, _) in values.items())
    parameters = [given for _, (_, all_given) in values.items() for given in all_given]
    connection.execute(
        f"UPDATE runs SET {assignments} WHERE run_id = ?", [*parameters, run_id]
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
    """Return the numbers of modules, detailed modules and rejects of runs, by name."""
    counts = connection.execute(statement("count_runs"), {"run_ids": list(run_ids)})
    names = [column[0] for column in counts.description]
    rows = [dict(zip(names, row, strict=True)) for row in counts.fetchall()]
    return {row.pop("run_id"): row for row in rows}
