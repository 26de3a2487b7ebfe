"""A lake: a warehouse as a folder of Parquet files, which many processes write to."""

from __future__ import annotations

from pathlib import Path

VERSION_FILE = "hlodb-lake.json"
"""The file that makes a folder a lake; it names the versions of layout and schema."""


def is_lake(path: str | Path) -> bool:
    """Return whether `path` is the folder of a lake."""
    return (Path(path) / VERSION_FILE).is_file()
