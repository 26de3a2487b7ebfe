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
    """The distinct instructions, forms, names and locations seen by one process."""

    def __init__(self) -> None:
        self._row_of: dict[int, int] = {}
        self._kept: list[Instruction] = []
        self._form_of: dict[tuple[object, ...], int] = {}
        self._name_of: dict[str, int] = {}
        self._location_of: dict[Location, int] = {}
        self.names: list[str] = []
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
        self.operands = _Ragged()
        self.paths: dict[int, tuple[str | None, ...]] = {}
        self.calls: dict[int, tuple[Call, ...]] = {}
        self.has_calls = array("b")
        self.content_keys = array("q")
        self._scratch: Ints = np.zeros(1024, np.int32)

    def __len__(self) -> int:
        """Give the number of distinct instructions."""
        return len(self._kept)

    def rows_of(self, instructions: list[Instruction]) -> Ints:
        """Give the row of each instruction; new ones are added."""
        known = self._row_of
        ids = list(map(id, instructions))
        rows = list(map(known.get, ids))
        for at, row in enumerate(rows):
            if row is None:
                rows[at] = known.get(ids[at], -1)
                if rows[at] == -1:
                    rows[at] = self._add(instructions[at])
        return np.array(rows, np.int32)

    def _add(self, instruction: Instruction) -> int:
        row = len(self._kept)
        self._kept.append(instruction)
        self._row_of[id(instruction)] = row
        self.name_ids.append(self.name_id(instruction.name))
        self.form_ids.append(self._form_id(instruction))
        self.location_ids.append(self._location_id(instruction.location))
        self.roots.append(instruction.is_root)
        self.operands.append([self.name_id(name) for name in instruction.operands])
        if instruction.operand_paths:
            self.paths[row] = instruction.operand_paths
        if instruction.calls:
            self.calls[row] = instruction.calls
        self.has_calls.append(bool(instruction.calls))
        self.content_keys.append(self._content_key(instruction, self.form_ids[row]))
        return row

    def _content_key(self, i: Instruction, form_id: int) -> int:
        """Give a hash of everything but the source location."""
        links = f"{i.operands}{i.operand_paths}{i.calls}" if i.operands else i.calls
        return hash64(f"{i.name}\x1f{i.is_root}{self.form_keys[form_id]}{links}")

    def scratch(self) -> Ints:
        """Give an array with room for every name; what it holds is left over."""
        if len(self._scratch) < len(self.names):
            self._scratch = np.zeros(2 * len(self.names), np.int32)
        return self._scratch

    def name_id(self, name: str) -> int:
        """Give the number of a name."""
        found = self._name_of.get(name)
        if found is None:
            found = self._name_of[name] = len(self.names)
            self.names.append(name)
        return found

    def _location_id(self, location: Location | None) -> int:
        if location is None:
            return -1
        found = self._location_of.get(location)
        if found is None:
            found = self._location_of[location] = len(self.locations)
            self.locations.append(location)
            self.location_keys.append(hash64(repr(location)))
        return found

    def _form_id(self, instruction: Instruction) -> int:
        i = instruction
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


def stored_literal(literal: str | None) -> str | None:
    """Give a constant's text, long ones cut and closed with a digest of the whole."""
    if literal is None or len(literal) <= _KEPT_LITERAL:
        return literal
    digest = blake2b(literal.encode("utf-8", "surrogateescape"), digest_size=16)
    return f"{literal[:64]}… ({len(literal)} characters, {digest.hexdigest()})"
