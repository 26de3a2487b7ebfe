"""Logs, memory reports and memory analyses on their way into the warehouse."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.formats.proto.hlo_pb2 import XSpace
from hlodb.ingest.load.run_records import RunRequest, RunSummary
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.stored import REPORT_TABLES
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, all_rows
from tests.ingest.formats.logs.test_oom_log import GPU, TPU

BEFORE = DATA / "moved_lines" / "before"
AFTER = "module_0008.jit_cg.cpu_after_optimizations"
TABLES = ("computations", "allocations", "operands", "memory_profile", "live_ranges")


def load(db: Path, *paths: Path, name: str | None = None) -> list[RunSummary]:
    return ingest([str(p) for p in paths], db, request=RunRequest(name=name), jobs=1)


def rows(db: Path, question: str) -> list[tuple[Any, ...]]:
    with connect(db) as connection:
        return connection.execute(question).fetchall()


def write_log(folder: Path) -> Path:
    """Write a log of the dump's texts, Python stacks and reports between them."""
    folder.mkdir()
    parts = ["starting\n"]
    for path in sorted(BEFORE.glob("*.txt")):
        text = path.read_text()
        parts.append(f"*** Begin {path.name} ***\n{text}*** End {path.name} ***\n")
        parts.append('Traceback (most recent call last):\n  File "x.py", line 3\n')
    (folder / "run.log").write_text("".join([*parts, GPU, TPU]))
    return folder


@pytest.mark.slow
def test_a_log_holds_what_the_dump_holds(tmp_path: Path) -> None:
    logged, dumped = tmp_path / "log.duckdb", tmp_path / "dump.duckdb"
    load(logged, write_log(tmp_path / "log"))
    load(dumped, BEFORE)
    found, expected = all_rows(logged), all_rows(dumped)
    for table in (*TABLES, "memory_reports", "memory_report_values"):
        assert found[table] == expected[table]
    assert rows(logged, "SELECT path FROM modules ORDER BY ALL") == [
        (f"run.log/{path}",)
        for (path,) in rows(dumped, "SELECT path FROM modules ORDER BY ALL")
    ]
    unread = 1 + 2 * len(list(BEFORE.glob("*.txt"))) + 1
    assert rows(
        logged,
        "SELECT path, kind, status, lines_unclaimed FROM dump_files WHERE kind = 'log'",
    ) == [("run.log", "log", "loaded", unread)]


def test_reports_of_running_out_of_memory(tmp_path: Path) -> None:
    db, folder = tmp_path / "w.duckdb", write_log(tmp_path / "log")
    load(db, folder, name="monday")
    # The same bytes in another run are not parsed again.
    load(db, folder, name="tuesday")
    for run in (1, 2):
        assert rows(
            db,
            "SELECT path, ordinal, form, space_name, requested_bytes, total_bytes,"
            f" program_bytes FROM oom_reports WHERE run_id = {run} ORDER BY ordinal",
        ) == [
            ("run.log", 0, "buffer_assignment", None, 6291456, 12582912, None),
            ("run.log", 1, "program_memory", "hbm", None, None, 64 << 30),
        ]
        assert rows(
            db,
            "SELECT ordinal, place, size_bytes, unpadded_bytes, is_parameter"
            f" FROM oom_buffers WHERE run_id = {run} ORDER BY ALL",
        ) == [
            (0, 1, 6291456, None, False),
            (0, 2, 393216, None, True),
            (1, 1, 2 << 30, 64 << 20, False),
        ]


def test_evidence_comes_from_a_run_that_has_it(tmp_path: Path) -> None:
    """The first may be of an hlodb that compared no text with the proto beside it."""
    db = tmp_path / "w.duckdb"
    for name in ("monday", "tuesday", "wednesday"):
        load(db, DATA / "proto" / "tpu-v5e-jax-0.10.2.tar.xz", name=name)
        if name == "tuesday":
            with connect(db, read_only=False) as connection:
                connection.execute("DELETE FROM proto_comparisons WHERE run_id = 1")
    compared = "SELECT * EXCLUDE (run_id) FROM proto_comparisons WHERE run_id"
    tuesday = rows(db, f"{compared} = 2 ORDER BY ALL")
    assert tuesday
    assert rows(db, f"{compared} = 3 ORDER BY ALL") == tuesday


def test_a_log_of_nothing_but_a_report(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "stderr.txt").write_text(f"hello\n{GPU}")
    load(tmp_path / "w.duckdb", tmp_path / "log")
    assert rows(
        tmp_path / "w.duckdb", "SELECT status, lines_unclaimed FROM dump_files"
    ) == [("loaded", 2)]


def test_a_framed_file_that_breaks_off(tmp_path: Path) -> None:
    folder = write_log(tmp_path / "log")
    path = folder / "run.log"
    text = path.read_text()
    path.write_text(text[: text.index(f"*** End {AFTER}.txt ***")])
    load(tmp_path / "w.duckdb", folder)
    assert rows(tmp_path / "w.duckdb", "SELECT path, code, message FROM rejects") == [
        (f"run.log/{AFTER}.txt", "cut_short", "its log ends before it does")
    ]


def test_a_file_framed_twice(tmp_path: Path) -> None:
    folder = write_log(tmp_path / "log")
    path = folder / "run.log"
    path.write_text(path.read_text() * 2)
    load(tmp_path / "w.duckdb", folder)
    found = rows(
        tmp_path / "w.duckdb",
        f"SELECT path FROM dump_files WHERE ends_with(path, '/{AFTER}.txt')"
        " ORDER BY ALL",
    )
    assert found == [(f"run.log/2/{AFTER}.txt",), (f"run.log/{AFTER}.txt",)]


@pytest.mark.parametrize(
    "lines", ["  host_tracer_level: 2\n}\n", "", "step 1\n", "}\n"]
)
def test_blocks_of_a_log_open_no_computation(tmp_path: Path, lines: str) -> None:
    """A text proto looks like `name {`, too; its lines are unread, not broken."""
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    module = (BEFORE / f"{AFTER}.txt").read_text()
    dump.mkdir()
    block = f"trace_options {{\n{lines}"
    (dump / "job.log").write_text(f"start\n{block}{module}\n{block}")
    load(db, dump)
    whole = tmp_path / "whole.duckdb"
    shutil.copy(BEFORE / f"{AFTER}.txt", tmp_path)
    load(whole, tmp_path / f"{AFTER}.txt")
    question = """
        SELECT name, computation_count, instruction_count, exact_fingerprint
        FROM modules
    """
    assert rows(db, question) == rows(whole, question)
    assert rows(db, "SELECT * FROM rejects") == []


def test_a_profile_without_hlo_is_ignored(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    dump.mkdir()
    space = XSpace()
    space.planes.add(name=b"/host:CPU").event_metadata[1].name = b"TfrtCpuExecutable"
    (dump / "vm.xplane.pb").write_bytes(space.SerializeToString())
    [summary] = load(db, dump)
    assert (summary.modules, summary.rejects) == (0, 0)
    assert rows(db, "SELECT kind, status, reason FROM dump_files") == [
        ("xplane", "ignored", "XSpace profile that carries no HLO")
    ]


def test_equal_reports_give_equal_rows_in_any_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one.duckdb", tmp_path / "two.duckdb"
    dump = tmp_path / "dump"
    shutil.copytree(BEFORE, dump)
    load(one, dump)
    path = dump / f"{AFTER}-memory-usage-report.txt"
    head, *tables = path.read_text().split("\n  cumulative_size;")
    swapped = [f"\n  cumulative_size;{table}" for table in reversed(tables)]
    path.write_text("".join([head, *swapped]))
    load(two, dump)
    first, second = all_rows(one), all_rows(two)
    for table in ("memory_reports", "memory_report_values", "modules"):
        assert first[table] == second[table] or table == "modules"
    assert first["memory_report_values"] != []


def test_a_report_that_comes_later(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    shutil.copytree(BEFORE, dump)
    report = dump / f"{AFTER}-memory-usage-report.txt"
    report.rename(tmp_path / report.name)
    load(db, dump)
    before = rows(db, "SELECT count(*) FROM memory_reports")
    shutil.move(tmp_path / report.name, report)
    load(db, dump)
    assert (before, rows(db, "SELECT count(*) FROM memory_reports")) == ([(1,)], [(2,)])


@pytest.mark.slow
def test_a_memory_report_alone_keeps_its_totals_and_allocations(tmp_path: Path) -> None:
    """With name and number of the module, as the rows beside its HLO have them."""
    dump = tmp_path / "dump"
    dump.mkdir()
    shutil.copy(BEFORE / f"{AFTER}-memory-usage-report.txt", dump)
    found = {}
    for name, source in (("alone", dump), ("whole", BEFORE)):
        db = tmp_path / f"{name}.duckdb"
        [summary] = load(db, source)
        assert summary.rejects == 0
        found[name] = [
            rows(
                db,
                f"""
                SELECT m.module_number, m.name, m.program, m.stage, m.platform,
                  r.* EXCLUDE (module_id)
                FROM modules AS m JOIN {table} AS r USING (module_id)
                WHERE m.module_number = 8 ORDER BY ALL
                """,
            )
            for table in REPORT_TABLES
        ]
    assert found["alone"] == found["whole"]
    assert found["alone"][0] != []
    db = tmp_path / "alone.duckdb"
    assert rows(
        db,
        "SELECT instruction_count, allocation_count, has_assignment FROM modules",
    ) == [(0, 0, False)]
    assert set(rows(db, "SELECT status FROM dump_files")) == {("loaded",)}
    [again] = load(db, dump)
    assert (again.unchanged_files, again.new_modules) == (len(list(dump.iterdir())), 0)
    for path in BEFORE.glob(f"{AFTER}*.txt"):
        shutil.copy(path, dump)
    load(db, dump)
    assert rows(db, "SELECT has_assignment FROM modules") == [(True,)]


def test_the_report_of_a_module_that_came_first_stays(tmp_path: Path) -> None:
    db, number = tmp_path / "w.duckdb", "Total bytes: 1061176"
    for night in ("a", "b"):
        (tmp_path / night).mkdir()
        for path in BEFORE.glob(f"{AFTER}*"):
            text = path.read_text()
            changed = text.replace(number, f"{number}9") if night == "b" else text
            (tmp_path / night / path.name).write_text(changed)
        load(db, tmp_path / night)
    found = rows(db, "SELECT count(*), count(DISTINCT module_id) FROM modules")
    assert found == [(2, 1)]
    totals = rows(db, "SELECT total_bytes FROM memory_reports WHERE color = 0")
    assert totals == [(1061176,)]


def test_memory_reports_of_two_nights_are_one_module(tmp_path: Path) -> None:
    """Equal ones are stored once, others by themselves."""
    db = tmp_path / "w.duckdb"
    name = "module_0001.jit_f.cpu_after_optimizations-memory-usage-report.txt"
    for night, total in (("a", 64), ("b", 64), ("c", 128)):
        (tmp_path / night).mkdir()
        text = f"Total bytes used: {total} ({total}B)\n\nAllocations sorted by size:\n"
        (tmp_path / night / name).write_text(text)
        load(db, tmp_path / night)
    assert rows(
        db,
        """
        SELECT r.name, m.name, m.module_number, t.color, t.total_bytes
        FROM runs AS r JOIN modules AS m USING (run_id)
        JOIN memory_reports AS t USING (module_id) ORDER BY r.name
        """,
    ) == [
        ("a", "jit_f", 1, None, 64),
        ("b", "jit_f", 1, None, 64),
        ("c", "jit_f", 1, None, 128),
    ]
    assert rows(db, "SELECT count(DISTINCT module_id) FROM modules") == [(2,)]


@pytest.mark.slow
@pytest.mark.shared
def test_memory_analyses_agree(full_warehouse: Path) -> None:
    """Every size of every program, on CPU and TPU, but what libtpu calls temp."""
    found = rows(
        full_warehouse,
        """
        SELECT
          r.platform, count(DISTINCT (a.run_id, a.module_name)) AS programs,
          bool_and(a.argument_bytes = s.argument), bool_and(a.output_bytes = s.output),
          bool_and(a.alias_bytes = s.alias), bool_and(a.temp_bytes = s.temp)
        FROM memory_analysis AS a
        JOIN runs AS r USING (run_id)
        JOIN modules AS m ON m.run_id = a.run_id AND m.name = a.module_name
        JOIN (
          SELECT
            module_id, sum(size_bytes) FILTER (WHERE kind = 'parameter') AS argument,
            sum(size_bytes) FILTER (WHERE is_live_out) AS output,
            coalesce(
              sum(size_bytes) FILTER (WHERE is_live_out AND kind = 'parameter'), 0
            ) AS alias,
            sum(size_bytes) FILTER (WHERE kind = 'temp') AS temp
          FROM allocations
          GROUP BY module_id
        ) AS s USING (module_id)
        GROUP BY ALL
        ORDER BY ALL
        """,
    )
    assert found == [
        ("cpu", 18, True, True, True, True),
        ("tpu", 7, True, True, True, False),
    ]


@pytest.mark.shared
@pytest.mark.slow
def test_what_the_peak_of_a_memory_analysis_is(full_warehouse: Path) -> None:
    """Parameters, constants and live-outs, and on TPU the fullest space beside them."""
    found = rows(
        full_warehouse,
        """
        SELECT r.platform, m.program, a.peak_bytes - s.standing_bytes, s.temp_peak_bytes
        FROM memory_analysis AS a
        JOIN runs AS r USING (run_id)
        JOIN modules AS m ON m.run_id = a.run_id AND m.name = a.module_name
        JOIN (
          SELECT
            module_id,
            sum(parameter_bytes + constant_bytes + live_out_bytes) AS standing_bytes,
            max(temp_live_peak_bytes) AS temp_peak_bytes
          FROM memory_profile
          GROUP BY module_id
        ) AS s USING (module_id)
        WHERE ends_with(r.name, '0.10.2')
        ORDER BY ALL
        """,
    )
    assert {extra for platform, _, extra, _ in found if platform == "cpu"} == {0}
    beyond = {
        program: extra - peak
        for platform, program, extra, peak in found
        if platform == "tpu" and extra != peak
    }
    assert beyond == {"jit_cg": 2048, "jit_gpt_scan_remat": 6291456}
