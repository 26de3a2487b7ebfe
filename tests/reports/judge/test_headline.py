"""What stands first in a report."""

from __future__ import annotations

from pathlib import Path

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.judge.sentences import annotated_line, cause_line
from hlodb.schema.warehouse import connect
from tests.reports.situations import SITUATIONS, report_on
from tests.reports.worlds import make


def test_growth_with_other_inputs_is_named_where_no_gate_judges_it(
    tmp_path: Path,
) -> None:
    worlds = SITUATIONS["changed_inputs"].worlds
    settings = parse_settings('[gates]\nchanged_inputs = "ignore"\n')
    with connect(make(tmp_path / "w.duckdb", *worlds)) as connection:
        request = SITUATIONS["changed_inputs"].request
        report = build_report(connection, request, settings)
    assert report.headline == "✅ no regression; 1 with other inputs (+2.00 MiB)"


def test_other_inputs_alone_have_no_line_to_annotate(tmp_path: Path) -> None:
    """The largest buffer has one, which did nothing."""
    [finding] = report_on("changed_inputs", tmp_path).findings
    assert annotated_line(finding) is None
    assert cause_line(finding) == ("model/train.py", 18)
