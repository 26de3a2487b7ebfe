"""Dumps as tasks: each parses its runs and writes them into the lake as packages.

A task calls what `hlodb ingest` calls, run by run and in its own process. It may be
repeated whole: a run that is in the lake already changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from hlodb.errors import UsageError
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.sources.discover import RunSource, discover
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Limits
from hlodb.lake.ingestion import ingest_into_lake
from hlodb.lake.opening import reading
from hlodb.printed_commands import url_of

OF_A_RUN = pa.schema(
    {
        "run": pa.string(),
        **dict.fromkeys(
            ("files", "bytes", "modules", "instructions", "allocations",
             "values", "live_ranges", "rejects", "unchanged_files"),
            pa.int64(),
        ),
        "seconds": pa.float64(),
        "has_dump": pa.bool_(),
        "notes": pa.list_(pa.string()),
    }
)  # fmt: skip
"""Columns of the summary of a run."""


class Dump(NamedTuple):
    """A run as it lies there, and what is recorded of it."""

    source: RunSource
    request: RunRequest


def find_dumps(
    paths: Iterable[str | Path | Mapping[str, Any]],
    request: RunRequest,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Dump]:
    """Return the runs below paths, with names that differ.

    A mapping is a path with facts of its own, those of a RunRequest, such as
    {"path": "night.tar.xz", "name": "night", "started_at": datetime(2026, 11, 20)}.
    Raises UsageError as `discover`, and for facts that runs do not have.
    """
    plain: list[str] = []
    found: list[Dump] = []
    for each in paths:
        if not isinstance(each, Mapping):
            plain.append(_whole(each))
            continue
        facts = dict(each)
        path = facts.pop("path", None)
        if path is None or (unknown := facts.keys() - asdict(request).keys()):
            wrong = "path" if path is None else sorted(unknown)[0]
            raise UsageError(f"{dict(each)}: a dump has no {wrong!r}")
        own = replace(request, **facts)
        sources = discover([_whole(path)], run_name=own.name, limits=limits)
        found += [Dump(source, own) for source in sources]
    if plain:
        sources = discover(plain, run_name=request.name, limits=limits)
        found += [Dump(source, request) for source in sources]
    names = [dump.source.name for dump in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"two dumps are called {min(twice)!r}; give them names")
    return found


def _whole(path: str | Path) -> str:
    """Return a path that workers find from wherever they start."""
    return url_of(path) or os.path.abspath(path)


def ingest_dumps(
    dumps: Sequence[Dump], lake: str, limits: Limits, tasks: int, task: int
) -> Iterator[pa.RecordBatch]:
    """Bring the runs of one task into a lake; yield their summaries."""
    for dump in dumps[task::tasks]:
        [summary] = ingest_into_lake(
            [dump.source], Path(lake), request=dump.request, jobs=1, limits=limits
        )
        facts = {**asdict(summary), "run": summary.name}
        row = {name: facts[name] for name in OF_A_RUN.names}
        yield pa.RecordBatch.from_pylist([row], schema=OF_A_RUN)


def with_rejects(summaries: pa.Table, lake: str) -> pa.Table:
    """Return summaries of runs with a column of their rejects, as the lake has them.

    The catalogue of the lake then shows all that was ingested.
    """
    with reading(lake) as connection:
        rows = connection.execute(_REJECTS, {"runs": summaries["run"].to_pylist()})
        found = dict(rows.fetchall())
    rejected = [found.get(run, []) for run in summaries["run"].to_pylist()]
    return summaries.append_column(
        pa.field("rejected", _REJECTED), pa.array(rejected, _REJECTED)
    )


_REJECTS = """
SELECT
  r.name, list({
    'path': j.path, 'line': j.line, 'column_number': j.column_number,
    'section': j.section, 'code': j.code, 'message': j.message, 'snippet': j.snippet
  } ORDER BY j.path, j.line, j.column_number)
FROM rejects AS j
JOIN runs AS r USING (run_id)
WHERE list_contains($runs, r.name)
GROUP BY r.name
"""

_REJECTED = pa.list_(
    pa.struct(
        {
            "path": pa.string(),
            "line": pa.int64(),
            "column_number": pa.int64(),
            "section": pa.string(),
            "code": pa.string(),
            "message": pa.string(),
            "snippet": pa.string(),
        }
    )
)
