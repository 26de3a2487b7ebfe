"""Makes a warehouse of many nightly runs out of the real dumps of this repository.

    python -m bench.generate_warehouse OUT.duckdb --runs 1000 --modules 300

Every night each series (CPU, TPU) gives a run. A night compiles the programs of the
dumps in as many configurations as it takes to reach the number of modules, on two
ranks, with all stages that the dumps have. Ingest is not used: rows are copied within
DuckDB, some of them changed, in the order and into the tables that ingest fills.

What is like real life:

* Contents are stored once. A night that changed nothing adds occurrences and files
  only; ranks share their modules.
* A program is edited in 2 % of the nights: from then on its modules are others. A tenth
  of their instructions has a new framework path, so there are new forms; often its
  arena grows, at the peak or by an unused tail, and sizes, timelines, profiles and
  XLA's own reports agree about it, as `hlodb check` confirms. The next edit takes that
  back and does something else: memory goes up and down.
* In 5 % of the nights the source lines of a program move, and with them its locations.
* Every 60 nights a series gets the next release of the compiler, as the dumps have it:
  then all programs change, as really compiled by that release.
* Names stay: of programs, instructions, computations. Configurations differ by the
  name of the program, hence by framework paths and keys.

What isn't: digests are of names, not of bytes; the configurations of a program have
equal sizes on their first night; runs have no pass dumps, logs or rejects.

A night depends only on the seed and its number: a warehouse of fewer runs holds the
same first nights.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb
import pyarrow as pa

from hlodb.ingest.load.occurrences import load_files, load_modules
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.tables.content_keys import FILES, PATHS, SNAPSHOTS
from hlodb.queries.renewal import renew_macros
from hlodb.schema.stored import stored_tables
from hlodb.schema.waiting import open_file
from hlodb.schema.warehouse import connect

REPOSITORY = Path(__file__).parent.parent
SQL = Path(__file__).parent / "sql"

SEEDS = {
    "cpu": (
        "examples/dumps/cpu/jaxlib-0.4.13.tar.xz",
        "examples/dumps/cpu/jaxlib-0.4.20.tar.xz",
        "examples/dumps/cpu/jaxlib-0.4.30.tar.xz",
        "examples/dumps/cpu/jaxlib-0.4.35.tar.xz",
        "examples/dumps/cpu/jaxlib-0.5.3.tar.xz",
        "tests/data/proto/cpu-jaxlib-0.6.2.tar.xz",
        "examples/dumps/cpu/jaxlib-0.6.2.tar.xz",
        "examples/dumps/cpu/jaxlib-0.7.2.tar.xz",
        "examples/dumps/cpu/jaxlib-0.9.2.tar.xz",
        "tests/data/proto/cpu-jaxlib-0.10.2.tar.xz",
        "examples/dumps/cpu/jaxlib-0.10.2.tar.xz",
    ),
    "tpu": (
        "examples/dumps/tpu/v5e-jax-0.10.2.tar.xz",
        "tests/data/proto/tpu-v5e-jax-0.10.2.tar.xz",
    ),
}
"""The releases of each series in their order; some come as protos, too."""

DEVICES = {"cpu": None, "tpu": "TPU v5e"}
OTHERS = ("store.instructions", "memory_timeline", "store.snapshots", "store.files")
"""Tables of modules that are not copied as they are, because edits change their rows,
or runs; those in which edits only make numbers greater are copied first."""


class Scale(NamedTuple):
    """How large a warehouse is made, and how much changes from night to night.

    `changed` and `moved` are the shares of programs that are edited, or whose source
    lines move, in one night; `upgrade` counts nights between two compiler releases.
    """

    runs: int = 1000
    modules: int = 300
    changed: float = 0.02
    moved: float = 0.05
    ranks: int = 2
    upgrade: int = 60
    seed: int = 1


def generate_warehouse(
    path: Path, scale: Scale, seeds: Mapping[str, Sequence[str]] = SEEDS
) -> None:
    """Make the warehouse at `path`, which must not be there yet."""
    if path.exists():
        raise FileExistsError(f"{path} is there already")
    with TemporaryDirectory() as folder:
        seed = Path(folder) / "seed.duckdb"
        for archive in (name for names in seeds.values() for name in names):
            ingest([str(REPOSITORY / archive)], seed)
        with connect(path, read_only=False):
            pass  # Now the file is there.
        reached = [Path(folder)]
        with closing(open_file(path, read_only=False, folders=reached)) as warehouse:
            warehouse.execute(f"ATTACH '{seed}' AS seed (READ_ONLY)")
            warehouse.execute("ATTACH ':memory:' AS plan")
            _set_up(warehouse, scale, seeds)
            _run_script(warehouse, "plan")
            _run_script(warehouse, "instructions")
            _copy_contents(warehouse)
            _run_script(warehouse, "growth")
            _run_script(warehouse, "locations")
            _run_script(warehouse, "occurrences")
            load_modules(warehouse, _keyed(warehouse, "modules", SNAPSHOTS, PATHS))
            load_files(warehouse, _keyed(warehouse, "dump_files", FILES))
            renew_macros(warehouse)


def _set_up(
    warehouse: duckdb.DuckDBPyConnection,
    scale: Scale,
    seeds: Mapping[str, Sequence[str]],
) -> None:
    for name, value in scale._asdict().items():
        warehouse.execute(f"SET VARIABLE {name} = {value}")
    warehouse.execute(
        "CREATE TABLE plan.seeds"
        " (series TEXT, release INTEGER, name TEXT, framework TEXT, device TEXT)"
    )
    rows = [
        (series, release, name, "-".join(name.split("-")[-2:]), DEVICES[series])
        for series, archives in seeds.items()
        for release, name in enumerate(map(_run_name, archives))
    ]
    warehouse.executemany("INSERT INTO plan.seeds VALUES (?, ?, ?, ?, ?)", rows)


def _run_name(archive: str) -> str:
    return Path(archive).name.removesuffix(".tar.xz")


def _run_script(warehouse: duckdb.DuckDBPyConnection, name: str) -> None:
    warehouse.execute((SQL / f"{name}.sql").read_text(encoding="utf-8"))


def _copy_contents(warehouse: duckdb.DuckDBPyConnection) -> None:
    """Copy all tables whose rows are stored once per module, for every new one."""
    for table, columns in stored_tables().items():
        if "module_id" not in columns or "run_id" in columns or table in OTHERS:
            continue
        schema, _, name = table.rpartition(".")
        target = f'{schema or "main"}."{name}"'
        warehouse.execute(
            f"INSERT INTO {target} BY NAME"
            " SELECT t.* REPLACE (c.module_id AS module_id) FROM plan.contents AS c"
            f" JOIN seed.{target} AS t ON t.module_id = c.seed_module_id"
            " ORDER BY c.content, t.rowid"
        )


def _keyed(
    warehouse: duckdb.DuckDBPyConnection, table: str, *schemas: pa.Schema
) -> pa.Table:
    """Return a table of `plan` with keys of unique rows; ingest hashes otherwise."""
    keys = [
        f"CAST(hash({', '.join(names)}) >> 1 AS BIGINT) AS {key}"
        for key, *names in (schema.names for schema in schemas)
    ]
    found = warehouse.execute(f"SELECT *, {', '.join(keys)} FROM plan.{table}")
    return found.to_arrow_table()


def main() -> None:
    """Read the command line and make a warehouse."""
    parser = argparse.ArgumentParser(description="Make a warehouse of many runs.")
    parser.add_argument("path", type=Path)
    for name, value in Scale()._asdict().items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    arguments = vars(parser.parse_args())
    path = arguments.pop("path")
    generate_warehouse(path, Scale(**arguments))


if __name__ == "__main__":
    main()
