"""Source lines in reports: the SQL library's, for the compiler's own buffers too."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from hlodb.queries.run import run_composed
from hlodb.reports.judge.report import Report
from hlodb.reports.judge.sentences import dominating_source
from hlodb.reports.read.details import BufferChange
from hlodb.schema.warehouse import connect

Source = tuple[str | None, str | None, int | None]
NONE: Source = (None, None, None)


def known_sources(warehouse: Path) -> dict[tuple[str, str, str], set[Source]]:
    """Return the sources of the values that instructions define, by the query part.

    Keys are run, program and name of the instruction, with the shape index.
    """
    found = defaultdict(set)
    with connect(warehouse) as connection:
        runs = connection.execute("SELECT name FROM runs").fetchall()
        for (run,) in runs:
            rows = run_composed(
                connection,
                """
                SELECT
                  m.program, i.name || coalesce(v.shape_index, ''),
                  s.attribution, s.source_file, s.source_line
                FROM modules AS m
                JOIN runs AS r USING (run_id)
                JOIN store."values" AS v USING (module_id)
                JOIN store.instructions AS i USING (module_id, instruction_id)
                LEFT JOIN value_sources(run := $run) AS s
                  ON s.module_id = v.module_id
                  AND s.locations_id = m.locations_id
                  AND s.value_id = v.value_id
                  AND s.source_file IS NOT NULL
                WHERE r.name = $run
                """,
                {"run": run},
            )
            for program, name, *source in rows:
                found[run, program, name].add(tuple(source))
    return dict(found)


def source(change: BufferChange) -> Source:
    return change.attribution, change.source_file, change.source_line


@pytest.mark.slow
def test_sources_are_those_of_the_sql_library(
    diffs: list[Report], demo_warehouse: Path
) -> None:
    known = known_sources(demo_warehouse)
    counts: Counter[str | None] = Counter()
    for report in diffs:
        for finding in report.findings:
            for change in finding.buffers:
                if name := change.candidate_instruction:
                    place = finding.candidate_run, finding.program, name
                elif name := change.base_instruction:
                    place = finding.base_run or "", finding.program, name
                else:
                    assert source(change) == NONE
                    continue
                assert source(change) in known.get(place, {NONE}), (place, change)
                counts[change.attribution] += 1
    assert min(counts["defined"], counts["read"], counts[None]) > 20, counts


@pytest.mark.slow
def test_what_the_compiler_adds_is_blamed_on_the_line_that_reads_it(
    diffs: list[Report],
) -> None:
    """XLA's own iotas and broadcasts for a select-and-scatter have no source line."""
    (finding,) = [
        finding
        for report in diffs
        for finding in report.findings
        if (finding.candidate_run, finding.program, finding.change)
        == ("jaxlib-0.5.3", "jit_cnn", "worse")
    ]
    change = dominating_source(finding)
    assert change is finding.buffers[0]
    assert change.candidate_instruction == "broadcast.26.clone"
    assert source(change) == ("read", "/opt/programs/zoo/zoo.py", 56)
