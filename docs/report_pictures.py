"""Take pictures out of the demo's report page and keep them as SVG files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from docs.transcripts import environment

FOLDER = Path(__file__).parent / "pictures"
PICTURES = {"arena-cnn.svg": "arenas", "waterfall-cnn.svg": "waterfall"}
"""Files, and the kind of picture that the first finding of the report has."""

_REPORT = ("--run", "jaxlib-0.5.3", "--baseline", "jaxlib-0.4.35", "--format", "html")
_RULE = re.compile(r"^(?:svg|rect|\.)[^{]*\{[^}]*\}$", re.M)
_VARIABLES = re.compile(r"^:root \{.*?^\}$|^@media \(prefers.*?^\}$", re.M | re.S)


def pictures(warehouse: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and content of every picture."""
    words = ["hlodb", "report", *_REPORT, "--no-record", "--db", str(warehouse)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environment()
    )
    for name, kind in PICTURES.items():
        # A picture has maps in it, which are of the same kind of element.
        end = "</svg>(?=</div>)"
        picture = re.search(rf'<svg [^>]*"{kind}-.*?{end}', done.stdout, re.S)
        if picture is None:
            raise ValueError(f"the report has no {kind}: {done.stderr}")
        yield name, _standalone(picture[0], done.stdout)


def _standalone(picture: str, page: str) -> str:
    """Return a picture with the style of its page, so that an image can show it."""
    head, _, rest = picture.partition(">")
    sheet = page.partition("<style>")[2].partition("</style>")[0]
    variables = "\n".join(_VARIABLES.findall(sheet))
    rules = "\n".join(rule for rule in _RULE.findall(sheet) if _is_used(rule, rest))
    sheet = f"{variables}\nsvg {{ background: var(--page); }}\n{rules}"
    named = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    return f"{named}>\n<style>\n{sheet}\n</style>{rest}\n"


def _is_used(rule: str, picture: str) -> bool:
    classes = re.findall(r"\.([\w-]+)", rule.partition("{")[0])
    used = set(re.findall(r"[\w-]+", " ".join(re.findall(r'class="([^"]*)"', picture))))
    return not classes or any(name in used for name in classes)


def write_pictures(warehouse: Path) -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures(warehouse):
        (FOLDER / name).write_text(text, encoding="utf-8")
