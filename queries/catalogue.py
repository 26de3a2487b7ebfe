"""The canned queries: `sql/<group>/**/<name>.sql` here, then folders of users.

Files in a folder that is called like a query of ours beside it are its steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

from hlodb.errors import HlodbError, UsageError
from hlodb.paths import read_text
from hlodb.queries.front_matter import parse_query, parse_vocabulary
from hlodb.queries.query import Query, Vocabulary
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

_ROOT = Path(__file__).parent / "sql"

_NAME = re.compile(r"[a-z][a-z0-9_]*")

Catalogue = Mapping[str, Query]
"""Queries by name, in the order of groups and names."""


def load_catalogue(folders: Iterable[Path] = ()) -> Catalogue:
    """Return all queries by name, in the order of groups and names.

    Raises UsageError with `path:line` at the first file of a user that is not a sound
    query. That ours are sound is for `lint` to say: it takes longer than most answers.
    """
    given = tuple(folders)
    return _load_catalogue(given) if given else _own_catalogue()


class _OwnQueries(Mapping[str, Query]):
    """The queries of this release, each read when it is asked for.

    To read them all takes longer than most answers.
    """

    def __init__(self) -> None:
        self._files = {
            name: (group, path, file)
            for group in GROUPS
            for name, path, file in sorted(_files_of(group))
        }
        self._read: dict[str, Query] = {}

    def __getitem__(self, name: str) -> Query:
        if name not in self._read:
            group, path, file = self._files[name]
            self._read[name] = _own_query(name, group, path, file, is_checked=True)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@cache
def _own_catalogue() -> Catalogue:
    """Return the queries of this release, which don't change while a process lives."""
    return _OwnQueries()


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
    seen: dict[str, Query] = {}
    own = (
        partial(_own_query, name, group, path, file, is_checked=trusts_own)
        for group in GROUPS
        for name, path, file in _files_of(group)
    )
    users = (partial(_query_of_user, *place) for place in _of_users(folders))
    for read in (*own, *users):
        try:
            query = read()
            _require_place(query, seen)
        except UsageError as error:
            yield error
        else:
            seen[query.name] = query
            yield query


def _own_query(
    name: str, group: str, path: str, file: Path, *, is_checked: bool
) -> Query:
    _require_name(name, path)
    return parse_query(
        _text(file, path),
        name=name,
        group=group,
        path=path,
        vocabulary=_vocabulary(_ROOT),
        steps=_steps_of(file),
        is_checked=is_checked,
        is_built_in=True,
    )


def _query_of_user(group: str, file: Path) -> Query:
    path = file.as_posix()
    _require_name(file.stem, path)
    return parse_query(
        _text(file, path),
        name=file.stem,
        group=group,
        path=path,
        vocabulary=_vocabulary(_ROOT),
    )


@cache
def _vocabulary(root: Path) -> Vocabulary:
    text = (root / "vocabulary.sql").read_text(encoding="utf-8")
    return parse_vocabulary(text, "vocabulary.sql")


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


def _files_of(group: str) -> Iterator[tuple[str, str, Path]]:
    """Yield the name, path in the project and file of each query of ours in a group."""
    files = sorted((_ROOT / group).rglob("*.sql"))
    homes = {file.with_suffix("") for file in files}
    for file in files:
        if homes.isdisjoint(file.parents):
            yield file.stem, _path(file), file


def _steps_of(file: Path) -> dict[str, Step]:
    """Return the steps of a query of ours by name."""
    return {
        path.stem: parse_step(path.read_text("utf-8"), _path(path))
        for path in sorted(file.with_suffix("").rglob("*.sql"))
    }


def _path(file: Path) -> str:
    return f"queries/sql/{file.relative_to(_ROOT).as_posix()}"


def _of_users(folders: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"there is no folder of queries at {folder}")
        for file in sorted(folder.rglob("*.sql")):
            yield file.parent.name, file


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
