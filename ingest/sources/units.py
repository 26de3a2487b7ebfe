"""Files that belong together, read as one: from entries of a run to its units.

In archives they are found wherever they lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from typing import BinaryIO, NamedTuple

from hlodb.ingest.formats.logs.stdout_frames import Frame, split_frames
from hlodb.ingest.formats.scan import decoded, printable
from hlodb.ingest.recognise.file_kinds import COMPANION_KINDS
from hlodb.ingest.recognise.file_names import split_name
from hlodb.ingest.recognise.recognition import Recognised, UnitKey, recognise, unit_key
from hlodb.ingest.sources.archives import (
    BROKEN_ZIP,
    Member,
    Refuse,
    open_zip,
    open_zip_member,
    tar_members,
    zip_members,
)
from hlodb.ingest.sources.limits import Limits, Refusal, RefusedFile, require_modest
from hlodb.ingest.sources.streams import LimitedReader, too_large


@dataclass(slots=True)
class DumpFile:
    """A file of a run, read and recognised.

    `path` is relative to the run, with `/`. `data` is uncompressed; its reader may
    leave nothing there, except of a log, whose frames are read later.
    `modified_at` is in seconds since 1970 (UTC), None where it's unknown.
    `problem` says why `data` ends early (a compressed file cut short), else empty.
    `is_named` tells that the user named this very file.
    """

    path: str
    data: bytes
    recognised: Recognised
    modified_at: float | None = None
    problem: str = ""
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """The files of one module at one stage, or one file that stands alone."""

    key: UnitKey
    files: tuple[DumpFile, ...]


class Entry(NamedTuple):
    """A file that can be opened; `size_bytes` is what it takes where it lies.

    `path` is relative to the run; `origin` is the whole path or URL, if there is one.
    `is_named` tells that the user named this very file, and no folder or pattern.
    """

    path: str
    size_bytes: int | None
    modified_at: float | None
    open: Callable[[], BinaryIO]
    origin: str = ""
    is_named: bool = False


def keys_of(paths: Iterable[str]) -> dict[str, UnitKey]:
    """Return the unit of each path.

    A second file of one kind in a unit (`f.txt` beside `f.txt.gz`) stands alone.
    """
    keys: dict[str, UnitKey] = {}
    taken: set[tuple[UnitKey, str]] = set()
    for path in sorted(paths):
        key = unit_key(path, recognise(path))
        kind = split_name(path).kind or "hlo_text"
        if kind in COMPANION_KINDS and (key, kind) in taken:
            key = key._replace(file=path)
        taken.add((key, kind))
        keys[path] = key
    return keys


def read_units(
    entries: Iterable[Entry], limits: Limits, refuse: Refuse
) -> Iterator[Unit]:
    """Read entries unit by unit: folders, modules, stages and passes in their order."""
    by_path = {entry.path: entry for entry in entries}
    groups: dict[UnitKey, list[Entry]] = {}
    for path, key in keys_of(by_path).items():
        groups.setdefault(key, []).append(by_path[path])
    for key in sorted(groups):
        files = [_read_entry(entry, limits, refuse) for entry in groups[key]]
        yield from units_of(key, [file for file in files if file is not None])


def units_of(key: UnitKey, files: list[DumpFile]) -> Iterator[Unit]:
    """Yield the unit of files that belong together, then those that logs frame."""
    if files:
        yield Unit(key, tuple(sorted(files, key=lambda file: file.path)))
    for file in files:
        if file.recognised.kind == "log":
            yield from _framed_units(file)


def _framed_units(log: DumpFile) -> Iterator[Unit]:
    """Yield the files that a log frames, below the log's path, unit by unit.

    What comes under an old name again lies in a folder 2, 3, …
    """
    frames: dict[str, Frame] = {}
    seen: Counter[str] = Counter()
    for frame in split_frames(decoded(log.data, "surrogateescape")).frames:
        name = printable(frame.name)
        seen[name] += 1
        again = f"{seen[name]}/" if seen[name] > 1 else ""
        frames[f"{log.path}/{again}{name}"] = frame
    groups: dict[UnitKey, list[DumpFile]] = {}
    for path, key in keys_of(frames).items():
        groups.setdefault(key, []).append(_framed_file(path, frames[path], log))
    for key in sorted(groups):
        yield Unit(key, tuple(groups[key]))


def _framed_file(path: str, frame: Frame, log: DumpFile) -> DumpFile:
    data = frame.text.encode("utf-8", "surrogateescape")
    problem = "" if frame.is_whole else "its log ends before it does"
    return DumpFile(path, data, recognise(path, data), log.modified_at, problem)


def _read_entry(entry: Entry, limits: Limits, refuse: Refuse) -> DumpFile | None:
    try:
        with closing(_opened(entry, limits)) as raw:
            named = entry.is_named
            return dump_file(entry.path, raw, limits, entry.modified_at, named)
    except Refusal as refusal:
        refuse(RefusedFile(entry.path, str(refusal)))
    except OSError as error:
        reason = error.strerror or str(error)
        refuse(RefusedFile(entry.path, f"cannot be read: {reason}"))
    except BROKEN_ZIP as broken:
        refuse(RefusedFile(entry.path, f"cannot be unpacked: {broken}"))
    return None


def content_of(entry: Entry, limits: Limits) -> Iterator[bytes]:
    """Read a file bit by bit; raises Refusal or OSError where that fails."""
    with closing(_opened(entry, limits)) as raw:
        yield from LimitedReader(raw, limits).pieces()


def _opened(entry: Entry, limits: Limits) -> BinaryIO:
    if entry.size_bytes is not None and entry.size_bytes > limits.file_bytes:
        raise Refusal(too_large(limits))
    return entry.open()


def dump_file(
    path: str,
    raw: BinaryIO,
    limits: Limits,
    modified_at: float | None,
    is_named: bool = False,
) -> DumpFile:
    """Read a file of a run, and tell what it is; raises Refusal or OSError."""
    reader = LimitedReader(raw, limits)
    data = reader.take_all()
    recognised = recognise(path, data, is_named=is_named)
    require_modest(data, recognised.kind, limits)
    return DumpFile(path, data, recognised, modified_at, reader.problem, is_named)


def read_zip_units(
    open_archive: Callable[[], BinaryIO], name: str, limits: Limits, refuse: Refuse
) -> Iterator[Unit]:
    """Read a zip archive unit by unit, in the order of `read_units`."""
    try:
        with closing(open_archive()) as raw:
            archive = open_zip(raw, limits)
            entries = [
                Entry(
                    member.path,
                    None,
                    member.modified_at,
                    partial(open_zip_member, archive, info),
                )
                for member, info in zip_members(archive, limits, refuse)
            ]
            yield from read_units(entries, limits, refuse)
    except (Refusal, OSError) as error:
        refuse(RefusedFile(name, str(error)))


def read_tar_units(
    open_archive: Callable[[], BinaryIO], name: str, limits: Limits, refuse: Refuse
) -> Iterator[Unit]:
    """Read a tar archive unit by unit, each as soon as its last member was met.

    A first pass over the headers finds what belongs together; the second reads.
    Files wait in memory for their companions; where that is too much, they are refused.
    """
    try:
        with closing(open_archive()) as raw:
            headers = tar_members(raw, limits, refuse, name)
            numbers = {member.path: member.number for member, _ in headers}
        waiting = _Waiting(keys_of(numbers), limits, refuse)
        with closing(open_archive()) as raw:
            # The first pass reported all faults of the archive.
            for member, reader in tar_members(raw, limits, _hush, name):
                if numbers.get(member.path) == member.number:
                    yield from waiting.add(member, reader)
        yield from waiting.rest()
    except OSError as error:
        refuse(RefusedFile(name, f"cannot be read: {error.strerror or error}"))


def _hush(_: RefusedFile) -> None:
    pass


class _Waiting:
    """Files of a tar archive whose companions are still to come."""

    def __init__(
        self, keys: dict[str, UnitKey], limits: Limits, refuse: Refuse
    ) -> None:
        self._keys = keys
        self._limits = limits
        self._refuse = refuse
        self._missing = Counter(keys.values())
        self._files: dict[UnitKey, list[DumpFile]] = {}
        self._held_bytes = 0

    def add(self, member: Member, reader: LimitedReader) -> Iterator[Unit]:
        """Read the member on; give its unit if it was the last one missing."""
        key = self._keys[member.path]
        self._missing[key] -= 1
        file = self._read(member, reader, alone=self._missing[key] == 0)
        if file is not None:
            self._held_bytes += len(file.data)
            self._files.setdefault(key, []).append(file)
        if not self._missing[key]:
            yield from self._finish(key)

    def rest(self) -> Iterator[Unit]:
        """Yield the remaining units, some of whose members never came."""
        for key in sorted(self._files):
            yield from self._finish(key)

    def _finish(self, key: UnitKey) -> Iterator[Unit]:
        files = self._files.pop(key, [])
        self._held_bytes -= sum(len(file.data) for file in files)
        yield from units_of(key, files)

    def _read(
        self, member: Member, reader: LimitedReader, alone: bool
    ) -> DumpFile | None:
        limits = self._limits
        try:
            if not alone and self._held_bytes + member.size_bytes > limits.held_bytes:
                raise Refusal(
                    "its companions lie too far off in the archive; "
                    "pack it again with tar --sort=name"
                )
            data = reader.take(member.size_bytes)
            file = dump_file(member.path, BytesIO(data), limits, member.modified_at)
        except Refusal as refusal:
            self._refuse(RefusedFile(member.path, str(refusal)))
            return None
        if len(data) < member.size_bytes:
            return replace(file, problem="its archive ends early")
        return file
