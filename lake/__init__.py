"""A lake: a warehouse as a folder of Parquet files, which many processes write to."""

from __future__ import annotations

import re
from pathlib import Path

VERSION_FILE = "hlodb-lake.json"
"""The file that makes a folder a lake; it names the versions of layout and schema."""

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(?=[^/])")


def url_of(path: str | Path) -> str | None:
    """Return the URL that a path stands for; `Path` makes one slash of two."""
    return _URL.sub(r"\1://", str(path), count=1) if _URL.match(str(path)) else None


def is_lake(path: str | Path) -> bool:
    """Return whether `path` is the folder of a lake, or a URL: only lakes have one."""
    return url_of(path) is not None or (Path(path) / VERSION_FILE).is_file()
