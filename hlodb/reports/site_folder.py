"""The folder of a site: which pages it has, and what each was made from.

Pages are written under another name and renamed, so that a reader sees whole ones. A
file beside them lists every page with a digest of what it was made from: only pages of
this list are ever replaced or deleted.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from hlodb.errors import UsageError
from hlodb.text import json_text
from hlodb.version import __version__

STATE_FILE = "hlodb-site.json"
SITE_SCHEMA = 1
"""Version of the pages: they are all written again where it rises."""

RUNS, PROGRAMS = "runs", "programs"
_PAGE = re.compile(r"(?:(?:runs|programs)/)?[a-z0-9][a-z0-9._-]{0,120}\.html")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
_OTHER = re.compile(r"[^a-z0-9._-]+")
_LONGEST = 80


class Made(NamedTuple):
    """A page that a site has: a digest of what it was made from, and its headline."""

    key: str
    says: str


@dataclass(slots=True)
class SiteFolder:
    """A folder with the pages that `made` lists."""

    path: Path
    made: dict[str, Made] = field(default_factory=dict)
    written: int = 0
    deleted: int = 0

    def has(self, page: str, key: str) -> bool:
        """Return whether a page is there, made from the same."""
        known = self.made.get(page)
        return known is not None and known.key == key and (self.path / page).is_file()

    def begin(self, pages: Iterable[str]) -> None:
        """List pages that are about to be written, so that none is left if that ends.

        Raises UsageError where the folder cannot be written.
        """
        coming = {page: Made("", "") for page in pages}
        if coming.keys() - self.made.keys() or not (self.path / STATE_FILE).is_file():
            self._store({**coming, **self.made}, {})

    def write(self, page: str, text: str, made: Made) -> None:
        """Write a page, unless it is there with the same text."""
        content = text.encode()
        target = self.path / page
        if not _is_same(target, content):
            _replace(target, content)
            self.written += 1
        self.made[page] = made

    def finish(self, pages: Iterable[str], source: Mapping[str, Any]) -> None:
        """Delete pages that are none of `pages`, and say what the site was made from.

        `source` is what all pages have in common.
        """
        kept = set(pages)
        for page in [each for each in self.made if each not in kept]:
            with suppress(FileNotFoundError):
                _explained(self.path / page, os.unlink)
                self.deleted += 1
            del self.made[page]
        self._store(self.made, source)

    def _store(self, made: Mapping[str, Made], source: Mapping[str, Any]) -> None:
        listed = {page: each._asdict() for page, each in sorted(made.items())}
        state = {
            "site_schema": SITE_SCHEMA,
            "hlodb_version": __version__,
            **source,
            "pages": listed,
        }
        content = f"{json_text(state, indent=1)}\n".encode()
        if not _is_same(self.path / STATE_FILE, content):
            _replace(self.path / STATE_FILE, content)


def open_site(path: Path) -> SiteFolder:
    """Return the site in a folder, which is made where it is missing.

    Raises UsageError where the folder holds files of others, or is none.
    """
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file: name a folder for the site")
    state = path / STATE_FILE
    if state.is_file():
        return SiteFolder(path, _read(state))
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(
            f"{path} holds other files, and no site of hlodb ({STATE_FILE} is missing):"
            " name an empty folder"
        )
    return SiteFolder(path)


def _read(state: Path) -> dict[str, Made]:
    """Return the pages that a site lists.

    Names that no page of a site has are dropped: whoever wrote the list must not choose
    which files are deleted.
    """
    try:
        found = json.loads(state.read_text(encoding="utf-8"))
        pages = found["pages"].items()
        return {
            page: Made(str(each["key"]), str(each["says"]))
            for page, each in pages
            if _PAGE.fullmatch(page)
        }
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UsageError(
            f"cannot read {state}: {error}; delete the folder to make the site anew"
        ) from error


def file_name(name: str, *more: str) -> str:
    """Return the name of a page about `name`, the same on every file system.

    `more` distinguishes it from others of this name. Two names never share a page, also
    where a file system ignores the case of letters.
    """
    if not more and _PLAIN.fullmatch(name) and not name.endswith("."):
        return f"{name}.html"
    digest = blake2b("\0".join((name, *more)).encode(), digest_size=5).hexdigest()
    short = _OTHER.sub("-", name.lower()).strip("-._")[:_LONGEST].rstrip("-._")
    return f"{short}-{digest}.html" if short else f"{digest}.html"


def key_of(*facts: object) -> str:
    """Return a digest of what a page is made from."""
    text = repr((SITE_SCHEMA, __version__, *facts))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def _is_same(target: Path, content: bytes) -> bool:
    try:
        return target.read_bytes() == content
    except OSError:
        return False


def _replace(target: Path, content: bytes) -> None:
    """Write a file as a whole; raise UsageError, and leave the old one, otherwise."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")

    def write(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    _explained(target, write)


def _explained(target: Path, act: Any) -> None:
    try:
        act(target)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(
            f"cannot write {target}: {error.strerror}; run `hlodb site` again for the"
            " rest"
        ) from error
