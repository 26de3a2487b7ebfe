"""What a report says night after night: which nights it holds against which."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.triage import decide, record
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.reports.situations import MIB, WORK, night
from tests.reports.worlds import Program, World, make


def sized(mebibytes: int, name: str = "jit_step", **more: object) -> Program:
    """Return a program of one source that holds so much."""
    work = replace(WORK, size=mebibytes * MIB)
    program = Program(name, (work,), text=f"{name} {mebibytes}", source=name)
    return replace(program, **more)  # type: ignore[arg-type]


def report_of(path: Path, *worlds: World, **request: str) -> Report:
    """Return the report on the last of some runs."""
    path.unlink(missing_ok=True)
    with connect(make(path, *worlds)) as connection:
        return build_report(connection, Request(**request), Settings())  # type: ignore[arg-type]


def rows(report: Report) -> list[tuple[str, str, str]]:
    """Return program with rank, change and rule of every row."""
    return [
        (p.program if p.rank is None else f"{p.program} {p.rank}", p.change, p.rule)
        for p in report.programs
    ]


@pytest.mark.slow
def test_one_odd_rank_alerts_and_silences_nobody(tmp_path: Path) -> None:
    def ranks(*sizes: int) -> list[Program]:
        return [sized(size, rank=rank) for rank, size in enumerate(sizes)]

    path = tmp_path / "hlodb.duckdb"
    nights = [night(1, *ranks(48, 48, 48)), night(2, *ranks(48, 52, 48))]
    assert rows(report_of(path, *nights)) == [
        ("jit_step 0", "same", "identical_artefact"),
        ("jit_step 1", "worse", "more_bytes"),
        ("jit_step 2", "same", "identical_artefact"),
    ]
    assert rows(report_of(path, *nights, night(3, *ranks(52, 52, 52)))) == [
        ("jit_step 0", "worse", "more_bytes"),
        ("jit_step 1", "same", "identical_artefact"),
        ("jit_step 2", "worse", "more_bytes"),
    ]


@pytest.mark.slow
def test_one_more_compilation_that_is_larger_is_followed(tmp_path: Path) -> None:
    """Until it is as small as the first, or not there."""
    path = tmp_path / "hlodb.duckdb"
    both = [sized(48), sized(60)]
    nights = [night(1, sized(48)), night(2, *both)]
    (finding,) = report_of(path, *nights).findings
    assert (finding.change, finding.delta_bytes) == ("worse", 12 * MIB)
    for number in (3, 4):
        nights.append(night(number, *both))
        (later,) = report_of(path, *nights).findings
        assert (later.id, later.first_run, later.stands) == (
            finding.id,
            "night-2",
            True,
        )
    (now,) = report_of(path, *nights, night(5, sized(48))).findings
    assert (now.id, now.state) == (finding.id, "undone")
    found = report_of(path, *nights, night(5, sized(48), sized(48))).findings
    states = {f.state for f in found if f.id == finding.id}
    assert states == {"undone"}


@pytest.mark.slow
def test_one_odd_compile_of_several_does_not_excuse_itself(tmp_path: Path) -> None:
    """What the runs before did is noise; the night after, the rise still stands."""
    path = tmp_path / "hlodb.duckdb"
    odd = [sized(48), sized(48), sized(60)]
    nights = [night(1, *[sized(48)] * 3), night(2, *odd)]
    report = report_of(path, *nights)
    (finding,) = report.findings
    assert (finding.change, finding.delta_bytes) == ("worse", 12 * MIB)
    assert [h.candidate for h in report.health if h.kind == "nondeterministic"] == [
        12 * MIB
    ]
    later = report_of(path, *nights, night(3, *odd))
    assert [(f.id, f.first_run, f.stands) for f in later.findings] == [
        (finding.id, "night-2", True)
    ]
    assert {p.noise_band_bytes for p in later.programs} == {12 * MIB}
    noisy = [night(1, sized(48), sized(61)), night(2, *odd)]
    assert report_of(path, *noisy).findings == []


@pytest.mark.slow
def test_a_program_that_each_rank_compiles_is_no_recompilation(tmp_path: Path) -> None:
    path = tmp_path / "hlodb.duckdb"
    each = [sized(5, rank=rank) for rank in range(4)]
    again = sized(5, rank=2, text="again")
    settings = Settings(recompiles=1)
    found = []
    for programs in (each, [*each, again]):
        path.unlink(missing_ok=True)
        with connect(make(path, night(1, *each), night(2, *programs))) as connection:
            gates = build_report(connection, Request(), settings).gates
        found += [(g.status, g.value) for g in gates if g.gate == "recompiles"]
    assert found == [("pass", 0), ("fail", 2)]


@pytest.mark.slow
def test_a_difference_counts_alike_from_either_side(tmp_path: Path) -> None:
    """At the floors: 1 MiB, and half a percent of the smaller."""
    path = tmp_path / "hlodb.duckdb"
    found = {
        sizes: rows(report_of(path, *(night(n, sized(s)) for n, s in enumerate(sizes))))
        for sizes in ((200, 201), (201, 200), (201, 202), (202, 201))
    }
    assert {sizes: row[1] for sizes, (row,) in found.items()} == {
        (200, 201): "worse",
        (201, 200): "improved",
        (201, 202): "same",
        (202, 201): "same",
    }


@pytest.mark.slow
def test_what_comes_back_larger_is_worse(tmp_path: Path) -> None:
    path = tmp_path / "hlodb.duckdb"
    nights = [night(1, sized(4), sized(5, "jit_eval")), night(2, sized(4))]
    back = night(3, sized(4), sized(9, "jit_eval"))
    report = report_of(path, *nights, back)
    (finding,) = report.findings
    assert (finding.change, finding.base_run, finding.tags, report.exit_code) == (
        "worse",
        "night-1",
        ["recovered"],
        1,
    )
    after = report_of(path, *nights, back, replace(back, name="night-4"))
    (standing,) = after.findings
    assert (standing.id, standing.stands) == (finding.id, True)


@pytest.mark.slow
def test_a_namesake_of_other_shapes_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "hlodb.duckdb"
    small = sized(3)
    large = sized(8, shapes="(f32[16]{0})->f32[8]{0}", source="large")
    nights = [night(1, small, large), night(2, small)]
    for baseline in ("previous", "window"):
        report = report_of(path, *nights, baseline=baseline)
        assert (rows(report), report.exit_code) == (
            [
                ("jit_step", "same", "identical_artefact"),
                ("jit_step", "failed", "only_in_base"),
            ],
            1,
        )
    twice = [night(1, small, replace(small, text="again")), night(2, small)]
    for baseline in ("previous", "window"):
        assert report_of(path, *twice, baseline=baseline).exit_code == 0


def shaped(width: int, opcode: str = "dot") -> Program:
    """Return one of the programs that a framework gives the same name."""
    shapes = f"(f32[{width}]{{0}})->f32[8]{{0}}"
    work = replace(WORK, opcode=opcode)
    return Program("SyncTensorsGraph", (work,), shapes, None, f"{width} {opcode}")


def missing(path: Path, before: list[Program], after: list[Program]) -> list[str]:
    """Return the shapes of programs of one run that two later ones lack."""
    path.unlink(missing_ok=True)
    nights = night(1, *before), night(2, *after), night(3, *after)
    with connect(make(path, *nights)) as connection:
        return [
            shapes
            for row in run_query(connection, "program_tracks").dicts()
            if row["missing_run_id"] == 2
            for (shapes,) in connection.execute(
                "SELECT entry_shapes FROM compilations(run_ids := [?]) WHERE place = ?",
                [row["run_id"], row["place"]],
            ).fetchall()
        ]


@pytest.mark.slow
def test_new_namesakes_may_be_what_became_of_those_that_are_gone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hlodb.duckdb"
    a, b, c = shaped(1), shaped(2), shaped(3)
    other = shaped(4, "convolution")
    elsewhere = replace(shaped(8), name="other")
    assert missing(path, [a, b], [a]) == ["(f32[2])->f32[8]"]
    assert missing(path, [a, b, c], [a, other]) == ["(f32[3])->f32[8]"]
    assert missing(path, [a, a], [a]) == []
    assert missing(path, [a, b], [a, elsewhere]) == ["(f32[2])->f32[8]"]


@pytest.mark.slow
def test_what_vanished_is_named_until_it_is_back_or_decided(tmp_path: Path) -> None:
    path = tmp_path / "hlodb.duckdb"
    step, evaluation = sized(3), sized(5, "jit_eval")
    nights = [
        night(1, step, evaluation),
        night(2, step),
        night(3, step),
        night(4, step, evaluation),
        night(5, step, evaluation),
    ]
    (gone,) = report_of(path, *nights[:2]).findings
    assert (gone.scope, gone.change, gone.stands) == ("candidate", "failed", False)
    third = report_of(path, *nights[:3])
    (still,) = third.findings
    assert (still.id, still.scope, still.stands) == (gone.id, "history", True)
    assert (still.first_run, still.base_run) == ("night-2", "night-1")
    assert third.exit_code == 0
    assert record(path, third)
    decide(path, gone.id, "accept", reason="it moved", until=None, actor="me")
    with connect(path) as connection:
        (decided,) = build_report(connection, Request(), Settings()).findings
        assert decided.triage is not None
        allowed = Settings(missing_program=False)
        assert build_report(connection, Request(), allowed).findings == []
    assert [f.change for f in report_of(path, *nights[:4]).findings] == ["recovered"]
    assert report_of(path, *nights).findings == []


@pytest.mark.slow
def test_what_vanished_is_one_finding_whatever_the_base(tmp_path: Path) -> None:
    """Also where a base is held for many nights, and the program had changed since."""
    step, evaluation = sized(3), sized(5, "jit_eval")
    nights = [
        night(1, step, evaluation),
        night(2, step, replace(evaluation, text="reordered")),
        night(3, step),
        night(4, step),
    ]
    path = tmp_path / "hlodb.duckdb"
    found = [
        finding
        for number, base in ((3, "night-2"), (3, "night-1"), (4, "night-1"), (4, None))
        for finding in report_of(
            path, *nights[:number], **({"baseline": base} if base else {})
        ).findings
    ]
    told = [(f.change, f.first_run, f.scope) for f in found]
    assert told == [
        ("failed", "night-3", "candidate"),
        ("failed", "night-3", "candidate"),
        ("failed", "night-3", "candidate"),
        ("failed", "night-3", "history"),
    ]
    assert len({finding.id for finding in found}) == 1


@pytest.mark.slow
def test_what_the_base_never_had_is_not_missing(tmp_path: Path) -> None:
    """A branch that forked before a program came knows nothing of it."""
    nights = [
        night(1, sized(3)),
        night(2, sized(3), sized(5, "jit_eval")),
        night(3, sized(3)),
        night(4, sized(3)),
    ]
    path = tmp_path / "hlodb.duckdb"
    assert report_of(path, *nights, baseline="night-1").findings == []


@pytest.mark.slow
def test_the_window_looks_at_what_is_comparable(tmp_path: Path) -> None:
    def wide(mebibytes: int) -> Program:
        shapes = "(f32[16]{0})->f32[8]{0}"
        return sized(mebibytes, shapes=shapes, source="wide")

    path = tmp_path / "hlodb.duckdb"
    changed = [night(1, sized(3)), night(2, wide(8))]
    report = report_of(path, *changed, baseline="window")
    assert rows(report) == [("jit_step", "changed", "other_inputs")]
    nights = [*changed, night(3, wide(9)), night(4, wide(20))]
    report = report_of(path, *nights, baseline="window")
    assert [(f.change, f.base_run) for f in report.findings[:1]] == [
        ("worse", "night-2")
    ]


@pytest.mark.slow
def test_the_window_has_a_base_for_every_memory_space(tmp_path: Path) -> None:
    def spaces(*mebibytes: int) -> Program:
        work = [
            replace(WORK, size=size * MIB, color=color, offset=0)
            for color, size in enumerate(mebibytes)
        ]
        return Program("jit_step", tuple(work), text=repr(mebibytes))

    sizes = [(1000, 40), (1000, 60), (999, 100), (999, 100)]
    nights = [night(n, spaces(*each)) for n, each in enumerate(sizes, 1)]
    report = report_of(tmp_path / "hlodb.duckdb", *nights, baseline="window")
    bases = [f for f in report.findings if f.scope == "candidate"]
    assert [(f.color, f.base_run, f.base_bytes) for f in bases] == [
        (1, "night-1", 40 * MIB)
    ]
    assert len(report.programs) == 2
    assert (report.comparison.matched, report.comparison.identical) == (1, 0)


@pytest.mark.slow
def test_main_knows_nothing_of_branches(tmp_path: Path) -> None:
    """Their runs are no bases of it, and no steps of its history."""
    nights = [
        night(1, sized(3), branch="main"),
        night(2, sized(9), labels='{"branch": "feature"}'),
        night(3, sized(5), branch="main"),
    ]
    path = tmp_path / "hlodb.duckdb"
    (finding,) = report_of(path, *nights).findings
    assert (finding.change, finding.base_run) == ("worse", "night-1")
    report = report_of(path, *nights, night(4, sized(5), branch="main"))
    assert report.comparison.series_runs == ["night-1", "night-3", "night-4"]
    assert [(f.first_run, f.stands) for f in report.findings] == [("night-3", True)]


@pytest.mark.slow
def test_an_unsound_night_is_neither_base_nor_step(tmp_path: Path) -> None:
    """What is lost of a night looks like a gain, and a rise after it."""
    step = sized(5)
    nights = [night(1, step), night(2, sized(1, printed=5)), night(3, step)]
    path = tmp_path / "hlodb.duckdb"
    assert report_of(path, *nights[:2]).exit_code == 3
    for baseline in ("auto", "previous", "window"):
        report = report_of(path, *nights, baseline=baseline)
        assert report.comparison.base is not None
        assert (report.comparison.base.name, report.exit_code) == ("night-1", 0)
        assert (report.findings, report.quality) == ([], [])
        assert report.comparison.series_runs == ["night-1", "night-3"]
    assert any('left out of base and history: "night-2".' in n for n in report.notes)
    assert report_of(path, *nights, baseline="night-2").exit_code == 3
    rejected = night(2, sized(1), rejects=("bad_size",))
    report = report_of(path, nights[0], rejected, nights[2])
    assert report.comparison.series_runs == ["night-1", "night-3"]


@pytest.mark.slow
def test_where_no_night_is_sound_the_verdict_is_unknown(tmp_path: Path) -> None:
    nights = [night(1, sized(1, printed=5)), night(2, sized(5))]
    report = report_of(tmp_path / "hlodb.duckdb", *nights)
    assert (report.verdict, report.exit_code) == ("unknown", 3)


@pytest.mark.slow
def test_all_runs_that_hold_the_same_fault_are_unsound(tmp_path: Path) -> None:
    """Equal content is stored once, and a fault of it names one run only."""
    base = DATA / "changes" / "tensor" / "base"
    cut = shutil.copytree(base, tmp_path / "cut")
    (assignment,) = cut.glob("*buffer-assignment.txt")
    text = assignment.read_text()
    assignment.write_text(text[: text.rindex("\nallocation ") + 1])
    path = tmp_path / "hlodb.duckdb"
    for name, dump in (("good", base), ("cut-1", cut), ("cut-2", cut)):
        ingest([str(dump)], path, request=RunRequest(name=name), jobs=1)
    with connect(path) as connection:
        found = run_query(connection, "unsound_runs").column("run")
        off = {"consistency": False, "max_rejects": None}
        assert run_query(connection, "unsound_runs", off).rows == []
    assert sorted(found) == ["cut-1", "cut-2"]
