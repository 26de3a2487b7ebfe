"""The page of hostile inputs, docs/reference/hostile-input.md.

python -m tests.reliability.hostile_page
"""

from __future__ import annotations

import io
import re
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from hlodb.cli import main
from hlodb.errors import UsageError
from hlodb.schema.warehouse import connect
from tests.conftest import REPOSITORY
from tests.reliability.hostile import INPUTS
from tests.reliability.hostile_dump import LIMITS

PAGE = REPOSITORY / "docs" / "reference" / "hostile-input.md"
_TOO_LONG = 160
_NOTHING_AMISS = "no reject: loaded as far as it is a dump, ignored else"
_PREFACE = Path(__file__).with_name("hostile_preface.md")


class Outcome(NamedTuple):
    """What an input came to: exit code, rows of `rejects`, or the command's error."""

    exit_code: int
    rejects: list[tuple[str, str, str]]


def outcomes() -> dict[str, Outcome]:
    """Carry out `hlodb ingest` on every input; return what each came to."""
    found: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "w.duckdb"
        for number, (name, make) in enumerate(INPUTS.items()):
            below = Path(folder) / str(number)
            below.mkdir()
            code, said = ingested(make(below), db, name)
            # Whoever has a run has rows of it; of the others the error is all there is.
            error = ("", "", said.replace(str(below), "…"))
            found[name] = Outcome(code, [error] if code == UsageError.exit_code else [])
        with connect(db) as connection:
            rows = connection.execute(
                "SELECT r.name, path, code, message"
                " FROM rejects JOIN runs AS r USING (run_id) ORDER BY ALL"
            ).fetchall()
    for name, *reject in rows:
        found[name].rejects.append((reject[0], reject[1], reject[2]))
    return found


def ingested(path: Path, db: Path, name: str) -> tuple[int, str]:
    """Ingest an input as a run of its own; return the exit code and the last words."""
    limits = [f"--limit={limit}={value}" for limit, value in asdict(LIMITS).items()]
    options = ["--run", name, "--db", str(db), "--jobs", "1", *limits]
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    said = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(said):
        code = main(["ingest", str(path), *options])
    return code, said.getvalue().splitlines()[-1].removeprefix("hlodb: ")


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
