"""Queries against the same figures, worked out from the texts by their definitions.

The oracle (`recompute/`) shares nothing with hlodb: it reads the dumps with a parser of
its own and counts with whole numbers, step by step. `make test` compares small dumps,
`make oracle` all that there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

import duckdb
import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.renewal import renew_macros
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, DUMPS, SHARED_ARCHIVES, Made
from tests.large_programs import programs, write_dump
from tests.oracle.recompute.registry import RECOMPUTED, Dump, Recomputed
from tests.oracle.staging import stage_as_one

for _group in (
    "allocation", "fragmentation", "fusion", "graph", "layout", "peak", "schedule",
    "sharding", "source",
):  # fmt: skip
    import_module(f"tests.oracle.recompute.{_group}")

SMALL = [
    "changes/donation/base", "changes/remat/extra", "changes/remat/extra",
    "moved_lines/before",
    "layers/cpu-3.tar.xz", "proto/cpu-jaxlib-0.6.2.tar.xz",
    "proto/cpu-jaxlib-0.10.2.tar.xz", "frameworks/pytorch-2.9.0/first.tar.xz",
    "asynchronous/v5e.tar.xz", "carried/v5e.tar.xz", "kernels/scoped-32.tar.xz",
    "kernels/v5e-jax-0.10.2.tar.xz", "layers/v5e-3.tar.xz",
    "proto/tpu-v5e-jax-0.10.2.tar.xz", "remat/v5e-jax-0.10.2.tar.xz",
    "asynchronous/h100.tar.xz", "gpu/jaxlib-0.5.3.tar.xz", "gpu/jaxlib-0.10.2.tar.xz",
]  # fmt: skip
"""Dumps in tests/data for CPU, TPU and GPU.

They are compared as one run, as of a process that compiles for several devices: to ask
a query takes longer than to recompute it. One comes twice, as from two processes that
compile the same program.
"""

COMPACT = ("compact", "h100", "jaxlib-0.11.2", "jaxlib-0.12.0", "jax-0.12.0")
"""Texts without the get-tuple-elements that their assignments name.

The oracle takes an element for the whole tuple, so that it can't recompute some.
"""

OF_ELEMENTS = {
    "collective_inventory", "copy_census", "custom_call_inventory", "fusion_profile",
    "instruction_neighbours", "live_timeline", "loop_memory",
}  # fmt: skip

SHORTENED = ("offloaded", "updates")
"""Assignments without their last part, which says who uses each value."""

OTHERWISE_NAMED = (
    "in_full",
    "h100/logs",
    "by_hand",
    "cache",
    "tensorflow",
    "training",
    "graphs",
    "opcodes",
)
"""Inputs that are not named as dumps of today are."""

ARCHIVES = [
    archive
    for archive in sorted([*DATA.rglob("*.tar.xz"), *DUMPS.rglob("*.tar.xz")])
    if not any(word in str(archive) for word in SHORTENED + OTHERWISE_NAMED)
]

Rows: TypeAlias = Counter[tuple[object, ...]]

CATALOGUE = load_catalogue()


@pytest.fixture(scope="module", autouse=True)
def as_after_an_ingest(queries_installed: None) -> None:
    """Let queries read warehouses that `hlodb ingest` made."""


@pytest.fixture(scope="module")
def small_dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all small dumps."""
    folder = tmp_path_factory.mktemp("small")
    stage_as_one([DATA / source for source in SMALL], folder)
    return folder


@pytest.fixture(scope="module")
def small_dump(small_dumps: Path) -> Dump:
    """Return the small dumps as the oracle reads them."""
    return Dump.of(small_dumps)


@pytest.fixture(scope="module")
def small_run(made: Made, small_dumps: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a warehouse with the small dumps."""

    def make(path: Path) -> None:
        ingest(
            [str(small_dumps)],
            path,
            request=RunRequest(name="dump"),
            jobs=1,
            prepare=renew_macros,
        )

    with connect(made("recomputed", make)) as connection:
        yield connection


def recomputed_queries() -> set[str]:
    """Return the names of the queries that the oracle recomputes."""
    return {entry.query for entry in RECOMPUTED}


def test_many_queries_are_recomputed() -> None:
    assert recomputed_queries() <= set(CATALOGUE)
    assert len(recomputed_queries()) >= 30


@pytest.mark.parametrize("entry", RECOMPUTED, ids=lambda entry: entry.name)
def test_small_dumps(
    small_run: duckdb.DuckDBPyConnection, small_dump: Dump, entry: Recomputed
) -> None:
    assert_equal(small_run, entry, small_dump)


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_archives(archive: Path, tmp_path: Path) -> None:
    assert_all_equal(archive, tmp_path)


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    "archive",
    SHARED_ARCHIVES,
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_shared_archives(archive: Path, tmp_path: Path) -> None:
    assert_all_equal(archive, tmp_path)


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 2])
def test_large_programs(scale: int, tmp_path: Path) -> None:
    write_dump(tmp_path / "large", programs(scale))
    assert_all_equal(tmp_path / "large", tmp_path)


def assert_all_equal(source: Path, folder: Path) -> None:
    """Compare all queries over one dump, as far as the oracle can read its texts."""
    is_compact = any(word in str(source) for word in COMPACT)
    stage_as_one([source], folder / "dump")
    warehouse = folder / "warehouse.duckdb"
    ingest(
        [str(folder / "dump")],
        warehouse,
        request=RunRequest(name="dump"),
        jobs=1,
        prepare=renew_macros,
    )
    dump = Dump.of(folder / "dump")
    assert dump.modules
    with connect(warehouse) as connection:
        for entry in RECOMPUTED:
            if not is_compact or entry.query not in OF_ELEMENTS:
                assert_equal(connection, entry, dump)


def assert_equal(
    connection: duckdb.DuckDBPyConnection, entry: Recomputed, dump: Dump
) -> None:
    """Compare all rows, in any order, and all columns that the definition fixes."""
    query = CATALOGUE[entry.query]
    parameters: dict[str, Value] = {**entry.parameters, "run": "dump"}
    if "top" in {parameter.name for parameter in query.parameters}:
        parameters["top"] = None
    result = run_query(connection, query.name, parameters, CATALOGUE)
    places = {
        column.name: place
        for place, column in enumerate(result.columns)
        if column.name != "run" and column.name not in entry.leaves_out
    }
    found = Counter(
        tuple(_rounded(row[place]) for place in places.values()) for row in result.rows
    )
    expected = Counter(
        tuple(_rounded(row[name]) for name in places) for row in entry.rows(dump)
    )
    difference = _difference(found, expected, [*places])
    if difference:  # An assertion would compare the text letter by letter.
        pytest.fail(f"{entry.name}: {difference}", pytrace=False)


def _rounded(value: object) -> object:
    """Return a figure as it is, but a share to 11 digits: its last may differ."""
    return float(f"{value:.11g}") if isinstance(value, float) else value


def _difference(found: Rows, expected: Rows, columns: list[str]) -> str:
    """Return how the first row that differs does; nothing where all are equal."""
    surplus, missing = found - expected, expected - found
    if not surplus and not missing:
        return ""
    text = f"{surplus.total()} rows too many, {missing.total()} missing:"
    for row in sorted(missing, key=repr)[:1]:
        nearest = max(surplus, key=lambda other: _alike(row, other), default=())
        text += f"\nexpected {dict(zip(columns, row, strict=True))}"
        text += f"\nfound    {dict(zip(columns, nearest, strict=False))}"
    for row in sorted(surplus, key=repr)[:1] if not missing else ():
        text += f"\nfound    {dict(zip(columns, row, strict=True))}"
    return text


def _alike(one: tuple[object, ...], other: tuple[object, ...]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))
