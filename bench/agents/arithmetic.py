"""Figures of a dump, counted from its texts without hlodb.

It is right for programs without loops, whose values have one live range each. XLA's
text of a buffer assignment lists allocations with the values in them, and when
each value is live. Everything here is counted from these lines by brute force, so that
answers of hlodb can be compared with something that it did not compute.
"""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

_ALLOCATION = re.compile(r"^allocation (\d+): size (\d+)(.*)$")
_VALUE = re.compile(r"^ value: <(\d+) (\S+) @(\d+)> \(size=(\d+),offset=(\d+)\)")
_COLOR = re.compile(r", color (\d+)")
_RANGE = re.compile(r"^ {4}(\S+?)\{([\d,]*)\}:(\d+)-(\d+)$")
_ALIAS = re.compile(r"input_output_alias=\{ ?(.*?) ?\}(?:, \w+=|\n)")
_PAIR = re.compile(r"\{[\d, ]*\}: \((\d+), \{[\d, ]*\}, (?:may|must)-alias\)")
_FILE = re.compile(r'source_file="([^"]+)"')


@dataclass
class Allocation:
    """One allocation; `values` has name, offset and size of each value in it."""

    size: int
    color: int
    kind: str
    values: list[tuple[str, int, int]] = field(default_factory=list)


@dataclass
class Assignment:
    """Allocations, and the steps at which each value is live, ends included."""

    allocations: list[Allocation]
    ranges: dict[str, tuple[int, int]]

    def reserved(self, color: int = 0) -> int:
        """Return the bytes of all allocations."""
        return sum(a.size for a in self.allocations if a.color == color)

    def of_kind(self, kind: str, color: int = 0) -> int:
        """Return the bytes of the allocations of a kind."""
        found = (a for a in self.allocations if a.color == color and a.kind == kind)
        return sum(a.size for a in found)

    def live(self, step: int, color: int = 0, kinds: tuple[str, ...] = ()) -> int:
        """Return the live bytes at a step: unions of addresses, whole others."""
        total = 0
        for each in self.allocations:
            if each.color != color or (kinds and each.kind not in kinds):
                continue
            alive = [
                (offset, offset + size)
                for name, offset, size in each.values
                if name in self.ranges
                and self.ranges[name][0] <= step <= self.ranges[name][1]
            ]
            known = any(name in self.ranges for name, _, _ in each.values)
            if each.kind == "temp":
                total += _union(alive)
            elif each.kind != "thread_local" and (alive or not known):
                total += each.size
        return total

    def live_peak(self, color: int = 0, kinds: tuple[str, ...] = ()) -> int:
        """Return the most bytes live at one step."""
        steps = {step for pair in self.ranges.values() for step in pair}
        return max(self.live(step, color, kinds) for step in steps)

    def fragmentation(self, color: int = 0) -> int:
        """Return temporary bytes beyond the most that are live at once."""
        return self.of_kind("temp", color) - self.live_peak(color, ("temp",))


def _union(intervals: list[tuple[int, int]]) -> int:
    total, end = 0, 0
    for first, last in sorted(intervals):
        total += max(last - max(first, end), 0)
        end = max(end, last)
    return total


@cache
def files_of(archive: str) -> dict[str, str]:
    """Return the text files of an archive below the repository, by their path."""
    with tarfile.open(ROOT / archive) as tar:
        found = {}
        for member in tar:
            stream = tar.extractfile(member) if member.isfile() else None
            if stream is not None and member.name.endswith(".txt"):
                found[member.name] = stream.read().decode("utf-8", "replace")
        return found


def text_of(archive: str, ending: str, program: str, folder: str = "") -> str:
    """Return the only text of a program whose path ends so."""
    named = re.compile(rf"{re.escape(folder)}.*\.{re.escape(program)}\..*{ending}$")
    [found] = [text for path, text in files_of(archive).items() if named.match(path)]
    return found


@cache
def assignment(archive: str, program: str, folder: str = "") -> Assignment:
    """Return the buffer assignment of a program of an archive."""
    ending = r"after_optimizations-buffer-assignment\.txt"
    text = text_of(archive, ending, program, folder)
    try:
        ranges = text_of(
            archive, r"after_optimizations-live-range\.txt", program, folder
        )
    except ValueError:
        ranges = text
    return parse(text, ranges)


def parse(text: str, ranges: str) -> Assignment:
    """Return an assignment from its text, and the text with its live ranges."""
    allocations: list[Allocation] = []
    for line in text.split("\n"):
        if found := _ALLOCATION.match(line):
            rest = found[3]
            color = _COLOR.search(rest)
            kind = _kind(rest)
            allocations.append(
                Allocation(int(found[2]), int(color[1]) if color else 0, kind)
            )
        elif (found := _VALUE.match(line)) and allocations:
            name = found[2].removesuffix("{}")
            allocations[-1].values.append((name, int(found[5]), int(found[4])))
    live: dict[str, tuple[int, int]] = {}
    for line in ranges.split("\n"):
        if found := _RANGE.match(line):
            index = f"{{{found[2]}}}" if found[2] else ""
            live[found[1] + index] = (int(found[3]), int(found[4]))
    return Assignment(allocations, live)


def _kind(rest: str) -> str:
    for word, kind in (
        (", parameter ", "parameter"),
        (", thread-local", "thread_local"),
        (", constant", "constant"),
        ("maybe-live-out", "live_out"),
    ):
        if word in rest:
            return kind
    return "temp"


def donated(archive: str, program: str) -> int:
    """Return how many parameters the header of a program aliases with an output."""
    text = text_of(archive, r"after_optimizations\.txt", program)
    found = _ALIAS.search(text.partition("\n")[0] + "\n")
    return len(set(_PAIR.findall(found[1]))) if found else 0


def source_of(archive: str, program: str, instruction: str) -> str:
    """Return FILE:LINE that the text gives to an instruction."""
    text = text_of(archive, r"after_optimizations\.txt", program)
    line = next(
        line
        for line in text.split("\n")
        if re.match(rf"\s*(?:ROOT )?%?{re.escape(instruction)} = ", line)
    )
    number = re.search(r"source_line=(\d+)", line)
    file = _FILE.search(line)
    assert number and file
    return f"{file[1].rpartition('/')[2]}:{number[1]}"


def programs_of(archive: str) -> set[str]:
    """Return the programs of an archive that have an assignment."""
    named = re.compile(
        r"(?:.*/)?module_\d+\.(.+?)\.(?:cl_\d+\.)?(?:cpu_)?after_opt.*-buffer-assignment\.txt$"
    )
    return {found[1] for path in files_of(archive) if (found := named.match(path))}


def bytes_of(text: str) -> int:
    """Return the bytes of a size as logs print it, such as 31.50G or 12.50GiB."""
    found = re.fullmatch(r"([\d.]+)([KMGT]?)(?:iB|B)?", text)
    assert found
    scale: int = 1024 ** " KMGT".index(found[2] or " ")
    return round(float(found[1]) * scale)
