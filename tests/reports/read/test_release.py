"""Another release of the compiler, which only the names of its flags show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect
from tests.reports.document.test_brief import lines
from tests.reports.read.test_nights import sized
from tests.reports.situations import night
from tests.reports.worlds import World, make

OLD = {f"xla_{number}_old": "true" for number in range(3)}
NEW = {f"xla_{number}_new": "true" for number in range(3)}
COMMON = {"xla_common": "true"}


def run(number: int, size: int, flags: dict[str, str], *, commit: str) -> World:
    # A new release of the framework writes the same program otherwise.
    program = sized(size, source=f"lowered by {min(flags)}")
    return replace(night(number, program), flags=COMMON | flags, commit=commit)


def report_on(path: Path, *worlds: World, kind: str = "compile_options") -> Report:
    make(path, *worlds)
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "INSERT INTO store.files (file_id, file_key, path, kind) VALUES"
            " (1, 1, 'options', ?)",
            [kind],
        )
        connection.execute(
            "INSERT INTO store.run_files SELECT run_id, 1, 'loaded' FROM runs"
        )
    with connect(path) as connection:
        return build_report(connection, Request(), Settings())


def test_a_release_is_named_where_one_commit_is_compiled_twice(tmp_path: Path) -> None:
    nights = [run(1, 4, OLD, commit="c1"), run(2, 8, NEW, commit="c1")]
    report = report_on(tmp_path / "hlodb.duckdb", *nights)
    (finding,) = report.findings
    cause = "likely another release of XLA: 6 flags are known to one of them only"
    assert finding.cause is not None
    assert (finding.cause.title, finding.cause.standing) == (cause, "likely")
    assert report.headline == (
        "❌ 1 regression (1 gate failed): jit_step CPU memory +4.00 MiB (+100.0 %),"
        f" cause: {cause}"
    )
    said = lines(brief(report))
    assert said[0] == f"Why: {cause}."
    assert not any("git" in line or "framework" in line for line in said)
    assert "file=" not in renderer("github")(report)


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        # Lists that somebody may have set by hand are no other release.
        ({"xla_disable_hlo_passes": "fusion"}, "compile_options"),
        # What is not default says nothing about what is known.
        (NEW, "debug_options"),
    ],
)
def test_few_or_set_flags_are_no_release(
    tmp_path: Path, flags: dict[str, str], kind: str
) -> None:
    base: dict[str, str] = {} if kind == "compile_options" else OLD
    first = replace(night(1, sized(4)), flags=COMMON | base, commit="c1")
    second = replace(night(2, sized(8)), flags=COMMON | flags, commit="c2")
    report = report_on(tmp_path / "hlodb.duckdb", first, second, kind=kind)
    assert "release" not in report.headline
    assert report.findings[0].commands[-1] == "git rev-list --bisect 'c2^@' '^c1'"


def test_the_base_is_of_the_same_release_where_a_commit_has_several(
    tmp_path: Path,
) -> None:
    nights = [
        run(1, 4, OLD, commit="c1"),
        run(2, 8, NEW, commit="c1"),
        run(3, 4, OLD, commit="c2"),
    ]
    report = report_on(tmp_path / "hlodb.duckdb", *nights)
    assert report.comparison.base is not None
    assert report.comparison.base.name == "night-1"
    assert (report.headline, report.findings) == ("✅ no regression; 1 same", [])
