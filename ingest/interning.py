"""Distinct instructions as columns: equal text becomes one row, modules become indexes.

`Distinct.rows_of` turns the instructions of a module into row numbers; the columns of
those rows are then taken with numpy instead of being built anew.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.fingerprints import exact_text, graph_text
from hlodb.ingest.records import Call, Instruction, Location

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

_KEPT_LITERAL = 256


def hash64(text: str) -> int:
    """Give the first 64 bits of a BLAKE2b over `text`, signed."""
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class _Ragged:
    """Lists of integers of different length, stored end to end."""

    def __init__(self) -> None:
        self.items = array("i")
        self.starts = array("q")
        self.counts = array("i")

    def append(self, items: list[int]) -> None:
        self.starts.append(len(self.items))
        self.counts.append(len(items))
        self.items.extend(items)

    def take(self, rows: Ints) -> tuple[Ints, Ints]:
        """Give the items of `rows` end to end, and how many each row has."""
        counts = np.frombuffer(self.counts, np.int32)[rows]
        starts = np.frombuffer(self.starts, np.int64)[rows]
        total = int(counts.sum())
        before = np.cumsum(counts) - counts
        index = np.repeat(starts - before, counts) + np.arange(total)
        if not total:
            return np.empty(0, np.int32), counts
        return np.frombuffer(self.items, np.int32)[index], counts


class Distinct:
    """The distinct instructions, forms, names and locations seen by one process.

    Equal text yields identical objects (the parsers cache), so objects are looked up by
    identity first. Whatever is known by its identity is kept alive in `_kept`.
    """

    def __init__(self) -> None:
        self._kept: list[object] = []
        self._row_of: dict[int, int] = {}
        self._form_of_ids: dict[tuple[object, ...], int] = {}
        self._form_of: dict[tuple[object, ...], int] = {}
        self._location_of_id: dict[int, int] = {id(None): -1}
        self._location_of: dict[Location, int] = {}
        self._name_of = _Numbers()
        self.names: list[str] = self._name_of.names
        self.forms: list[Instruction] = []
        self.form_keys = array("q")
        self.graph_keys = array("q")
        self.exact_keys = array("q")
        self.locations: list[Location] = []
        self.location_keys = array("q")
        self.name_ids = array("i")
        self.form_ids = array("i")
        self.location_ids = array("i")
        self.roots = array("b")
        self.has_calls = array("b")
        self.operands = _Ragged()
        self.paths: dict[int, tuple[str | None, ...]] = {}
        self.calls: dict[int, tuple[Call, ...]] = {}
        self._scratch: Ints = np.zeros(1024, np.int32)

    def rows_of(self, instructions: list[Instruction]) -> Ints:
        """Give the row of each instruction; new ones are added."""
        known = self._row_of
        rows = list(map(known.get, map(id, instructions)))
        if None in rows:
            for at, row in enumerate(rows):
                if row is None:
                    rows[at] = self._row(instructions[at])
        return np.array(rows, np.int32)

    def _row(self, instruction: Instruction) -> int:
        key = id(instruction)
        row = self._row_of.get(key)
        if row is None:
            row = self._row_of[key] = len(self.name_ids)
            self._kept.append(instruction)
            self._add(row, instruction)
        return row

    def _add(self, row: int, instruction: Instruction) -> None:
        number = self._name_of
        self.name_ids.append(number[instruction.name])
        self.form_ids.append(self._form_id(instruction))
        self.location_ids.append(self._location_id(instruction.location))
        self.roots.append(instruction.is_root)
        self.operands.append([number[name] for name in instruction.operands])
        self.has_calls.append(bool(instruction.calls))
        if instruction.calls:
            self.calls[row] = instruction.calls
        if instruction.operand_paths:
            self.paths[row] = instruction.operand_paths

    def scratch(self) -> Ints:
        """Give an array with room for every name; what it holds is left over."""
        if len(self._scratch) < len(self.names):
            self._scratch = np.zeros(2 * len(self.names), np.int32)
        return self._scratch

    def _location_id(self, location: Location | None) -> int:
        found = self._location_of_id.get(id(location))
        if found is None and location is not None:
            found = self._location_of.get(location)
            if found is None:
                found = self._location_of[location] = len(self.locations)
                self.locations.append(location)
                self.location_keys.append(hash64(repr(location)))
            self._location_of_id[id(location)] = found
            self._kept.append(location)
        return -1 if found is None else found

    def _form_id(self, i: Instruction) -> int:
        key = (i.opcode, i.shape, i.parameter_number, i.literal, id(i.attributes))
        found = self._form_of_ids.get(key)
        if found is None:
            found = self._form_of_ids[key] = self._equal_form(i)
            self._kept.append(i.attributes)
        return found

    def _equal_form(self, i: Instruction) -> int:
        key = (i.opcode, i.shape, i.parameter_number, i.literal, i.attributes)
        found = self._form_of.get(key)
        if found is None:
            found = self._form_of[key] = len(self.forms)
            self.forms.append(i)
            self.form_keys.append(hash64(repr(key)))
            graph = graph_text(i)
            self.graph_keys.append(hash64(graph))
            self.exact_keys.append(hash64(exact_text(i, graph)))
        return found


class _Numbers(dict[str, int]):
    """Names by number; a new name gets the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self.names)
        self.names.append(name)
        return number


def stored_literal(literal: str | None) -> str | None:
    """Give a constant's text, long ones cut and closed with a digest of the whole."""
    if literal is None or len(literal) <= _KEPT_LITERAL:
        return literal
    digest = blake2b(literal.encode("utf-8", "surrogateescape"), digest_size=16)
    return f"{literal[:64]}… ({len(literal)} characters, {digest.hexdigest()})"
