"""The warehouse through SQLAlchemy."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, Engine, create_engine
from sqlalchemy.pool import NullPool

from hlodb.schema.limits import ALONE, require_plain_name
from hlodb.schema.waiting import require_file


def engine(path: str | Path) -> Engine:
    """Return a SQLAlchemy engine that reads the warehouse at `path`, and no other file.

    NullPool: a pooled connection would keep the file locked.
    """
    require_plain_name(path)
    require_file(path)
    return create_engine(
        URL.create("duckdb", database=str(path)),
        poolclass=NullPool,
        connect_args={"read_only": True, "config": {**ALONE}},
    )
