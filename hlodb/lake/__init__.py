"""A lake: a warehouse as a folder of Parquet files, which many processes write to."""

from __future__ import annotations

from pathlib import Path

from hlodb.printed_commands import url_of

VERSION_FILE = "hlodb-lake.json"
"""The file that makes a folder a lake; it names the versions of layout and schema."""


def is_lake(path: str | Path) -> bool:
    """Return whether `path` is the folder of a lake, or a URL: only lakes have one."""
    return url_of(path) is not None or (Path(path) / VERSION_FILE).is_file()
