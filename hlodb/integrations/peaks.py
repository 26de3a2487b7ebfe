"""The memory of one program, for tests that gate it: what `hlodb_peak` gives."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlodb.errors import UsageError
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake.opening import reading
from hlodb.printed_commands import with_db
from hlodb.queries.run import Value, run_query
from hlodb.schema.connection import Connection
from hlodb.text import nearest, parse_size, plain_bytes

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Peak:
    """What a program needs in one memory space, as `database` has it.

    Live figures are None where the dump has no live ranges.
    """

    database: Path
    program: str
    run: str
    color: int
    space: str
    reserved_bytes: int
    live_peak_bytes: int | None
    peak_step: int | None

    def assert_within(self, limit: int | str) -> None:
        """Fail unless the program reserves at most `limit`, such as `"30 GiB"`.

        The message names what is largest at the peak, and the query that shows more.
        """
        __tracebackhide__ = True  # pytest then shows the test, not this.
        most = parse_size(limit) if isinstance(limit, str) else limit
        if self.reserved_bytes <= most:
            return
        lines = [
            f"{self.program} reserves {plain_bytes(self.reserved_bytes)} of"
            f" {self.space}, {plain_bytes(self.reserved_bytes - most)} more than"
            f" {plain_bytes(most)}",
            *map(_described, self.contents(_SHOWN)),
            self._command(),
        ]
        raise AssertionError("\n".join(lines))

    def contents(self, top: int) -> list[dict[str, Any]]:
        """Return the largest values at the peak, as rows of the query peak_contents."""
        parameters = self._parameters() | {"top": top}
        with reading(self.database) as connection:
            return run_query(connection, "peak_contents", parameters).dicts()[:top]

    def _parameters(self) -> dict[str, Value]:
        return {"run": self.run, "program": self.program, "color": self.color}

    def _command(self) -> str:
        words = ["hlodb", "query", "peak_contents"]
        for name, value in self._parameters().items():
            words += ["-p", f"{name}={value}"]
        return f"see `{with_db(shlex.join(words), str(self.database))}`"


def _described(row: dict[str, Any]) -> str:
    source = (
        f" ({row['source_file']}:{row['source_line']})" if row["source_file"] else ""
    )
    name = row["instruction"] or "room that no value covers"
    return f"  {plain_bytes(row['owned_bytes'])} {row['kind']} {name}{source}"


@dataclass(slots=True)
class Peaks:
    """Looks programs up in a warehouse, or in a dump that is ingested when asked for.

    `scratch` is a folder for such dumps; each is ingested once.
    """

    database: Path
    scratch: Path
    dumps: dict[Path, Path] = field(default_factory=dict)

    def __call__(
        self,
        program: str,
        *,
        dump: str | Path | None = None,
        run: str | None = None,
        space: str | None = None,
    ) -> Peak:
        """Return the peak of `program` in a dump directory, else in the warehouse.

        `run` is the latest unless named. Of several modules the largest counts, and of
        several memory spaces the device's main memory (HBM of a TPU), unless one is
        named. Raises UsageError where the program, or that space, is not there.
        """
        database = self.database if dump is None else self._ingested(Path(dump))
        with reading(database) as connection:
            row = _largest(connection, program, run, space)
        return Peak(
            database=database,
            program=program,
            run=row["run"],
            color=row["color"],
            space=row["space_name"],
            reserved_bytes=row["reserved_bytes"],
            live_peak_bytes=row["live_peak_bytes"],
            peak_step=row["peak_step"],
        )

    def _ingested(self, dump: Path) -> Path:
        if dump not in self.dumps:
            database = self.scratch / f"dump-{len(self.dumps)}.duckdb"
            ingest([str(dump)], database, jobs=1)
            self.dumps[dump] = database
        return self.dumps[dump]


def _largest(
    connection: Connection,
    program: str,
    run: str | None,
    space: str | None,
) -> dict[str, Any]:
    """Return the program's row of peak_by_space, the largest of several modules."""
    every = run_query(connection, "peak_by_space", {"run": run}).dicts()
    found = [row for row in every if row["program"] == program]
    if not found:
        hint = nearest(program, {row["program"] for row in every})
        raise UsageError(f"no program {program!r} with a buffer assignment{hint}")
    spaces = {row["space_name"] for row in found}
    if space is None and len(spaces) > 1:
        main = [row["space_name"] for row in found if row["color"] == 0]
        if not main:
            names = ", ".join(sorted(spaces))
            raise UsageError(f"{program} uses {names}: name one with space=")
        space = main[0]
    mine = [row for row in found if space in (None, row["space_name"])]
    if not mine:
        raise UsageError(f"{program} uses no {space!r}{nearest(space or '', spaces)}")
    return max(mine, key=lambda one: one["reserved_bytes"])
