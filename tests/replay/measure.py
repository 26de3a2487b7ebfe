"""How exact replays are: by release, platform and what a program is taken from.

    HLODB_REPLAY_PYTHONS=PYTHON:jaxlib==0.6.2:… python -m tests.replay.measure

Each compiler dumps programs and compiles the dumps again, as well as those of its
release in examples/dumps. A program that the next release compiles again is compared
with its source compiled by that release. docs/reference/replay.md gets the tables.
"""

from __future__ import annotations

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
        exact, forecasts = [], []
        for platform in ("cpu", "tpu"):
            able = [i for i in found if platform == "cpu" or "libtpu" in i.versions]
            for one in able:
                for row in exactness(one, platform, home):
                    exact.append(row)
                    print(row, flush=True)
            for old, new in pairwise(able):
                forecasts.append(forecast(old, new, platform, home))
                print(forecasts[-1], flush=True)
    write_figures("replay", {"exactness": exact, "forecasts": forecasts})
    renew()


def renew() -> None:
    """Write the tables of the figures into the page."""
    for name, table in tables().items():
        renew_page(PAGE, name, table)


def exactness(
    interpreter: Interpreter, platform: str, home: Path
) -> Iterator[dict[str, Any]]:
    """Yield a row for the dumps of a release, and for each way to the program."""
    fresh = _fresh(interpreter, platform, home)
    yield _row(interpreter, platform, fresh, home / "again", "own programs")
    if not list(fresh.rglob("module.mlir")):
        yield from _kept(interpreter, platform, home)
        return
    bare = home / f"bare-{platform}-{interpreter.label}"
    shutil.copytree(fresh, bare, ignore=shutil.ignore_patterns("module.mlir"))
    yield _row(interpreter, platform, bare, home / "again", "own programs")
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


def forecast(
    old: Interpreter, new: Interpreter, platform: str, home: Path
) -> dict[str, Any]:
    """Compare dumps of `old`, compiled by `new`, with the source compiled by `new`."""
    [source] = discover([str(_fresh(old, platform, home))])
    [truth] = discover([str(_fresh(new, platform, home))])
    programs, _ = recover(source)
    out = home / "forecast"
    shutil.rmtree(out, ignore_errors=True)
    done = Measured("new", out, compile_all(programs, new, UNCHANGED, out))
    warehouses = [home / f"{platform}-{old.label}-{n}.duckdb" for n in range(3)]
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
        "programs": len(names),
        "changed": sum(old_sizes[name] != new_sizes[name] for name in names),
        "equal": sum(
            _sizes(foretold.get(name)) == _sizes(after[name]) for name in names
        ),
        "others": [n[0] for n in names if sizes[n] != new_sizes[n]],
        "input_changed": _input_changed(warehouses[0], warehouses[2]),
    }


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
            row["from"], row["to"], str(row["changed"]),
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
                "dumped by", "compiled again by", "programs that change",
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
