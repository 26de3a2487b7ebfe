"""The page of hostile inputs, docs/reference/hostile-input.md.

python -m tests.reliability.hostile_page
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from hlodb.errors import HlodbError
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import connect
from tests.conftest import REPOSITORY
from tests.reliability.hostile import INPUTS
from tests.reliability.hostile_dump import LIMITS

PAGE = REPOSITORY / "docs" / "reference" / "hostile-input.md"
_TOO_LONG = 160
_NOTHING_AMISS = "no reject: loaded as far as it is a dump, ignored else"
_PREFACE = Path(__file__).with_name("hostile_preface.md")


class Outcome(NamedTuple):
    """What an input came to: rows of `rejects`, or the error of the command."""

    exit_code: int
    rejects: list[tuple[str, str, str]]


def outcomes() -> dict[str, Outcome]:
    """Ingest every input as a run of its own; give what each came to."""
    found: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "w.duckdb"
        for number, (name, make) in enumerate(INPUTS.items()):
            below = Path(folder) / str(number)
            below.mkdir()
            path = make(below)
            request = RunRequest(name=name)
            try:
                ingest([str(path)], db, request=request, limits=LIMITS, jobs=1)
                found[name] = Outcome(0, [])
            except HlodbError as error:
                message = str(error).replace(str(below), "…")
                found[name] = Outcome(error.exit_code, [("", "", message)])
        with connect(db) as connection:
            rows = connection.execute(
                "SELECT r.name, path, code, message"
                " FROM rejects JOIN runs AS r USING (run_id) ORDER BY ALL"
            ).fetchall()
    for name, *reject in rows:
        known = found[name].rejects
        found[name] = Outcome(3, [*known, (reject[0], reject[1], reject[2])])
    return found


def page(found: dict[str, Outcome]) -> str:
    """Return the page, a row for each reject."""
    lines = [
        _PREFACE.read_text(encoding="utf-8"),
        "| input | exit | file | code | message |",
        "|---|---|---|---|---|",
    ]
    for name, outcome in found.items():
        counted = Counter(outcome.rejects or [("", "", _NOTHING_AMISS)])
        for (path, code, message), count in sorted(counted.items()):
            times = f" ({count} times)" if count > 1 else ""
            cells = [name, str(outcome.exit_code), path, code, message + times]
            lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    text = re.sub(r"[^\x20-\x7e…]", "?", text).replace("|", "\\|")
    return text if len(text) <= _TOO_LONG else f"{text[:_TOO_LONG]}…"


if __name__ == "__main__":
    PAGE.write_text(page(outcomes()), encoding="utf-8")
