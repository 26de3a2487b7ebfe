"""Every situation of a report in every form: tests/reports/gold/SITUATION/FORM.txt.

`make gold` renews them; read the difference before you commit it. Long outputs are kept
as their length and digest.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from hlodb import __version__
from hlodb.reports.model import Report
from hlodb.reports.render import FORMATS, renderer
from tests.reports.situations import SITUATIONS, report_on

FOLDER = Path(__file__).parent / "reports" / "gold"
LONGEST = 60_000


def kept(report: Report, form: str) -> str:
    """Return a report in a form as it is kept: or its digest, where it is long.

    Neither the version nor the style sheet is kept: they would change every file.
    """
    text = renderer(form)(report).replace(f'"{__version__}"', '"VERSION"')
    text = text.replace(f"hlodb {__version__}", "hlodb VERSION")
    text = re.sub(r"(?s)(<style>\n).*?(</style>)", r"\1STYLE\n\2", text)
    if len(text) <= LONGEST:
        return text
    return f"{len(text)} characters, sha256 {sha256(text.encode()).hexdigest()}\n"


def main() -> None:
    """Renew all gold files, and delete those of situations that are no more."""
    with tempfile.TemporaryDirectory() as folder:
        texts = {
            (name, form): kept(report, form)
            for name in SITUATIONS
            for report in [report_on(name, Path(folder))]
            for form in FORMATS
        }
    shutil.rmtree(FOLDER, ignore_errors=True)
    for (name, form), text in texts.items():
        path = FOLDER / name / f"{form}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    print(f"{len(texts)} gold files in {FOLDER}", file=sys.stderr)


if __name__ == "__main__":
    main()
