"""The SQL files of this room, by name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "sql"


@lru_cache(maxsize=32)
def statement(name: str) -> str:
    """Give the text of `ingest/sql/NAME.sql`."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
