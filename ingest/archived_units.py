"""Units out of archives: files that belong together, wherever they lie in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import BinaryIO

from hlodb.ingest.archives import Member, Refuse
from hlodb.ingest.limits import Limits, Refusal, RefusedFile
from hlodb.ingest.recognise import UnitKey
from hlodb.ingest.streams import LimitedReader
from hlodb.ingest.tar_archives import tar_members
from hlodb.ingest.units import (
    DumpFile,
    Entry,
    Unit,
    dump_file,
    keys_of,
    read_units,
    units_of,
)
from hlodb.ingest.zip_archives import open_zip, open_zip_member, zip_members


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
            # All that is wrong with the archive was told in the first pass.
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
        """Give what is left: units some of whose members never came."""
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
