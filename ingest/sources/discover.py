"""User paths → runs: directories, archives, loose files, globs and URLs.

paths → RunSource (one per directory or archive) → Unit → DumpFile
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hlodb.errors import UsageError
from hlodb.ingest.formats.scan import printable
from hlodb.ingest.recognise.file_kinds import ARCHIVE_SUFFIXES, HEAD_BYTES, READ_KINDS
from hlodb.ingest.recognise.recognition import Recognised, is_rank_folder, recognise
from hlodb.ingest.recognise.sniff import is_wide, looks_like_text
from hlodb.ingest.records import total
from hlodb.ingest.sources.archives import Refuse, archive_form, is_archive_name
from hlodb.ingest.sources.limits import (
    DEFAULT_LIMITS,
    Limits,
    Refusal,
    Refusals,
    RefusedFile,
)
from hlodb.ingest.sources.local_files import entry_at, expand, files_below, local_entry
from hlodb.ingest.sources.streams import LimitedReader
from hlodb.ingest.sources.units import (
    DumpFile,
    Entry,
    Unit,
    read_tar_units,
    read_units,
    read_zip_units,
)

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*://")


def run_names(origins: Sequence[str]) -> list[str]:
    """Return a unique name for each origin (path or URL): its last part, unpacked.

    `dump` and `dump.zip` in one folder keep their endings. Equal names grow by the
    folder above until they differ (`cpu/dump`, `tpu/dump`); those that never do get a
    number.
    """
    parts = _distinct_parts(origins)
    depths = [1] * len(parts)
    while True:
        names = [_name(part, depth) for part, depth in zip(parts, depths, strict=True)]
        counts = Counter(names)
        clashing = [
            place
            for place, name in enumerate(names)
            if counts[name] > 1 and depths[place] < len(parts[place])
        ]
        if not clashing:
            return _numbered(names)
        for place in clashing:
            depths[place] += 1


def _distinct_parts(origins: Sequence[str]) -> list[list[str]]:
    whole = [_parts(origin) for origin in origins]
    short = [[*parts[:-1], _without_ending(parts[-1])] for parts in whole]
    counts = Counter(tuple(parts) for parts in short)
    return [
        parts if counts[tuple(parts)] == 1 else complete
        for parts, complete in zip(short, whole, strict=True)
    ]


def _parts(origin: str) -> list[str]:
    path, is_url = _SCHEME.subn("", origin)
    path = path.replace("\\", "/")
    if is_url:
        path = path.split("?")[0]
    return [part for part in path.split("/") if part] or ["dump"]


def _name(parts: list[str], depth: int) -> str:
    return "/".join(parts[-depth:])


def _without_ending(name: str) -> str:
    for suffix in sorted(ARCHIVE_SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def _numbered(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return numbered


_USER = re.compile(r"(?<=://)[^/?#]*@")
_SECRET = re.compile(
    r"sig|token|secret|key|credential|password|auth|accessid", re.IGNORECASE
)


def without_secrets(url: str) -> str:
    """Return a URL without user, password and signed or secret parameters."""
    address, mark, rest = _USER.sub("", url, count=1).partition("?")
    query, hash_, part = rest.partition("#")
    kept = [p for p in query.split("&") if not _SECRET.search(p.partition("=")[0])]
    return f"{address}{mark if any(kept) else ''}{'&'.join(kept)}{hash_}{part}"


__all__ = ["DumpFile", "Limits", "RefusedFile", "RunSource", "Unit", "discover"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")
"""`gs://…`, `s3://…`, `https://…`, and no drive letter."""

_LOCAL = re.compile(r"(?:file|local)://(?=.)")

HOW_TO_DUMP = (
    "XLA writes a dump when XLA_FLAGS=--xla_dump_to=DIRECTORY is set before the "
    "program starts."
)
"""What to do where there is nothing to read."""

_Read: TypeAlias = Callable[[Refuse], Iterator[Unit]]


@dataclass(eq=False)
class RunSource:
    """One run as it lies on disk or elsewhere; no file is read before `units`.

    `origin` is the directory, archive or URL, in a form that can be opened again,
    unless its name is no UTF-8, or that needs a secret, which is left out.
    `file_count` is None for archives, which tell only while they are read.
    `entries` are the files, where they lie one by one and all can be opened.
    `refused` and `has_dump` are about the last `units`, and complete at its end:
    what was not read and why, and whether there was any file that hlodb reads.
    """

    name: str
    origin: str
    file_count: int | None = None
    entries: Sequence[Entry] = ()
    refused: Refusals = field(default_factory=Refusals)
    has_dump: bool = False
    _read: _Read = field(repr=False, default=lambda refuse: iter(()))

    @property
    def is_local(self) -> bool:
        """Return whether its files lie in a file system."""
        return not _URL.match(self.origin)

    def units(self) -> Iterator[Unit]:
        """Read the run unit by unit; can be called again.

        Directories and zip archives give folders, modules, stages and passes in order;
        tar archives give units in the order in which they become complete.
        """
        self.refused = Refusals()
        self.has_dump = False
        for unit in self._read(self.refused.append):
            self.has_dump = self.has_dump or any(
                file.recognised.kind in READ_KINDS for file in unit.files
            )
            yield unit


class _Found(NamedTuple):
    """A run before it has its name."""

    origin: str
    read: _Read
    file_count: int | None = None
    entries: Sequence[Entry] = ()


def discover(
    paths: Sequence[str],
    *,
    run_name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[RunSource]:
    """Find the runs in paths that a user named.

    A directory is a run with all files below it; archives in it are runs of their own.
    An archive is a run. Loose files (also `.gz`, `.xz`, `.zst`, `.bz2`) named together
    are one run, called after their folder. Globs and URLs may stand for any of these.
    A path named twice counts once. `run_name` renames the run, if it is only one; with
    it, loose files beside one dump belong to that, such as the log of the job.
    Raises UsageError: missing path, nothing that is a dump, several runs for one name.
    """
    found: list[_Found] = []
    loose: list[Path] = []
    folders: list[Path] = []
    named: set[Path] = set()
    for path in paths:
        # fsspec would follow links in it, and wait at FIFOs.
        path = _LOCAL.sub("", path)
        if _URL.match(path):
            entries = _remote_entries(path, limits)
            found.extend(_find(path, entries, Refusals(), limits))
            continue
        for local in expand(path):
            if local.is_dir():
                folders.append(local)
                found.extend(_find_in_directory(local, limits))
            elif _is_archive(local, limits):
                found.append(
                    _archive(local_entry(str(local), str(local.parent)), limits)
                )
            elif local not in loose:
                loose.append(local)
                if not has_magic(path):
                    named.add(local)
    loose = [p for p in loose if not any(p.is_relative_to(f) for f in folders)]
    if loose and run_name is not None and len(found) == 1:
        found = [_with_files(found[0], loose, named, limits)]
    elif loose:
        # A pattern for dumps may well match a README beside them.
        found.extend(_find_loose(loose, named, limits, bool(named) or not found))
    return _named(found, run_name)


def _with_files(
    dump: _Found, paths: list[Path], named: Collection[Path], limits: Limits
) -> _Found:
    """Return a dump with loose files beside it, whatever they are."""
    refused = Refusals()
    folder = os.path.commonpath([path.parent for path in paths])
    beside = _loose_entries(paths, named, folder, refused)

    def read(refuse: Refuse) -> Iterator[Unit]:
        yield from dump.read(refuse)
        yield from _read_loose(beside, refused, limits, refuse)

    count = None if dump.file_count is None else dump.file_count + len(beside)
    is_known = dump.entries and not refused
    return _Found(
        dump.origin, read, count, [*dump.entries, *beside] if is_known else ()
    )


def _remote_entries(url: str, limits: Limits) -> list[Entry]:
    # fsspec takes as long to load as all of ingest, and few paths are URLs.
    from hlodb.ingest.sources.remote import remote_entries

    return remote_entries(url, limits)


def _named(found: Iterable[_Found], run_name: str | None) -> list[RunSource]:
    runs = list({run.origin: run for run in found}.values())
    names = list(map(printable, run_names([run.origin for run in runs])))
    if run_name is not None and len(runs) > 1:
        raise UsageError(
            f"{len(runs)} runs were found ({', '.join(names)}), which cannot all be "
            f"called {run_name!r}. Name one dump, or leave the name out."
        )
    if run_name == "":
        raise UsageError("the name of a run is empty; leave it out, or give it one")
    if run_name is not None:
        names = [run_name]
    return [
        RunSource(name, _shown(run.origin), run.file_count, run.entries, _read=run.read)
        for name, run in zip(names, runs, strict=True)
    ]


def _shown(origin: str) -> str:
    return printable(without_secrets(origin) if _URL.match(origin) else origin)


def _is_archive(path: Path, limits: Limits) -> bool:
    if is_archive_name(path.name):
        return True
    if not path.is_file():
        return False
    try:
        with path.open("rb") as raw:
            return archive_form(raw, limits) is not None
    except (OSError, Refusal):
        return False


def _find_in_directory(root: Path, limits: Limits) -> Iterator[_Found]:
    refused = Refusals()
    origin, home = str(root), root
    whole = Path(os.path.abspath(root))
    if is_rank_folder(whole.name):
        # The dump of one process, of several in a run: the folder says of which.
        root, home = whole, whole.parent
    paths = list(files_below(str(root), str(home), refused.append))
    entries = _entries(paths, str(home), refused, inside=os.path.realpath(root))
    return _find(origin, entries, refused, limits)


def _find_loose(
    paths: list[Path], named: Collection[Path], limits: Limits, required: bool
) -> Iterator[_Found]:
    refused = Refusals()
    folder = os.path.commonpath([path.parent for path in paths])
    entries = _loose_entries(paths, named, folder, refused)
    alone = str(paths[0]) if len(paths) == 1 and paths[0] in named else None
    return _find(folder, entries, refused, limits, required, alone)


def _loose_entries(
    paths: list[Path], named: Collection[Path], folder: str, refused: Refusals
) -> list[Entry]:
    found = [
        (path in named, entry_at(str(path), folder, refused.append)) for path in paths
    ]
    return [entry._replace(is_named=is_it) for is_it, entry in found if entry]


def _entries(
    paths: list[str], root: str, refused: Refusals, inside: str | None = None
) -> list[Entry]:
    found = [entry_at(path, root, refused.append, inside) for path in paths]
    return [entry for entry in found if entry is not None]


def _find(
    origin: str,
    entries: list[Entry],
    refused: Refusals,
    limits: Limits,
    required: bool = True,
    alone: str | None = None,
) -> Iterator[_Found]:
    """Yield the run of the loose files, if any is a dump's, and those of archives.

    `alone` is the only file that a user named.
    """
    archives = [entry for entry in entries if is_archive_name(entry.path)]
    loose = [entry for entry in entries if not is_archive_name(entry.path)]
    if any(_look(entry, limits).kind in READ_KINDS for entry in loose):
        read = partial(_read_loose, loose, refused, limits)
        yield _Found(origin, read, len(loose), () if refused else loose)
    elif required and not archives:
        if alone is not None and loose:
            why = _look(loose[0], limits).description
            raise UsageError(f"{alone} is no XLA dump ({why}). {HOW_TO_DUMP}")
        raise UsageError(_no_dump(origin, loose, refused, limits))
    for archive in archives:
        yield _archive(archive, limits)


def _look(entry: Entry, limits: Limits) -> Recognised:
    by_name = recognise(entry.path)
    if by_name.kind in READ_KINDS:
        return by_name
    try:
        with closing(entry.open()) as raw:
            reader = LimitedReader(raw, limits)
            head = reader.take(HEAD_BYTES)
            found = recognise(entry.path, head, is_named=entry.is_named)
            if found.kind == "unknown" and (looks_like_text(head) or is_wide(head)):
                # A job runs out of memory at the end of its log.
                whole = head + reader.take(limits.file_bytes)
                found = recognise(entry.path, whole, is_named=entry.is_named)
    except (OSError, Refusal) as error:
        return Recognised("unknown", str(error))
    return found


def _no_dump(
    where: str, entries: list[Entry], refused: Refusals, limits: Limits
) -> str:
    count = len(entries) + total(refused)
    if not count:
        return f"{where} is empty. {HOW_TO_DUMP}"
    reasons = [(entry.path, _look(entry, limits).description) for entry in entries[:3]]
    reasons += [(file.path, file.reason) for file in refused[:3]]
    shown = [f"{path} ({reason})" for path, reason in reasons[:3]]
    more = f" and {count - len(shown)} more" if count > len(shown) else ""
    return f"{where} holds no XLA dump, only {', '.join(shown)}{more}. {HOW_TO_DUMP}"


def _read_loose(
    entries: list[Entry], refused: Refusals, limits: Limits, refuse: Refuse
) -> Iterator[Unit]:
    for file in refused.summed_up():
        refuse(file)
    yield from read_units(entries, limits, refuse)


def _archive(entry: Entry, limits: Limits) -> _Found:
    return _Found(entry.origin, partial(_read_archive, entry, limits))


def _read_archive(entry: Entry, limits: Limits, refuse: Refuse) -> Iterator[Unit]:
    name = entry.path.rsplit("/", 1)[-1]
    try:
        with closing(entry.open()) as raw:
            form = archive_form(raw, limits)
    except (OSError, Refusal) as error:
        refuse(RefusedFile(name, f"cannot be read: {error}"))
        return
    if form is None:
        refuse(RefusedFile(name, "neither a tar nor a zip archive, or cut short"))
        return
    read = read_tar_units if form == "tar" else read_zip_units
    yield from read(entry.open, name, limits, refuse)
