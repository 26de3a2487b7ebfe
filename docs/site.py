"""Make a site of the Markdown of this repository: `make site-docs`.

Pages stay as they are, at their places, so that their links lead to the same files as
in the repository. Files that are not Markdown come along where a page links to them; a
folder gets a page that lists its files. Zensical makes the site: it is what the authors
of Material for MkDocs maintain now, with search built in and a strict mode.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]
CONFIG = """[project]
site_name = "hlodb"
site_description = "XLA compiler dumps of many runs as one DuckDB warehouse"
docs_dir = "pages"
site_dir = "site"
nav = [
  {"hlodb" = "README.md"},
  {"Guides" = [%s]},
  {"Documentation" = "docs/README.md"},
  {"Concepts" = "docs/concepts.md"},
  {"Changelog" = "CHANGELOG.md"},
  {"Contributing" = "CONTRIBUTING.md"},
]
[project.theme]
font = false
features = ["navigation.instant", "content.code.copy", "search.highlight"]
"""

_LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
_HREF = re.compile(r"<(?:a|img|link|script)\b[^>]*? (?:href|src)=\"?([^\"\s>]+)")
_ID = re.compile(r"\bid=\"?([^\"\s>]+)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def main(folder: Path) -> None:
    """Write the sources and the site into `folder`; exit where a link is broken."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for name in page_names():
        copy(name, pages)
        for target in linked_files(name):
            if (ROOT / target).is_dir():
                list_folder(target, pages)
            elif not (pages / target).exists():
                copy(target, pages)
    config = folder / "zensical.toml"
    config.write_text(CONFIG % ", ".join(guides()), encoding="utf-8")
    zensical = str(Path(sys.executable).parent / "zensical")
    command = [zensical, "build", "--clean", "--strict", "--config-file"]
    done = subprocess.run([*command, str(config.resolve())])
    # It leaves out what begins with a dot, as workflows do.
    for file in pages.rglob("*"):
        place = file.relative_to(pages)
        if file.is_file() and any(part.startswith(".") for part in place.parts):
            copied = folder / "site" / place
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copied)
    broken = [] if done.returncode else list(broken_links(folder / "site"))
    if done.returncode or broken:
        sys.exit("\n".join(["links of the site are broken", *broken]))


def page_names() -> list[str]:
    """Return the Markdown of the repository but for expected outputs of tests."""
    command = ["git", "ls-files", "*.md"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if is_page(name)]


def is_page(name: str) -> bool:
    """Return whether people read it."""
    return not name.startswith("tests/") or name.startswith("tests/data/")


def linked_files(name: str) -> Iterator[str]:
    """Yield what a page links to in the repository, but for Markdown."""
    text = _CODE.sub("", (ROOT / name).read_text(encoding="utf-8"))
    for link, _ in _LINK.findall(text):
        target = (ROOT / name).parent / link
        if ":" not in link and target.exists() and target.suffix != ".md":
            yield str(target.resolve().relative_to(ROOT))


def guides() -> Iterator[str]:
    """Yield the guides by title, in the order of the index."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for title, path in re.findall(r"\[([^]]+)\]\((guides/[^)]+)\)", index):
        yield f'{{"{title}" = "docs/{path}"}}'


def copy(name: str, pages: Path) -> None:
    """Copy a file to the same place below `pages`."""
    target = pages / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / name, target)


def list_folder(name: str, pages: Path) -> None:
    """Write a page with the files of a folder, and copy them."""
    command = ["git", "ls-files", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = [file for file in done.stdout.splitlines() if "/dumps/" not in file]
    lines = [f"# {name}", ""]
    for file in files:
        copy(file, pages)
        inner = Path(file).relative_to(name)
        lines.append(f"* [{inner}]({inner})")
    (pages / name / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def broken_links(site: Path) -> Iterator[str]:
    """Yield the links of built pages that lead to no file or no heading."""
    texts = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    anchors = {page: set(_ID.findall(text)) for page, text in texts.items()}
    for page, text in texts.items():
        # That of missing pages is shown at any place.
        for link in sorted(set(_HREF.findall(text))) if page.name != "404.html" else ():
            path, _, anchor = unquote(unescape(link)).partition("#")
            if re.match(r"[a-z]+:|//", path):
                continue
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            is_there = target.is_file() and (
                not anchor or anchor in anchors.get(target, {anchor})
            )
            if not is_there:
                yield f"{page.relative_to(site)}: {link}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "build/docs"))
