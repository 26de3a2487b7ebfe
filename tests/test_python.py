"""hlodb from Python, as a notebook would use it."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, inspect, select

import hlodb
from hlodb.errors import UsageError, WarehouseError
from hlodb.schema.creation import create_file
from hlodb.schema.tables import ALLOCATIONS, INSTRUCTIONS, MODULES, RUNS
from hlodb.schema.warehouse import connect
from tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text()


def test_public_names() -> None:
    assert all(hasattr(hlodb, name) for name in hlodb.__all__)
    with pytest.raises(AttributeError):
        _ = hlodb.nothing


def test_a_clone_without_symbolic_links_says_so(tmp_path: Path) -> None:
    for name in ("__init__.py", "version.py"):
        text = (REPOSITORY / "hlodb" / name).read_text()
        (tmp_path / "hlodb" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "hlodb" / name).write_text(text)
    (tmp_path / "hlodb" / "ingest").write_text("../ingest")
    done = subprocess.run(
        [sys.executable, "-c", "import hlodb"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == (
        "ImportError: this clone of hlodb has text files in place of its symbolic"
        " links: clone it again with `git clone -c core.symlinks=true`"
    )


def test_windows_is_named_where_hlodb_does_not_run() -> None:
    program = "import sys; sys.platform = 'win32'; import hlodb"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == (
        "ImportError: hlodb runs on Linux and macOS; on Windows, install it in WSL"
    )


def test_the_example_of_the_readme(
    demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs nothing that hlodb doesn't bring along."""
    _, example, *_ = re.split("```(?:python\n)?", README.partition("From Python:")[2])
    code = example.replace("jit_train_step", "jit_cnn").partition("hlodb.capture")[0]
    monkeypatch.chdir(demo_warehouse.parent)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    found: dict[str, Any] = {}
    exec(code.replace(".demo/demo.duckdb", demo_warehouse.name), found)
    assert len(found["answer"].rows) > 0


def test_query_and_sql(demo_warehouse: Path) -> None:
    with hlodb.open(demo_warehouse) as warehouse:
        result = warehouse.query(
            "peak_by_space", run="jaxlib-0.10.2", program="jit_cnn"
        )
        [row] = result.dicts()
        assert (row["space_name"], row["reserved_bytes"]) == ("host", 26839050)
        table = result.arrow()
        assert table.num_rows == 1
        assert table.column("reserved_bytes").to_pylist() == [26839050]
        counted = warehouse.sql("SELECT count(*) AS n FROM runs")
        assert counted.rows == [(10,)]
        with pytest.raises(UsageError, match="did you mean"):
            warehouse.query("peak_by_spaec")
        with pytest.raises(UsageError):
            warehouse.sql("CREATE TABLE t (a INTEGER)")
        with pytest.raises(UsageError):
            warehouse.sql("SELECT * FROM read_text('/etc/hostname')")


def test_a_diff_with_a_limit(demo_warehouse: Path) -> None:
    sides = [f"jaxlib-{release}:jit_cnn" for release in ("0.4.35", "0.5.3")]
    with hlodb.open(demo_warehouse) as warehouse:
        page = warehouse.diff(*sides, limit="64 MiB")
    assert page.text.startswith("± 1 worse: jit_cnn CPU memory +7.43 MiB (+40.9 %)")
    assert "headroom 60.0 % of 64.00 MiB (given by --limit) CPU memory" in page.text
    assert page.html.startswith("<!DOCTYPE html>")


def test_no_warehouse(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no warehouse at"):
        hlodb.open(tmp_path / "none.duckdb")


def test_a_wrong_query_leaves_the_warehouse_free(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    create_file(database)
    with pytest.raises(UsageError) as held:
        hlodb.open(database, queries=[tmp_path / "none"])
    assert "no folder of queries" in str(held.value)
    with connect(database, read_only=False, timeout_seconds=0):
        pass


def test_an_engine_of_any_path(tmp_path: Path) -> None:
    database = tmp_path / "a&b#c%20d.duckdb"
    create_file(database)
    with hlodb.engine(database).connect() as connection:
        assert connection.execute(select(func.count()).select_from(RUNS)).scalar() == 0


def test_a_question_mark_in_a_name_is_refused(tmp_path: Path) -> None:
    create_file(tmp_path / "ab.duckdb")
    database = (tmp_path / "ab.duckdb").rename(tmp_path / "a?b.duckdb")
    message = r"a\?b.duckdb: rename it, without a question mark$"
    with pytest.raises(WarehouseError, match=message):
        hlodb.engine(database)
    with pytest.raises(WarehouseError, match=message):
        hlodb.open(database)


def test_sqlalchemy_select(demo_warehouse: Path) -> None:
    query = (
        select(RUNS.c.name, func.sum(ALLOCATIONS.c.size_bytes))
        .join_from(RUNS, MODULES, RUNS.c.run_id == MODULES.c.run_id)
        .join(ALLOCATIONS, ALLOCATIONS.c.module_id == MODULES.c.module_id)
        .where(MODULES.c.program == "jit_cnn", RUNS.c.platform == "cpu")
        .group_by(RUNS.c.name)
        .order_by(RUNS.c.name)
    )
    constants = select(func.count()).where(INSTRUCTIONS.c.opcode == "constant")
    with hlodb.engine(demo_warehouse).connect() as connection:
        totals = dict(list(connection.execute(query)))
        assert totals["jaxlib-0.4.35"] == 19049901
        assert totals["jaxlib-0.5.3"] == 26839405
        assert len(totals) == 9
        assert connection.execute(constants).scalar_one() > 10_000


def test_reflection_gives_the_declared_columns(demo_warehouse: Path) -> None:
    inspector = inspect(hlodb.engine(demo_warehouse))
    names = [c["name"] for c in inspector.get_columns("modules")]
    assert names == [c.name for c in MODULES.columns]
    views = [c["name"] for c in inspector.get_columns("instructions")]
    assert views == [c.name for c in INSTRUCTIONS.columns]


def test_archives_are_unpacked_as_the_first_python_3_11_can() -> None:
    """`filter` is an argument since 3.11.4; conftest sets it where it is one."""
    unpacking = re.compile(r"\.extract(all)?\([^()]*filter=")
    assert unpacking.search('tar.extractall(folder, filter="data")')
    sources = (p for p in REPOSITORY.rglob("*.py") if ".venv" not in p.parts)
    assert [
        str(path.relative_to(REPOSITORY))
        for path in sources
        if path != Path(__file__) and unpacking.search(path.read_text(encoding="utf-8"))
    ] == []
