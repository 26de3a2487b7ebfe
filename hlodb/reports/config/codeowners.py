"""Reads CODEOWNERS: who looks after a source file.

The patterns are GitHub's: those of .gitignore without `!` and `[ ]`; the last pattern
that fits decides, and one without owners takes them away.
https://docs.github.com/articles/about-code-owners
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache

Rules = tuple[tuple[str, str], ...]
"""Pattern and owners, in the order of the file."""


def parse_codeowners(text: str) -> Rules:
    """Return the rules of a CODEOWNERS file; comments and empty lines are none."""
    return tuple(_rules(text))


def _rules(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].split()
        if words:
            yield words[0].removeprefix("\\"), " ".join(words[1:])


def owner_of_file(path: str, rules: Rules) -> str | None:
    """Return the owners of a source file; None where nobody is named.

    A dump names files as the compiling machine saw them: a path from the root may
    begin anywhere above the repository, so every tail of it is tried.
    """
    parts = path.strip("/").split("/")
    first = len(parts) if path.startswith("/") else 1
    for pattern, owners in reversed(rules):
        names = _names(pattern)
        if any(_fits(names, parts[i:]) for i in range(first)):
            return owners or None
    return None


@cache
def _names(pattern: str) -> tuple[str, ...]:
    """Return the pattern of each part of a path from the root of the repository.

    `**` stands for any number of parts. A pattern with a slash before its end begins at
    the root, another one anywhere. What it names may be a folder, unless it ends in
    `/*`: that is the files of one folder.
    """
    names = [part.replace("[", "[[]") for part in pattern.strip("/").split("/")]
    if "/" not in pattern.rstrip("/"):
        names.insert(0, "**")
    is_of_below = names[-1] == "**"
    if is_of_below:
        names[-1:] = ["*", "**"]
    if pattern.endswith("/"):
        names += ["*", "**"]
    elif not is_of_below and not pattern.endswith("/*"):
        names.append("**")
    return tuple(names)


def _fits(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether the parts of a path fit, in time that grows with both alone.

    Only the last `**` is ever tried again. A part is matched by the standard library,
    whose expressions do not go back either.
    """
    at, place = 0, 0
    again: tuple[int, int] | None = None
    while place < len(parts):
        if at < len(names) and names[at] == "**":
            again = at, place
            at += 1
        elif at < len(names) and fnmatchcase(parts[place], names[at]):
            at, place = at + 1, place + 1
        elif again is not None:
            at, place = again[0] + 1, again[1] + 1
            again = again[0], place
        else:
            return False
    return all(name == "**" for name in names[at:])
