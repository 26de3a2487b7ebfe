"""Copies the texts that the oracle reads: of a dump, or of several as one."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_READ = re.compile(
    r"module_(\d+)(\.[^/]*(?:before|after)_optimizations"
    r"(?:-buffer-assignment|-buffer-assignment-values|-live-range)?\.txt)"
)


def texts(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the texts in a folder or an archive."""
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file() and _READ.fullmatch(path.name):
                yield path.relative_to(source).as_posix(), path.read_bytes()
        return
    with tarfile.open(source) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file and _READ.fullmatch(PurePosixPath(member.name).name):
                yield member.name, file.read()


def stage(source: Path, folder: Path) -> None:
    """Copy the texts of one dump into a folder, as they are."""
    for name, content in texts(source):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def stage_as_one(sources: list[Path], folder: Path) -> None:
    """Copy the texts of several dumps into a folder, as if one process wrote them.

    Modules get numbers of their own, in the order of the dumps.
    """
    folder.mkdir(parents=True, exist_ok=True)
    numbers: dict[tuple[Path, str], int] = {}
    for source in sources:
        for name, content in texts(source):
            found = _READ.fullmatch(PurePosixPath(name).name)
            assert found
            number = numbers.setdefault((source, found[1]), len(numbers))
            (folder / f"module_{number:04}{found[2]}").write_bytes(content)
