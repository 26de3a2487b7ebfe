"""Files that XLA wrote to standard output: `--xla_dump_to=-` frames each by its name.

    *** Begin module_0001.jit_f.before_optimizations.txt ***
    HloModule jit_f, …
    *** End module_0001.jit_f.before_optimizations.txt ***

Frames don't nest. XLA `dump.cc`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BEGIN = re.compile(r"^\*\*\* Begin (?P<name>[^\s*/]+) \*\*\*[ \t]*\r?\n", re.MULTILINE)


class Frame(NamedTuple):
    """A framed file; `line` is that of its first line, `is_whole` tells its end."""

    name: str
    text: str
    line: int
    is_whole: bool


class Framed(NamedTuple):
    """The frames of a text, and the text with their lines left empty."""

    frames: list[Frame]
    rest: str


def split_frames(text: str) -> Framed:
    """Return the files that a text frames, in order; line numbers of the rest stay.

    A frame without an end goes on to the next one, or to the end of the text.
    """
    frames: list[Frame] = []
    rest: list[str] = []
    at, line = 0, 1
    while begin := _BEGIN.search(text, at):
        stop, after, is_whole = _end(text, begin)
        before, body = text[at : begin.start()], text[begin.end() : stop]
        line += before.count("\n") + 1
        frames.append(Frame(begin["name"], body, line, is_whole))
        rest += [before, "\n" * text.count("\n", begin.start(), after)]
        line += text.count("\n", begin.end(), after)
        at = after
    return Framed(frames, "".join([*rest, text[at:]]))


def _end(text: str, begin: re.Match[str]) -> tuple[int, int, bool]:
    """Return the ends of the framed text and of its frame, and if it is whole."""
    mark = f"*** End {begin['name']} ***"
    stop = text.find(mark, begin.end())
    if stop >= 0:
        after = text.find("\n", stop)
        return stop, len(text) if after < 0 else after + 1, True
    following = _BEGIN.search(text, begin.end())
    stop = following.start() if following else len(text)
    return stop, stop, False
