import pytest

from hlodb.schema.generate import generated
from hlodb.schema.stored import stored_tables
from hlodb.schema.tables import PUBLIC, STORE


@pytest.mark.parametrize("name", ["tables.sql", "comments.sql"])
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
