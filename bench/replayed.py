"""Compares what remedies promise with their edits, compiled by `hlodb replay`.

    python -m bench.replayed PYTHON DUMP…

PYTHON has the release of JAX (and libtpu) that made the dumps. Each remedy that is an
edit of the program is compiled. Rows are kept in docs/figures/remedies.json, in place
of those of the same dumps, and docs/reference/remedies.md gets the table.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.measured import read_figures, renew_page, write_figures
from hlodb.ingest.pipeline.ingest import ingest_sources
from hlodb.ingest.sources.discover import RunSource, discover
from hlodb.queries.run import run_query
from hlodb.replay.interpreters import Interpreter, probe
from hlodb.replay.recover import recover
from hlodb.replay.remedies import outcomes
from hlodb.schema.warehouse import connect
from hlodb.text import plain_bytes

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "remedies.md"
FIGURES = "remedies"
NAME = "replayed"
HOLDS = 0.75
"""Share of the promised reserved bytes, or live ones, that a remedy has to save."""


def measured(source: RunSource, interpreter: Interpreter) -> Iterator[dict[str, Any]]:
    """Yield a row for each remedy of a run that is an edit."""
    programs, _ = recover(source)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "w.duckdb"
        [summary] = ingest_sources([source], file, jobs=1)
        with connect(file) as connection:
            remedies = run_query(connection, "remedies", {"run": summary.name}).dicts()
    found = outcomes(source, programs, remedies, interpreter)
    places: dict[str, int] = {}
    for row, outcome in zip(remedies, found, strict=True):
        places[row["path"]] = place = places.get(row["path"], 0) + 1
        if outcome is None:
            continue
        space = next((s for s in outcome.before if s.color == row["color"]), None)
        measured_bytes: list[int | None] = [None, None]
        if space is not None and space in outcome.after:
            before, after = outcome.before[space], outcome.after[space]
            measured_bytes = [
                before.reserved - after.reserved,
                (before.live_peak or 0) - (after.live_peak or 0),
            ]
        yield {
            "dump": source.name,
            "platform": "cpu" if programs[0].topology is None else "tpu",
            "program": row["program"],
            "rule": row["rule_id"],
            "subject": row["subject"],
            "place": place,
            "is_last_resort": row["is_last_resort"],
            "promised": [row["saved_reserved_bytes"], row["saved_bytes"]],
            "measured": measured_bytes,
            "reason": outcome.reason,
        }


def holds(row: Mapping[str, Any]) -> bool:
    """Whether a remedy saves most of what it promises, reserved or live."""
    return any(
        true is not None and said > 0 and true >= HOLDS * said
        for said, true in zip(row["promised"], row["measured"], strict=True)
    )


def is_kept(row: Mapping[str, Any]) -> bool:
    """Whether --measure lists it, with its measured savings."""
    return any(saved > 0 for saved in row["measured"])


def keep(rows: Sequence[dict[str, Any]]) -> None:
    """Put the rows of a dump into the figures, and renew the page."""
    dump = rows[0]["dump"]
    others = [
        row for row in read_figures(FIGURES).get("rows", []) if row["dump"] != dump
    ]
    write_figures(FIGURES, {"rows": sorted([*others, *rows], key=_order)})
    renew()


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["rule"], row["platform"], row["dump"], row["program"], row["place"]


def renew() -> None:
    """Write the table into the page."""
    renew_page(PAGE, NAME, table())


def table() -> str:
    """Return promised and measured savings as Markdown, and how many hold."""
    every = read_figures(FIGURES).get("rows", [])
    known = [row for row in every if row["measured"][0] is not None]
    lines = [
        "| remedy | dump | program | of | promised (reserved, live) | measured | but |",
        "|---|---|---|---|--:|--:|---|",
    ]
    lines += [
        f"| `{row['rule']}` | {row['dump']} | {row['program']} | {row['subject']}"
        f" | {_pair(row['promised'])} | {_pair(row['measured'])}"
        f" | {'' if holds(row) else 'less' if is_kept(row) else 'left out'} |"
        for row in known
    ]
    first = [row for row in known if row["place"] == 1]
    kept = [row for row in first if is_kept(row)]
    useless = len(known) - sum(map(is_kept, known))
    lines += [
        "",
        f"{len(known)} remedies were measured: {sum(map(holds, known))} save at least"
        f" {HOLDS:.0%} of the promised bytes, reserved or live;"
        f" without savings: {useless}, which `--measure` leaves out."
        f" {len(every) - len(known)} could not be measured."
        f" Of {len(first)} that are listed first {sum(map(holds, first))} hold as"
        f" estimated; {len(kept)} stay with `--measure`, each with the bytes of its"
        " compilation.",
    ]
    return "\n".join(lines)


def _pair(sizes: Sequence[int]) -> str:
    return ", ".join(f"{'-' * (n < 0)}{plain_bytes(abs(n))}" for n in sizes)


def main() -> None:
    """Measure the remedies of dumps."""
    interpreter = probe(Path(sys.argv[1]))
    for path in sys.argv[2:]:
        for source in discover([path]):
            rows = list(measured(source, interpreter))
            for row in rows:
                print(row, flush=True)
            if rows:
                keep(rows)


if __name__ == "__main__":
    main()
