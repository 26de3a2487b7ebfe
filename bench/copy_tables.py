"""DuckDB copying finished tables from Parquet files into a new database.

    python -m bench.copy_tables FOLDER DATABASE

`export_tables` writes the folder, from a warehouse.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

from hlodb.schema.waiting import BLOCK_BYTES


def export_tables(database: Path, folder: Path) -> int:
    """Write every table that has rows to a Parquet file; give the count of rows."""
    folder.mkdir(parents=True)
    total = 0
    with duckdb.connect(str(database), read_only=True) as connection:
        tables = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal"
        ).fetchall()
        for schema, table in tables:
            path = folder / f"{schema}.{table}.parquet"
            rows = connection.execute(
                f'COPY "{schema}"."{table}" TO \'{path}\' (FORMAT parquet)'
            ).fetchone()
            total += rows[0] if rows else 0
    return total


def main(folder: str, database: str) -> None:
    """Copy every file of the folder into a table."""
    connection = duckdb.connect(
        database, config={"default_block_size": str(BLOCK_BYTES)}
    )
    for path in sorted(Path(folder).glob("*.parquet")):
        connection.execute(f"CREATE TABLE \"{path.stem}\" AS FROM '{path}'")
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
