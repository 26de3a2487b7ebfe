"""Distinct instructions as columns: equal text becomes one row, modules become indexes.

A process reads HLO text with a `Distinct` as its cache. The instructions of a module
are then `Rows`: numbers of rows, whose columns numpy takes instead of building them.

Many lines say the same beside names and operands, so that is taken apart once.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hlodb.errors import ParseError
from hlodb.ingest.arrow import NO_ID, Ints
from hlodb.ingest.formats.hlo_text.blocks import BlockCache, Soundness
from hlodb.ingest.formats.hlo_text.grammar.opcodes import ANY_NUMBER
from hlodb.ingest.formats.hlo_text.instruction import (
    Printed,
    meaning,
    operand_texts,
    own_texts,
    parse_operand_lists,
    take_apart,
)
from hlodb.ingest.formats.hlo_text.usual import unusual_names
from hlodb.ingest.modules.numbering import (
    Calls,
    Forms,
    Names,
    Numbers,
    spread,
    taken,
)
from hlodb.ingest.modules.soundness import Facts, has_unique, sound_computations
from hlodb.ingest.modules.stored_text import stored_attributes, stored_literal
from hlodb.ingest.records import Instruction, Location

_MAX_LINES = 100_000
_MAX_SAYINGS = 1 << 15
_MAX_CHARACTERS = 64_000_000
"""Of the lines, and of what they say: kernels are printed in lines of 100 KB."""


class KnownLines(dict[str, int]):
    """The row of each known line; `new` are those of the last lines that were not."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []
        self._characters = 0

    def forget(self) -> None:
        """Drop all lines."""
        self.clear()
        self.new = []
        self._characters = 0

    def rows_of(self, lines: Sequence[str], first: int) -> Ints:
        """Return the row of each line; those of `new` lines count from `first` on."""
        if len(self) > _MAX_LINES or self._characters > _MAX_CHARACTERS:
            self.forget()
        self.new = [line for line in dict.fromkeys(lines) if line not in self]
        rows = range(first, first + len(self.new))
        self.update(zip(self.new, rows, strict=True))
        self._characters += sum(map(len, self.new))
        return np.fromiter(map(self.__getitem__, lines), np.int32, len(lines))

    def forget_new(self) -> None:
        """Drop the entries of the last lines."""
        for line in self.new:
            del self[line]


class Sayings(dict[tuple[Any, ...], int]):
    """What lines say beside names and operands, by number.

    Keys are opcode, shape, what stands in the place of operands, and tail.
    """

    def __init__(
        self,
        forms: Forms,
        calls: Calls,
        locations: Numbers[Location | None],
    ) -> None:
        super().__init__()
        self._numbered = (forms, calls, locations)
        self._form_ids = array("i")
        self._call_ids = array("i")
        self._location_ids = array("i")
        self._usual = array("b")
        self._characters = 0

    def __missing__(self, key: tuple[Any, ...]) -> int:
        """Take apart what is said for the first time; may raise ParseError."""
        opcode, shape, own, text = key
        parameter, literal, tail, is_usual = meaning(opcode, shape, own, text)
        forms, calls, locations = self._numbered
        attributes = stored_attributes(tail.attributes)
        self._form_ids.append(
            forms[opcode, shape, parameter, stored_literal(literal), attributes]
        )
        self._call_ids.append(calls[tail.calls])
        self._location_ids.append(locations[tail.location])
        self._usual.append(is_usual)
        self._characters += len(own) + len(text)
        number = self[key] = len(self)
        return number

    def forget(self) -> None:
        """Drop all that was said."""
        self.clear()
        self._characters = 0
        del self._form_ids[:], self._call_ids[:], self._location_ids[:]
        del self._usual[:]

    def of(self, printed: Printed) -> tuple[Ints, Ints, Ints, NDArray[np.int8]]:
        """Return the numbers of form, calls and location of each line.

        And whether XLA prints such lines.
        """
        if len(self) > _MAX_SAYINGS or self._characters > _MAX_CHARACTERS:
            self.forget()
        opcodes, shapes, tails = printed.opcodes, printed.shapes, printed.tails
        own = own_texts(printed)
        keys = zip(opcodes, shapes, own, tails, strict=True)
        said = np.fromiter(map(self.__getitem__, keys), np.int32, len(own))
        return (
            taken(self._form_ids, np.int32, said),
            taken(self._call_ids, np.int32, said),
            taken(self._location_ids, np.int32, said),
            taken(self._usual, np.int8, said),
        )


class Distinct(BlockCache[Ints]):
    """The distinct instructions, forms, names and locations seen by one process."""

    def __init__(self) -> None:
        super().__init__()
        self._row_of = KnownLines()
        self.names = Names()
        self.forms = Forms()
        self.locations: Numbers[Location | None] = Numbers(None)
        self.calls = Calls(self.names)
        self._sayings = Sayings(self.forms, self.calls, self.locations)
        self._name_ids = array("i")
        self._form_ids = array("i")
        self._location_ids = array("i")
        self._call_ids = array("i")
        self._roots = array("b")
        self._usual = array("b")
        self._operands = array("i")
        self._operand_counts = array("i")
        self._operand_starts = array("q")
        self._columns = (
            self._name_ids, self._form_ids, self._location_ids, self._call_ids,
            self._roots, self._usual, self._operands, self._operand_counts,
            self._operand_starts,
        )  # fmt: skip
        self._scratch: Ints = np.zeros(1024, np.int32)

    def __len__(self) -> int:
        return len(self._name_ids)

    # --- taking in ---

    def read(self, lines: Sequence[str]) -> Ints:
        """Return the rows of the instructions of lines; may raise ParseError."""
        known = self._row_of
        rows = known.rows_of(lines, first=len(self))
        try:
            self._add_printed(take_apart(known.new))
        except ParseError:
            known.forget_new()
            raise
        return rows

    def _add_printed(self, printed: Printed) -> None:
        """Return a new row for each line; may raise ParseError, and then adds none."""
        forms, calls, locations, usual = self._sayings.of(printed)
        usual[unusual_names(printed.names)] = 0
        names, counts = parse_operand_lists(operand_texts(printed))
        self._add_rows(
            self.names.numbers_of(printed.names),
            forms,
            locations,
            calls,
            np.array([root is not None for root in printed.roots], np.int8),
            self.names.numbers_of(names),
            np.array(counts, np.int32),
            usual,
        )

    def add(self, instructions: Sequence[Instruction]) -> Ints:
        """Return a new row for each instruction."""
        first = len(self)
        forms = [
            (i.opcode, i.shape, i.parameter_number, stored_literal(i.literal),
             stored_attributes(i.attributes))
            for i in instructions
        ]  # fmt: skip
        operands = [i.operands for i in instructions]
        self._add_rows(
            self.names.numbers_of([i.name for i in instructions]),
            self.forms.numbers_of(forms),
            self.locations.numbers_of([i.location for i in instructions]),
            self.calls.numbers_of([i.calls for i in instructions]),
            np.array([i.is_root for i in instructions], np.int8),
            self.names.numbers_of(list(chain.from_iterable(operands))),
            np.array(list(map(len, operands)), np.int32),
            np.ones(len(instructions), np.int8),
        )
        return np.arange(first, len(self), dtype=np.int32)

    def _add_rows(
        self,
        names: Ints,
        forms: Ints,
        locations: Ints,
        calls: Ints,
        roots: NDArray[np.int8],
        operands: Ints,
        counts: Ints,
        usual: NDArray[np.int8],
    ) -> None:
        expected = self.forms.operand_counts_of(forms)
        usual[(expected != ANY_NUMBER) & (expected != counts)] = 0
        starts = len(self._operands) + np.cumsum(counts, dtype=np.int64) - counts
        values: tuple[NDArray[Any], ...] = (
            names, forms, locations, calls, roots, usual, operands, counts, starts,
        )  # fmt: skip
        for column, more in zip(self._columns, values, strict=True):
            column.frombytes(more.tobytes())

    def forget_texts(self) -> None:
        """Drop the texts of computations, lines and what they say; rows are kept."""
        super().forget_texts()
        self._row_of.forget()
        self._sayings.forget()

    def forget_rows(self) -> None:
        """Drop all rows, of which nothing is asked any more; forms and names stay."""
        for column in self._columns:
            del column[:]

    # --- judging ---

    def whole(self, parts: Sequence[Ints]) -> Ints:
        """Put the rows of all parts end to end."""
        return np.concatenate([np.empty(0, np.int32), *parts])

    def soundness(self, items: Ints, sizes: Sequence[int]) -> list[Soundness]:
        """Judge computations whose instructions stand end to end, so many in each."""
        operands, counts = self.operands(items)
        facts = Facts(
            self.name_ids(items),
            operands,
            counts,
            self.roots(items),
            taken(self._usual, np.int8, items),
        )
        sound = sound_computations(facts, sizes, self.scratch())
        if len(sizes) == 1:
            return [Soundness(sound[0], Called(self, items))]
        called: list[list[str]] = [[] for _ in sizes]
        ids = self.call_ids(items)
        places = np.flatnonzero(ids != NO_ID)
        of = np.searchsorted(np.cumsum(sizes), places, side="right")
        counts, *_, numbers = self.calls.spread(ids[places])
        names = self.names.values_by_number.taken(numbers.tolist())
        for at, name in zip(np.repeat(of, counts).tolist(), names, strict=True):
            called[at].append(name)
        return list(map(Soundness, sound, called))

    def has_unique_names(self, items: Ints) -> bool:
        """Return whether no two instructions have one name."""
        return has_unique(self.name_ids(items), self.scratch())

    def sequence(self, items: Ints) -> Rows:
        """Return rows as the instructions that they stand for."""
        return Rows(self, items)

    def rows_of(self, instructions: Sequence[Instruction]) -> Rows:
        """Return instructions as rows; records that have none get new ones."""
        if isinstance(instructions, Rows) and instructions.distinct is self:
            return instructions
        return Rows(self, self.add(instructions))

    # --- giving out ---

    def name_ids(self, rows: Ints) -> Ints:
        """Return the numbers of the names of `rows`."""
        return taken(self._name_ids, np.int32, rows)

    def form_ids(self, rows: Ints) -> Ints:
        """Return the numbers of the forms of `rows`."""
        return taken(self._form_ids, np.int32, rows)

    def location_ids(self, rows: Ints) -> Ints:
        """Return the numbers of the locations of `rows`, NO_ID where there is none."""
        return taken(self._location_ids, np.int32, rows)

    def call_ids(self, rows: Ints) -> Ints:
        """Return the numbers of what `rows` call, NO_ID for nothing."""
        return taken(self._call_ids, np.int32, rows)

    def roots(self, rows: Ints) -> NDArray[np.int8]:
        """Return 1 for each row that is printed as a root."""
        return taken(self._roots, np.int8, rows)

    def operands(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return name numbers of all operands end to end, and how many each row has."""
        counts = taken(self._operand_counts, np.int32, rows)
        starts = taken(self._operand_starts, np.int64, rows)
        return taken(self._operands, np.int32, spread(starts, counts)), counts

    def scratch(self) -> Ints:
        """Return an array with room for every name; what it holds is left over."""
        needed = len(self.names.values_by_number)
        if len(self._scratch) < needed:
            self._scratch = np.zeros(2 * needed, np.int32)
        return self._scratch

    def records(self, rows: Ints) -> list[Instruction]:
        """Return the instructions of rows; a long literal is cut."""
        names = self.names.values_by_number
        forms, calls = self.forms.values_by_number, self.calls
        locations = self.locations.values_by_number
        numbers, counts = self.operands(rows)
        operands = names.taken(numbers.tolist())
        columns = (
            self.form_ids(rows),
            counts,
            self.roots(rows),
            self.call_ids(rows),
            self.location_ids(rows),
        )
        found = []
        for name, form, count, root, call, location in zip(
            names.taken(self.name_ids(rows).tolist()),
            *(column.tolist() for column in columns),
            strict=True,
        ):
            opcode, shape, parameter, literal, attributes = forms[form]
            found.append(
                Instruction(
                    name, opcode, shape, tuple(islice(operands, count)),
                    root == 1, parameter, literal,
                    calls.of(call),
                    attributes,
                    None if location == NO_ID else locations[location],
                )
            )  # fmt: skip
        return found


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
        [record] = self.distinct.records(self.numbers[[at]])
        return record

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.distinct.records(self.numbers))

    def __add__(self, others: Sequence[Instruction]) -> Rows:
        parts = [self.numbers, self.distinct.rows_of(others).numbers]
        return Rows(self.distinct, np.concatenate(parts))

    def renamed(self, parts: Iterable[tuple[slice, Mapping[str, str]]]) -> Rows:
        """Return the instructions with other names in parts, also where read."""
        distinct, numbers = self.distinct, self.numbers.copy()
        for part, names in parts:
            rows = numbers[part]
            old = distinct.names.numbers_of(list(names))
            operands, counts = distinct.operands(rows)
            concerned = np.isin(distinct.name_ids(rows), old)
            readers = np.repeat(np.arange(len(rows)), counts)[np.isin(operands, old)]
            concerned[readers] = True
            before = distinct.records(rows[concerned])
            rows[concerned] = distinct.add([i.renamed(names) for i in before])
        return Rows(distinct, numbers)

    @cached_property
    def places(self) -> Places:
        """Where the instruction of each name stands; of equal names the first wins."""
        return Places(self.distinct.names, self.distinct.name_ids(self.numbers))


class Called(Collection[str]):
    """The names of the computations that rows call, made when asked for."""

    def __init__(self, distinct: Distinct, rows: Ints) -> None:
        ids = distinct.call_ids(rows)
        *_, self._numbers = distinct.calls.spread(ids[ids != NO_ID])
        self._names = distinct.names.values_by_number

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return self._names.taken(array("i", self._numbers.tobytes()))

    def __contains__(self, name: object) -> bool:
        return any(name == own for own in self)


class Places(Mapping[str, int]):
    """The place of each name in a list, the first one of equal names."""

    def __init__(self, names: Names, listed: Ints) -> None:
        self._names = names
        self._listed = listed
        self._place = np.full(len(names.values_by_number) + 1, NO_ID, np.int32)
        self._place[listed[::-1]] = np.arange(len(listed) - 1, -1, -1, dtype=np.int32)

    def of(self, names: Sequence[str]) -> Ints:
        """Return the place of each name, NO_ID where it has none."""
        # Names that came later have no place: the last one is nobody's.
        numbers = self._names.numbers_of(names)
        return self._place[np.minimum(numbers, len(self._place) - 1)]

    def __getitem__(self, name: str) -> int:
        place = int(self.of([name])[0])
        if place == NO_ID:
            raise KeyError(name)
        return place

    def __iter__(self) -> Iterator[str]:
        names = self._names.values_by_number.taken(self._listed.tolist())
        return iter(dict.fromkeys(names))

    def __len__(self) -> int:
        return int((self._place != NO_ID).sum())
