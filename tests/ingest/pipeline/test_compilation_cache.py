"""JAX's compilation cache: its entries give the rows of a dump of their compilation."""

import json
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from hlodb.ingest.formats.proto.executable import hlo_of_executable
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, all_rows
from tests.ingest.loading import load

ENTRIES = sorted((DATA / "cache").glob("*.tar.xz"))
CPU = [path for path in ENTRIES if path.name.startswith("jaxlib-")]
GPU, TPU = DATA / "cache" / "h100-jaxlib-0.10.2.tar.xz", ENTRIES[-1]
NEWEST = DATA / "cache" / "jaxlib-0.10.2.tar.xz"
RELEASES = [  # 0.10.2 and 0.4.30 come first by name
    pytest.param(path, marks=pytest.mark.slow if at > 1 else (), id=path.name)
    for at, path in enumerate(CPU)
]
OF_THE_FILE = {"dump_files", "modules", "module_memory", "runs"}
"""Tables that hold paths, or what a file's name says."""
TEXT_ONLY = {"located_instructions", "printed_peaks"}
"""Lines of the text, and the peak that XLA prints: docs/text-and-proto.md."""
PROTO_ONLY = {
    "locations",
    "stack_frames",
    "store.location_lists",
    "store.location_numbers",
    "store.location_sets",
    "store.stack_frames",
}
"""Stack frames, which no text has before 0.8."""


@pytest.fixture
def unpacked(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path)
    return tmp_path


def rows_of(folder: Path, name: str) -> dict[str, list[str]]:
    """Ingest a folder; return all rows, with names of modules instead of numbers."""
    db = folder.parent / f"{folder.name}.duckdb"
    [summary] = load(db, folder, name=name)
    assert summary.rejects == 0
    with connect(db) as connection:
        names = dict(
            connection.execute("SELECT module_id, name FROM modules").fetchall()
        )
    return {
        table: sorted(repr([names.get(value, value) for value in row]) for row in rows)
        for table, rows in all_rows(db).items()
    }


def differing(folder: Path) -> set[str]:
    """Return the tables in which a cache and the dump beside it differ."""
    cache, dump = rows_of(folder / "cache", "run"), rows_of(folder / "dump", "run")
    assert sum(map(len, cache.values())) > 1000
    return {table for table in cache if cache[table] != dump[table]}


def keep(folder: Path, ending: str) -> None:
    for path in folder.iterdir():
        if not path.name.endswith(ending):
            path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("unpacked", RELEASES, indirect=True)
def test_rows_are_those_of_the_dumped_proto(unpacked: Path) -> None:
    keep(unpacked / "dump", ".pb")
    assert differing(unpacked) == OF_THE_FILE


@pytest.mark.parametrize("unpacked", RELEASES, indirect=True)
def test_rows_are_those_of_the_dumped_text(unpacked: Path) -> None:
    keep(unpacked / "dump", ".txt")
    assert differing(unpacked) - PROTO_ONLY == OF_THE_FILE | TEXT_ONLY


@pytest.mark.parametrize("unpacked", [NEWEST], indirect=True)
def test_columns_of_modules(unpacked: Path) -> None:
    """What a name says is missing, but stage and platform are known."""
    keep(unpacked / "dump", ".pb")
    found = {}
    for name in ("cache", "dump"):
        db = unpacked / f"{name}.duckdb"
        load(db, unpacked / name)
        with connect(db) as connection:
            result = connection.execute(
                "SELECT * EXCLUDE (run_id, path, unit_digest, module_number)"
                " FROM modules ORDER BY name"
            )
            found[name] = result.fetchall()
    assert len(found["cache"]) == 3
    assert found["cache"] == found["dump"]


@pytest.mark.parametrize("unpacked", [NEWEST], indirect=True)
def test_files_of_a_cache(unpacked: Path) -> None:
    for entry in (unpacked / "cache").iterdir():
        used = entry.with_name(entry.name.replace("-cache", "-atime"))
        used.write_bytes((1_700_000_000_000_000_000).to_bytes(8, "little"))
    [broken] = (unpacked / "cache").glob("jit_sums-*-cache")
    broken.write_bytes(zlib.compress(b"\0\0\0\7" + b"\x0a\x03\x0a\x01x"))
    db = unpacked / "w.duckdb"
    [summary] = load(db, unpacked / "cache")
    assert (summary.modules, summary.rejects) == (2, 0)
    with connect(db) as connection:
        files = connection.execute(
            """
            SELECT regexp_replace(path, '[0-9a-f]{64}', 'key'), kind, stage, status,
              reason
            FROM dump_files ORDER BY path
            """
        ).fetchall()
        runs = connection.execute("SELECT platform, device FROM runs").fetchall()
    stage, is_used = "after_optimizations", "time at which a cache entry was last used"
    read, empty = (
        ("loaded", "serialized executable"),
        ("ignored", "entry of JAX's compilation cache that carries no HLO"),
    )
    assert files == [
        ("jit_halves-key-atime", "ignored", None, "ignored", is_used),
        ("jit_halves-key-cache", "executable", stage, *read),
        ("jit_step-key-atime", "ignored", None, "ignored", is_used),
        ("jit_step-key-cache", "executable", stage, *read),
        ("jit_sums-key-atime", "ignored", None, "ignored", is_used),
        ("jit_sums-key-cache", "executable", stage, *empty),
    ]
    assert runs == [("cpu", None)]


@pytest.mark.parametrize("unpacked", [NEWEST], indirect=True)
def test_entries_by_any_name_cut_short_or_in_zlib(unpacked: Path) -> None:
    cache = unpacked / "cache"
    [step] = cache.glob("jit_step-*")
    [sums] = cache.glob("jit_sums-*")
    [halves] = cache.glob("jit_halves-*")
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(step.read_bytes())
    (cache / "renamed.bin").write_bytes(zlib.compress(plain))
    step.rename(cache / "another")
    halves.write_bytes(halves.read_bytes()[:-1000])
    sums.unlink()
    db = unpacked / "w.duckdb"
    load(db, cache)
    with connect(db) as connection:
        modules = connection.execute(
            "SELECT path, name, instruction_count, allocation_count FROM modules"
            " WHERE name = 'jit_step' ORDER BY path"
        ).fetchall()
        rejects = connection.execute("SELECT path, code FROM rejects").fetchall()
    assert modules == [
        ("another", "jit_step", 60, 13),
        ("renamed.bin", "jit_step", 60, 13),
    ]
    assert (halves.name, "cut_short") in rejects


def executables(archive: Path) -> Iterator[tuple[str, bytes, dict[str, bytes]]]:
    """Yield name and content of each entry, with all dumped files by their ends."""
    with tarfile.open(archive) as packed:
        files = {
            member.name: content.read()
            for member in packed
            if (content := packed.extractfile(member)) is not None
        }
    for path, data in files.items():
        if path.startswith("cache/"):
            name = path[6:].split("-")[0]
            dumped = {
                other.partition(f".{name}.")[2]: content
                for other, content in files.items()
                if f".{name}." in other
            }
            yield name, zlib.decompress(data), dumped


def with_sorted_configs(module: Any) -> list[Any]:
    """Return instructions with the keys of backend configs in order."""

    def config(text: str | None) -> str | None:
        if text is None or not text.startswith("{"):
            return text
        return json.dumps(json.loads(text), sort_keys=True)

    return [
        i._replace(
            attributes=i.attributes._replace(
                backend_config=config(i.attributes.backend_config)
            )
        )
        for i in module.instructions
    ]


def test_entries_of_a_gpu() -> None:
    """A Riegeli file of records; the configs are printed with their keys in order."""
    found = list(executables(GPU))
    assert [name for name, _, _ in found] == ["jit_halves", "jit_step", "jit_sums"]
    for name, data, dumped in found:
        hlo = hlo_of_executable(data)
        assert hlo is not None
        assert hlo.platform == "gpu"
        read = parse_hlo_proto(hlo.hlo)
        [proto] = [
            content for end, content in dumped.items() if end.endswith(".hlo.pb")
        ]
        expected = parse_hlo_proto(proto)
        assert read.module is not None
        assert expected.module is not None
        assert read.assignment == expected.assignment, name
        assert read.module.header == expected.module.header
        assert read.module.computations == expected.module.computations
        assert with_sorted_configs(read.module) == with_sorted_configs(expected.module)


def test_entries_of_a_tpu() -> None:
    """The module is the one after code generation, with the assignment before it."""
    found = list(executables(TPU))
    assert [name for name, _, _ in found] == ["jit_halves", "jit_step", "jit_sums"]
    for name, data, dumped in found:
        hlo = hlo_of_executable(data)
        assert hlo is not None
        assert hlo.platform == "tpu"
        read = parse_hlo_proto(hlo.hlo)
        protos = {
            end.removeprefix("cl_933746096."): parse_hlo_proto(content)
            for end, content in dumped.items()
            if end.endswith(".pb")
        }
        assert read.module == protos["after_codegen.hlo.pb"].module, name
        expected = protos["after_optimizations.hlo.pb"].assignment
        assert expected is not None
        assert read.assignment == expected


@pytest.mark.parametrize("unpacked", [TPU, GPU], indirect=True, ids=["tpu", "gpu"])
def test_memory_is_that_of_the_dump(unpacked: Path) -> None:
    found = []
    for name in ("cache", "dump"):
        db = unpacked / f"{name}.duckdb"
        load(db, unpacked / name)
        with connect(db) as connection:
            result = connection.execute(
                """
                SELECT name, platform, p.* EXCLUDE (module_id)
                FROM modules JOIN memory_profile AS p USING (module_id) ORDER BY ALL
                """
            )
            found.append(result.fetchall())
            if name == "cache":
                devices = connection.execute("SELECT device FROM runs").fetchall()
    assert devices == [(None,)]
    assert len(found[0]) >= 3
    assert found[0] == found[1]
