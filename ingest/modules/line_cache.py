"""What is known of printed lines: their rows, and what they say.

Equal lines are one row. Many lines say the same beside names and operands, so that is
taken apart once.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.arrow import Ints
from hlodb.ingest.formats.hlo_text.instruction import Printed, meaning, own_texts
from hlodb.ingest.modules.numbering import Calls, Forms, Numbers, taken
from hlodb.ingest.modules.stored_text import stored_attributes, stored_literal
from hlodb.ingest.records import Location

_MAX_LINES = 200_000
_MAX_SAYINGS = 1 << 16
_MAX_CHARACTERS = 64_000_000
"""Of the lines, and of what they say: kernels are printed in lines of 100 KB."""


class KnownLines(dict[str, int]):
    """The row of each known line; a new one is noted, and gets the next row."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []
        self._next = 0
        self._characters = 0

    def __missing__(self, line: str) -> int:
        """Note a new line."""
        row = self[line] = self._next + len(self.new)
        self.new.append(line)
        return row

    def rows_of(self, lines: Sequence[str], first: int) -> Ints:
        """Return the row of each line; those of `new` lines count from `first` on."""
        if len(self) > _MAX_LINES or self._characters > _MAX_CHARACTERS:
            self.clear()
            self._characters = 0
        self.new, self._next = [], first
        rows = np.fromiter(map(self.__getitem__, lines), np.int32, len(lines))
        self._characters += sum(map(len, self.new))
        return rows

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

    def of(self, printed: Printed) -> tuple[Ints, Ints, Ints, NDArray[np.int8]]:
        """Return the numbers of form, calls and location of each line.

        And whether XLA prints such lines.
        """
        if len(self) > _MAX_SAYINGS or self._characters > _MAX_CHARACTERS:
            self.clear()
            self._characters = 0
            del self._form_ids[:], self._call_ids[:], self._location_ids[:]
            del self._usual[:]
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
