"""A message beside the dump of another program or platform."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.read.overview import memory_spaces, read_overview
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

ASKED = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate"
ON_GPU = (
    "W1127 21:02:41.482913 4242 bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of"
    " memory trying to allocate {size} (rounded to {size_bytes})requested by op \n"
)
LARGEST = (
    "No dumped program can ask for 24.85 GiB: jit_update, the largest, reserves"
    " 256.00 MiB."
)
PLATFORMS = "The message is about a GPU, but the dump is of platform cpu."


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forward")
    with tarfile.open(DATA / "oom_dumps" / "forward.tar.xz") as packed:
        packed.extractall(folder)
    return folder / "forward"


def explained(folder: Path, dump: Path, text: str) -> tuple[int, str]:
    """Return the exit code of `hlodb explain`, and what it says in one line."""
    log = folder / "job.log"
    log.write_text(text)
    page = folder / "said.txt"
    code = main(["explain", str(log), str(dump), "-o", str(page)])
    return code, " ".join(page.read_text().split())


@pytest.mark.parametrize(
    ("size", "failed"),
    [
        ("24.00MiB", ["jit_forward"]),
        ("100.25MiB", ["jit_forward", "jit_update"]),
        ("24.85GiB", []),
    ],
)
def test_memory_is_short_where_a_request_failed(
    tmp_path: Path, dump: Path, size: str, failed: list[str]
) -> None:
    """Every program may be meant where none is named, unless none can be."""
    (tmp_path / "job.log").write_text(f"{ASKED} {size}.\n")
    path = tmp_path / "w.duckdb"
    given = [str(tmp_path / "job.log"), str(dump)]
    ingest(given, path, request=RunRequest("job"), jobs=1)
    with connect(path) as connection:
        spaces = memory_spaces(read_overview(connection, "job", None))
    assert sorted(row["program"] for row in spaces if row["has_failed"]) == failed


def test_a_request_larger_than_every_program(tmp_path: Path, dump: Path) -> None:
    code, said = explained(tmp_path, dump, f"{ASKED} 24.85GiB.\n")
    assert code == 3
    assert (
        f"{LARGEST} The dump is of another program, or the request was for an array"
        " outside of programs."
    ) in said
    assert "The message is about" not in said


def test_a_request_of_another_platform(tmp_path: Path, dump: Path) -> None:
    large = ON_GPU.format(size="24.85GiB", size_bytes=26_681_893_632)
    code, said = explained(tmp_path, dump, large)
    assert code == 3
    other = "The dump is of another program or platform."
    assert f"{PLATFORMS} {LARGEST} {other}" in said
    small = ON_GPU.format(size="1.10MiB", size_bytes=1_153_434)
    code, said = explained(tmp_path, dump, small)
    assert code == 3
    assert f"{PLATFORMS} {other}" in said


def test_another_platform_is_said_where_sizes_agree(tmp_path: Path, dump: Path) -> None:
    asked = ON_GPU.format(size="24.00MiB", size_bytes=25_165_824)
    code, said = explained(tmp_path, dump, asked)
    assert code == 0
    assert "jit_forward is likely the program." in said
    assert f"{PLATFORMS} On a GPU the program may have other sizes." in said


@pytest.mark.parametrize(
    "text",
    [
        f"{ASKED} 100.25MiB.\n",
        "Out of host memory while trying to allocate 73014444032 bytes.\n",
        "Unable to allocate 12.5 GiB for an array with shape (40960, 40960)\n",
    ],
)
def test_what_may_be_of_the_dump_or_of_no_program_is_no_misfit(
    tmp_path: Path, dump: Path, text: str
) -> None:
    code, said = explained(tmp_path, dump, text)
    assert code == 0
    assert "another program" not in said


def test_programs_without_an_assignment_may_be_larger(
    tmp_path: Path, dump: Path
) -> None:
    for name in dump.iterdir():
        is_lost = "jit_update" in name.name and "buffer-assignment" in name.name
        if not is_lost and name.is_file():
            (tmp_path / "dump").mkdir(exist_ok=True)
            (tmp_path / "dump" / name.name).write_bytes(name.read_bytes())
    code, said = explained(tmp_path, tmp_path / "dump", f"{ASKED} 24.85GiB.\n")
    assert code == 0
    assert "No dumped program can ask" not in said
