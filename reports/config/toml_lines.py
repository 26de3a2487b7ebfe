"""Finds the lines of keys in a TOML file: tomllib keeps none."""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\"-]+)\s*\]")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[=.]""")


def key_lines(text: str) -> dict[tuple[str, int, str], int]:
    """Return the line of every key by (table, number of the entry, key).

    The key "" stands for the table itself. Reading line by line is enough for a
    settings file: where a key is written in some rarer way, its table's line stands in.
    """
    lines: dict[tuple[str, int, str], int] = {}
    counts: dict[str, int] = {}
    table, number = "", 0
    for line_number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = header[2].strip('"')
            counts[table] = counts.get(table, -1) + 1
            number = counts[table] if header[1] == "[[" else 0
            lines.setdefault((table, number, ""), line_number)
        elif key := _KEY.match(line):
            name = key[1] or key[2] or key[3] or ""
            lines.setdefault((table, number, name), line_number)
            if not table:
                lines.setdefault((name, 0, ""), line_number)
    return lines
