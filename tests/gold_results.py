"""Expected results of every canned query on the demo dumps: tests/gold/NAME.csv.

`make gold` renews them; read the difference before you commit it.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
import tempfile
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import duckdb

from hlodb.ingest.load.run_records import RunRequest
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
DATA = REPOSITORY / "tests" / "data"
RING = DATA / "passes" / "jit_ring.tar.xz"
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
    "overlapping_modules": [{"run": "jaxlib-0.10.2"}],
    "instruction_layers": [
        {"run": "jaxlib-0.10.2", "program": "jit_gpt_unrolled"},
        {"run": "v5e-jax-0.10.2", "program": "jit_gpt_unrolled"},
    ],
    "buffer_origin": [{"run": "jit_ring"}],
    "pass_history": [{"run": "jit_ring"}],
    "pass_snapshots": [{"run": "jit_ring"}],
    "peak_by_layer": [
        {"run": "jaxlib-0.10.2", "program": "jit_gpt_unrolled"},
        {"run": "v5e-jax-0.10.2", "program": "jit_gpt_unrolled", "color": 0},
        {**TPU, "color": 0},
    ],
    "instruction_neighbours": [
        {**CPU, "direction": "users"},
        {**TPU, "direction": "inputs"},
    ],
    "peak_leverage": [CPU, TPU],
    "peak_leverage_of_sets": [
        CPU,
        {**TPU, "grouped_by": "op_name"},
        {**TPU, "grouped_by": "element_type"},
    ],
}


_CONTENTS: Parameters = {
    "base_ids": [7877534111236026065],
    "candidate_ids": [3976595539623470846],
}
_PLACES: Parameters = {
    "base_runs": [7],
    "base_places": [1],
    "candidate_runs": [8],
    "candidate_places": [1],
}
"""The module of run `donated`, and the same in run `dropped`."""

IN_SMALLER: dict[str, Parameters] = {
    "alias_changes": {"base": "donated", "candidate": "dropped"},
    "buffer_changes": _CONTENTS,
    "check_files": {"run": "cut"},
    "check_totals": {"run": "cut"},
    "check_value_places": {"run": "cut"},
    "compared_buffers": _CONTENTS,
    "divergences": {**_PLACES, "main_parts": ["parameter"]},
    "donation_changes": _CONTENTS,
    "fitting_sizes": {"series": "sizes", "limit_bytes": 500_000_000},
    "gathered_values": {"run": "asynchronous"},
    "gathered_weights_at_peak": {"run": "asynchronous"},
    "incomplete_modules": {"run": "seeds"},
    "judged_pairs": _PLACES,
    "largest_fit": {"series": "sizes"},
    "matched_buffers": _CONTENTS,
    "module_faults": {"run": "cut"},
    "module_ladder": {"base_ids": [7], "candidate_ids": [8]},
    "overlap_conflicts": {"run": "seeds", "in_place": True},
    "paired_parameters": _CONTENTS,
    "partial_memory": {"run": "seeds"},
    "partial_memory_diff": {"base": "seeds", "candidate": "seeds"},
    "recompile_groups": {"run": "sizes"},
    "rejects_summary": {"run": "cut"},
    "remat_benefit": {"run": "recomputed"},
    "renumbered_modules": {"run": "renumbered"},
    "scaling_law": {"series": "sizes"},
    "scoped_memory": {"run": "kernels"},
    "size_axes": {"series": "sizes"},
    "size_slices": {"series": "sizes"},
    "suspect_values": {"run": "cut"},
    "unsound_modules": {"run": "cut"},
    "unsound_runs": {},
}
"""What is asked of the smaller dumps, as the demo has no such thing."""

WITHOUT_ROWS = frozenset(
    {
        *("check_calls", "check_definitions", "check_keys"),
        "check_memory_analysis",
        *("check_operands", "check_overlaps", "check_proto", "check_range_bounds"),
        *("check_range_ends", "check_range_starts", "check_references"),
        *("check_report_allocations", "check_report_totals", "check_report_values"),
        *("check_uses", "check_value_bounds", "check_value_sizes"),
        "memory_analysis_diff",
        *("collective_parity", "compile_time_by_pass", "dangling_ids"),
        *("claims", "difference_claims", "environment_changes"),
        "donation_savings",
        *("input_changes", "lesser_branches"),
        *("opcode_changes", "opcode_mixes"),
        "source_edits",
        *("environment_diff", "hosts", "noise_bands", "nondeterminism"),
        *("oom_buffers_explained", "oom_chunks_explained", "oom_summary"),
        *("oom_misfits", "oom_programs", "printed_memory", "refused_modules"),
        *("owner_rules", "rank_skew", "set_leverage", "source_functions"),
        *("release_changes", "run_releases"),
        "suspect_keys",
        "version_matrix",
    }
)
"""Queries that find nothing in any of these dumps, and so have no gold result.

Tests of their own make what they find, in tests/queries/GROUP/ and
tests/cli/test_check.py.
"""


def make_warehouse(path: Path) -> None:
    """Ingest nine CPU releases in their order, the passes of a module, one TPU run."""
    releases = sorted(
        (DUMPS / "cpu").iterdir(),
        key=lambda p: [int(n) for n in p.name.split("-")[1].split(".")[:3]],
    )
    for archive in [*releases, RING, DUMPS / "tpu" / "v5e-jax-0.10.2.tar.xz"]:
        # One by one: which files count as duplicates must not depend on the clock.
        ingest([str(archive)], path, jobs=1, prepare=renew_macros)


def make_smaller_warehouse(path: Path) -> None:
    """Ingest dumps that have what those of the demo lack, and one that was cut off."""
    dumps = {
        "sizes": DATA / "sizes" / "cpu.tar.xz",
        "seeds": DATA / "seeds",
        "recomputed": DATA / "remat" / "v5e-jax-0.10.2.tar.xz",
        "asynchronous": DATA / "asynchronous" / "v5e.tar.xz",
        "kernels": DATA / "kernels" / "scoped-48.tar.xz",
        "renumbered": DATA / "renumbered" / "base.tar.xz",
        "donated": DATA / "changes" / "donation" / "base",
        "dropped": DATA / "changes" / "donation" / "dropped",
        "cut": _cut(DATA / "changes" / "donation" / "base", path.parent / "cut"),
    }
    for name, dump in dumps.items():
        series = name if name == "sizes" else "others"
        request = RunRequest(name=name, series=series)
        ingest([str(dump)], path, request=request, jobs=1, prepare=renew_macros)


def _cut(dump: Path, copy: Path) -> Path:
    """Copy a dump whose buffer assignment ends amid its allocations."""
    shutil.copytree(dump, copy)
    (file,) = copy.glob("*-buffer-assignment.txt")
    text = file.read_text()
    file.write_text(text[: text.index("allocation 1:") + 5])
    return copy


def calls(query: Query) -> list[Parameters]:
    """Return the parameters with which a query is asked of the demo's dumps."""
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


def gold_text(
    query: Query, asked: Iterable[Parameters], results: Iterable[Result]
) -> str:
    """Return the results of a query as CSV; of long ones the beginning and a digest."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for parameters, result in zip(asked, results, strict=True):
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
    texts: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        demo, smaller = Path(folder) / "demo.duckdb", Path(folder) / "smaller.duckdb"
        make_warehouse(demo)
        make_smaller_warehouse(smaller)
        with connect(demo) as connection:
            for query in queries():
                if query.name not in {*IN_SMALLER, *WITHOUT_ROWS}:
                    results = answers(connection, query)
                    texts[query.name] = gold_text(query, calls(query), results)
        with connect(smaller) as connection:
            for name, asked in IN_SMALLER.items():
                result = run_query(connection, name, asked)
                texts[name] = gold_text(load_catalogue()[name], [asked], [result])
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.csv"):
        if old.stem not in texts:
            old.unlink()
    for name, text in texts.items():
        (FOLDER / f"{name}.csv").write_text(text, encoding="utf-8")
    print(f"{len(texts)} gold files in {FOLDER}", file=sys.stderr)


if __name__ == "__main__":
    main()
