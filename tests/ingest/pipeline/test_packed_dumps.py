"""The same run packed in any way gives the same rows."""

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.tables.location_rows import LOCATION_TABLES
from hlodb.ingest.tables.normalise import DETAIL_TABLES
from hlodb.schema.stored import REPORT_TABLES
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, all_rows

DUMP = DATA / "moved_lines" / "before"
TABLES = {*DETAIL_TABLES, *LOCATION_TABLES, *REPORT_TABLES, "instructions"}
TABLES -= {"store.instructions"}


def as_tar_xz(folder: Path) -> Path:
    path = folder / "dump.tar.xz"
    with tarfile.open(path, "w:xz") as tar:
        tar.add(DUMP, "dump")
    return path


def as_zip(folder: Path) -> Path:
    path = folder / "dump.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in DUMP.iterdir():
            packed.write(file, file.name)
    return path


def as_gz_files(folder: Path) -> Path:
    path = folder / "dump"
    path.mkdir()
    for file in DUMP.iterdir():
        (path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    return path


@pytest.mark.parametrize("pack", [as_tar_xz, as_zip, as_gz_files])
def test_rows_do_not_depend_on_the_package(tmp_path: Path, pack: object) -> None:
    plain, packed = tmp_path / "plain.duckdb", tmp_path / "packed.duckdb"
    ingest([str(DUMP)], plain)
    ingest([str(pack(tmp_path))], packed)  # type: ignore[operator]
    ours, theirs = all_rows(plain), all_rows(packed)
    assert {t for t in TABLES if ours[t] != theirs[t]} == set()
    question = """
        SELECT * EXCLUDE (path, folder) FROM modules ORDER BY module_number, stage
    """
    with connect(plain) as one, connect(packed) as other:
        modules = one.execute(question).fetchall()
        assert other.execute(question).fetchall() == modules
        assert len(modules) == 4
