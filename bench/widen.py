"""Real dumps made more by small seeded changes, so that no copy repeats another.

Every copy renames about a tenth of the instructions, in all files of a module alike:
those whose number ends in a digit that the copy's number chooses. A line that defines
or reads one of them differs, and with it the computation that it stands in; the others
are equal, as between two versions of one model.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

# `fusion.17`, but no float, and no `param_0.7`: their numbers follow a digit.
_NUMBERED = rb"(?<=[a-z_])\.(\d*%d)(?![\w.])"
_NAME = re.compile(rb"%([\w.\-]+)")
_COMPUTATION = re.compile(rb"^(?:ENTRY )?%.*\{$", re.MULTILINE)
_LOCATION = re.compile(rb"(?<=[ {,])((?:source_|source_end_|end_)?line=)(\d+)")


def widen_text(text: bytes, copy: int) -> bytes:
    """Return a dump file as copy number `copy` has it; 0 is the text itself."""
    if not copy:
        return text
    return re.sub(_NUMBERED % (copy % 10), rb".\1_%d" % copy, text)


def move_lines(text: bytes, by: int) -> bytes:
    """Return a dump file as if `by` lines had been inserted above each source."""
    return _LOCATION.sub(lambda m: m[1] + b"%d" % (int(m[2]) + by), text)


def copy_dump(source: Path, target: Path, copy: int) -> None:
    """Write the widened copy of a dump directory."""
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(widen_text(path.read_bytes(), copy))
        shutil.copystat(path, place)


def move_dump(source: Path, target: Path, by: int) -> None:
    """Write a dump directory again, its source lines moved."""
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(move_lines(path.read_bytes(), by))


def one_module(text: bytes, at_least: int) -> Iterator[bytes]:
    """Yield one HLO module of `at_least` bytes, in pieces.

    It has the computations of `text` again and again, all names in each copy new. Only
    the last entry computation stays one.
    """
    first = _COMPUTATION.search(text)
    start = first.start() if first else 0
    computations = text[start:]
    yield text[:start]
    size, copy = start, 0
    while size < at_least:
        piece = _NAME.sub(rb"%%\1.c%d" % copy, computations)
        size += len(piece)
        copy += 1
        if size < at_least:
            piece = piece.replace(b"\nENTRY ", b"\n")
        yield piece.rstrip(b"\n") + b"\n\n"
