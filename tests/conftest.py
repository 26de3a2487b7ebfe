import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, settings

from hlodb.ingest.ingest import ingest
from hlodb.ingest.run_records import RunRequest
from hlodb.schema import creation
from hlodb.schema.tables import PUBLIC, STORE
from hlodb.schema.warehouse import connect

REPOSITORY = Path(__file__).parent.parent
DATA = REPOSITORY / "tests" / "data"
DUMPS = REPOSITORY / "examples" / "dumps"
FRAMEWORKS = ("pytorch-2.9.0", "tensorflow-2.13.1", "tensorflow-2.21.0")
SHARED = REPOSITORY.parent / "shared" / "data"
"""The full-size dumps; tests that need them are marked `shared`."""

SHARED_ARCHIVES = sorted(SHARED.glob("*/*.tar.xz"))

Rows = dict[str, list[tuple[Any, ...]]]

BY_NUMBER = frozenset(
    f"store.{name}"
    for name in (
        "instructions", "instruction_forms", "snapshots", "paths", "occurrences",
        "files", "run_files",
    )
)  # fmt: skip
"""Tables with numbers that depend on the order of arrival; views show the same rows."""

# Columns that say when, not what.
_CLOCK = {"runs": {"ingested_at"}, "warehouse_info": {"value"}}


# No test depends on how fast the machine is, or on what else it does.
settings.register_profile(
    "any speed",
    settings.get_profile(settings.get_current_profile_name()),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any speed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that are marked `shared` where the full-size dumps are not there."""
    if SHARED.is_dir():
        return
    reason = f"the full-size dumps are not beside this checkout ({SHARED})"
    for item in items:
        if item.get_closest_marker("shared"):
            # First: else the mark of an empty parameter set speaks for it.
            item.add_marker(pytest.mark.skip(reason=reason), append=False)


@pytest.fixture(scope="session", autouse=True)
def empty_warehouses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Copy the first empty warehouse that this process makes for all that follow.

    They are the same, and to make one takes a tenth of a second. Commands that run as
    processes make their own.
    """
    first = tmp_path_factory.mktemp("empty") / "empty.duckdb"
    write_draft = creation._write_draft

    def copy(draft: Path) -> None:
        if not first.exists():
            write_draft(first)
        shutil.copyfile(first, draft)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(creation, "_write_draft", copy)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    return SHARED


@pytest.fixture(scope="session")
def demo_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine CPU releases in their order, and one TPU run."""
    path = tmp_path_factory.mktemp("demo") / "demo.duckdb"
    releases = sorted(
        (DUMPS / "cpu").iterdir(),
        key=lambda p: [int(n) for n in p.name.split("-")[1].split(".")[:3]],
    )
    archives = [*releases, DUMPS / "tpu" / "v5e-jax-0.10.2.tar.xz"]
    ingest([str(a) for a in archives], path)
    return path


@pytest.fixture(scope="session")
def framework_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nights of TensorFlow and of PyTorch/XLA: runs FRAMEWORK/NIGHT."""
    path = tmp_path_factory.mktemp("frameworks") / "frameworks.duckdb"
    for framework in FRAMEWORKS:
        for night in ("first", "second"):
            archive = DATA / "frameworks" / framework / f"{night}.tar.xz"
            request = RunRequest(name=f"{framework}/{night}")
            ingest([str(archive)], path, request=request, jobs=1)
    return path


@pytest.fixture(scope="session")
def training_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training by PyTorch/XLA, two programs: runs first, and second, a layer more."""
    path = tmp_path_factory.mktemp("training") / "training.duckdb"
    for night in ("first", "second"):
        archive = DATA / "frameworks" / "pytorch-2.9.0-training" / f"{night}.tar.xz"
        ingest([str(archive)], path, request=RunRequest(name=night), jobs=1)
    return path


@pytest.fixture(scope="session")
def graph_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three graphs compiled by six releases of TensorFlow, with XLA of 2019 to 2022."""
    folder = tmp_path_factory.mktemp("graphs")
    with tarfile.open(DATA / "frameworks" / "graphs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    path = folder / "graphs.duckdb"
    ingest([str(dump) for dump in sorted(folder.iterdir())], path, jobs=1)
    return path


@pytest.fixture(scope="session")
def steps_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training steps compiled by TensorFlow 2.21.0, whose memory is known by roles."""
    path = tmp_path_factory.mktemp("training") / "training.duckdb"
    ingest([str(DATA / "frameworks" / "training.tar.xz")], path, jobs=1)
    return path


@pytest.fixture(scope="session")
def gpu_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs compiled for an H100 by three releases; one of them twice in."""
    path = tmp_path_factory.mktemp("gpu") / "gpu.duckdb"
    archives = sorted((DATA / "gpu").glob("*.tar.xz"))
    ingest([str(archive) for archive in archives], path, jobs=1)
    again = RunRequest(name="jaxlib-0.10.2, once more")
    ingest([str(archives[0])], path, request=again, jobs=1)
    return path


@pytest.fixture(scope="session")
def compact_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs dumped by jaxlib 0.12.0, which leaves get-tuple-elements out of text."""
    path = tmp_path_factory.mktemp("compact") / "compact.duckdb"
    archives = sorted((DATA / "compact").glob("*-0.12.0.tar.xz"))
    ingest([str(archive) for archive in archives], path, jobs=1)
    return path


@pytest.fixture
def reading(demo_warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(demo_warehouse) as connection:
        yield connection


def all_rows(path: Path) -> Rows:
    """Give every row of every stored table, sorted, without clock times.

    What is stored by numbers in order of arrival is given as its view shows it.
    """
    with connect(path) as connection:
        rows: Rows = {}
        for table in (*PUBLIC.sorted_tables, *STORE.sorted_tables):
            if table.fullname in BY_NUMBER:
                continue
            clock = _CLOCK.get(table.name, set())
            names = [c.name for c in table.columns if c.name not in clock]
            columns = ", ".join(f'"{name}"' for name in names)
            full = f'"{table.schema or "main"}"."{table.name}"'
            found = connection.execute(f"SELECT {columns} FROM {full}").fetchall()
            rows[table.fullname] = sorted(found, key=repr)
        return rows
