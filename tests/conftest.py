import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests import one_thread  # noqa: F401 -- before what opens a database

# isort: split
import duckdb
import pytest
from hypothesis import HealthCheck, settings

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from hlodb.schema import creation
from hlodb.schema.tables import PUBLIC, STORE
from hlodb.schema.warehouse import connect
from tests.made_once import made_once

# How archives are unpacked in all tests: Python 3.11 has the filter since 3.11.4 only,
# later ones warn of an archive that is unpacked without one.
tarfile.TarFile.extraction_filter = staticmethod(
    getattr(tarfile, "data_filter", lambda member, _: member)
)

# Processes of pytest-xdist have it, and text is as wide as it says.
os.environ.pop("COLUMNS", None)

UNWRAPPED = 1_000_000
"""COLUMNS of text that a test reads."""

REPOSITORY = Path(__file__).parent.parent
DATA = REPOSITORY / "tests" / "data"
DUMPS = REPOSITORY / "examples" / "dumps"
FRAMEWORKS = ("pytorch-2.9.0", "tensorflow-2.13.1", "tensorflow-2.21.0")
LONG_FILES = frozenset(
    REPOSITORY / line
    for line in (REPOSITORY / "tests" / "long_files.txt").read_text("utf-8").split()
)
"""Files whose tests take most of the time, and are left to `make test-long`."""

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="reads /proc, which only Linux has"
)

SHARED = REPOSITORY.parent / "shared" / "data"
"""The full-size dumps; tests that need them are marked `shared`."""

SHARED_ARCHIVES = sorted(SHARED.glob("*/*.tar.xz"))

Rows = dict[str, list[tuple[Any, ...]]]
Made = Callable[[str, Callable[[Path], object]], Path]

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than there are cores: some tests wait for locks."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of long files; skip those that need dumps that are not there."""
    for item in items:
        if item.path in LONG_FILES:
            item.add_marker("long")
    if SHARED.is_dir():
        return
    reason = f"the full-size dumps are not beside this checkout ({SHARED})"
    for item in items:
        if item.get_closest_marker("shared"):
            # First: else the mark of an empty parameter set speaks for it.
            item.add_marker(pytest.mark.skip(reason=reason), append=False)


@pytest.fixture(scope="session")
def room_of_all(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the folder that all processes of this test run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session")
def made(room_of_all: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return this process's copy of a warehouse that is made once in a test run."""

    def copy(name: str, make: Callable[[Path], object]) -> Path:
        first = made_once(room_of_all, f"{name}.duckdb", make)
        path = tmp_path_factory.mktemp(name) / first.name
        shutil.copyfile(first, path)
        return path

    return copy


@pytest.fixture(scope="session", autouse=True)
def empty_warehouses(room_of_all: Path) -> Iterator[None]:
    """Copy the first empty warehouse that is made for all that follow.

    They are the same, and to make one takes a tenth of a second. Commands that run as
    processes make their own.
    """
    yield from _copied(room_of_all, "empty", creation.write_empty)


@pytest.fixture(autouse=True)
def _unwrapped_text() -> Iterator[None]:
    """Leave text as wide as it is, so that sentences are found in it."""
    # A test's own patches must be gone before the other fixtures end.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(UNWRAPPED))
        yield


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_test_run(room_of_all: Path) -> Iterator[None]:
    """Keep the empty warehouse with every query beside what else the tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(room_of_all / "cache"))
        yield


@pytest.fixture(scope="module")
def queries_installed(room_of_all: Path) -> Iterator[None]:
    """Let warehouses be made with every query, as after `hlodb ingest`.

    To install them takes most of a second, and each answer without them a tenth.
    """
    write_draft = creation.write_empty

    def with_queries(draft: Path) -> None:
        write_draft(draft)
        with connect(draft, read_only=False) as connection:
            renew_macros(connection)

    yield from _copied(room_of_all, "queries", with_queries)


def _copied(
    room: Path, name: str, write_draft: Callable[[Path], None]
) -> Iterator[None]:
    def copy(draft: Path) -> None:
        shutil.copyfile(made_once(room, f"{name}.duckdb", write_draft), draft)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(creation, "write_empty", copy)
        yield


def _ingest(path: Path, *dumps: Path, name: str | None = None) -> None:
    """Ingest as `hlodb ingest` does, in this process."""
    ingest(
        [str(dump) for dump in dumps],
        path,
        request=RunRequest(name=name),
        jobs=1,
        prepare=renew_macros,
    )


@pytest.fixture(scope="session")
def shared() -> Path:
    return SHARED


@pytest.fixture(scope="session")
def demo_warehouse(made: Made) -> Path:
    """Nine CPU releases in their order, and one TPU run."""
    return made("demo", make_demo_warehouse)


def make_demo_warehouse(path: Path) -> None:
    """Ingest the dumps of the demo, the releases in their order."""
    releases = sorted(
        (DUMPS / "cpu").iterdir(),
        key=lambda p: [int(n) for n in p.name.split("-")[1].split(".")[:3]],
    )
    _ingest(path, *releases, DUMPS / "tpu" / "v5e-jax-0.10.2.tar.xz")


@pytest.fixture(scope="session")
def full_warehouse(made: Made) -> Path:
    """All full-size dumps: runs are called as their archives."""
    return made("full", lambda path: _ingest(path, *SHARED_ARCHIVES, SHARED / "seeds"))


@pytest.fixture(scope="session")
def framework_warehouse(made: Made) -> Path:
    """Two nights of TensorFlow and of PyTorch/XLA: runs FRAMEWORK/NIGHT."""

    def make(path: Path) -> None:
        for framework in FRAMEWORKS:
            for night in ("first", "second"):
                archive = DATA / "frameworks" / framework / f"{night}.tar.xz"
                _ingest(path, archive, name=f"{framework}/{night}")

    return made("frameworks", make)


@pytest.fixture(scope="session")
def training_warehouse(made: Made) -> Path:
    """Return a training by PyTorch/XLA: runs first, and second with a layer more."""

    def make(path: Path) -> None:
        for night in ("first", "second"):
            folder = DATA / "frameworks" / "pytorch-2.9.0-training"
            _ingest(path, folder / f"{night}.tar.xz", name=night)

    return made("training", make)


@pytest.fixture(scope="session")
def graph_warehouse(made: Made) -> Path:
    """Three graphs compiled by six releases of TensorFlow, with XLA of 2019 to 2022."""

    def make(path: Path) -> None:
        folder = path.parent / "graphs"
        with tarfile.open(DATA / "frameworks" / "graphs.tar.xz") as archive:
            archive.extractall(folder)
        _ingest(path, *sorted(folder.iterdir()))

    return made("graphs", make)


@pytest.fixture(scope="session")
def steps_warehouse(made: Made) -> Path:
    """Training steps compiled by TensorFlow 2.21.0, whose memory is known by roles."""
    archive = DATA / "frameworks" / "training.tar.xz"
    return made("steps", lambda path: _ingest(path, archive))


@pytest.fixture(scope="session")
def gpu_warehouse(made: Made) -> Path:
    """Two programs compiled for an H100 by three releases; one of them twice in."""
    archives = sorted((DATA / "gpu").glob("*.tar.xz"))

    def make(path: Path) -> None:
        _ingest(path, *archives)
        _ingest(path, archives[0], name="jaxlib-0.10.2, once more")

    return made("gpu", make)


@pytest.fixture(scope="session")
def limits_dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with dumps of programs at the limits of TPUs."""
    folder = tmp_path_factory.mktemp("limits")
    with tarfile.open(DATA / "limits" / "limits.tar.xz") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def limits_warehouse(made: Made, limits_dumps: Path) -> Path:
    """Programs at the limit of each TPU, a run for each, called after its folder."""
    return made("limits", lambda path: _ingest(path, *sorted(limits_dumps.iterdir())))


@pytest.fixture(scope="session")
def compact_warehouse(made: Made) -> Path:
    """Programs dumped by jaxlib 0.12.0, which leaves get-tuple-elements out of text."""
    archives = sorted((DATA / "compact").glob("*-0.12.0.tar.xz"))
    return made("compact", lambda path: _ingest(path, *archives))


@pytest.fixture
def reading(demo_warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(demo_warehouse) as connection:
        yield connection


def all_rows(path: Path) -> Rows:
    """Return every row of every stored table, sorted, without clock times.

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
