"""Forms are given what they show, and nothing else is read for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer, shown_by
from hlodb.schema.warehouse import connect
from tests.reports.situations import SITUATIONS
from tests.reports.worlds import make


@pytest.mark.slow
def test_tables_do_not_pay_for_pictures(tmp_path: Path) -> None:
    """The id is the same, whatever form a report is read for."""
    situation = SITUATIONS["mixed"]
    settings = parse_settings(situation.settings)
    with connect(make(tmp_path / "w.duckdb", *situation.worlds)) as connection:
        page = build_report(connection, Request(shown=shown_by(["html"])), settings)
        table = build_report(connection, Request(shown=shown_by(["csv"])), settings)
    assert page.arenas
    assert page.waste
    assert not any((table.arenas, table.curves, table.flames, table.waste))
    assert (table.report_id, table.findings) == (page.report_id, page.findings)
    assert renderer("csv")(table) == renderer("csv")(page)
