"""Every command answers about programs that fill a pod, or of 100,000 instructions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query
from hlodb.reports.render.forms import FORMATS
from hlodb.schema.warehouse import connect
from tests.conftest import Made
from tests.large_programs import (
    long_chain,
    programs,
    train_step,
    write_dump,
)

GIB = 1 << 30


def run(
    capsys: pytest.CaptureFixture[str], *arguments: str | Path
) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


@pytest.fixture
def nights(made: Made, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a warehouse with runs base and changed."""

    def make(path: Path) -> None:
        for name, changed in (("base", False), ("changed", True)):
            dump = write_dump(path.parent / name, programs(changed=changed))
            assert main(["ingest", str(dump), "--run", name, "--db", str(path)]) == 0

    path = made("large-nights", make)
    capsys.readouterr()
    return path


def test_a_dump_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = write_dump(tmp_path / "dump", programs())
    code, text, narration = run(capsys, "explain", dump)
    assert (code, narration) == (0, "")
    assert "jit_huge, which does not fit HBM: it reserves 13.00 TiB of 95" in text
    assert "jit_evaluate    HBM    200.00 GiB" in text


def test_runs_are_compared(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The changed program no longer donates 35 GiB."""
    db = ("--db", nights)
    assert run(capsys, "check", *db)[0] == 0
    code, page, _ = run(capsys, "explain", "--run", "base", "--format", "html", *db)
    assert code == 0
    assert "13.00 TiB reserved in HBM" in page
    code, text, _ = run(capsys, "diff", "base", "changed", *db)
    assert code == 0
    assert "jit_train_step HBM +35.00 GiB" in text
    written = [f"--write={form}={tmp_path / form}" for form in FORMATS]
    code, text, _ = run(capsys, "report", "--no-record", *written, *db)
    assert code == 1
    assert "190.73 GiB → 225.73 GiB reserved" in text
    assert "+35.00 GiB (+18.4 %), cause: opt_state[0].mu['up'] no longer dona" in text
    empty = [form for form in FORMATS if not (tmp_path / form).stat().st_size]
    assert empty == []


def test_a_law_of_sizes_is_fitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arrays of twice the size need twice the bytes for each token."""
    dumps = [
        write_dump(
            tmp_path / str(tokens),
            [train_step(tokens=tokens), train_step(2, suffix="_twice", tokens=tokens)],
        )
        for tokens in (8192, 16384, 32768)
    ]
    code, text, _ = run(capsys, "fit", *dumps, "--limit", "400GiB", "--format", "json")
    assert code == 0
    laws: dict[str, dict[str, Any]] = {row["program"]: row for row in json.loads(text)}
    one, two = laws["jit_train_step"], laws["jit_train_step_twice"]
    assert two["linear_bytes"] == pytest.approx(2 * one["linear_bytes"], rel=1e-6)
    assert two["constant_bytes"] == pytest.approx(2 * one["constant_bytes"], rel=1e-6)
    assert one["max_residual_bytes"] < 0.02 * 400 * GIB
    assert one["largest_size"] > 2 * two["largest_size"] > 8192


def test_a_hundred_thousand_instructions_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = write_dump(tmp_path / "dump", [long_chain(100_000)], has_input=False)
    code, text, narration = run(capsys, "explain", dump)
    assert (code, narration) == (0, "")
    assert "jit_long_chain, 3.50 GiB reserved in HBM" in text


@pytest.mark.slow
def test_runs_of_a_hundred_thousand_instructions_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The changed program keeps ten arrays more, of 256 MiB, until they are read."""
    db = ("--db", tmp_path / "long.duckdb")
    for name, changed in (("base", False), ("changed", True)):
        program = long_chain(100_000, changed=changed)
        dump = write_dump(tmp_path / name, [program], has_input=False)
        assert run(capsys, "ingest", dump, "--run", name, *db)[0] == 0
    assert run(capsys, "check", *db)[0] == 0
    code, text, _ = run(capsys, "diff", "base", "changed", *db)
    assert code == 0
    assert "jit_long_chain HBM +2.50 GiB" in text
    assert run(capsys, "report", "--no-record", "--format", "html", *db)[0] == 1
    with connect(Path(db[1])) as connection:
        for name in load_catalogue():
            run_query(connection, name)
