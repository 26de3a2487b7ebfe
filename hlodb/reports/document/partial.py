"""The sections about programs without a known peak, and the files that are missing.

One file alone, such as the HLO text, still bounds the peak or says what is reserved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hlodb.reports.document.blocks import Block, Paragraph, Section, Table, table
from hlodb.reports.read.overview import Overview, Row
from hlodb.text import plain_bytes, space_words

_FILES = {
    "HLO text": "{stem}.txt (its HLO: shapes, source lines, schedule)",
    "buffer assignment": "{stem}-buffer-assignment.txt (sizes and places of values)",
    "live ranges": "{stem}-live-range.txt (when each value is live)",
}
_ENDINGS = (
    "-buffer-assignment-values.txt",
    "-buffer-assignment.txt",
    "-live-range.txt",
    "-memory-usage-report.txt",
    "-memory-usage-report.pb",
    ".hlo.pb",
    ".riegeli",
    ".txt",
)
_LISTED = 20
"""Programs of a dump without assignments that are listed."""


def partial_rows(overview: Overview) -> Sequence[Row]:
    """Return what is known of programs that have no section of their own."""
    described = {row["path"] for row in overview.answers["headroom"]}
    rows = overview.answers.get("partial_memory", ())
    return [row for row in rows if row["path"] not in described]


def headline_of(row: Row) -> str:
    """Return what is known of the largest program, without its name."""
    space = _space(row)
    if row["reserved_bytes"] is not None:
        return f"{plain_bytes(row['reserved_bytes'])} reserved{space}; peak unknown"
    if row["least_bytes"] is not None:
        return f"at least {plain_bytes(row['least_bytes'])}{space}; peak unknown"
    return "sizes and peak unknown"


def partial_sections(overview: Overview, programs: int) -> list[Section]:
    """Return a section for each of the largest programs without a known peak."""
    rows = partial_rows(overview)
    found = [
        Section(f"{row['program']}{_space(row, ': ')}", _described(row))
        for row in rows[:programs]
    ]
    if len(rows) > programs:
        found.append(Section("Other programs", [_known_table(rows[programs:])]))
    return found


def listed_partial(overview: Overview) -> list[Block]:
    """Return what is known of them beside programs that have a known peak."""
    rows = partial_rows(overview)
    if not rows:
        return []
    text = (
        "The peak of these is not known: their compilation did not end, or files are"
        " missing."
    )
    return [Paragraph(text), _known_table(rows), Paragraph(_advice(rows[0]))]


def _known_table(rows: Sequence[Row]) -> Table:
    cells = [
        (row["program"], row["space_name"] or "", headline_of(row)) for row in rows
    ]
    return table(("program", "space", "known"), cells, _LISTED)


def missing_files(overview: Overview, path: str) -> list[Block]:
    """Return the files that a known peak needs, and how to get them."""
    rows = overview.answers.get("partial_memory", ())
    found = [row for row in rows if row["path"] == path]
    return [Paragraph(_advice(found[0]))] if found else []


def _described(row: Row) -> list[Block]:
    return [Paragraph(_known(row)), Paragraph(_advice(row))]


def _known(row: Row) -> str:
    space = _space(row)
    parts = []
    if row["reserved_from"] == "report":
        parts.append(
            f"{plain_bytes(row['reserved_bytes'])} reserved{space}, says the memory"
            " report; it does not tell when each value is live."
        )
    if row["least_bytes"] is not None:
        parts.append(
            f"The peak is at least {plain_bytes(row['least_bytes'])}{space}:"
            f" {_parts(row)}. Temporaries beyond that are unknown."
        )
    if row["has_ranges"]:
        parts.append("Live ranges are known, but not the sizes of what is live.")
    return " ".join(parts) or "No sizes are known."


def _parts(row: Row) -> str:
    """Return what the lower bound is made of."""
    text = f"arguments take {plain_bytes(row['argument_bytes'])}"
    results, largest = row["result_bytes"], row["largest_bytes"] or 0
    if largest > results:
        text += f", the largest array that one instruction makes {plain_bytes(largest)}"
    else:
        text += f", results {plain_bytes(results)}"
    if row["shared_bytes"]:
        text += f"; {plain_bytes(row['shared_bytes'])} may be shared by both"
    if (count := row["split_count"]) > 1:
        return f"{text}, if all is split over the {count:,} partitions"
    return f"{text} (padded as their layouts say)"


def _advice(row: Row) -> str:
    name = row["path"].rpartition("/")[2]
    ending = next((e for e in _ENDINGS if name.endswith(e)), "")
    stem = name.removesuffix(ending) if row["module_number"] is not None else ""
    # Of what is not optimised yet there is no assignment; a prefix may be added.
    stem = re.sub(r"before_optimizations$", "*after_optimizations", stem)
    missing = [kind for kind in row["missing"].split(", ") if kind]
    if stem:
        files = "; ".join(_FILES[kind].format(stem=stem) for kind in missing)
        text = f"For more, pass what XLA wrote beside it, too: {files}."
    else:
        text = f"For more, these are missing: {', '.join(missing)}."
    return (
        f"{text} XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_text writes them all"
        " when the program is compiled, which needs no device memory; then explain DIR."
    )


def _space(row: Row, before: str = " in ") -> str:
    name = space_words(row["space_name"], row["color"])
    is_named = name != "" and not name.startswith("color_")
    return f"{before}{name}" if is_named else ""
