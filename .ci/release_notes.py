"""Print what the changelog says of the release that a tag names.

Ends with an error where the tag, the version of the code, that of server.json and the
changelog's newest heading disagree: a release is described before it is tagged.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
RELEASE = re.compile(r"(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}")


def main(tag: str, root: Path) -> str:
    """Return the entry of the release; raise SystemExit where there is none."""
    version = runpy.run_path(str(root / "hlodb" / "version.py"))["__version__"]
    server = json.loads((root / "server.json").read_text(encoding="utf-8"))
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    _, newest, entry, *_ = HEADING.split(changelog)
    found = RELEASE.fullmatch(newest)
    said = {
        "hlodb/version.py": version,
        "server.json": server["version"],
        "packages of server.json": server["packages"][0]["version"],
        "CHANGELOG.md, which needs a heading `## X.Y.Z - YYYY-MM-DD`": (
            found[1] if found else newest
        ),
    }
    wrong = [f"{place}: {said}" for place, said in said.items() if f"v{said}" != tag]
    if wrong:
        sys.exit("\n".join([f"The tag is {tag}, but these say otherwise.", *wrong]))
    return entry.strip()


if __name__ == "__main__":
    print(main(sys.argv[1], Path(__file__).parents[1]))
