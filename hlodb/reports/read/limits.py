"""How much of a memory space programs may use, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.facts import Run
from hlodb.schema.connection import Connection
from hlodb.text import plain_bytes


class Limit(NamedTuple):
    """A limit; `source` and `nominal_bytes` are limit_from and that of `headroom`.

    `bytes` is None where nobody says how much there is.
    """

    bytes: int | None = None
    source: str | None = None
    nominal_bytes: int | None = None
    device: str | None = None


_SOURCES = {
    "parameter": "given by --limit",
    "log": "named by the log",
    "settings": "set in hlodb.toml",
    "dump": "named by the dump",
}
"""Who says so, by limit_from; the limit of a chip needs the chip alone."""


class Limited(Protocol):
    """A row that is judged by a limit."""

    @property
    def limit_bytes(self) -> int | None:
        """The limit."""

    @property
    def limit_from(self) -> str | None:
        """Who names it."""

    @property
    def nominal_bytes(self) -> int | None:
        """Memory of the device."""


NOT_INCLUDED = (
    "Included: arguments, results, constants, temporaries. Not included: code, arrays"
    " kept between runs, other programs."
)
"""What reserved bytes and live peaks of a buffer assignment are about."""


def limit_words(limit: Limit) -> str:
    """Return `15.75 GiB usable of 16.00 GiB (TPU v5e)`, or who else names the limit."""
    words = plain_bytes(limit.bytes)
    nominal = limit.nominal_bytes
    is_part = limit.bytes is not None and nominal is not None and limit.bytes < nominal
    if is_part and limit.source in ("chip", "log"):
        words += f" usable of {plain_bytes(nominal)}"
    who = limit.device if limit.source == "chip" else _SOURCES.get(limit.source or "")
    return f"{words} ({who})" if who else words


def limit_of(row: Limited, device: str | None) -> Limit:
    """Return the limit that a row of a report about `device` is judged by."""
    return Limit(row.limit_bytes, row.limit_from, row.nominal_bytes, device)


Limits = Mapping[tuple[str | None, int, str], Limit]
"""Limits by platform of a program, number and name of a memory space."""


def refused_programs(connection: Connection, run: Run) -> list[str]:
    """Return the programs of a run that the compiler refused."""
    rows = run_query(connection, "refused_modules", {"run": run.name}).dicts()
    return sorted({row["program"] for row in rows})


def read_limits(connection: Connection, run: Run, settings: Settings) -> Limits:
    """Return the limits of every memory space of a run, see `memory_limits`."""
    asked = {**settings.limits(), "run_ids": [run.run_id]}
    return {
        (row["platform"], row["color"], row["space_name"]): Limit(
            row["limit_bytes"], row["limit_from"], row["nominal_bytes"], row["device"]
        )
        for row in run_query(connection, "memory_limits", asked).dicts()
    }
