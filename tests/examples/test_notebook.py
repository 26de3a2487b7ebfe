"""The example notebooks run cell by cell, and show pages and tables."""

from __future__ import annotations

import ast
import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

import hlodb
from docs.notebook import EXAMPLES, NOTEBOOK, NOTEBOOKS, executed, kept, outputs
from hlodb.schema.warehouse import connect
from tests.conftest import REPOSITORY


def run_cell(text: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does, and return its last expression's value."""
    *before, last = ast.parse(text).body
    if not isinstance(last, ast.Expr):
        before, value = [*before, last], None
    else:
        value = ast.Expression(last.value)
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return value and eval(compile(value, "cell", "eval"), names)


@pytest.mark.slow
def test_every_cell_runs(demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLODB_DB", str(demo_warehouse))
    names: dict[str, Any] = {}
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    _, explained, drawn, remedies, sharded, reported = (
        run_cell(text, names) for text in texts
    )
    names["warehouse"].close()
    assert str(explained).startswith("v5e-jax-0.10.2: jit_gpt_fsdp, 48.59 MiB reserved")
    picture = '<svg role="img"'
    assert (explained.html.count(picture), drawn.html.count(picture)) == (5, 1)
    assert str(drawn) == (
        "jit_gpt_fsdp: HBM: live memory over the schedule; peak of the program"
        " 41.80 MiB at step 546."
    )
    table = remedies._repr_html_()
    assert ">m, p, v (2 parts for 4 partitions)</td>" in table
    assert "15.77 MiB" in table
    assert sharded == 3 * 2**21 + 1_202_688
    frame = reported._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert "<svg" not in frame, "the page is quoted"
    assert "jit_cnn" in reported.text


def as_of_the_demo(warehouse: Path, folder: Path) -> Path:
    """Return a copy whose runs have the series that `make demo` gives them."""
    path = folder / "demo.duckdb"
    shutil.copy(warehouse, path)
    with connect(path, read_only=False) as connection:
        connection.execute(
            "UPDATE runs SET series = 'xla-releases' WHERE platform = 'cpu'"
        )
    return path


def values_of(name: str) -> list[Any]:
    """Return what each cell of a notebook gives."""
    cells = json.loads((EXAMPLES / name).read_text())["cells"]
    names: dict[str, Any] = {}
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    values = [run_cell(text, names) for text in texts]
    names["warehouse"].close()
    return values


@pytest.mark.slow
def test_a_notebook_for_want_of_memory(
    demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HLODB_DB", str(demo_warehouse))
    _, left, page, roles, remedies = values_of("out-of-memory.ipynb")
    assert left < 0
    assert "48.59 MiB reserved in HBM, 101.2 % of 48.00 MiB" in page.text
    assert [row["role"] for row in roles.dicts()[:2]] == [
        "optimiser_state",
        "gradients",
    ]
    assert remedies[0][0] == "m, p, v (2 parts for 4 partitions)"


@pytest.mark.slow
def test_a_notebook_about_a_regression(
    demo_warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HLODB_DB", str(as_of_the_demo(demo_warehouse, tmp_path)))
    _, report, diff, delta, history = values_of("regression.ipynb")
    assert report.text.startswith("❌ 1 regression (1 gate failed): jit_cnn")
    assert diff.text.startswith("± 1 worse: jit_cnn CPU memory +7.43 MiB")
    sizes = dict(history)
    assert sizes["jaxlib-0.5.3"] - sizes["jaxlib-0.4.35"] == delta


@pytest.mark.slow
def test_a_notebook_about_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = EXAMPLES.parent / "tests" / "data" / "sizes" / "cpu.tar.xz"
    monkeypatch.setenv("HLODB_EXAMPLE_DUMPS", str(dumps))
    _, found, law, _ = values_of("what-fits.ipynb")
    assert [row["largest_size"] for row in found.dicts()[:2]] == [199, 71]
    assert law.rows


@pytest.mark.browser
@pytest.mark.filterwarnings("default")
def test_a_kernel_gives_what_the_notebook_keeps(
    demo_warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name, reason=f"{name} is not installed: run `make page`")
    monkeypatch.setenv("HLODB_DB", "")
    path = as_of_the_demo(demo_warehouse, tmp_path)
    count = {"explain.ipynb": 3, "out-of-memory.ipynb": 1, "regression.ipynb": 2}
    for notebook in NOTEBOOKS:
        found = outputs(executed(path, notebook))
        pages = [
            each for each in found if "<iframe" in "".join(each.get("text/html", ""))
        ]
        assert len(pages) == count.get(notebook.name, 0)
        assert [*map(kept, found)] == outputs(json.loads(notebook.read_text()))


@pytest.mark.browser
def test_the_marimo_notebook_follows_the_choice(
    demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("marimo", reason="make page installs marimo")
    monkeypatch.setenv("HLODB_DB", str(demo_warehouse))
    explore = runpy.run_path(str(REPOSITORY / "examples" / "explore.py"))
    _, names = explore["app"].run()
    run, program = names["run"], names["program"]
    with hlodb.open(demo_warehouse) as warehouse:
        runs = warehouse.query("run_list").column("run")
        asked = {"run": run.value, "program": program.value}
        lines = warehouse.query("peak_by_source_line", **asked)
        held = warehouse.query("peak_contents", **asked, top=20)
    assert list(run.options) == runs
    assert program.value in program.options
    assert names["lines"].rows == lines.rows
    assert names["held"].rows == held.rows
