"""Files that belong together, read as one: from entries of a run to its units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from hlodb.ingest.archives import Refuse
from hlodb.ingest.file_kinds import COMPANION_KINDS
from hlodb.ingest.file_names import split_name
from hlodb.ingest.formats.scan import printable
from hlodb.ingest.formats.stdout_frames import Frame, split_frames
from hlodb.ingest.limits import Limits, Refusal, RefusedFile
from hlodb.ingest.recognise import Recognised, UnitKey, recognise, unit_key
from hlodb.ingest.streams import LimitedReader, too_large
from hlodb.ingest.text_limits import require_modest
from hlodb.ingest.zip_archives import BROKEN_ZIP


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A file of a run, read and recognised.

    `path` is relative to the run, with `/`. `data` is uncompressed.
    `modified_at` is in seconds since 1970 (UTC), None where it's unknown.
    `problem` says why `data` ends early (a compressed file cut short), else empty.
    """

    path: str
    data: bytes
    recognised: Recognised
    modified_at: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """The files of one module at one stage, or one file that stands alone."""

    key: UnitKey
    files: tuple[DumpFile, ...]


class Entry(NamedTuple):
    """A file that can be opened; `size_bytes` is what it takes where it lies.

    `path` is relative to the run; `origin` is the whole path or URL, if there is one.
    """

    path: str
    size_bytes: int | None
    modified_at: float | None
    open: Callable[[], BinaryIO]
    origin: str = ""


def keys_of(paths: Iterable[str]) -> dict[str, UnitKey]:
    """Give each path its unit.

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
    """Give the unit of files that belong together, then those that logs frame."""
    if files:
        yield Unit(key, tuple(sorted(files, key=lambda file: file.path)))
    for file in files:
        if file.recognised.kind == "log":
            yield from _framed_units(file)


def _framed_units(log: DumpFile) -> Iterator[Unit]:
    """Give the files that a log frames, below the log's path, unit by unit.

    What comes under an old name again lies in a folder 2, 3, …
    """
    frames: dict[str, Frame] = {}
    seen: Counter[str] = Counter()
    for frame in split_frames(log.data.decode("utf-8", "surrogateescape")).frames:
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
            return dump_file(entry.path, raw, limits, entry.modified_at)
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
    path: str, raw: BinaryIO, limits: Limits, modified_at: float | None
) -> DumpFile:
    """Read a file of a run, and tell what it is; raises Refusal or OSError."""
    reader = LimitedReader(raw, limits)
    data = reader.take_all()
    recognised = recognise(path, data)
    require_modest(data, recognised.kind, limits)
    return DumpFile(path, data, recognised, modified_at, reader.problem)
