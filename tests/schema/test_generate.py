from pathlib import Path

import pytest

from hlodb.schema.creation import create_file
from hlodb.schema.declared import declared_references
from hlodb.schema.generate import generated
from hlodb.schema.stored import stored_tables
from hlodb.schema.tables import PUBLIC, STORE
from hlodb.schema.warehouse import connect


@pytest.mark.parametrize(
    "name", ["tables.sql", "comments.sql", "keys.csv", "references.csv"]
)
def test_what_is_made_from_the_tables_is_up_to_date(name: str) -> None:
    [(path, text)] = [(p, t) for p, t in generated().items() if p.name == name]
    assert path.read_text(encoding="utf-8") == text, "run `make docs`"


def test_stored_columns_are_those_of_the_tables() -> None:
    declared = {
        table.fullname: [column.name for column in table.columns]
        for table in (*PUBLIC.sorted_tables, *STORE.sorted_tables)
        if not table.info.get("view")
    }
    found = {name: list(columns) for name, columns in stored_tables().items()}
    assert found == declared


def test_every_column_says_what_it_is(tmp_path: Path) -> None:
    create_file(tmp_path / "w.duckdb")
    with connect(tmp_path / "w.duckdb") as connection:
        bare = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns()"
            " WHERE NOT internal AND schema_name = 'main' AND comment IS NULL"
        ).fetchall()
    assert bare == []


def test_every_table_of_runs_or_modules_refers_to_them() -> None:
    """So that no row of a deleted run or module is left without a check seeing it."""
    owners = {"run_id": "runs", "module_id": "modules"}
    declared = {(r.table, r.columns, r.target) for r in declared_references()}
    for table in PUBLIC.sorted_tables:
        column = next(iter(table.columns)).name
        if column in owners and table.name != "runs" and not table.info["view"]:
            assert (table.name, column, owners[column]) in declared
