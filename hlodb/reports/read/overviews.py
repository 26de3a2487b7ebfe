"""Read many runs by themselves, each query asked once for all of them.

The rows are those that `read_overview` reads run by run: most of its time goes into
planning its queries, not into answering them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from hlodb.queries.answer_once import answered_once
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import Value, composed, run_query
from hlodb.reports.read.facts import Answered, Run
from hlodb.reports.read.overview import (
    OF_PROGRAMS,
    OF_RUNS,
    RANKED,
    SHARED,
    Overview,
    Row,
    is_fragmented,
    most_rows,
)
from hlodb.schema.connection import Connection

_RUNS = "temp.selected_runs"
_MEMORY = "temp.memory_of_runs"
_MAIN_MEMORY = "temp.main_memory_of_runs"

_MAKE_RUNS = f"""
CREATE OR REPLACE TEMP TABLE {_RUNS.removeprefix("temp.")} AS
SELECT r.run_id, r.name AS run
FROM runs AS r
WHERE list_contains(from_json($runs, '["BIGINT"]'), r.run_id)
"""


def read_overviews(
    connection: Connection,
    runs: Sequence[Run],
    answered: Answered,
    *,
    top: int,
    limits: Mapping[str, Value],
) -> dict[int, Overview]:
    """Return what each run holds, by run_id, with every stretch of the schedules.

    `answered` is what `asked_of` yields for these runs; `top` and `limits` are as in
    `read_overview`.
    """
    catalogue = load_catalogue()
    found: dict[str, list[Row]] = {}
    of_main_memory = {**answered, "selected_memory": _MAIN_MEMORY}
    asked: dict[str, Mapping[str, Value]] = {**OF_RUNS, **OF_PROGRAMS}
    asked |= {query: {"top": most_rows(top)} for query in RANKED}
    asked |= {"headroom": limits, "partial_memory": {}, "frag_breakdown": {}}
    for query, parameters in asked.items():
        # Remedies are about main memory alone, and ask for it by a parameter.
        tables = of_main_memory if query == "remedies" else answered
        rows = run_query(connection, query, parameters, catalogue, tables)
        found[query] = list(rows.dicts())
    by_run: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for query, rows_of_all in found.items():
        for row in rows_of_all:
            by_run[row["run"]][query].append(row)
    return {run.run_id: _overview(run, by_run[run.name]) for run in runs}


def _overview(run: Run, rows: Mapping[str, Sequence[Row]]) -> Overview:
    """Return the rows of a run under the queries that `read_overview` asks of it."""
    answers = {
        query: rows.get(query, ()) for query in (*OF_RUNS, *OF_PROGRAMS, "headroom")
    }
    spaces = answers["peak_by_space"]
    if any(map(is_fragmented, spaces)):
        answers["frag_breakdown"] = rows.get("frag_breakdown", ())
    if not spaces or any(row["live_peak_bytes"] is None for row in spaces):
        answers["partial_memory"] = rows.get("partial_memory", ())
    return Overview(run, answers, has_programs=True)


@contextmanager
def asked_of(connection: Connection, runs: Sequence[Run]) -> Iterator[Answered]:
    """Answer blocks of queries for `runs`, not for one of them; yield the tables."""
    catalogue = load_catalogue()
    connection.execute(_MAKE_RUNS, {"runs": json.dumps([run.run_id for run in runs])})
    tables = {"selected_run": _RUNS, "selected_memory": _MEMORY}
    try:
        memory = composed(
            catalogue["selected_memory"], {}, catalogue, {"selected_run": _RUNS}
        )
        # Its occurrences are numbered within a run; these are numbered across runs.
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_MEMORY.removeprefix('temp.')} AS"
            " SELECT m.* REPLACE (dense_rank() OVER ("
            "ORDER BY m.run_id, m.occurrence) AS occurrence)"
            f" FROM ({memory}) AS m"
        )
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_MAIN_MEMORY.removeprefix('temp.')} AS"
            f" SELECT * FROM {_MEMORY} WHERE color = 0"
        )
        blocks = [name for name in (*SHARED, "peak_roles") if name not in tables]
        with answered_once(connection, blocks, {}, catalogue, tables) as answered:
            yield answered
    finally:
        for table in (_MAIN_MEMORY, _MEMORY, _RUNS):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
