"""Which code the figures of long runs are of, so that nobody trusts stale ones.

Code that writes may be newer while CHANGELOG.md begins with `Unreleased`; the page then
names what is newer, and `make test-slow` fails where it opens, locks or replaces a
warehouse (`schema/`). The rest are the modules of `ingest/` that open a warehouse, of
which only a release must have figures. What counts is the code: docstrings, comments,
imports and places may change.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from tests.conftest import REPOSITORY

_OPENING = "from hlodb.schema.warehouse import"
_OTHER = {
    "__init__.py", "engine.py", "foreign.py", "generate.py", "harmless.py", "stored.py",
    "versions.py",
}  # fmt: skip
"""Modules of `schema/` that neither open a file for writing nor lock it."""


def locking() -> list[Path]:
    """Return the modules that open, lock or replace a warehouse."""
    return sorted(
        path for path in (REPOSITORY / "schema").glob("*.py") if path.name not in _OTHER
    )


def writing() -> list[Path]:
    """Return the modules of ingest that open a warehouse."""
    return sorted(
        path
        for path in (REPOSITORY / "ingest").rglob("*.py")
        if _OPENING in path.read_text(encoding="utf-8")
    )


def digest(path: Path) -> str:
    """Return a short hash of the code in a module."""
    return blake2b(code_of(path.read_text("utf-8")).encode(), digest_size=6).hexdigest()


def code_of(text: str) -> str:
    """Return the lines of a module that do something."""
    left_out = {
        line
        for node in _left_out(ast.parse(text))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(text.splitlines(), start=1)
    return "\n".join(
        line
        for number, line in lines
        if number not in left_out and line.strip() and not line.strip().startswith("#")
    )


def _left_out(tree: ast.AST) -> list[ast.stmt]:
    nodes = list(ast.walk(tree))
    imports = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    expressions = [n for n in nodes if isinstance(n, ast.Expr)]
    return [*imports, *(n for n in expressions if isinstance(n.value, ast.Constant))]


def digests() -> list[str]:
    """Return the hashes of all code that a long run puts to the test."""
    return sorted({digest(path) for path in (*locking(), *writing())})


def newer(paths: Iterable[Path], measured: Iterable[str]) -> list[str]:
    """Return the modules among `paths` whose code is not among that measured."""
    known = {*measured}
    return [
        path.relative_to(REPOSITORY).as_posix()
        for path in paths
        if digest(path) not in known
    ]


def commit() -> str:
    """Return the commit that is checked out, with a `+` where code differs from it."""
    head = _git("rev-parse", "--short=12", "HEAD")
    changed = _git(
        "status", "--porcelain", "--", "hlodb", "ingest", "queries", "schema"
    )
    return f"{head}{'+' if changed else ''}"


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.strip()
