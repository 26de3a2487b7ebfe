"""A site: pages that lead to one another, made of what is new, and nobody else's."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest

from hlodb.cli import main
from hlodb.errors import UsageError
from hlodb.lake.opening import reading
from hlodb.reports.build import build_diff, build_report, report_on
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request, read_compared_runs
from hlodb.reports.read.facts import read_runs
from hlodb.reports.read.neighbours import (
    facts_of,
    find_lines,
    read_details_of,
    read_environments,
    read_line,
)
from hlodb.reports.read.programs import ProgramRow
from hlodb.reports.site import INDEX, SiteSummary, make_site
from hlodb.reports.site_folder import STATE_FILE, file_name
from hlodb.reports.triage import record
from tests.reports.pages import MOST_BYTES, Element, read_page
from tests.reports.worlds import Buffer, Program, World, make

MIB = 1 << 20
HOSTILE = "<img src=x onerror=alert(1)>/../\u202e & 'nightly'"


def program(name: str, mib: int) -> Program:
    size = (Buffer("work", mib * MIB, path="jit(f)/dot"),)
    return Program(name, size, text=f"{name}{mib}")


NIGHTS = [
    World("night-1", (program("jit_f", 4), program("jit_g", 8)), commit="aaa"),
    World("night-2", (program("jit_f", 4), program("jit_g", 12)), commit="bbb"),
    World("night-3", (program("jit_f", 4),), commit="ccc"),
]
OTHER = World(HOSTILE, (program(HOSTILE, 4),), series=None, platform="gpu")


def write(warehouse: Path, folder: Path) -> SiteSummary:
    with reading(warehouse) as connection:
        return make_site(connection, folder, Settings(), "Memory")


def pages(folder: Path) -> dict[str, str]:
    """Return every page by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.html"))
    }


def links(page: Element) -> list[str]:
    return [a.attributes["href"] for a in page.all("a")]


def lost_links(folder: Path) -> list[tuple[str, str]]:
    """Return the links that lead nowhere, with the page that has them."""
    read = {name: read_page(text) for name, text in pages(folder).items()}
    ids = {
        name: {e.attributes["id"] for e in page.all() if "id" in e.attributes}
        for name, page in read.items()
    }
    lost = []
    for name, page in read.items():
        for link in links(page):
            target, _, anchor = link.partition("#")
            path = (folder / name).parent / unquote(target) if target else folder / name
            found = path.resolve().relative_to(folder.resolve()).as_posix()
            if found not in read or (anchor and unquote(anchor) not in ids[found]):
                lost.append((name, link))
    return lost


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    return make(tmp_path / "w.duckdb", *NIGHTS)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site of three nights, and of a run that is like none of them."""
    folder = tmp_path_factory.mktemp("made")
    made = write(make(folder / "w.duckdb", *NIGHTS, OTHER), folder / "site")
    assert made == SiteSummary(runs=4, programs=3, pages=9, written=9, deleted=0)
    return folder / "site"


def test_every_run_and_program_has_a_page_and_links_lead_to_it(site: Path) -> None:
    found = pages(site)
    runs = {f"runs/{file_name(world.name)}" for world in (*NIGHTS, OTHER)}
    assert {name for name in found if name.startswith("runs/")} == runs
    assert lost_links(site) == []
    index = links(read_page(found["index.html"]))
    programs = {name for name in found if name.startswith("programs/")}
    assert runs | programs | {"findings.html"} <= set(index)
    for text in found.values():
        assert len(text.encode()) < MOST_BYTES
        assert "default-src 'none'" in text
        assert "<img" not in text


def test_a_run_is_compared_with_the_one_before(site: Path) -> None:
    found = pages(site)
    titles = {
        name: next(read_page(text).all("h1")).text
        for name, text in found.items()
        if name.startswith("runs/night")
    }
    assert titles == {
        "runs/night-1.html": "night-1: ⚪ nothing to compare yet: night-1 is the first"
        " run of series nightly",
        "runs/night-2.html": "night-2: ± 1 worse: jit_g CPU memory +4.00 MiB (+50.0 %),"
        " largest part: resized: dot f32[8] to f32[8] (+4.00 MiB); 1 same",
        "runs/night-3.html": "night-3: ± 1 missing; 1 same",
    }


@pytest.mark.slow
def test_only_what_is_new_is_written(tmp_path: Path) -> None:
    site, two = tmp_path / "site", make(tmp_path / "two.duckdb", *NIGHTS[:2])
    write(two, site)
    before = pages(site)
    times = {path: path.stat().st_mtime_ns for path in site.rglob("*.*")}
    assert write(two, site) == SiteSummary(2, 2, 6, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    three = make(tmp_path / "three.duckdb", *NIGHTS)
    write(three, site)
    after = pages(site)
    assert {name for name in after if after[name] != before.get(name)} == {
        "index.html",
        "runs/night-2.html",  # Its link to the next run.
        "runs/night-3.html",
        *(name for name in after if name.startswith("programs/jit_f")),
    }
    anew = tmp_path / "anew"
    write(three, anew)
    assert {n: t for n, t in pages(anew).items() if "programs/jit_g" not in n} == {
        n: t for n, t in after.items() if "programs/jit_g" not in n
    }
    write(two, site)
    assert pages(site) == before


@pytest.mark.slow
def test_a_page_that_is_gone_is_written_again(nights: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(nights, site)
    before = pages(site)
    (site / "runs" / "night-2.html").unlink()
    assert write(nights, site).written == 1
    assert pages(site) == before


def test_a_site_says_what_it_was_made_from(site: Path) -> None:
    text = (site / STATE_FILE).read_text(encoding="utf-8")
    state = json.loads(text)
    assert state["runs"] == [world.name for world in (*NIGHTS, OTHER)]
    assert state["pages"].keys() == pages(site).keys()
    assert str(site.parent) not in text


@pytest.mark.slow
def test_a_finding_leads_to_its_card(nights: Path, tmp_path: Path) -> None:
    with reading(nights) as connection:
        report = build_report(connection, Request(candidate="night-2"), Settings())
    assert record(nights, report)
    [finding] = report.findings
    write(nights, tmp_path / "site")
    address = f"runs/night-2.html#finding-{finding.id}"
    found = pages(tmp_path / "site")
    for name in ("index.html", "findings.html"):
        assert address in links(read_page(found[name]))
    assert lost_links(tmp_path / "site") == []
    assert main(["triage", finding.id, "acknowledge", "--db", str(nights)]) == 0
    write(nights, tmp_path / "site")
    assert address not in links(read_page(pages(tmp_path / "site")["index.html"]))


@pytest.mark.parametrize("what", ["files", "file"])
def test_files_of_others_are_left_alone(
    nights: Path, tmp_path: Path, what: str
) -> None:
    place = tmp_path / "place"
    if what == "file":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="name a"):
        write(nights, place)
    mine = place if what == "file" else place / "index.html"
    assert mine.read_text() == "mine"


@pytest.mark.slow
def test_a_list_of_pages_names_no_file_to_delete(nights: Path, tmp_path: Path) -> None:
    """The folder may come from somebody else."""
    site, mine = tmp_path / "site", tmp_path / "mine.html"
    mine.write_text("mine")
    site.mkdir()
    listed = {name: {"key": "", "says": ""} for name in ("../mine.html", str(mine))}
    (site / STATE_FILE).write_text(json.dumps({"pages": listed}))
    write(nights, site)
    assert mine.read_text() == "mine"
    (site / STATE_FILE).write_text("{")
    with pytest.raises(UsageError, match="delete the folder"):
        write(nights, site)


@pytest.mark.slow
def test_a_full_disk_is_said_and_the_rest_follows(
    nights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if "night-2" in path.name:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_bytes(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(UsageError, match=r"night-2\.html: No space left on device"):
            write(nights, site)
    assert not list(site.rglob(".*.html*"))
    write(nights, site)
    anew = tmp_path / "anew"
    write(nights, anew)
    assert pages(site) == pages(anew)


def test_a_warehouse_without_runs_has_no_site(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    warehouse = make(tmp_path / "w.duckdb")
    site = tmp_path / "site"
    assert main(["site", str(site), "--db", str(warehouse)]) == 2
    assert "the warehouse holds no run" in capfd.readouterr().err
    assert not site.exists()


@pytest.mark.slow
def test_the_command_counts_pages(
    nights: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ["site", str(tmp_path / "site"), "--title", "Ours", "--db", str(nights)]
    assert main(asked) == 0
    assert "3 runs, 2 programs: 7 pages written, 0 unchanged" in capfd.readouterr().err
    assert main(asked) == 0
    assert ": 0 pages written, 7 unchanged" in capfd.readouterr().err
    assert "Ours: 3 runs" in (tmp_path / "site" / "index.html").read_text()


def test_names_of_pages_differ_where_names_do() -> None:
    names = ["a", "A", "a b", "a-b", "a/b", "..", ".", "", "ä", "x" * 300, "x" * 301]
    found = [file_name(name) for name in names]
    assert len({each.lower() for each in found}) == len(names)
    assert all(len(each) < 110 and each[0] != "." for each in found)
    assert file_name("nightly-7") == "nightly-7.html"


def resized(size: int) -> Program:
    """Return a program whose inputs have `size` elements, and its memory as well."""
    shapes = f"(f32[{size}]{{0}})->f32[{size}]{{0}}"
    return replace(program("jit_f", size), shapes=shapes, source=f"f{size}")


FOLLOWED = [
    World("one", (resized(8), program("jit_g", 4), program("jit_h", 4))),
    World("two", (resized(16), replace(program("jit_g", 4), name="jit_k"))),
    World("three", (resized(8), program("jit_k", 6), program("jit_h", 4))),
]
"""Other inputs for one run, a renamed program, and one that a run misses."""


class Said(NamedTuple):
    """What a diff or a page says of a run and the run before it."""

    headline: str
    programs: list[ProgramRow]
    findings: list[Finding]


def said(report: Report) -> Said:
    """Return a report without what it says of earlier runs."""
    return Said(
        report.headline,
        report.programs,
        [replace(f, first_run=None, history=[]) for f in report.findings],
    )


def in_diffs_and_on_pages(warehouse: Path) -> list[tuple[Said, Said]]:
    """Return what diffs and pages say of every run and the run before it."""
    settings = Settings(floor_bytes=0, floor_ratio=0.0, managed_ratio=0.0)
    found = []
    with reading(warehouse) as connection:
        runs = read_runs(connection)
        for members in find_lines(connection, runs, settings):
            with read_line(connection, *members, runs, settings) as (line, _):
                pass
            details = read_details_of(connection, line.neighbours, settings.top)
            environments = read_environments(connection, line.neighbours)
            for each in line.neighbours:
                if each.base is None:
                    continue
                names = each.base.name, each.run.name
                diff = build_diff(connection, *names, settings, top=settings.top)
                facts = facts_of(
                    connection,
                    line,
                    each,
                    details,
                    {},
                    [],
                    environments[each.run.run_id],
                )
                found.append((said(diff), said(report_on(facts, settings))))
    return found


def test_what_is_known_of_a_line_changes_no_comparison(tmp_path: Path) -> None:
    with reading(make(tmp_path / "w.duckdb", *FOLLOWED)) as connection:
        runs = read_runs(connection)
        [*_, (line, members)] = find_lines(connection, runs, Settings())
        request = Request(candidate=members[-1].name)
        alone = read_compared_runs(connection, request, Settings())
        with read_line(connection, line, members, runs, Settings()) as (_, followed):
            emptied = followed._replace(steps=[])
            assert followed.line == alone.line
            assert (
                read_compared_runs(connection, request, Settings(), followed) == alone
            )
            short = read_compared_runs(connection, request, Settings(), emptied)
    assert alone.history.steps
    # What is known is indeed taken.
    assert short.history.steps == []


def test_pages_of_runs_say_what_diffs_say(tmp_path: Path) -> None:
    found = in_diffs_and_on_pages(make(tmp_path / "w.duckdb", *FOLLOWED))
    assert [page for _, page in found] == [diff for diff, _ in found]
    assert [
        [(p.base_program, p.program, p.state) for p in page.programs]
        for _, page in found
    ] == [
        [
            (None, "jit_f", "changed"),
            (None, "jit_h", "failed"),
            ("jit_g", "jit_k", "same"),
        ],
        [
            (None, "jit_f", "changed"),
            (None, "jit_h", "new"),
            (None, "jit_k", "worse"),
        ],
    ]


@pytest.mark.slow
def test_pages_of_the_demo_say_what_diffs_say(demo_warehouse: Path) -> None:
    found = in_diffs_and_on_pages(demo_warehouse)
    assert len(found) == 8
    assert [page for _, page in found] == [diff for diff, _ in found]


@pytest.mark.slow
def test_the_site_of_the_demo(demo_warehouse: Path, tmp_path: Path) -> None:
    made = write(demo_warehouse, tmp_path / "site")
    assert (made.runs, made.pages) == (10, made.programs + 12)
    assert lost_links(tmp_path / "site") == []
    assert max(len(t.encode()) for t in pages(tmp_path / "site").values()) < MOST_BYTES


@pytest.mark.slow
def test_a_lake_has_the_same_site(demo_warehouse: Path, tmp_path: Path) -> None:
    lake = tmp_path / "w.lake"
    assert main(["lake", "pack", str(demo_warehouse), str(lake)]) == 0
    write(demo_warehouse, tmp_path / "of-file")
    write(lake, tmp_path / "of-lake")
    of_lake, of_file = pages(tmp_path / "of-lake"), pages(tmp_path / "of-file")
    assert of_lake.keys() == of_file.keys()
    # Of lines that a remedy holds equally for, programs show any one.
    for name in of_lake:
        if not name.startswith("programs/"):
            assert of_lake[name] == of_file[name]


@pytest.mark.slow
def test_the_first_page_says_which_gates_fail(tmp_path: Path) -> None:
    """As `hlodb report` does: budgets fail where nothing got worse."""
    same = [World(f"night-{n}", (program("jit_f", 4),)) for n in (1, 2)]
    path = make(tmp_path / "hlodb.duckdb", *same)
    settings = parse_settings('[[budget]]\nprogram = "jit_f"\nbytes = "1 MiB"\n')
    with reading(path) as connection:
        make_site(connection, tmp_path / "site", settings, "Memory")
    page = (tmp_path / "site" / INDEX).read_text(encoding="utf-8")
    failed = "jit_f CPU memory is 3.00 MiB over the budget of 1.00 MiB"
    assert f"Report: ❌ 1 gate failed: {failed}; 1 same" in page
    assert f"Gate budget failed: {failed}." in page
    assert "last run" not in page


@pytest.mark.slow
@pytest.mark.parametrize("runs", [[*NIGHTS[:2], OTHER], FOLLOWED])
def test_the_first_page_says_what_the_report_says(
    tmp_path: Path, runs: list[World]
) -> None:
    """Though it takes causes from the pages of runs."""
    path = make(tmp_path / "hlodb.duckdb", *runs)
    write(path, tmp_path / "site")
    page = read_page((tmp_path / "site" / INDEX).read_text(encoding="utf-8"))
    last = [world for world in runs if world.series][-1]
    with reading(path) as connection:
        report = build_report(connection, Request(candidate=last.name), Settings())
    assert f"Report: {report.headline}" in [p.text for p in page.all("p")]
