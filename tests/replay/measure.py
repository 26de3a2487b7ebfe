"""How exact replays are: by release, platform and what a program is taken from.

    HLODB_REPLAY_PYTHONS=PYTHON:jaxlib==0.6.2:… python -m tests.replay.measure

Each compiler dumps programs and compiles the dumps again, as well as those of its
release in examples/dumps. A program that the next release compiles again is compared
with its source compiled by that release. Rows are kept as soon as they are measured,
in place of those of the same compilers; rows of other compilers stay.
docs/reference/replay.md gets the tables.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docs.measured import read_figures, renew_page, write_figures
from hlodb.ingest.sources.discover import discover
from hlodb.replay.compare import (
    Measured,
    Memory,
    compared,
    read_original,
    read_replay,
)
from hlodb.replay.compile import UNCHANGED, compile_all
from hlodb.replay.interpreters import Interpreter
from hlodb.replay.recover import SOURCES, Key, recover
from hlodb.schema.warehouse import connect
from tests.replay.compilers import ALL, PROGRAMS, VARIABLE, compilers, dump_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "replay.md"
DUMPS = ROOT / "examples" / "dumps"
_BAD = ("failed", "inexact")


def main() -> None:
    """Measure with every compiler, and renew figures and page."""
    found = compilers()
    if not found:
        sys.exit(f"name interpreters that have JAX: {VARIABLE}=PYTHON:jaxlib==0.10.2:…")
    with TemporaryDirectory(prefix="hlodb-exactness-") as folder:
        home = Path(folder)
        for platform in ("cpu", "tpu"):
            able = [i for i in found if platform == "cpu" or "libtpu" in i.versions]
            for one in able:
                for row in exactness(one, platform, home):
                    keep("exactness", row)
            for old, new in pairwise(able):
                for row in forecasts(old, new, platform, home):
                    keep("forecasts", row)


_KEYS = {
    "exactness": ("platform", "compiler", "dumps", "taken_from"),
    "forecasts": ("platform", "from", "to", "taken_from"),
}
"""Columns that name a row of figures."""


def keep(what: str, row: Mapping[str, Any]) -> None:
    """Put a row into the figures, in place of an earlier one, and renew the page."""
    print(row, flush=True)
    figures = read_figures("replay")
    key = [row[name] for name in _KEYS[what]]
    others = [r for r in figures[what] if [r.get(n) for n in _KEYS[what]] != key]
    figures[what] = sorted([*others, row], key=_order)
    write_figures("replay", figures)
    renew()


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key: platform, releases, origin of dumps, way to a program."""
    names = [row.get("compiler") or row["from"], row.get("to") or ""]
    versions = [[int(part) for part in re.findall(r"\d+", name)] for name in names]
    own_first = row.get("dumps", "") != "own programs"
    return row["platform"], versions, own_first, row["taken_from"]


def renew() -> None:
    """Write the tables of the figures into the page."""
    for name, table in tables().items():
        renew_page(PAGE, name, table)


def exactness(
    interpreter: Interpreter, platform: str, home: Path
) -> Iterator[dict[str, Any]]:
    """Yield a row for the dumps of a release, and for each way to the program."""
    for dump in _ways(interpreter, platform, home):
        yield _row(interpreter, platform, dump, home / "again", "own programs")
    yield from _kept(interpreter, platform, home)


def _kept(
    interpreter: Interpreter, platform: str, home: Path
) -> Iterator[dict[str, Any]]:
    """Yield a row for the dumps of this release in the repository."""
    version = interpreter.versions["jaxlib"]
    pattern = f"jaxlib-{version}" if platform == "cpu" else f"v5e-jax-{version}"
    for archive in (DUMPS / platform).glob(f"{pattern}.tar.xz"):
        yield _row(interpreter, platform, archive, home / "again", "examples/dumps")


def _fresh(interpreter: Interpreter, platform: str, home: Path) -> Path:
    """Return a dump of the programs of tests/oracle, made once."""
    folder = home / f"{platform}-{interpreter.label}"
    if not folder.exists():
        dump_of(interpreter, folder, PROGRAMS, f"--{platform}", *ALL)
    return folder


def _ways(interpreter: Interpreter, platform: str, home: Path) -> list[Path]:
    """Return dumps of the programs: with module.mlir, if there is any, and without."""
    fresh = _fresh(interpreter, platform, home)
    if not list(fresh.rglob("module.mlir")):
        return [fresh]
    bare = home / f"bare-{platform}-{interpreter.label}"
    if not bare.exists():
        shutil.copytree(fresh, bare, ignore=shutil.ignore_patterns("module.mlir"))
    return [fresh, bare]


def _row(
    interpreter: Interpreter, platform: str, dump: Path, out: Path, what: str
) -> dict[str, Any]:
    shutil.rmtree(out, ignore_errors=True)
    [source] = discover([str(dump)])
    programs, lost = recover(source)
    done = compile_all(programs, interpreter, UNCHANGED, out)
    measured = Measured("unchanged", out, done)
    original = read_original(source, out.with_suffix(".a.duckdb"))
    again = read_replay(measured, out.with_suffix(".b.duckdb"))
    for suffix in (".a.duckdb", ".b.duckdb"):
        out.with_suffix(suffix).unlink()
    rows = compared(original, lost, [(measured, again)]).dicts()
    worst: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = row["place"]
        if key not in worst or row["status"] in _BAD:
            worst[key] = row
    return {
        "release": interpreter.versions["jaxlib"],
        "platform": platform,
        "compiler": _compiler(interpreter, platform),
        "dumps": what,
        "taken_from": sorted({SOURCES[one.form] for one in programs}),
        "programs": len(worst),
        "exact": sum(row["status"] == "exact" for row in worst.values()),
        "others": [_why(row) for row in worst.values() if row["status"] != "exact"],
    }


def _compiler(interpreter: Interpreter, platform: str) -> str:
    name = "jaxlib" if platform == "cpu" else "libtpu"
    return f"{name} {interpreter.versions[name]}"


def _why(row: Mapping[str, Any]) -> str:
    if row["status"] == "inexact":
        return f"{row['program']}: {row['temp_change_bytes']:+,} B of temporaries"
    return f"{row['program']}: {row['status']}, {row['note'][:200]}"


def forecasts(
    old: Interpreter, new: Interpreter, platform: str, home: Path
) -> Iterator[dict[str, Any]]:
    """Yield a row for each way to the programs of a pair of releases."""
    for dump in _ways(old, platform, home):
        with TemporaryDirectory(dir=home) as folder:
            yield _forecast(old, new, platform, dump, home, Path(folder))


def _forecast(
    old: Interpreter,
    new: Interpreter,
    platform: str,
    dump: Path,
    home: Path,
    scratch: Path,
) -> dict[str, Any]:
    """Compare dumps of `old`, compiled by `new`, with the source compiled by `new`."""
    [source] = discover([str(dump)])
    [truth] = discover([str(_fresh(new, platform, home))])
    programs, _ = recover(source)
    out = scratch / "forecast"
    done = Measured("new", out, compile_all(programs, new, UNCHANGED, out))
    warehouses = [scratch / f"{number}.duckdb" for number in range(3)]
    before = _by_name(read_original(source, warehouses[0]))
    foretold = _by_name(read_replay(done, warehouses[1]))
    after = _by_name(read_original(truth, warehouses[2]))
    names = sorted(before.keys() & after.keys())
    old_sizes, new_sizes, sizes = (
        {name: _sizes(found.get(name)) for name in names}
        for found in (before, after, foretold)
    )
    return {
        "platform": platform,
        "from": _compiler(old, platform),
        "to": _compiler(new, platform),
        "taken_from": sorted({SOURCES[one.form] for one in programs}),
        "programs": len(names),
        "changed": sum(old_sizes[name] != new_sizes[name] for name in names),
        "equal": sum(
            _sizes(foretold.get(name)) == _sizes(after[name]) for name in names
        ),
        "others": [
            _distance(name[0], sizes[name], new_sizes[name])
            for name in names
            if sizes[name] != new_sizes[name]
        ],
        "input_changed": _input_changed(warehouses[0], warehouses[2]),
    }


def _distance(
    name: str, found: Mapping[str, tuple[int, ...]], true: Mapping[str, tuple[int, ...]]
) -> str:
    """Return how far reserved bytes are from those of the source."""
    if not found:
        return f"{name}: not compiled"
    spaces = [s for s in sorted({*found, *true}) if found.get(s) != true.get(s)]
    none = (0,)
    said = [
        f"{found.get(space, none)[0] - true.get(space, none)[0]:+,} B in {space}"
        for space in spaces
    ]
    return f"{name}: {', '.join(said)}"


def _sizes(memory: Memory | None) -> dict[str, tuple[int, ...]]:
    return {space.name: found.sizes for space, found in (memory or {}).items()}


def _by_name(found: Mapping[Key, Memory]) -> dict[tuple[str, int], Memory]:
    """Return memory by name and how often that name came before."""
    seen: Counter[str] = Counter()
    named = {}
    for key in sorted(found):
        named[key.name, seen[key.name]] = found[key]
        seen[key.name] += 1
    return named


def _input_changed(old: Path, new: Path) -> list[str]:
    """Return programs of which the two releases of JAX handed over another module."""
    first, second = _structures(old), _structures(new)
    return sorted(n for n in first.keys() & second.keys() if first[n] != second[n])


def _structures(warehouse: Path) -> dict[str, int]:
    """Return a hash of the structure of each program as XLA was given it."""
    with connect(warehouse) as connection:
        rows = connection.execute(
            "SELECT program, graph_fingerprint FROM modules"
            " WHERE stage = 'before_optimizations'"
        ).fetchall()
    return dict(rows)


def tables() -> dict[str, str]:
    """Return the tables of the page by name."""
    figures = read_figures("replay")
    exact = [
        (
            row["compiler"], row["dumps"], ", ".join(row["taken_from"]),
            f"{row['exact']} of {row['programs']}", "; ".join(row["others"]),
        )
        for row in figures.get("exactness", [])
    ]  # fmt: skip
    forecasts = [
        (
            row["from"], row["to"], ", ".join(row["taken_from"]), str(row["changed"]),
            f"{row['equal']} of {row['programs']}", ", ".join(row["others"]),
            ", ".join(row["input_changed"]),
        )
        for row in figures.get("forecasts", [])
    ]  # fmt: skip
    return {
        "exactness": _table(
            ("compiler", "dumps", "taken from", "exact", "others"), exact
        ),
        "forecasts": _table(
            (
                "dumped by", "compiled again by", "taken from", "programs that change",
                "replays equal to the source", "others", "JAX changed the module of",
            ),
            forecasts,
        ),
    }  # fmt: skip


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", "/") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


if __name__ == "__main__":
    main()
