"""What is ingested: real dumps unpacked, and larger inputs made of them.

The full-size dumps lie beside the checkout, in ../shared/data. Without them the
repository's own smaller ones are used, and `missing` says what they stand for.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.large_files import write_large
from bench.measure import REPOSITORY
from bench.widen import copy_dump, one_module

SHARED = REPOSITORY.parent / "shared" / "data"
OWN = REPOSITORY / "examples" / "dumps"
OWN_PASSES = REPOSITORY / "tests" / "data" / "passes"
OWN_PROTOS = REPOSITORY / "tests" / "data" / "proto"
LARGE_BYTES = 1_000_000_000
SINGLE_BYTES = 200_000_000
LARGE_FILE_BYTES = 100_000_000
SMALL_FILE_BYTES = 100_000
QUICK_SHARE = 50
"""A quick check makes the generated inputs this many times smaller."""


@dataclass(frozen=True)
class Input:
    """Directories to be ingested together, each a run."""

    title: str
    roots: tuple[Path, ...]
    missing: str = ""
    files: int = field(init=False)
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        found = (p for root in self.roots for p in root.rglob("*.*") if p.is_file())
        sizes = [path.stat().st_size for path in found]
        object.__setattr__(self, "files", len(sizes))
        object.__setattr__(self, "bytes", sum(sizes))

    @property
    def paths(self) -> list[str]:
        """The directories, as a command takes them."""
        return [str(root) for root in self.roots]


class Inputs:
    """Makes inputs below a folder, each once."""

    def __init__(self, folder: Path, quick: bool = False) -> None:
        self.folder = folder
        self.share = QUICK_SHARE if quick else 1

    def passes(self) -> Input:
        """Return all pass dumps of one compilation."""
        archives = sorted((SHARED / "passes").glob("*.tar.xz"))
        if not archives:
            missing = "the full pass dumps (../shared/data/passes)"
            return Input(
                "pass dumps", self._unpack(_archives(OWN_PASSES), "passes"), missing
            )
        return Input("pass dumps", self._unpack(archives, "passes"))

    def distinct(self) -> Input:
        """Return the final dumps of nine CPU releases and four for TPU."""
        home = SHARED if SHARED.is_dir() else OWN
        archives = [*_archives(home / "cpu"), *_archives(home / "tpu")]
        missing = "" if home is SHARED else "the full CPU and TPU dumps (../shared)"
        return Input("distinct text", self._unpack(archives, "distinct"), missing)

    def protos(self) -> Input:
        """Return dumps that have each module as text and as proto."""
        archives = _archives(SHARED / "proto")
        missing = "" if archives else "the full dumps with protos (../shared)"
        roots = self._unpack(archives or _archives(OWN_PROTOS), "protos")
        return Input("text with protos", roots, missing)

    def large(self) -> Input:
        """Return a gigabyte: pass dumps and distinct text widened to many copies."""
        roots = (*self.passes().roots, *self.distinct().roots)
        return self._widened("generated", roots, LARGE_BYTES // self.share)

    def wide_passes(self) -> Input:
        """Return half a gigabyte of pass dumps, widened."""
        wanted = LARGE_BYTES // 2 // self.share
        return self._widened("pass dumps, widened", self.passes().roots, wanted)

    def copies(self, count: int) -> Input:
        """Return one release's dump, widened to so many runs."""
        root = self.distinct().roots[0]
        made = [self._copy(root, number) for number in range(count)]
        return Input(f"{count} runs of {root.name}", tuple(made))

    def single(self) -> Input:
        """Return one HLO module in one file."""
        folder = self.folder / "single"
        path = folder / "module_0000.jit_wide.cpu_after_optimizations.txt"

        def make() -> None:
            texts = self.distinct().roots[0].rglob("*after_optimizations.txt")
            text = max((p.read_bytes() for p in texts), key=len)
            with path.open("wb") as stream:
                stream.writelines(one_module(text, SINGLE_BYTES // self.share))

        _once(folder, make)
        return Input("one file", (folder,))

    def large_file(self, kind: str) -> Input:
        """Return a dump of one file of 100 MB."""
        return self._one_file(kind, LARGE_FILE_BYTES // self.share)

    def small_file(self) -> Input:
        """Return a dump of one file of 100 kB."""
        return self._one_file("one computation", SMALL_FILE_BYTES)

    def _one_file(self, kind: str, size: int) -> Input:
        folder = self.folder / "large_files" / f"{kind.replace(' ', '_')}_{size}"

        def make() -> None:
            write_large(kind, folder, size)

        _once(folder, make)
        return Input(kind, (folder,))

    def _widened(self, title: str, roots: tuple[Path, ...], wanted: int) -> Input:
        made: list[Path] = []
        size = number = 0
        while size < wanted:
            for root in roots:
                made.append(self._copy(root, number))
                size += sum(p.stat().st_size for p in made[-1].rglob("*.*"))
            number += 1
        return Input(title, tuple(made))

    def _copy(self, root: Path, number: int) -> Path:
        if not number:
            return root
        # CPU and TPU releases, final and pass dumps have equal names.
        target = self.folder / "widened" / root.parent.name / f"{root.name}-{number}"
        _once(target, lambda: copy_dump(root, target, number))
        return target

    def _unpack(self, archives: list[Path], kind: str) -> tuple[Path, ...]:
        made = []
        for archive in archives:
            target = self.folder / kind / archive.name.removesuffix(".tar.xz")
            _once(target, lambda a=archive, t=target: _extract(a, t))  # type: ignore[misc]
            made.append(target)
        return tuple(made)


def _archives(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.tar.xz"))


def _extract(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as tar:
        # Python 3.11 has the filter since 3.11.4 only, later ones warn without it.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(target)


def _once(folder: Path, make: Callable[[], None]) -> None:
    """Make a folder unless it was made whole before."""
    done = folder.parent / f".{folder.name}.done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        make()
        done.touch()
