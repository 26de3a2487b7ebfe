"""Suggested commands: names as arguments, and the warehouse that they are about."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

DEFAULT_DB = "hlodb.duckdb"

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(?=[^/])")
_IN_TEXT = re.compile(r"`hlodb (?=[a-z])(?!lake )(?![^`]* --db )")


def positional(*names: str) -> list[str]:
    """Return `names` behind `--` where one of them would be taken for an option."""
    dashes = ["--"] if any(name.startswith("-") for name in names) else []
    return [*dashes, *names]


def url_of(path: str | Path) -> str | None:
    """Return the URL that a path stands for; `Path` makes one slash of two."""
    return _URL.sub(r"\1://", str(path), count=1) if _URL.match(str(path)) else None


def default_db() -> Path:
    """Return the warehouse that is meant where none is named."""
    return Path(os.environ.get("HLODB_DB") or DEFAULT_DB)


def named_db(db: str | Path) -> str | None:
    """Return the warehouse as commands have to name it; None if they find it."""
    return None if Path(db) == default_db() else url_of(db) or str(db)


def with_db(command: str, db: str | None) -> str:
    """Return a command line with the warehouse, before the command's own arguments."""
    if db is None or not command.startswith("hlodb "):
        return command
    return f"hlodb --db {shlex.quote(db)} {command.removeprefix('hlodb ')}"


def text_with_db(text: str, db: str | None) -> str:
    """Return a text with the warehouse in each command between backticks."""
    if db is None:
        return text
    return _IN_TEXT.sub(lambda _: f"`hlodb --db {shlex.quote(db)} ", text)


def shell_line(words: Sequence[str]) -> str:
    """Return words as one line for a shell, without characters that do not print."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.encode("unicode_escape").decode().replace("'", "\\x27")
    return f"$'{escaped}'"
