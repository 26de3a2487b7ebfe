"""Expected results of every canned query on the demo dumps: tests/gold/NAME.csv.

`make gold` renews them; read the difference before you commit it.
"""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import duckdb

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.query import Query
from hlodb.queries.renewal import renew_macros
from hlodb.queries.result import Result
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect

REPOSITORY = Path(__file__).parent.parent
FOLDER = REPOSITORY / "tests" / "gold"
DUMPS = REPOSITORY / "examples" / "dumps"
RING = REPOSITORY / "tests" / "data" / "passes" / "jit_ring.tar.xz"
KEPT_ROWS = 40

# When and where it was ingested, and how large the file became.
CLOCK = {"ingested_at", "ingest_seconds", "hlodb_version", "age_hours", "overdue_hours"}

Parameters = dict[str, Value]
CPU: Parameters = {"run": "jaxlib-0.10.2", "program": "jit_cg"}
TPU: Parameters = {"run": "v5e-jax-0.10.2", "program": "jit_gpt_fsdp"}
PAIR: Parameters = {
    "base": "jaxlib-0.4.35",
    "candidate": "jaxlib-0.5.3",
    "program": "jit_cnn",
}
SERIES: Parameters = {"series": None, "program": "jit_gpt_unrolled"}
SPECIAL: dict[str, list[Parameters]] = {
    "coresident_peak": [
        {"run": "jaxlib-0.10.2"},
        {"run": "v5e-jax-0.10.2"},
        {"run": "v5e-jax-0.10.2", "program": "jit_gpt_.*"},
    ],
    "pass_history": [{"run": "jit_ring"}],
    "peak_leverage": [CPU, TPU],
    "peak_leverage_of_sets": [
        CPU,
        {**TPU, "grouped_by": "op_name"},
        {**TPU, "grouped_by": "element_type"},
    ],
}


def make_warehouse(path: Path) -> None:
    """Ingest nine CPU releases in their order, the passes of a module, one TPU run."""
    releases = sorted(
        (DUMPS / "cpu").iterdir(),
        key=lambda p: [int(n) for n in p.name.split("-")[1].split(".")[:3]],
    )
    for archive in [*releases, RING, DUMPS / "tpu" / "v5e-jax-0.10.2.tar.xz"]:
        # One by one: which files count as duplicates must not depend on the clock.
        ingest([str(archive)], path, jobs=1, prepare=renew_macros)


def calls(query: Query) -> list[Parameters]:
    """Return the parameters with which a query is asked."""
    if query.name in SPECIAL:
        return SPECIAL[query.name]
    known = {p.name for p in query.parameters}
    for candidates in ([PAIR], [CPU, TPU], [SERIES]):
        first = next(iter(candidates[0]))
        if first in known:
            return [{k: v for k, v in c.items() if k in known} for c in candidates]
    return [{}]


def is_ordered(query: Query) -> bool:
    """Return whether the rows have an order: what other queries read needs none."""
    return "\nORDER BY" in query.sql


def answers(connection: duckdb.DuckDBPyConnection, query: Query) -> list[Result]:
    """Return the result of every call of a query."""
    return [run_query(connection, query.name, asked) for asked in calls(query)]


def gold_text(query: Query, results: Iterable[Result]) -> str:
    """Return the results of a query as CSV; of long ones the beginning and a digest."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for parameters, result in zip(calls(query), results, strict=True):
        shown = [at for at, c in enumerate(result.columns) if c.name not in CLOCK]
        rows = [[_plain(row[at]) for at in shown] for row in result.rows]
        if not is_ordered(query):
            rows.sort()
        named = " ".join(f"{k}={v}" for k, v in parameters.items())
        writer.writerow([f"# {query.name} {named}".rstrip()])
        writer.writerow([result.columns[at].name for at in shown])
        writer.writerows(rows[:KEPT_ROWS])
        if len(rows) > KEPT_ROWS:
            digest = blake2b(repr(sorted(rows)).encode(), digest_size=8).hexdigest()
            writer.writerow([f"# {len(rows)} rows in all, digest {digest}"])
    return out.getvalue()


def _plain(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def queries() -> list[Query]:
    """Return the queries that people ask, in the order of the catalogue."""
    return list(load_catalogue().values())


def main() -> None:
    """Renew all gold files, and delete those of queries that are no more."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.duckdb"
        make_warehouse(path)
        with connect(path) as connection:
            texts = {
                f"{q.name}.csv": gold_text(q, answers(connection, q)) for q in queries()
            }
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.csv"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(texts)} gold files in {FOLDER}", file=sys.stderr)


if __name__ == "__main__":
    main()
