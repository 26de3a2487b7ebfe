"""Distinct instructions as columns: equal text becomes one row, modules become indexes.

A process reads HLO text with a `Distinct` as its cache. The instructions of a module
are then `Rows`: numbers of rows, whose columns numpy takes instead of building them.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.columns import NO_ID
from hlodb.ingest.fingerprints import exact_text, graph_text
from hlodb.ingest.formats.hlo_blocks import MAX_LINES, BlockCache
from hlodb.ingest.formats.hlo_instruction import parse_instructions
from hlodb.ingest.records import Attributes, Call, Instruction, Location

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Value = TypeVar("Value", bound=Hashable)

_KEPT_LITERAL = 256


def hash64(text: str) -> int:
    """Give the first 64 bits of a BLAKE2b over `text`, signed."""
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class Form(NamedTuple):
    """What an instruction says apart from its name, operands and place."""

    opcode: str
    shape: str | None
    parameter_number: int | None
    literal: str | None
    attributes: Attributes


class Numbers(dict[Value, int], Generic[Value]):
    """Values by number; a new one gets the next, and as its key a hash of its text.

    `nothing` is what has no number, but NO_ID.
    """

    def __init__(self, *nothing: Value) -> None:
        super().__init__(dict.fromkeys(nothing, NO_ID))
        self.values_by_number: list[Value] = []
        self._keys = array("q")

    def __missing__(self, value: Value) -> int:
        """Give `value` the next number."""
        number = self[value] = len(self.values_by_number)
        self.values_by_number.append(value)
        self._keys.append(hash64(repr(value)))
        return number

    def keys_of(self, numbers: Ints) -> Longs:
        """Give the keys of values, none of which is nothing."""
        return _taken(self._keys, np.int64, numbers)


class Forms(Numbers[tuple[Any, ...]]):
    """Forms by number, with what the fingerprints see of each."""

    def __init__(self) -> None:
        super().__init__()
        self._graph_keys = array("q")
        self._exact_keys = array("q")
        self._fusions = array("b")

    def __missing__(self, value: tuple[Any, ...]) -> int:
        """Give the form of these fields the next number."""
        number = super().__missing__(value)
        self._fusions.append(value[0] == "fusion")
        graph = graph_text(*value)
        self._graph_keys.append(hash64(graph))
        self._exact_keys.append(hash64(exact_text(value[1], value[4], graph)))
        return number

    def graph_keys_of(self, numbers: Ints) -> Longs:
        """Give hashes of what the graph fingerprint sees of forms."""
        return _taken(self._graph_keys, np.int64, numbers)

    def exact_keys_of(self, numbers: Ints) -> Longs:
        """Give hashes of what the exact fingerprint sees of forms."""
        return _taken(self._exact_keys, np.int64, numbers)

    def fusion_count(self, numbers: Ints) -> int:
        """Give how many of these forms are fusions."""
        return int(_taken(self._fusions, np.int8, numbers).sum())

    def of(self, numbers: Ints) -> list[Form]:
        """Give forms by their numbers."""
        values = self.values_by_number
        return [Form(*values[number]) for number in numbers.tolist()]


class Distinct(BlockCache[Ints]):
    """The distinct instructions, forms, names and locations seen by one process."""

    def __init__(self) -> None:
        super().__init__()
        self._row_of: dict[str, int] = {}
        self.names: Numbers[str] = Numbers()
        self.forms = Forms()
        self.locations: Numbers[Location | None] = Numbers(None)
        self.calls: Numbers[tuple[Call, ...]] = Numbers(())
        self.paths: Numbers[tuple[str | None, ...] | None] = Numbers(None)
        self._name_ids = array("i")
        self._form_ids = array("i")
        self._location_ids = array("i")
        self._call_ids = array("i")
        self._path_ids = array("i")
        self._roots = array("b")
        self._operands = array("i")
        self._operand_counts = array("i")
        self._operand_starts = array("q")
        self._scratch: Ints = np.zeros(1024, np.int32)

    def __len__(self) -> int:
        return len(self._name_ids)

    # --- taking in ---

    def read(self, lines: Sequence[str]) -> Ints:
        """Give the rows of the instructions that lines print; may raise ParseError."""
        known = self._row_of
        if len(known) > MAX_LINES:
            known.clear()
        new = list({line: None for line in lines if line not in known})
        if new:
            added = self.add(parse_instructions(new))
            known.update(zip(new, added.tolist(), strict=True))
        return np.fromiter(map(known.__getitem__, lines), np.int32, len(lines))

    def add(self, instructions: Sequence[Instruction]) -> Ints:
        """Give each instruction a new row."""
        first = len(self)
        if instructions:
            self._add_columns(*zip(*instructions, strict=True))
        return np.arange(first, len(self), dtype=np.int32)

    def _add_columns(
        self,
        names: tuple[str, ...],
        opcodes: tuple[str, ...],
        shapes: tuple[str | None, ...],
        operands: tuple[tuple[str, ...], ...],
        paths: tuple[tuple[str | None, ...] | None, ...],
        roots: tuple[bool, ...],
        parameter_numbers: tuple[int | None, ...],
        literals: tuple[str | None, ...],
        calls: tuple[tuple[Call, ...], ...],
        attributes: tuple[Attributes, ...],
        locations: tuple[Location | None, ...],
    ) -> None:
        stored = map(stored_literal, literals)
        forms = zip(opcodes, shapes, parameter_numbers, stored, attributes, strict=True)
        counts = list(map(len, operands))
        ends = np.cumsum([len(self._operands), *counts])
        self._form_ids.extend(map(self.forms.__getitem__, forms))
        self._name_ids.extend(map(self.names.__getitem__, names))
        self._location_ids.extend(map(self.locations.__getitem__, locations))
        self._call_ids.extend(map(self.calls.__getitem__, calls))
        self._path_ids.extend(map(self.paths.__getitem__, paths))
        self._roots.extend(roots)
        all_operands = chain.from_iterable(operands)
        self._operands.extend(map(self.names.__getitem__, all_operands))
        self._operand_counts.extend(counts)
        self._operand_starts.extend(ends[:-1].tolist())

    def join(self, parts: Sequence[Ints]) -> Rows:
        """Give the instructions of all parts as one sequence."""
        return Rows(self, np.concatenate([np.empty(0, np.int32), *parts]))

    def rows_of(self, instructions: Sequence[Instruction]) -> Ints:
        """Give the row of each instruction; records that have none get new ones."""
        if isinstance(instructions, Rows) and instructions.distinct is self:
            return instructions.numbers
        return self.add(instructions)

    # --- giving out ---

    def name_ids(self, rows: Ints) -> Ints:
        """Give the numbers of the names of `rows`."""
        return _taken(self._name_ids, np.int32, rows)

    def form_ids(self, rows: Ints) -> Ints:
        """Give the numbers of the forms of `rows`."""
        return _taken(self._form_ids, np.int32, rows)

    def location_ids(self, rows: Ints) -> Ints:
        """Give the numbers of the locations of `rows`, NO_ID where there is none."""
        return _taken(self._location_ids, np.int32, rows)

    def call_ids(self, rows: Ints) -> Ints:
        """Give the numbers of what `rows` call, NO_ID for nothing."""
        return _taken(self._call_ids, np.int32, rows)

    def path_ids(self, rows: Ints) -> Ints:
        """Give the numbers of the operand paths of `rows`, NO_ID where none has one."""
        return _taken(self._path_ids, np.int32, rows)

    def roots(self, rows: Ints) -> NDArray[np.int8]:
        """Give 1 for each row that is printed as a root."""
        return _taken(self._roots, np.int8, rows)

    def operands(self, rows: Ints) -> tuple[Ints, Ints]:
        """Give name numbers of all operands end to end, and how many each row has."""
        counts = _taken(self._operand_counts, np.int32, rows)
        starts = _taken(self._operand_starts, np.int64, rows)
        before = np.cumsum(counts) - counts
        at = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
        return _taken(self._operands, np.int32, at), counts

    def scratch(self) -> Ints:
        """Give an array with room for every name; what it holds is left over."""
        needed = len(self.names.values_by_number)
        if len(self._scratch) < needed:
            self._scratch = np.zeros(2 * needed, np.int32)
        return self._scratch

    def record(self, row: int) -> Instruction:
        """Give the instruction of a row; a long literal is cut."""
        rows = np.array([row], np.int32)
        names = self.names.values_by_number
        form = Form(*self.forms.values_by_number[self._form_ids[row]])
        return Instruction(
            names[self._name_ids[row]],
            form.opcode,
            form.shape,
            tuple(names[i] for i in self.operands(rows)[0].tolist()),
            _value(self.paths, self._path_ids[row], None),
            bool(self._roots[row]),
            form.parameter_number,
            form.literal,
            _value(self.calls, self._call_ids[row], ()),
            form.attributes,
            _value(self.locations, self._location_ids[row], None),
        )


class Rows(Sequence[Instruction]):
    """Instructions as rows of a `Distinct`; records are made when asked for."""

    def __init__(self, distinct: Distinct, numbers: Ints) -> None:
        self.distinct = distinct
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> Instruction: ...
    @overload
    def __getitem__(self, at: slice) -> Rows: ...
    def __getitem__(self, at: int | slice) -> Instruction | Rows:
        if isinstance(at, slice):
            return Rows(self.distinct, self.numbers[at])
        return self.distinct.record(int(self.numbers[at]))

    def __add__(self, others: Sequence[Instruction]) -> Rows:
        parts = [self.numbers, self.distinct.rows_of(others)]
        return Rows(self.distinct, np.concatenate(parts))

    def names(self) -> list[str]:
        """Give the name of each instruction."""
        names = self.distinct.names.values_by_number
        return [names[i] for i in self.distinct.name_ids(self.numbers).tolist()]


def _taken(column: array[Any], kind: type[Any], at: NDArray[Any]) -> NDArray[Any]:
    return np.frombuffer(column, kind)[at] if len(at) else np.empty(0, kind)


def _value(numbers: Numbers[Value], number: int, nothing: Value) -> Value:
    return nothing if number == NO_ID else numbers.values_by_number[number]


def stored_literal(literal: str | None) -> str | None:
    """Give a constant's text, long ones cut and closed with a digest of the whole."""
    if literal is None or len(literal) <= _KEPT_LITERAL:
        return literal
    digest = blake2b(literal.encode("utf-8", "surrogateescape"), digest_size=16)
    return f"{literal[:64]}… ({len(literal)} characters, {digest.hexdigest()})"
