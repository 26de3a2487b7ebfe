"""The canned queries: `sql/<group>/**/<name>.sql` here, then folders of users.

Files in a folder that is called like a query of ours beside it are its steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from hlodb.errors import HlodbError, UsageError
from hlodb.paths import read_text
from hlodb.queries.front_matter import parse_query, parse_vocabulary
from hlodb.queries.query import Query
from hlodb.queries.steps import Step, parse_step
from hlodb.rules import rule_rows
from hlodb.text import nearest

GROUPS = {
    "peak": "Memory peak and timeline",
    "fragmentation": "Fragmentation and packing",
    "allocation": "Allocation, reuse, aliasing, donation",
    "layout": "Layout, padding, precision",
    "source": "Source attribution",
    "fusion": "Fusions, loops, instructions",
    "sharding": "Collectives, sharding, transfers",
    "schedule": "Rematerialisation, copies, schedule",
    "compare": "Across runs: history, regression, attribution",
    "health": "What is in the warehouse, and how sound it is",
    "checks": "What hlodb check holds the warehouse to: rows that fail",
    "shared": "Building blocks of the other queries",
    "rules": "What frameworks and libraries call things, as rows",
}
"""Groups in the order they are listed; a user's own groups come after them."""

BUILDING_BLOCKS = ("shared", "rules")
"""Groups of queries that other queries read, rather than people."""

REPLACEABLE = (
    *("layer_rules", "line_marks", "owner_rules", "path_marks"),
    *("remedy_rules", "role_rules"),
)
"""Tables of rules that a query of a user, with the same columns, may replace."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")

Catalogue = Mapping[str, Query]


def load_catalogue(folders: Iterable[Path] = ()) -> Catalogue:
    """Return all queries by name, in the order of groups and names.

    Raises UsageError with `path:line` at the first file that is not a sound query. That
    the SQL of our own is sound is for `lint` to say: it takes longer than most answers.
    """
    given = tuple(folders)
    return _load_catalogue(given) if given else _own_catalogue()


@cache
def _own_catalogue() -> Catalogue:
    """Return the queries of this release, which don't change while a process lives."""
    return _load_catalogue(())


def _load_catalogue(folders: Iterable[Path]) -> Catalogue:
    found: dict[str, Query] = {}
    for query in read_queries(folders, trusts_own=True):
        if isinstance(query, HlodbError):
            raise query
        found[query.name] = query
    order = {group: number for number, group in enumerate(GROUPS)}
    return dict(
        sorted(
            found.items(),
            key=lambda item: (
                order.get(item[1].group, len(order)),
                item[1].group,
                item,
            ),
        )
    )


def read_queries(
    folders: Iterable[Path] = (), *, trusts_own: bool = False
) -> Iterator[Query | HlodbError]:
    """Yield every query, or what is wrong with its file; our own may be trusted."""
    root = Path(__file__).parent / "sql"
    vocabulary = parse_vocabulary(
        (root / "vocabulary.sql").read_text(encoding="utf-8"), "vocabulary.sql"
    )
    seen: dict[str, Query] = {}
    for group, path, file in (*_built_in(root), *_of_users(folders)):
        name = path.rpartition("/")[2].removesuffix(".sql")
        is_built_in = file.is_relative_to(root)
        try:
            _require_name(name, path)
            text = _text(file, path)
            query = parse_query(
                text,
                name=name,
                group=group,
                path=path,
                vocabulary=vocabulary,
                steps=_steps_of(file, root) if is_built_in else {},
                is_checked=trusts_own and is_built_in,
                is_built_in=is_built_in,
            )
            _require_place(query, seen)
        except UsageError as error:
            yield error
        else:
            seen[name] = query
            yield query


def find_query(catalogue: Catalogue, name: str) -> Query:
    """Return the query called `name`.

    Raises UsageError that suggests the nearest, or what answers a former query.
    """
    if name in catalogue:
        return catalogue[name]
    for former, command in rule_rows("former_queries"):
        if name == former:
            raise UsageError(
                f"there is no query {name!r} any more; use hlodb {command}"
            )
    hint = nearest(name, catalogue) or "; `hlodb query` lists them"
    raise UsageError(f"there is no query {name!r}{hint}")


def _built_in(root: Path) -> Iterator[tuple[str, str, Path]]:
    for group in GROUPS:
        files = sorted((root / group).rglob("*.sql"))
        homes = {file.with_suffix("") for file in files}
        for file in files:
            if homes.isdisjoint(file.parents):
                yield group, _path(file, root), file


def _steps_of(file: Path, root: Path) -> dict[str, Step]:
    """Return the steps of a query of ours by name."""
    return {
        path.stem: parse_step(path.read_text("utf-8"), _path(path, root))
        for path in sorted(file.with_suffix("").rglob("*.sql"))
    }


def _path(file: Path, root: Path) -> str:
    return f"queries/sql/{file.relative_to(root).as_posix()}"


def _of_users(folders: Iterable[Path]) -> Iterator[tuple[str, str, Path]]:
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"there is no folder of queries at {folder}")
        for file in sorted(folder.rglob("*.sql")):
            yield file.parent.name, file.as_posix(), file


def _require_name(name: str, path: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{path}:1: a query is named like a_b_2, not {name!r}")


def _require_place(query: Query, seen: dict[str, Query]) -> None:
    other = seen.get(query.name)
    if other is None:
        return
    if query.name not in REPLACEABLE:
        known = f"{query.name!r} is already the query of {other.path}"
        raise UsageError(f"{query.path}:1: {known}")
    if [c[:2] for c in query.columns] != [c[:2] for c in other.columns]:
        columns = ", ".join(f"{c.name} {c.type}" for c in other.columns)
        raise UsageError(f"{query.path}:1: {query.name} has the columns {columns}")


def _text(file: Path, path: str) -> str:
    try:
        return read_text(file)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}:1: not UTF-8 text") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
