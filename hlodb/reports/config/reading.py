"""Reads hlodb.toml; what is wrong in it is said with line and key.

[report]      series, baseline, window, main_branch, top, codeowners (a file), link
[floors]      bytes, ratio          what counts as a difference
[history]     bytes, ratio          what counts as a step
[gates]       regression, missing_program, donation_loss, fragmentation_ratio,
              padding_ratio, recompiles, replicated_bytes
[quality]     max_rejects, consistency
[owners]      "glob" = "team"
[weights]     "glob" = 10
[[device]]    device, space, bytes
[[budget]]    program, space or color, bytes or ratio, owner
[[waiver]]    program, space or color, gate, finding, owner, reason, until
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from hlodb.errors import UsageError
from hlodb.paths import read_text
from hlodb.reports.config.codeowners import parse_codeowners
from hlodb.reports.config.keys import ENTRIES, MAPPINGS, SECTIONS, Check
from hlodb.reports.config.settings import Budget, Settings
from hlodb.text import nearest

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\"-]+)\s*\]")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[=.]""")

FILE_NAME = "hlodb.toml"


def read_settings(path: Path | None) -> Settings:
    """Return the settings of `path`, else of hlodb.toml here, else the defaults."""
    if path is None:
        path = Path(FILE_NAME)
        if not path.exists():
            return Settings()
    settings = parse_settings(_read(path), str(path))
    if settings.codeowners is None:
        return settings
    rules = parse_codeowners(_read(path.parent / settings.codeowners))
    return replace(settings, source_owners=rules)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def parse_settings(text: str, path: str = FILE_NAME) -> Settings:
    """Return the settings in `text`; UsageError says path, line, key and fault."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {_with_line_first(str(error))}") from error
    return _Reader(path, _key_lines(text)).settings(content)


class _Reader:
    """Holds where keys stand, so that every complaint can say it."""

    def __init__(self, path: str, lines: Mapping[tuple[str, int, str], int]) -> None:
        self.path = path
        self.lines = lines

    def settings(self, content: Mapping[str, Any]) -> Settings:
        values: dict[str, Any] = {}
        for table, found in content.items():
            if table in SECTIONS and isinstance(found, dict):
                values |= self.section(table, found)
            elif table in MAPPINGS and isinstance(found, dict):
                pairs = found.items()
                check = MAPPINGS[table]
                values[table] = tuple(
                    (glob, self.checked(table, 0, glob, check, value))
                    for glob, value in pairs
                )
            elif table in ENTRIES and isinstance(found, list):
                values[f"{table}s"] = tuple(
                    self.entry(table, number, one) for number, one in enumerate(found)
                )
            else:
                self.unknown_table(table)
        return Settings(**values)

    def section(self, table: str, found: Mapping[str, Any]) -> dict[str, Any]:
        known = SECTIONS[table]
        self.require_known(table, 0, found, known)
        return {
            known[key][0]: self.checked(table, 0, key, known[key][1], value)
            for key, value in found.items()
        }

    def entry(self, table: str, number: int, found: Any) -> Any:
        make, known, needed = ENTRIES[table]
        if not isinstance(found, dict):
            self.fail(table, number, "", f"write [[{table}]] and its keys below")
        self.require_known(table, number, found, known)
        for key in needed:
            if key not in found:
                self.fail(table, number, "", f"{table} needs {key!r}")
        if make is Budget and ("bytes" in found) == ("ratio" in found):
            self.fail(table, number, "", "a budget has either 'bytes' or 'ratio'")
        return make(
            **{
                key: self.checked(table, number, key, known[key], value)
                for key, value in found.items()
            }
        )

    def checked(
        self, table: str, number: int, key: str, check: Check, value: Any
    ) -> Any:
        try:
            return check(value)
        except ValueError as error:
            self.fail(table, number, key, f"{key!r} {error}, not {value!r}")

    def require_known(
        self,
        table: str,
        number: int,
        found: Mapping[str, Any],
        known: Mapping[str, Any],
    ) -> None:
        for key in found:
            if key not in known:
                hint = nearest(key, known) or f"; it has {', '.join(known)}"
                self.fail(table, number, key, f"[{table}] has no key {key!r}{hint}")

    def unknown_table(self, table: str) -> NoReturn:
        known = [*SECTIONS, *MAPPINGS, *ENTRIES]
        if table in ENTRIES:
            self.fail(table, 0, "", f"write [[{table}]], with two brackets")
        if table in known:
            self.fail(table, 0, "", f"write [{table}] as a table of its own")
        hint = nearest(table, known) or f"; known are {', '.join(known)}"
        self.fail(table, 0, "", f"there is no table {table!r}{hint}")

    def fail(self, table: str, number: int, key: str, message: str) -> NoReturn:
        line = self.lines.get((table, number, key)) or self.lines.get(
            (table, number, ""), 1
        )
        raise UsageError(f"{self.path}:{line}: {message}")


def _with_line_first(message: str) -> str:
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    return f"line {match[2]}, column {match[3]}: {match[1]}" if match else message


def _key_lines(text: str) -> dict[tuple[str, int, str], int]:
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
