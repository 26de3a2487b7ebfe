"""What every program needs, as results for Conbench: one JSON object to a line.

Fields are those of its API, POST /api/benchmark-results, and of benchadapt's
BenchmarkResult (https://github.com/conbench/conbench, conbench/entities/
benchmark_result.py and benchadapt/python/benchadapt/result.py). What no dump says is
left to who sends them: `github`, which says repository and commit, and the timestamp of
a run that has none. Versions are `info`, which breaks no series of Conbench's; what is
compiled for another device is another series.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hlodb.reports.model.report import ProgramRow, Report
from hlodb.reports.render.benchmark import measured, sizes
from hlodb.reports.render.message import link_of
from hlodb.text import json_text

UNIT = "B"


def render(report: Report) -> str:
    """Return a result per program, memory space and measure; smaller is better."""
    return "".join(f"{json_text(result)}\n" for result in _results(report))


def _results(report: Report) -> Iterator[dict[str, Any]]:
    always = _of_run(report)
    for _, row in measured(report):
        for measure, size in sizes(row):
            yield {
                **always,
                "tags": {"name": measure, **_case(row)},
                "stats": {"data": [size], "unit": UNIT, "iterations": 1},
            }


def _case(row: ProgramRow) -> dict[str, str]:
    rank = {} if row.rank is None else {"rank": str(row.rank)}
    return {"program": row.program, "space": row.space, **rank}


def _of_run(report: Report) -> dict[str, Any]:
    """Return the shared facts by which Conbench groups the results of a run."""
    run = report.comparison.candidate
    device = run.device or run.platform or "unknown"
    info = {
        "commit": run.commit_sha,
        "branch": run.branch,
        "compiler_version": run.compiler_version,
        "framework_version": run.framework_version,
        "hlodb_version": report.hlodb_version,
        "link": link_of(report),
    }
    return {
        "run_id": run.name,
        "batch_id": run.name,
        **({"run_reason": run.series} if run.series else {}),
        **({"timestamp": run.started_at} if run.started_at else {}),
        "cluster_info": {
            "name": device,
            "info": {"platform": run.platform or "unknown"},
            "optional_info": {},
        },
        "context": {"benchmark_language": "XLA"},
        "info": {name: text for name, text in info.items() if text is not None},
    }
