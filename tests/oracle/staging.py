"""Copies the texts of dumps that the oracle reads into one folder."""

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


def stage_as_one(sources: list[Path], folder: Path) -> None:
    """Copy the texts of several dumps into a folder, as if one process wrote them.

    Each folder is a dump. Modules get numbers of their own, in the order of the dumps.
    """
    folder.mkdir(parents=True, exist_ok=True)
    numbers: dict[tuple[int, PurePosixPath, str], int] = {}
    for place, source in enumerate(sources):
        for name, content in texts(source):
            path = PurePosixPath(name)
            found = _READ.fullmatch(path.name)
            assert found
            key = (place, path.parent, found[1])
            number = numbers.setdefault(key, len(numbers))
            (folder / f"module_{number:04}{found[2]}").write_bytes(content)
