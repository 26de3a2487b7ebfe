"""What a program's live peak holds as a profile for pprof.

The file is a gzipped message `Profile` of pprof's profile.proto:
https://github.com/google/pprof/blob/main/proto/profile.proto. Every memory space has a
sample type of its own, so that its samples add up to its live peak.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hlodb.exports.stacks import Frame, Row, named_spaces
from hlodb.ingest.formats.proto.wire import VARINT, encoded, encoded_number

_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _DEFAULT = 1, 2, 4, 5, 6, 14
"""Numbers of the fields of `Profile` that are written."""


class _Numbers(dict[Any, int]):
    """Numbers from 1 on, in the order in which their keys are first asked for."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self) + 1
        return number


def pprof(contents: Sequence[Row]) -> bytes:
    """Return a profile of the rows of `peak_contents`."""
    spaces = list(named_spaces(contents))
    strings, functions, locations = _Numbers(), _Numbers(), _Numbers()
    parts = []
    for name in _distinct(name.rpartition(": ")[2] for name, _ in spaces):
        kind = _message({1: strings[name], 2: strings["bytes"]})
        parts.append(encoded(_SAMPLE_TYPE, kind))
    for column, (_, stacks) in enumerate(spaces):
        for stack, size in stacks.items():
            values = [size if place == column else 0 for place in range(len(spaces))]
            # The leaf comes first.
            numbers = [locations[frame] for frame in reversed(stack)]
            sample = _repeated(1, numbers) + _repeated(2, values)
            parts.append(encoded(_SAMPLE, sample))
    for frame, number in locations.items():
        line = _message({1: functions[_function(frame)], 2: frame.line})
        parts.append(encoded(_LOCATION, _message({1: number}) + encoded(4, line)))
    for (name, file), number in functions.items():
        fields = {1: number, 2: strings[name], 4: strings[file] if file else 0}
        parts.append(encoded(_FUNCTION, _message(fields)))
    # pprof shows the space with the largest peak, whose name is string 1.
    parts.append(_message({_DEFAULT: 1}))
    # The string of number 0 is empty.
    parts += [encoded(_STRING, text.encode()) for text in ("", *strings)]
    return gzip.compress(b"".join(parts), mtime=0)


def _function(frame: Frame) -> tuple[str, str]:
    """Return name and file; a source line is of a function named as its file is."""
    return (frame.file.rpartition("/")[2] if frame.file else frame.name), frame.file


def _distinct(names: Iterable[str]) -> Iterator[str]:
    """Yield the names; from its second time on, one gets a number."""
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}"


def _message(fields: Mapping[int, int]) -> bytes:
    return b"".join(encoded_number(n, VARINT, value) for n, value in fields.items())


def _repeated(field: int, values: Iterable[int]) -> bytes:
    return b"".join(encoded_number(field, VARINT, value) for value in values)
