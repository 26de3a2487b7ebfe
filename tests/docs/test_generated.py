"""Pages that follow from the code are not stale, and no command is left out."""

import pytest

from docs.generate import FOLDER, PAGES
from hlodb.schema.generate import generated


@pytest.mark.parametrize("name", PAGES)
def test_page_is_fresh(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = (FOLDER / name).read_text(encoding="utf-8")
    assert page == PAGES[name](), f"{name} is stale: make docs"


def test_schema_files_are_fresh() -> None:
    for path, text in generated().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: make docs"
