"""Read whether the data of runs is sound: rejects and contradictions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.facts import Run, rows
from hlodb.schema.connection import Connection
from hlodb.text import counted


@dataclass(frozen=True, slots=True)
class QualityRow:
    """Something in the data of a run that is not sound."""

    run: str
    kind: str
    code: str
    count: int
    example: str
    is_gating: bool


def quality(
    connection: Connection,
    runs: Sequence[Run],
    catalogue: Catalogue,
    settings: Settings,
) -> list[QualityRow]:
    """Return the faults in the data of the compared runs.

    Rejects above `max_rejects` of a run, and contradictions within the data, are
    gating: they leave the verdict unknown. What modules lack is noted.
    """
    ids = [run.run_id for run in runs]
    found = reject_rows(rows(connection, "rejects", runs=ids), settings.max_rejects)
    for run, code, count, example in rows(connection, "unclaimed", runs=ids):
        found.append(QualityRow(run, "noted", code, int(count), example, False))
    for each in runs:
        found += _lacking(connection, each, catalogue)
    for each in runs:
        found += _faults(connection, each, catalogue, settings.consistency)
    return found


def reject_rows(
    rejected: Sequence[tuple[Any, ...]], limit: int | None
) -> list[QualityRow]:
    """Return what could not be read; above `limit` places of a run it is gating."""
    totals = _totals(rejected)
    return [
        QualityRow(
            run,
            "reject",
            code,
            count,
            example,
            limit is not None and totals[run] > limit,
        )
        for run, code, count, example in rejected
    ]


def unsound_words(connection: Connection, runs: Sequence[Run]) -> list[str]:
    """Return a sentence on each fault that leaves an answer about `runs` unknown."""
    found = quality(connection, runs, load_catalogue(), Settings())
    return [
        f"{row.run}: {counted(row.count, row.kind)} {row.code}, such as {row.example}"
        for row in found
        if row.is_gating
    ]


def _lacking(
    connection: Connection, run: Run, catalogue: Catalogue
) -> list[QualityRow]:
    """Return what modules of a run lack, by the query `incomplete_modules`."""
    complete: dict[str, str | bool] = {"run": run.name, "complete": True}
    modules = run_query(connection, "incomplete_modules", complete, catalogue).dicts()
    paths: dict[str, list[str]] = defaultdict(list)
    for row in modules:
        lacks = set((row["missing"] or "").split(", ")) - {""}
        if "buffer_assignment" in lacks:
            lacks.discard("live_ranges")  # They are worth nothing without one.
        for thing in lacks:
            paths[thing].append(row["path"])
    if len(paths.get("before_optimizations", [])) == len(modules):
        # Who keeps last snapshots only, or captures them, knows it.
        paths.pop("before_optimizations", None)
    return [
        QualityRow(run.name, "noted", f"no_{thing}", len(found), min(found), False)
        for thing, found in sorted(paths.items())
    ]


def _faults(
    connection: Connection,
    run: Run,
    catalogue: Catalogue,
    is_gating: bool,
) -> list[QualityRow]:
    by_check: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in _fault_rows(connection, run.name, catalogue):
        by_check[row["check_name"]].append(row)
    return [
        QualityRow(
            run.name,
            "fault",
            check,
            sum(row["occurrence_count"] for row in found),
            "{path}: expected {expected}, found {found}".format_map(found[0]),
            is_gating,
        )
        for check, found in sorted(by_check.items())
    ]


def _fault_rows(
    connection: Connection, run: str | None, catalogue: Catalogue
) -> list[Mapping[str, Any]]:
    parameters = {"run": run, "only_faults": True}
    found = run_query(connection, "self_consistency", parameters, catalogue)
    return [row for row in found.dicts() if row["status"] == "fault"]


def _totals(rejected: Iterable[tuple[Any, ...]]) -> dict[str, int]:
    """Return the number of rejects by the name of the run."""
    totals: dict[str, int] = defaultdict(int)
    for run, _, count, _ in rejected:
        totals[run] += count
    return totals
