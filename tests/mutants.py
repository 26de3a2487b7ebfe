"""Make every public query wrong on purpose, and see that `make test` notices.

`make mutants` works on a copy of the checkout: for each kind of fault it changes the
queries, runs the tests that `make test` runs of them, and lists the queries whose tests
still pass. The first round changes only the form of the statement: all tests must pass.

`python -m tests.mutants NAME …` changes only these queries. With `--own-tests` the gold
results don't count: a query is judged by the oracle, or else by the tests that name it.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from hlodb.queries.catalogue import BUILDING_BLOCKS, load_catalogue
from hlodb.queries.macros import reads
from hlodb.queries.query import Query
from tests.gold_results import FOLDER, REPOSITORY, WITHOUT_ROWS
from tests.oracle.test_queries import recomputed_queries

_GOLD = "tests/queries/test_gold.py"
_ORACLE = "tests/oracle/test_queries.py"
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-n", "auto", "--tb=no", "-rfE")
_NUMBERS = ("BIGINT", "INTEGER", "DOUBLE")
Round = tuple[list[Query], list[str]]
"""Queries that are changed together, and the tests that judge them."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?: - .*)?$", re.MULTILINE)


def main() -> int:
    """Run every kind of fault and return 1 where one of them went unnoticed."""
    options = _options()
    catalogue = load_catalogue()
    asked = options.names or [q.name for q in catalogue.values() if _is_public(q)]
    public = [catalogue[name] for name in asked]
    rounds = _own_rounds if options.own_tests else _rounds
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        _copy_checkout(copy)
        print("unchanged:", end=" ", flush=True)
        changed = {q: _wrapped(q, "*") for q in public}
        judges = sorted({test for _, tests in rounds(public) for test in tests})
        failed = _failures(copy, changed, judges)
        if failed:
            print("tests fail without a fault:", *sorted(failed), sep="\n  ")
            return 1
        print("all tests pass")
        for kind, fault in FAULTS.items():
            faulty = {q: text for q in public if (text := fault(q)) is not None}
            tried, missed = len(faulty), _missed(copy, faulty, rounds)
            survivors += len(missed)
            print(
                f"{kind}: {tried - len(missed)} of {tried} queries noticed", flush=True
            )
            for name in missed:
                print(f"  not noticed: {name}")
    return 1 if survivors else 0


def _is_public(query: Query) -> bool:
    return query.group not in (*BUILDING_BLOCKS, "checks")


def _copy_checkout(target: Path) -> None:
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(
        listed, cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, names.split("\0")):
        source, path = REPOSITORY / name, target / name
        if source.is_symlink() or source.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, path, follow_symlinks=False)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--own-tests", action="store_true")
    return parser.parse_args()


def _missed(
    copy: Path,
    faulty: Mapping[Query, str],
    rounds: Callable[[list[Query]], Iterable[Round]],
) -> list[str]:
    """Return the queries whose tests pass although they have these texts."""
    missed: list[str] = []
    for group, tests in rounds(list(faulty)):
        failed = _failures(copy, {query: faulty[query] for query in group}, tests)
        if tests in ([_GOLD], [_ORACLE]):
            missed += [q.name for q in group if not _is_noticed(q.name, failed)]
        elif not failed:
            missed += [q.name for q in group]
    return missed


def _rounds(queries: list[Query]) -> Iterator[Round]:
    """Yield what is changed together, and its tests.

    A query that another one reads is changed apart, so that each is judged by its own
    answer; one without a gold result is judged by the tests that name it, by itself.
    """
    with_gold = [query for query in queries if query.name not in WITHOUT_ROWS]
    for apart in _apart(with_gold):
        yield apart, [_GOLD]
    for query in queries:
        if query.name in WITHOUT_ROWS:
            yield [query], _tests_that_name(query.name)


def _own_rounds(queries: list[Query]) -> Iterator[Round]:
    """Yield the same without gold results."""
    oracle = recomputed_queries()
    for apart in _apart([query for query in queries if query.name in oracle]):
        yield apart, [_ORACLE]
    for query in queries:
        if query.name not in oracle:
            yield [query], _tests_that_name(query.name)


def _apart(queries: list[Query]) -> tuple[list[Query], list[Query]]:
    """Return the queries that no other one reads, and those that one does."""
    catalogue = load_catalogue()
    inner = {read.name for query in queries for read in reads(query, catalogue)}
    return (
        [query for query in queries if query.name not in inner],
        [query for query in queries if query.name in inner],
    )


def _tests_that_name(name: str) -> list[str]:
    """Return tests of queries that name a query, else tests of commands and reports."""
    found = _naming(name, "queries")
    return found or _naming(name, "cli", "reports")


def _naming(name: str, *folders: str) -> list[str]:
    whole = re.compile(rf"\b{name}\b")
    found = [
        path.relative_to(REPOSITORY).as_posix()
        for folder in folders
        for path in sorted((REPOSITORY / "tests" / folder).rglob("test_*.py"))
        if whole.search(path.read_text(encoding="utf-8"))
    ]
    return [path for path in found if path != _GOLD]


def _is_noticed(name: str, failed: Iterable[str]) -> bool:
    named = re.compile(rf"\[{name}[-\]]")
    return any(named.search(test) for test in failed)


def _failures(copy: Path, texts: dict[Query, str], tests: list[str]) -> set[str]:
    """Return the tests that fail in the copy while its queries have these texts."""
    if not texts or not tests:
        return set()
    before = {copy / query.path: (copy / query.path).read_text() for query in texts}
    try:
        for query, text in texts.items():
            (copy / query.path).write_text(text, encoding="utf-8")
        run = subprocess.run(
            [*_PYTEST, *tests],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
        )
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")
    if run.returncode not in (0, 1, 5):  # 5: no test that `make test` would run
        raise SystemExit(run.stdout + run.stderr)
    return set(_FAILED.findall(run.stdout))


def _wrapped(query: Query, selected: str, end: str = "") -> str:
    """Return the file of a query whose rows are selected from those it had."""
    text = (REPOSITORY / query.path).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    start = next(at for at, line in enumerate(lines) if not line.startswith("--"))
    head, body = "".join(lines[:start]), "".join(lines[start:]).rstrip().rstrip(";")
    return f"{head}SELECT {selected} FROM (\n{body}\n) AS answer{end}\n"


def _factor(query: Query) -> str | None:
    column = _a_number(query)
    return column and _wrapped(query, f"* REPLACE (2 * {column} AS {column})")


def _term(query: Query) -> str | None:
    column = _a_number(query)
    return column and _wrapped(query, f"* REPLACE ({column} + 7 AS {column})")


def _dropped_row(query: Query) -> str | None:
    return _wrapped(query, "*", " OFFSET 1")


def _swapped(query: Query) -> str | None:
    columns = _differing(query)
    if columns is None:
        return None
    first, second = columns
    return _wrapped(query, f"* REPLACE ({first} AS {second}, {second} AS {first})")


FAULTS: dict[str, Callable[[Query], str | None]] = {
    "a factor of 2": _factor,
    "7 more": _term,
    "the first row dropped": _dropped_row,
    "two columns swapped": _swapped,
}


def _a_number(query: Query) -> str | None:
    """Return the last column of numbers with one other than 0 in the gold result."""
    found = _gold_columns(query)
    names = [c.name for c in query.columns if c.type in _NUMBERS and c.unit != "id"]
    for name in reversed(names):
        if found is None or set(found.get(name, [])) - {"", "0", "None", "0.0"}:
            return name
    return None


def _differing(query: Query) -> tuple[str, str] | None:
    """Return two columns of one type whose gold results differ."""
    found = _gold_columns(query)
    for at, first in enumerate(query.columns):
        for second in query.columns[at + 1 :]:
            if first.type == second.type and (
                found is None or found.get(first.name) != found.get(second.name)
            ):
                return first.name, second.name
    return None


def _gold_columns(query: Query) -> dict[str, list[str]] | None:
    """Return the shown values of each column, or None without a gold result."""
    if query.name in WITHOUT_ROWS:
        return None
    columns: dict[str, list[str]] = {}
    header: list[str] = []
    starts = False
    with (FOLDER / f"{query.name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            if row[0].startswith("# "):
                starts = row[0].startswith(f"# {query.name}")
            elif starts:
                header, starts = row, False
            else:
                for name, value in zip(header, row, strict=True):
                    columns.setdefault(name, []).append(value)
    return columns


if __name__ == "__main__":
    sys.exit(main())
