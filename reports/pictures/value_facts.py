"""Reads what the values of a map are: shape, role, source line and readers."""

from __future__ import annotations

from collections.abc import Mapping

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.macros import install_temporary
from hlodb.reports.compare.read import rows
from hlodb.reports.explain.sources import UNKNOWN, Place, read_sources
from hlodb.reports.model.arenas import ValueFacts
from hlodb.schema.connection import Connection

_MOST_READERS = 3
_READ = "read"


def read_value_facts(
    connection: Connection, shapes: Mapping[Place, str | None]
) -> dict[Place, ValueFacts]:
    """Return the facts of values, whose shapes are known."""
    if not shapes:
        return {}
    catalogue = load_catalogue()
    install_temporary(connection, catalogue["peak_roles"], catalogue)
    sources = read_sources(connection, shapes.keys())
    places = sorted({(place.module_id, place.value_id) for place in shapes})
    modules, values = map(list, zip(*places, strict=True))
    found = rows(
        connection, "value_facts", modules=modules, values=values, most=_MOST_READERS
    )
    known = {(module_id, value_id): facts for module_id, value_id, *facts in found}
    described = {}
    for place, shape in shapes.items():
        role, readers, count = known[place.module_id, place.value_id]
        source = sources.get(place, UNKNOWN)
        line = None if source.file is None else f"{source.file}:{source.line}"
        is_read = source.attribution == _READ
        described[place] = ValueFacts(
            shape, role, line, is_read, tuple(readers or ()), count
        )
    return described
