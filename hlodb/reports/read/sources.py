"""Source lines of the values that a report shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from hlodb.reports.read.rows import rows
from hlodb.schema.connection import Connection


class Place(NamedTuple):
    """A value of a module, and the source locations that the module stands beside."""

    module_id: int
    locations_id: int
    value_id: int


class Source(NamedTuple):
    """A line of the user's: where the value is defined, or first read.

    `attribution` says which of both, as in the query part value_sources.
    """

    attribution: str | None
    file: str | None
    line: int | None


UNKNOWN = Source(None, None, None)

Sources = Mapping[Place, Source]


def read_sources(connection: Connection, places: Collection[Place]) -> Sources:
    """Return the source line of each value that has one."""
    if not places:
        return {}
    modules, locations, values = map(list, zip(*sorted(places), strict=True))
    found = rows(
        connection, "sources", modules=modules, locations=locations, values=values
    )
    return {Place(*row[:3]): Source(*row[3:]) for row in found}
