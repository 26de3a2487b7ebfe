"""Reports on every situation, tests/reports/gold/SITUATION/FORM.EXTENSION.

An explanation of one dump is beside the answers of queries, tests/gold/explain.txt.
Text and JSON say all that a report does; other forms are kept of the few situations
that exercise them. `make gold` renews the files; read the difference before you commit
it. Long outputs are kept as their length and digest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

from hlodb import __version__
from hlodb.reports.judge.report import Report
from hlodb.reports.render.forms import FORMATS, renderer
from tests.conftest import DATA
from tests.reports.situations import SITUATIONS, report_on

FOLDER = Path(__file__).parent / "reports" / "gold"
LONGEST = 60_000
WIDTH = "100"
"""Of text: what a pipe has."""

EXPLAINED = DATA / "changes" / "zoo-donation" / "dropped.tar.xz"
EXPLANATION = DATA.parent / "gold" / "explain.txt"

EXTENSIONS = {
    "text": "txt",
    "markdown": "md",
    "summary": "md",
    "comment": "md",
    "html": "html",
    "json": "json",
    "compact": "json",
    "junit": "xml",
    "sarif": "sarif",
    "slack": "json",
    "github": "txt",
    "benchmark": "json",
    "openmetrics": "prom",
    "csv": "csv",
    "csv-gates": "csv",
    "csv-parts": "csv",
    "csv-programs": "csv",
}
IN_EVERY_FORM = (
    "budget_failed",
    "hostile_names",
    "missing_program",
    "mixed",
    "no_baseline",
    "rejects",
)
"""Of each kind of thing that a form may have to say, one situation."""


def kept(report: Report, form: str) -> str:
    """Return a report in a form as it is kept: or its digest, where it is long.

    Neither the version nor style sheet, script and their digests are kept: they would
    change every file.
    """
    with patch.dict(os.environ, COLUMNS=WIDTH):
        text = renderer(form)(report).replace(f'"{__version__}"', '"VERSION"')
    text = text.replace(f"hlodb {__version__}", "hlodb VERSION")
    text = re.sub(r"(?s)(<style>\n).*?(</style>)", r"\1STYLE\n\2", text)
    text = re.sub(r"(?s)(<script>\n).*?(</script>)", r"\1SCRIPT\n\2", text)
    text = re.sub(r"'sha256-[^']+'", "'DIGEST'", text)
    if len(text) <= LONGEST:
        return text
    return f"{len(text)} characters, sha256 {sha256(text.encode()).hexdigest()}\n"


def gold_files() -> dict[Path, tuple[str, str]]:
    """Return situation and form of every file."""
    return {
        FOLDER / name / f"{form}.{EXTENSIONS[form]}": (name, form)
        for name in SITUATIONS
        for form in FORMATS
        if form in ("text", "json") or name in IN_EVERY_FORM
    }


def explanation(folder: Path) -> str:
    """Return what `hlodb explain` prints of a dump, run as a process in `folder`."""
    printed = subprocess.run(
        [sys.executable, "-m", "hlodb", "explain", str(EXPLAINED), "--top", "3"],
        cwd=folder,
        env={**os.environ, "COLUMNS": WIDTH},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return printed.replace(str(EXPLAINED), EXPLAINED.name)


def main() -> None:
    """Renew all gold files, and delete those of situations that are no more."""
    with tempfile.TemporaryDirectory() as folder:
        reports = {name: report_on(name, Path(folder)) for name in SITUATIONS}
        EXPLANATION.write_text(explanation(Path(folder)))
    texts = {
        path: kept(reports[name], form) for path, (name, form) in gold_files().items()
    }
    shutil.rmtree(FOLDER, ignore_errors=True)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    print(f"{len(texts)} gold files in {FOLDER}", file=sys.stderr)


if __name__ == "__main__":
    main()
