"""Compares what remedies promise with programs that were compiled with the remedy.

tests/data/remedies/pairs.json names two dumps of a program each, before and after one
edit, the rule that suggests it, and why XLA chose otherwise where it did.
`python -m bench.remedies [NAME…]` renews the table in docs/reference/remedies.md.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.measured import renew_page
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from hlodb.text import plain_bytes, signed_percent

DATA = Path(__file__).parent.parent / "tests" / "data"
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "remedies.md"
NAME = "remedies"
CLOSE = 0.05


@dataclass(frozen=True, slots=True)
class Edit:
    """A program before and after an edit that `rule` suggests.

    `archive` is relative to tests/data, without `.tar.xz`; `before` and `after` are
    folders in it. `why` explains a distance from what was promised.
    """

    archive: str
    before: str
    after: str
    rule: str
    edit: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a remedy was to save of the live peak, what it did, and what is left."""

    edit: Edit
    promised_bytes: int
    measured_bytes: int
    left_bytes: int

    @property
    def error_ratio(self) -> float:
        """Return how far the promise is from the measured fall, as a share of it."""
        return self.promised_bytes / (self.measured_bytes or 1) - 1


def edits() -> list[Edit]:
    """Return all pairs, in the order of their file."""
    rows = json.loads((DATA / "remedies" / "pairs.json").read_text(encoding="utf-8"))
    return [Edit(**row) for row in rows]


def effects(chosen: Sequence[Edit]) -> Iterator[Effect]:
    """Yield the effect of each edit, its dumps ingested one archive at a time."""
    for archive in dict.fromkeys(edit.archive for edit in chosen):
        here = [edit for edit in chosen if edit.archive == archive]
        with tempfile.TemporaryDirectory() as folder:
            names = dict.fromkeys(n for e in here for n in (e.before, e.after))
            file = _ingested(DATA / f"{archive}.tar.xz", list(names), Path(folder))
            with connect(file) as connection:
                yield from (_effect(connection, edit) for edit in here)


def _ingested(archive: Path, names: Sequence[str], folder: Path) -> Path:
    with tarfile.open(archive) as packed:
        # Python 3.11 has the filter since 3.11.4 only, later ones warn without it.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)
    file = folder / "w.duckdb"
    for name in names:
        dump = folder / archive.name.removesuffix(".tar.xz") / name
        ingest([str(dump)], file, request=RunRequest(name=name), jobs=1)
    return file


def _effect(connection: Connection, edit: Edit) -> Effect:
    peaks = [_peak(connection, run) for run in (edit.before, edit.after)]
    return Effect(
        edit,
        promised(connection, edit.before, edit.rule),
        peaks[0] - peaks[1],
        promised(connection, edit.after, edit.rule),
    )


def _peak(connection: Connection, run: str) -> int:
    (row,) = run_query(connection, "peak_by_space", {"run": run, "color": 0}).dicts()
    return int(row["live_peak_bytes"])


def promised(connection: Connection, run: str, rule: str) -> int:
    """Return what a remedy is said to save: of arguments to shard, all together."""
    rows = run_query(connection, "remedies", {"run": run, "top": None}).dicts()
    saved = [int(row["saved_bytes"]) for row in rows if row["rule_id"] == rule]
    return sum(saved) if rule == "shard" else max(saved, default=0)


def table(found: Sequence[Effect]) -> str:
    """Return the promised and the measured falls as Markdown."""
    rows = ["| remedy | program | edit | promised | measured | off | why |"]
    rows.append("|---|---|---|--:|--:|--:|---|")
    rows += [
        f"| `{e.edit.rule}` | {e.edit.archive.rpartition('/')[2]} | {e.edit.edit}"
        f" | {plain_bytes(e.promised_bytes)} | {plain_bytes(e.measured_bytes)}"
        f" | {signed_percent(e.error_ratio)} | {e.edit.why} |"
        for e in found
    ]
    close = sum(abs(e.error_ratio) <= CLOSE for e in found)
    rows.append("")
    rows.append(f"{close} of {len(found)} are within {100 * CLOSE:.0f} %.")
    return "\n".join(rows)


def main() -> None:
    """Print the table; without names, put it into the guide, too."""
    names = sys.argv[1:]
    chosen = [e for e in edits() if not names or e.rule in names or e.archive in names]
    text = table(list(effects(chosen)))
    print(text)
    if not names:
        renew_page(PAGE, NAME, text)


if __name__ == "__main__":
    main()
