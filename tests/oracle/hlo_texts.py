"""Every HLO text that stands in the repository or beside it, by archive."""

import tarfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from tests.conftest import DATA, REPOSITORY

PINNED = "0.10.2"
"""The release of jaxlib that `make oracle` installs."""


def _installed() -> str:
    try:
        return version("jaxlib")
    except PackageNotFoundError:
        return PINNED


# What releases later than the one that is pinned dumped, only they read; what XLA makes
# of the compact texts stands beside them (`in_full`).
LATER = (DATA / "compact", DATA / "h100", DATA / "newest")
HERE = [
    archive
    for folder in (DATA, REPOSITORY / "examples")
    for archive in sorted(folder.rglob("*.tar.xz"))
    if ".in_full." not in archive.name
    and (_installed() != PINNED or not set(LATER).intersection(archive.parents))
]
LOOSE = sorted(DATA.rglob("*.txt"))


class HloText(NamedTuple):
    """A text that begins with `HloModule`."""

    name: str
    text: str


def loose_texts() -> Iterator[HloText]:
    """Yield the texts that are files of their own."""
    for path in LOOSE:
        yield from _hlo(path.name, path.read_bytes())


def archived_texts(archive: Path) -> Iterator[HloText]:
    """Yield the texts of an archive."""
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None and member.name.endswith(".txt"):
                yield from _hlo(member.name, file.read())


def _hlo(name: str, data: bytes) -> Iterator[HloText]:
    if data.startswith(b"HloModule "):
        yield HloText(name, data.decode("utf-8", "replace"))
