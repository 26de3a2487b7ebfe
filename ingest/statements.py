"""The SQL files of this room, by name."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=32)
def statement(name: str) -> str:
    """Give the text of `ingest/sql/NAME.sql`."""
    return (files("hlodb.ingest") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
