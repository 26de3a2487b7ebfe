"""The standard streams of the process, with failures of their own kinds."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, TextIO

from hlodb.errors import UsageError


class ReaderGone(Exception):
    """Whoever read our output reads no more, as `head` does when it has enough."""


class _Output(io.FileIO):
    """The standard output; it fails once, and from then on takes all in silence.

    Click and Python would treat an OSError in their own way.
    """

    _has_failed = False

    def write(self, data: Any) -> int:
        if self._has_failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self._has_failed = True
            if error.errno == errno.EPIPE:
                raise ReaderGone from error
            message = f"cannot write the standard output: {error.strerror}"
            raise UsageError(message) from error


class _Errors(io.FileIO):
    """The standard error: what it can't take is not told, and changes nothing."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


@contextmanager
def watched_streams() -> Iterator[None]:
    """Let nothing but ReaderGone and UsageError come of writing to the terminal."""
    before = sys.stdout, sys.stderr
    sys.stdout = _watched(sys.stdout, _Output)
    sys.stderr = _watched(sys.stderr, _Errors)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _watched(stream: TextIO | None, kind: type[_Output | _Errors]) -> TextIO:
    if stream is None:  # Closed by whoever started us, who wants to hear nothing.
        return open(os.devnull, "w", encoding="utf-8")
    raw: IO[bytes] = io.BufferedWriter(kind(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(
        raw,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=bool(stream.line_buffering),
    )
