"""Programs of reports that name none, found in the dump beside them."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA

_BYTES = 26_681_893_380
"""Temporaries that jit_update gets; those of jit_forward are 512 B above 64.25 MiB."""

_ASKED = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate"

_ASSIGNMENT = """\
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:  150.03MiB
     preallocated temp allocation:  {temporaries}
                 total allocation:  {temporaries}
"""

_BUFFER = """\
Peak buffers:
	Buffer {number}:
		Size: 6.00MiB
		Operator: op_name="{path}/dot_general" source_file="/srv/pairs.py" source_line=5
		XLA Label: fusion
		Shape: f32[1024,1536]
		==========================

"""

_LOGS = {
    "exact": f"{_ASKED} {_BYTES} bytes.\n",
    "exact_and_list": f"{_ASKED} {_BYTES} bytes.\n"
    + _ASSIGNMENT.format(temporaries="1.00GiB"),
    "rounded": f"{_ASKED} 24.85GiB.\n",
    "rounded_otherwise": f"{_ASKED} 24.86GiB.\n",
    "maybe_bytes": f"{_ASKED} 64.25MiB.\n",
    "list": _ASSIGNMENT.format(temporaries="24.85GiB"),
    "path": _ASSIGNMENT.format(temporaries="1.00GiB")
    + _BUFFER.format(number=1, path="jit(forward)/jvp()"),
    "path_of_another": _ASSIGNMENT.format(temporaries="1.00GiB")
    + _BUFFER.format(number=1, path="jit(backward)"),
    "two_paths": _ASSIGNMENT.format(temporaries="1.00GiB")
    + _BUFFER.format(number=1, path="jit(forward)")
    + _BUFFER.format(number=2, path="jit(update)").removeprefix("Peak buffers:\n"),
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forward")
    with tarfile.open(DATA / "oom_dumps" / "forward.tar.xz") as packed:
        packed.extractall(folder)
    for name, text in _LOGS.items():
        (folder / "forward" / f"{name}.log").write_text(text)
    path = folder / "w.duckdb"
    [run] = ingest([str(folder / "forward")], path, request=RunRequest("job"), jobs=1)
    assert run.rejects == 0
    sizes = {67_108_864: _BYTES, 25_165_824: 257 * 2**18 + 512}
    with transaction(path) as connection:
        for old, new in sizes.items():
            connection.execute(
                "UPDATE allocations SET size_bytes = $new WHERE kind = 'temp'"
                " AND size_bytes = $old",
                {"old": old, "new": new},
            )
    return path


@pytest.mark.parametrize(
    ("log", "program", "found_by"),
    [
        ("exact", "jit_update", "temporaries"),
        ("exact_and_list", "jit_update", "temporaries"),
        ("rounded", "jit_update", "rounded_temporaries"),
        ("rounded_otherwise", None, None),
        ("maybe_bytes", None, None),
        ("list", "jit_update", "rounded_temporaries"),
        ("path", "jit_forward", "paths"),
        ("path_of_another", None, None),
        ("two_paths", None, None),
    ],
)
def test_the_program_is_found(
    warehouse: Path, log: str, program: str | None, found_by: str | None
) -> None:
    with connect(warehouse) as connection:
        rows = run_query(connection, "oom_summary").dicts()
    [row] = [row for row in rows if row["path"] == f"{log}.log"]
    assert (row["program"], row["program_by"]) == (program, found_by)


def test_two_programs_that_round_to_the_request_are_not_guessed(
    warehouse: Path, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    path.write_bytes(warehouse.read_bytes())
    with transaction(path) as connection:
        connection.execute(
            "UPDATE allocations SET size_bytes = $size WHERE kind = 'temp'"
            " AND size_bytes < 1000000000",
            {"size": _BYTES + 4096},
        )
    with connect(path) as connection:
        rows = run_query(connection, "oom_summary").dicts()
    found = {row["path"]: row["program"] for row in rows}
    assert (found["rounded.log"], found["list.log"]) == (None, None)
    assert found["exact.log"] == "jit_update"
