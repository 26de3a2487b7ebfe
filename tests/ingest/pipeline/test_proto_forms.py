"""A module gives the same rows, whether it was dumped as text or as a proto."""

import tarfile
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.tables import PUBLIC
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

# What only one form carries; docs/reference/text-and-proto.md explains each.
LEFT_OUT = {
    "modules": {
        "run_id",
        "module_id",
        "locations_id",
        "path",
        "first_line",
        "unit_digest",
        "printed_total_bytes",
    },
    "stack_frames": {"locations_id"},
    "locations": {"locations_id", "stack_frame_id"},
}
TABLES = (
    "modules",
    "computations",
    "instructions",
    "operands",
    "called_computations",
    "aliases",
    "allocations",
    "values",
    "allocation_values",
    "value_positions",
    "value_uses",
    "schedule",
    "live_ranges",
    "memory_profile",
    "memory_timeline",
    "locations",
    "stack_frames",
)
LIVE = ("schedule", "live_ranges", "memory_profile", "memory_timeline")
FLOW = ("values", "value_positions", "value_uses")
EARLY = DATA / "frameworks" / "graphs.tar.xz"
ARCHIVES = sorted((DATA / "proto").glob("*pu-*.tar.xz"))


def split(archive: Path, folder: Path) -> None:
    """Lay out an archive as two dumps, one of text, one of protos."""
    with tarfile.open(archive) as packed:
        for member in packed:
            data = packed.extractfile(member)
            name = Path(member.name).name
            if data is None or ("optimizations" not in name and "codegen" not in name):
                continue
            form = "proto" if ".pb" in name else "text"
            if "memory-usage-report" not in name:
                (folder / form).mkdir(exist_ok=True)
                (folder / form / name).write_bytes(data.read())


def rows_of(db: Path, run: str, table: str) -> dict[Any, list[tuple[Any, ...]]]:
    """Return the rows of one run, by module number and stage, sorted."""
    left_out = {"module_id", *LEFT_OUT.get(table, ())}
    columns = [c.name for c in PUBLIC.tables[table].columns if c.name not in left_out]
    listed = ", ".join(f't."{name}"' for name in columns)
    key = "locations_id" if table in ("locations", "stack_frames") else "module_id"
    also = "AND t.run_id = m.run_id" if table == "modules" else ""
    with connect(db) as connection:
        found = connection.execute(
            f"""
            SELECT m.module_number, m.stage, {listed}
            FROM modules AS m JOIN runs AS r USING (run_id)
            JOIN "{table}" AS t ON t.{key} = m.{key} {also}
            WHERE r.name = ?
            """,
            [run],
        ).fetchall()
    rows: dict[Any, list[tuple[Any, ...]]] = {}
    for number, stage, *values in found:
        rows.setdefault((number, stage), []).append(tuple(values))
    return {key: sorted(values, key=repr) for key, values in rows.items()}


def check(archive: Path, tmp_path: Path) -> int:
    split(archive, tmp_path)
    db = tmp_path / "w.duckdb"
    summaries = ingest([str(tmp_path / form) for form in ("text", "proto")], db)
    assert [s.rejects for s in summaries] == [0, 0]
    assert summaries[0].modules == summaries[1].modules
    for table in TABLES:
        text, proto = rows_of(db, "text", table), rows_of(db, "proto", table)
        if table == "stack_frames" and not text:
            continue  # until 0.8 only protos held frames
        assert text.keys() == proto.keys(), table
        for module in text:
            assert text[module] == proto[module], (table, module)
    return summaries[0].modules


@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda p: p.name)
def test_text_and_proto_give_equal_rows(archive: Path, tmp_path: Path) -> None:
    assert check(archive, tmp_path) > 0


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "modules"),
    [("cpu-jaxlib-0.10.2", 22), ("cpu-jaxlib-0.6.2", 22), ("tpu-v5e-jax-0.10.2", 35)],
)
def test_of_every_full_dump(
    shared: Path, tmp_path: Path, name: str, modules: int
) -> None:
    assert check(shared / "proto" / f"{name}.tar.xz", tmp_path) == modules


def test_both_forms_side_by_side_are_one_module(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    [summary] = ingest([str(ARCHIVES[0])], db)
    with connect(db) as connection:
        differing = connection.execute(
            "SELECT sum(difference_count), count(DISTINCT path) FROM proto_comparisons"
        ).fetchone()
        assert differing == (0, summary.modules)
        paths = connection.execute("SELECT path FROM modules").fetchall()
    assert all(path.endswith(".txt") for (path,) in paths)


@pytest.mark.slow
@pytest.mark.parametrize("release", ["1.14.0", "1.15.5", "2.1.4", "2.4.4"])
def test_text_without_live_ranges_has_those_of_its_proto(
    tmp_path: Path, release: str
) -> None:
    """As of all releases until 2021-04; before autumn 2019 also positions and uses."""
    dump = tmp_path / f"tensorflow-{release}"
    with tarfile.open(EARLY) as packed:
        packed.extractall(tmp_path)
    for form in ("pb", "txt"):
        (tmp_path / form).mkdir()
        for file in dump.glob(f"*.{form}"):
            (tmp_path / form / file.name).symlink_to(file)
    db = tmp_path / "w.duckdb"
    ingest([str(path) for path in (dump, tmp_path / "pb", tmp_path / "txt")], db)
    for table in (*LIVE, *FLOW):
        assert rows_of(db, dump.name, table) == rows_of(db, "pb", table), table
    with connect(db) as connection:
        peaks = connection.execute(
            """
            SELECT r.name, count(p.live_peak_bytes) > 0 FROM runs AS r
            JOIN modules USING (run_id) JOIN memory_profile AS p USING (module_id)
            GROUP BY r.name
            """
        ).fetchall()
        # Other rows are other content.
        runs_of = connection.execute(
            """
            SELECT DISTINCT list_sort(list(r.name)) FROM runs AS r
            JOIN modules AS m USING (run_id) WHERE m.has_live_ranges GROUP BY module_id
            """
        ).fetchall()
    assert dict(peaks) == {dump.name: True, "pb": True, "txt": False}
    assert sorted(runs_of) == [(["pb"],), ([dump.name],)]
