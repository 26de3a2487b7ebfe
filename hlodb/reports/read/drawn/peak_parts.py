"""Read what the live peak of one run's programs consists of, for pages of `explain`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from hlodb.reports.read.facts import Answered, Module, rows
from hlodb.schema.connection import Connection


class Held(NamedTuple):
    """Values at the peak that are alike: role, source line, shape."""

    role: str
    source_file: str | None
    source_line: int | None
    kind: str | None
    argument: str | None
    shape: str | None
    owned_bytes: int
    value_count: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a peak, and the parts that it consists of, the largest first.

    `label` is short, `name` says it in full; `role` is the one that colours it.
    """

    label: str
    name: str
    role: str
    bytes: int
    children: tuple[Part, ...] = ()


PeakParts = tuple[Part, ...]

_Names = tuple[str, str]
"""A short name and a full one."""

_LAYOUT = re.compile(r"\{[^}]*\}")
_NUMBER = re.compile(r"(?<![A-Za-z_])\d+")

_WITHOUT_LINE = {
    "parameter": "arguments",
    "constant": "constants",
    "live_out": "results without a line",
    "temp": "temporaries without a line",
}


_Title = TypeVar("_Title", bound=Hashable)


def read_peak_parts(
    connection: Connection,
    spaces: Mapping[_Title, tuple[Module, int]],
    answered: Answered | None = None,
) -> dict[_Title, PeakParts]:
    """Return the parts of the peak by title, of modules in memory spaces (colours).

    Parts of a peak add up to it.
    """
    # Programs of several runs may be the same.
    contents = {(m.module_id, m.locations_id) for m, _ in spaces.values()}
    if not contents:
        return {}
    modules, locations = zip(*contents, strict=True)
    found: dict[tuple[int, int | None, int], list[Held]] = defaultdict(list)
    for module_id, locations_id, color, *held in rows(
        connection,
        "peak_parts",
        answered,
        modules=list(modules),
        locations=list(locations),
    ):
        found[module_id, locations_id, color].append(Held(*held))
    return {
        title: peak_parts(found[module.module_id, module.locations_id, color])
        for title, (module, color) in spaces.items()
    }


def peak_parts(held: Iterable[Held]) -> PeakParts:
    """Return role → source line → shape or argument."""
    roles: dict[str, dict[_Names, dict[_Names, Counter[str]]]] = {}
    for each in held:
        lines = roles.setdefault(each.role, {})
        leaf = lines.setdefault(_line(each), {}).setdefault(_leaf(each), Counter())
        leaf.update(bytes=each.owned_bytes, count=each.value_count)
    return _largest_first(
        _part((role.replace("_", " "),) * 2, role, _lines(role, lines))
        for role, lines in roles.items()
    )


def _lines(
    role: str, lines: Mapping[_Names, Mapping[_Names, Counter[str]]]
) -> Iterable[Part]:
    for line, leaves in lines.items():
        parts = (
            Part(*_times(names, leaf["count"]), role, leaf["bytes"])
            for names, leaf in leaves.items()
        )
        yield _part(line, role, parts)


def _times(names: _Names, count: int) -> _Names:
    many = f" \N{MULTIPLICATION SIGN} {count:,}" if count > 1 else ""
    return names[0] + many, names[1] + many


def _part(names: _Names, role: str, parts: Iterable[Part]) -> Part:
    children = _largest_first(parts)
    return Part(*names, role, sum(part.bytes for part in children), children)


def _largest_first(parts: Iterable[Part]) -> PeakParts:
    return tuple(sorted(parts, key=lambda part: (-part.bytes, part.name)))


def _line(held: Held) -> _Names:
    """Return the source line, its file without folders first; or what has none."""
    if held.source_file is None or held.argument is not None:
        what = _WITHOUT_LINE.get(held.kind or "", "without a line")
        return what, what
    line = f":{held.source_line}"
    return held.source_file.rpartition("/")[2] + line, held.source_file + line


def _leaf(held: Held) -> _Names:
    """Return the name of an argument, its numbers as stars, or else the shape."""
    shape = _LAYOUT.sub("", held.shape or "bytes that no value covers")
    if held.argument is None:
        return shape, shape
    name = _NUMBER.sub("*", held.argument)
    return name, f"{name}: {shape}"
