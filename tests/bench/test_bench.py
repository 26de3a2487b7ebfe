"""The benchmark works on tiny input, and its page shows the figures that are kept."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import cases, inputs
from bench.cases import CASES, Bench, memory, nights, passes, scaling
from bench.inputs import Input, Inputs
from bench.large_files import LARGE
from bench.measure import peak_bytes, run
from bench.page import NAME, PAGE, table
from bench.sides import ingest
from bench.tables import swollen, tables
from bench.widen import move_lines, one_module, widen_text
from docs.measured import with_table
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from tests.conftest import DATA

BEFORE = DATA / "moved_lines" / "before"
_CIRCUMSTANCES = {
    "measured_at": "2026-11-21T00:00:00",
    "rounds": 1,
    "machine": {"processor": "P", "cores": 2, "python": "3.11", "duckdb": "1.5"},
}


def _hlo_text() -> bytes:
    texts = BEFORE.rglob("*after_optimizations.txt")
    return max((path.read_bytes() for path in texts), key=len)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return a bench whose every input is two small programs."""
    tiny = Input("tiny", (BEFORE,))
    monkeypatch.setattr(Inputs, "passes", lambda _: tiny)
    monkeypatch.setattr(Inputs, "distinct", lambda _: tiny)
    monkeypatch.setattr(cases, "NIGHTS", 1)
    monkeypatch.setattr(cases, "MOVED_NIGHTS", 1)
    monkeypatch.setattr("bench.measure._PATIENCE_SECONDS", 0)
    return Bench(Inputs(tmp_path / "inputs"), tmp_path, 1, None, (1, 2))


@pytest.mark.slow
def test_a_comparison_has_a_figure_for_every_side(bench: Bench) -> None:
    figures = passes(bench)
    assert figures["input"] == {
        "title": "tiny", "bytes": 60_457, "files": 14, "runs": 1, "missing": "",
    } | {"bytes": bench.inputs.passes().bytes}  # fmt: skip
    assert {name: sorted(side) for name, side in figures["sides"].items()} == {
        name: [
            "all_seconds", "cpu_seconds", "others_ratio", "peak_bytes",
            *(["rows"] if name == "DuckDB from Parquet" else []), "seconds",
        ]
        for name in (
            "hlodb, new warehouse", "hlodb", "hlodb, all known",
            "reading and hashing", "DuckDB from Parquet",
        )
    }  # fmt: skip
    shown = tables({"passes": figures | _CIRCUMSTANCES})
    assert shown.startswith("### tiny: 14 files, 0.1 MB, 1 runs\n")
    assert "Measured 2026-11-21 on 2 cores of P, Python 3.11, DuckDB 1.5" in shown


@pytest.mark.slow
def test_nights_and_scaling_give_their_ratios(bench: Bench) -> None:
    found = nights(bench)
    assert found.keys() == {"pass dumps", "before", "real pair"}
    assert len(found["real pair"]["sizes"]) == 4
    grown = scaling(bench)
    assert [point["times"] for point in grown["points"]] == [1, 2]
    assert tables({"nights": found, "scaling": grown}).count("\n### ") == 1


def test_memory_is_that_of_all_processes() -> None:
    code = (
        "import subprocess, sys; data = bytearray(30_000_000)\n"
        "subprocess.run([sys.executable, '-c',"
        " 'import time; data = bytearray(30_000_000); time.sleep(0.5)'])"
    )
    assert peak_bytes([sys.executable, "-c", code]) > 60_000_000


def test_a_command_that_fails_is_no_figure(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run(ingest([str(tmp_path / "nothing")], tmp_path / "w.duckdb"))


def test_a_widened_copy_says_the_same_with_other_names() -> None:
    text = _hlo_text()
    assert widen_text(text, 0) == text
    [one], [other] = (
        parse_hlo(t.decode()).modules for t in (text, widen_text(text, 5))
    )
    renamed = {
        i.name: re.sub(r"(?<=[a-z_])\.(\d*5)$", r".\1_5", i.name)
        for i in one.instructions
    }
    assert [i.name for i in other.instructions] == list(renamed.values())
    assert [i.operands for i in other.instructions] == [
        tuple(renamed.get(name, name) for name in i.operands) for i in one.instructions
    ]
    assert set(renamed.values()) != set(renamed)


def test_moved_lines_move_lines_only() -> None:
    text = b'1 {function_name_id=2 line=30 end_line=31} "line=5" source_line=4 column=9'
    moved = (
        b'1 {function_name_id=2 line=37 end_line=38} "line=5" source_line=11 column=9'
    )
    assert move_lines(text, 7) == moved


def test_one_module_is_one_module_of_distinct_names() -> None:
    text = b"".join(one_module(_hlo_text(), 200_000))
    parsed = parse_hlo(text.decode())
    [module] = parsed.modules
    names = [(c.name, c.is_entry) for c in module.computations]
    assert len(text) >= 200_000
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert len(set(names)) == len(names)
    assert sum(is_entry for _, is_entry in names) == 1


def test_what_is_missing_beside_the_checkout_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "SHARED", tmp_path / "none")
    made = Inputs(tmp_path / "inputs")
    assert made.passes().missing == "the full pass dumps (../shared/data/passes)"
    assert made.distinct().missing == "the full CPU and TPU dumps (../shared)"
    assert (len(made.distinct().roots), made.distinct().files > 0) == (10, True)
    assert made.protos().missing == "the full dumps with protos (../shared)"
    assert (
        sum(
            path.suffix == ".pb" for r in made.protos().roots for path in r.rglob("*.*")
        )
        > 0
    )


def test_the_page_shows_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page, NAME, table()) == page


@pytest.mark.slow
def test_memory_is_measured_for_a_file_of_each_kind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LARGE_FILE_BYTES", 200_000)
    figures = memory(bench)
    assert figures["files"].keys() == LARGE.keys()
    for found in figures["files"].values():
        assert 100_000 < found["bytes"] <= 210_000
        assert found["peak_bytes"] > 50e6


def test_a_large_file_that_needs_too_much_memory_is_named() -> None:
    found = {"bytes": 100e6, "peak_bytes": 560e6, "times": 4.6}
    files = {"one computation": found, "used values": found | {"times": 4.4}}
    assert swollen({"files": files}) == ["one computation"]
    assert swollen({"files": {"one computation": found | {"bytes": 1e6}}}) == []


def test_every_case_can_be_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert all(name in done.stdout for name in CASES)


def test_a_first_look_is_compared_with_an_ingest() -> None:
    looks = {
        name: {"seconds": 2.0, "cpu_seconds": cpu, "others_ratio": 0.25}
        for name, cpu in (("ingest", 1.0), ("explain", 1.4))
    }
    shown = tables({"explain": {"bytes": 3_845_273, "looks": looks}})
    assert shown.splitlines()[0] == "### A first look at a dump of 3.8 MB"
    assert shown.splitlines()[-1] == (
        "- CPU of an explanation: 1.40 s (target: below 1.5, held),"
        " 1.40 times that of an ingest (target: below 2, held)"
    )
