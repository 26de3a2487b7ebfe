"""Executables and messages as text give the rows of the same in binary form."""

import shutil
import tarfile
from pathlib import Path

import pytest

from hlodb.schema.warehouse import connect
from tests.conftest import DATA, all_rows
from tests.ingest.loading import load

AS_TEXT = DATA / "cache" / "as-text.tar.xz"
ENTRIES = {
    "jaxlib": DATA / "cache" / "jaxlib-0.10.2.tar.xz",
    "h100": DATA / "cache" / "h100-jaxlib-0.10.2.tar.xz",
    "v5e": DATA / "cache" / "v5e-jax-0.10.2.tar.xz",
}
OF_THE_FILE = {"dump_files", "module_memory", "modules", "runs"}
"""Tables that hold paths and kinds of files."""


def rows_of(folder: Path) -> dict[str, list[str]]:
    """Ingest a folder; return all rows, with names of modules instead of numbers."""
    db = folder.parent / f"{folder.name}.duckdb"
    [summary] = load(db, folder, name="run")
    assert (summary.modules, summary.rejects) == (3, 0)
    with connect(db) as connection:
        names = dict(
            connection.execute("SELECT module_id, name FROM modules").fetchall()
        )
    return {
        table: sorted(repr([names.get(value, value) for value in row]) for row in rows)
        for table, rows in all_rows(db).items()
    }


@pytest.fixture
def folders(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Return folders of the entries of a platform as text and as JAX wrote them."""
    with tarfile.open(AS_TEXT) as packed:
        packed.extractall(tmp_path)
    with tarfile.open(ENTRIES[request.param]) as packed:
        packed.extractall(tmp_path / "entries")
    shutil.move(tmp_path / request.param, tmp_path / "text")
    return tmp_path / "text", tmp_path / "entries" / "cache"


@pytest.mark.slow
@pytest.mark.parametrize("folders", sorted(ENTRIES), indirect=True)
def test_text_gives_the_rows_of_the_entries(folders: tuple[Path, Path]) -> None:
    text, entries = map(rows_of, folders)
    assert sum(map(len, text.values())) > 500
    assert {table for table in text if text[table] != entries[table]} == OF_THE_FILE


@pytest.mark.parametrize("folders", ["jaxlib", "h100"], indirect=True)
def test_executables_as_text_give_the_modules_of_the_entries(
    folders: tuple[Path, Path],
) -> None:
    found = []
    for folder in folders:
        db = folder.parent / f"{folder.name}.duckdb"
        load(db, folder)
        with connect(db) as connection:
            result = connection.execute(
                "SELECT * EXCLUDE (run_id, path, unit_digest) FROM modules"
                " ORDER BY name"
            )
            found.append(result.fetchall())
    assert len(found[0]) == 3
    assert found[0] == found[1]


@pytest.mark.parametrize("folders", ["jaxlib"], indirect=True)
def test_files_say_what_is_left_out(folders: tuple[Path, Path]) -> None:
    text, _ = folders
    db = text.parent / "w.duckdb"
    (text / "jit_step.txtpb").write_bytes(b'hlo_module {\n  name: "f"\n}\n')
    (text / "jit_sums.txtpb").unlink()
    load(db, text)
    with connect(db) as connection:
        files = connection.execute(
            "SELECT path, kind, stage, status, reason FROM dump_files ORDER BY path"
        ).fetchall()
    assert files == [
        (
            "jit_halves.txtpb",
            "hlo_text_proto",
            "after_optimizations",
            "loaded",
            "41 values are of fields that are not read: element_type, program_shape, "
            "end_line, end_column, computation_devices, …",
        ),
        ("jit_step.txtpb", "hlo_text_proto", None, "loaded", "HLO as a text proto"),
    ]


SNAPSHOT = b"""\
hlo_module {
  name: "jit_f"
  entry_computation_name: "main.2"
  computations {
    name: "main.2"
    instructions {
      name: "x.1"
      opcode: "parameter"
      shape { element_type: F32 dimensions: 2 layout { minor_to_major: 0 } }
      metadata { op_name: "x" source_file: "f.py" source_line: 3 }
      id: 1
    }
    id: 2
    root_id: 1
  }
  id: 7
  entry_computation_id: 2
}
partitions {
  arguments {
    shape { element_type: F32 dimensions: 2 }
    f32s: 1
    f32s: 2.5
  }
}
version: 1
"""


def test_an_unoptimized_snapshot_as_text_gives_its_module_once(tmp_path: Path) -> None:
    name = "module_0007.jit_f.execution_000{}.hlo_unoptimized_snapshot.txt"
    for number in (0, 1):
        (tmp_path / name.format(number)).write_bytes(SNAPSHOT)
    db = tmp_path / "w.duckdb"
    [summary] = load(db, tmp_path)
    assert (summary.modules, summary.rejects) == (1, 0)
    with connect(db) as connection:
        modules = connection.execute(
            "SELECT module_number, name, stage, path FROM modules"
        ).fetchall()
        instructions = connection.execute(
            """
            SELECT name, opcode, shape, op_name, source_file, source_line
            FROM instructions
              JOIN located_instructions USING (module_id, instruction_id)
            """
        ).fetchall()
        files = connection.execute(
            "SELECT status FROM dump_files ORDER BY path"
        ).fetchall()
    assert modules == [(7, "jit_f", "before_optimizations", name.format(0))]
    assert instructions == [("x.1", "parameter", "f32[2]{0}", "x", "f.py", 3)]
    assert files == [("loaded",), ("ignored",)]
