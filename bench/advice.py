"""Compares advice with the first edit that an expert makes, and with its outcome.

tests/data/advice/truth.json names an edit for each program of programs.py there,
written before hlodb read the program, and rules that do not apply to it. Programs
without an edit are well tuned: nothing pays. `python -m bench.advice [FOLDER]` renews
the table in docs/reference/remedies.md, from dumps that make_dumps.py left in FOLDER.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs.measured import renew_page
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.document.advice import advice_on
from hlodb.reports.read.overview import (
    MAIN_SPACE,
    memory_spaces,
    read_overview,
    rows_of,
)
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from hlodb.text import bytes_range, plain_bytes

DATA = Path(__file__).parent.parent / "tests" / "data" / "advice"
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "remedies.md"
NAME = "advice"
SCREEN = 5
CLOSE, NEAR = 0.10, 0.25


@dataclass(frozen=True, slots=True)
class Truth:
    """The first edit of an expert; `kinds` are the rules that suggest it.

    `impossible` are rules that no edit of the program can follow. No rule was written
    with a program of the latest `program_set`, until its first figures were kept.
    """

    program: str
    edit: str
    kinds: Sequence[str] = ()
    subject: str = ""
    impossible: Sequence[str] = ()
    program_set: str = "first"

    @property
    def is_tuned(self) -> bool:
        """Whether nothing pays."""
        return not self.kinds


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is listed for a program, and what its edit came to, by reserved and live.

    `listed` is what `hlodb explain` shows, or would with less memory left; `is_quiet`
    says that it shows nothing.
    """

    truth: Truth
    listed: Sequence[Mapping[str, Any]]
    is_quiet: bool
    measured: tuple[int, int] | None

    @property
    def place(self) -> int | None:
        """Return the place of the expert's edit among the remedies, from 1."""
        rules = [row["rule_id"] for row in self.listed]
        places = [rules.index(kind) for kind in self.truth.kinds if kind in rules]
        return min(places) + 1 if places else None

    @property
    def promised(self) -> tuple[int, int] | None:
        """Return what the expert's edit is said to save, of reserved and live."""
        if self.place is None:
            return None
        row = self.listed[self.place - 1]
        return int(row["saved_reserved_bytes"]), int(row["saved_bytes"])

    @property
    def most(self) -> tuple[int, int] | None:
        """Return what that is said to save at most."""
        if self.place is None or self.promised is None:
            return None
        row = self.listed[self.place - 1]
        keys = "most_saved_reserved_bytes", "most_saved_bytes"
        reserved, live = (row[key] for key in keys)
        return reserved or self.promised[0], live or self.promised[1]

    @property
    def impossible(self) -> list[str]:
        """Return what is listed and can't be done."""
        rules = dict.fromkeys(row["rule_id"] for row in self.listed)
        return [rule for rule in rules if rule in self.truth.impossible]

    def is_within(self, share: float) -> bool:
        """Return whether both promises are as close to what was measured.

        Of a range one end has to be, or what was measured lies in it.
        """
        if self.promised is None or self.most is None or self.measured is None:
            return False
        ranges = zip(self.promised, self.most, self.measured, strict=True)
        return all(
            least - share * true <= true <= most + share * true
            for least, most, true in ranges
        )


def truths() -> list[Truth]:
    """Return the expert's edits, in the order of their file."""
    rows = json.loads((DATA / "truth.json").read_text(encoding="utf-8"))
    return [Truth(**row) for row in rows]


def outcome(truth: Truth, folder: Path) -> Outcome | None:
    """Return what is listed for a program; None where its dump isn't in the folder."""
    dumps = {
        path.name.split(".")[1]: path for path in folder.glob(f"{truth.program}.*.xz")
    }
    if "base" not in dumps:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "w.duckdb"
        for variant, path in dumps.items():
            ingest([str(path)], file, request=RunRequest(name=variant), jobs=1)
        with connect(file) as connection:
            return _outcome(connection, truth, list(dumps))


def _outcome(connection: Connection, truth: Truth, variants: Sequence[str]) -> Outcome:
    overview = read_overview(connection, "base", None)
    (space,) = [s for s in memory_spaces(overview) if s["color"] == MAIN_SPACE]
    remedies = rows_of(overview, "remedies", space)
    shown = advice_on(space, remedies).shown
    listed = shown or [row for row in remedies if not row["is_last_resort"]]
    edited = [variant for variant in variants if variant != "base"]
    if not edited:
        return Outcome(truth, listed, not shown, None)
    before, after = (_sizes(connection, run) for run in ("base", edited[0]))
    measured = before[0] - after[0], before[1] - after[1]
    return Outcome(truth, listed, not shown, measured)


def _sizes(connection: Connection, run: str) -> tuple[int, int]:
    (row,) = run_query(connection, "peak_by_space", {"run": run, "color": 0}).dicts()
    return int(row["reserved_bytes"]), int(row["live_peak_bytes"])


def table(found: Sequence[Outcome]) -> str:
    """Return promised and measured falls as Markdown, and how many hold."""
    rows = [
        "| program | first edit of an expert | place | promised (reserved, live)"
        " | measured | listed first | can't be done |"
    ]
    rows.append("|---|---|--:|--:|--:|---|---|")
    for one in found:
        first = one.listed[0]["rule_id"] if one.listed else ""
        rows.append(
            f"| {one.truth.program} | {one.truth.edit} | {one.place or 'none'}"
            f" | {_ranges(one)} | {_both(one.measured)} | {first}"
            f" | {', '.join(one.impossible)} |"
        )
    edits = [one for one in found if not one.truth.is_tuned]
    tuned = [one for one in found if one.truth.is_tuned]
    carried = [one for one in edits if one.promised and one.measured]
    count = len(edits)
    places = [one.place or 99 for one in edits]
    rows.append("")
    rows.append(
        f"The edit comes first in {sum(p == 1 for p in places)} of {count}, among the"
        f" first {SCREEN} in {sum(p <= SCREEN for p in places)}. Of {len(carried)}"
        f" promises {sum(o.is_within(CLOSE) for o in carried)} are within"
        f" {100 * CLOSE:.0f} % and {sum(o.is_within(NEAR) for o in carried)} within"
        f" {100 * NEAR:.0f} %, both reserved and live."
        f" {sum(one.is_quiet for one in tuned)} of {len(tuned)} well-tuned programs"
        f" get no advice. {sum(bool(one.impossible) for one in found)} of {len(found)}"
        " programs get advice that can't be followed."
    )
    return "\n".join(rows)


def _ranges(one: Outcome) -> str:
    """Return both promises, each with its other end if it is a range."""
    if one.promised is None or one.most is None:
        return ""
    ends = zip(one.promised, one.most, strict=True)
    return ", ".join(
        bytes_range(least, most if most > least else None) for least, most in ends
    )


def _both(sizes: tuple[int, int] | None) -> str:
    return "" if sizes is None else ", ".join(map(plain_bytes, sizes))


def main() -> None:
    """Print the table and put it into the page."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else DATA
    found = [one for truth in truths() if (one := outcome(truth, folder))]
    text = table(found)
    print(text)
    renew_page(PAGE, NAME, text)


if __name__ == "__main__":
    main()
