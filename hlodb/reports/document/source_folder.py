"""Names source files by their place in the folder that all of them are in."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hlodb.reports.read.overview import Overview, Row

_LIBRARIES = "/site-packages/", "/dist-packages/", "/lib/python"
"""Parts of the paths of files that the user did not write."""


def in_folder(overview: Overview) -> tuple[Overview, str | None]:
    """Return an overview with short names of files, and the folder that they are in.

    The folder is that of all absolute paths that are no library's; None where they have
    none in common but the root, as on Windows.
    """
    folder = _folder(_files(overview.answers))
    if folder is None:
        return overview, None
    start = f"{folder}/"
    answers = {
        name: [_shortened(row, start) for row in rows]
        for name, rows in overview.answers.items()
    }
    return replace(overview, answers=answers), folder


def _files(answers: Mapping[str, Sequence[Row]]) -> set[str]:
    found = {row.get("source_file") for rows in answers.values() for row in rows}
    return {file for file in found if file is not None}


def _folder(files: Iterable[str]) -> str | None:
    own = [
        posixpath.dirname(file)
        for file in files
        if file.startswith("/") and not any(part in file for part in _LIBRARIES)
    ]
    if not own:
        return None
    folder = posixpath.commonpath(own)
    return None if folder == "/" else folder


def _shortened(row: Row, start: str) -> Row:
    file = row.get("source_file")
    if file is None or not file.startswith(start):
        return row
    return {**row, "source_file": file.removeprefix(start)}
