"""Reads CODEOWNERS: who looks after a source file.

The patterns are GitHub's: those of .gitignore without `!` and `[ ]`; the last pattern
that fits decides, and one without owners takes them away.
https://docs.github.com/articles/about-code-owners
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    tails = ["/".join(parts[i:]) for i in range(first)]
    for pattern, owners in reversed(rules):
        if any(_regex(pattern).fullmatch(tail) for tail in tails):
            return owners or None
    return None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    """Return the pattern that matches a path from the root of the repository.

    A pattern with a slash before its end begins at the root, another one anywhere. What
    it names may be a folder, unless it ends in `/*`: that is the files of one folder.
    """
    body = pattern.strip("/")
    anywhere = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    below = "" if pattern.endswith("/*") else "/.+" if pattern[-1:] == "/" else "(/.+)?"
    parts = re.split(r"(\*\*/|/\*\*|\*|\?)", body)
    known = {"**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}
    inner = "".join(known.get(part, re.escape(part)) for part in parts)
    return re.compile(f"{anywhere}{inner}{below}")
