"""What the parsers yield: plain records, free of files, tables and databases.

A parser is a function from text (or bytes) to these records.
Line numbers count from 1 within the text that was given.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from operator import eq
from typing import Any, NamedTuple, Self, TypeVar, cast, overload

_Item = TypeVar("_Item")
_Row = TypeVar("_Row", bound=tuple[Any, ...])

MOST_KEPT = 1_000
"""Rejects, unclaimed lines and refused files that are kept one by one."""


MOST = (1 << 63) - 1
"""The largest number that the warehouse holds."""


class Tally(list[_Item]):
    """The first items of a list that hostile input can make long.

    Beyond MOST_KEPT they are counted only, in `left_out`.
    """

    def __init__(self, items: Iterable[_Item] = ()) -> None:
        super().__init__()
        self.left_out = 0
        self.extend(items)

    def append(self, item: _Item) -> None:
        """Keep an item, or count it."""
        if len(self) < MOST_KEPT:
            super().append(item)
        else:
            self.left_out += 1

    def extend(self, items: Iterable[_Item]) -> None:
        """Keep or count each item, and those that `items` itself left out."""
        for item in items:
            self.append(item)
        if isinstance(items, Tally):
            self.left_out += items.left_out

    def __iadd__(self, items: Iterable[_Item]) -> Self:  # type: ignore[override,misc]
        """Do as `extend`."""
        self.extend(items)
        return self


def total(items: Sequence[Any]) -> int:
    """Return how many items there are, or were where a Tally keeps the first."""
    return len(items) + (items.left_out if isinstance(items, Tally) else 0)


class Reject(NamedTuple):
    """A place that breaks its format; everything before and after it is kept.

    `line` is 0 in a binary file, where `column` is a byte, and both are 0 where the
    file as a whole is meant.
    """

    line: int
    column: int
    section: str
    code: str
    message: str
    snippet: str


def summed_up(rejects: Iterable[Reject]) -> list[Reject]:
    """Return the rejects of one file, with a last one that counts those left out."""
    kept = Tally(rejects)
    found = list(kept)
    if kept.left_out:
        last = found[-1]
        message = f"{kept.left_out:,} more places of this file could not be read"
        found.append(Reject(last.line, 0, last.section, "more", message, ""))
    return found


def too_large(section: str, sizes: Iterable[int]) -> list[Reject]:
    """Reject sizes whose sum the warehouse could not hold."""
    found = sum(sizes)
    if found <= MOST:
        return []
    message = f"its sizes add up to {found:,} bytes, more than 64 bits hold"
    return [Reject(0, 0, section, "impossible_number", message, "")]


class Unclaimed(NamedTuple):
    """A line that no rule of the format took (it is counted, not an error)."""

    line: int
    text: str


class PackedTexts(Sequence[Any]):
    """Texts by number; all but the latest are packed, in a fifth of the memory.

    Where a text may be missing, None is one of them.
    """

    def __init__(self) -> None:
        self.packed = 0
        self._chunks: list[str] = []
        self._ends: list[array[int]] = []
        self._missing: set[int] = set()
        self._latest: list[Any] = []
        self.append: Callable[[str | None], None] = self._latest.append
        """Adds a text, which gets the next number."""

    def __len__(self) -> int:
        return self.packed + len(self._latest)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            if (start := at.start or 0) >= self.packed and at.step is None:
                stop = len(self) if at.stop is None else at.stop
                return self._latest[start - self.packed : max(stop - self.packed, 0)]
            return [self[number] for number in range(*at.indices(len(self)))]
        if at >= self.packed:
            return self._latest[at - self.packed]
        if at in self._missing:
            return None
        chunk, place = divmod(at, _CHUNK)
        ends = self._ends[chunk]
        return self._chunks[chunk][ends[place] : ends[place + 1]]

    def taken(self, numbers: Iterable[int]) -> Iterator[Any]:
        """Return the texts of these numbers."""
        return map((self if self.packed else self._latest).__getitem__, numbers)

    def pack(self) -> None:
        """Pack what fills chunks."""
        for start in range(0, len(self._latest) - _CHUNK + 1, _CHUNK):
            part = self._latest[start : start + _CHUNK]
            self._missing.update(
                self.packed + at for at, text in enumerate(part) if text is None
            )
            known = [text or "" for text in part]
            self._chunks.append("".join(known))
            self._ends.append(array("i", accumulate(map(len, known), initial=0)))
            self.packed += _CHUNK
        del self._latest[: len(self._latest) // _CHUNK * _CHUNK]


_CHUNK = 8_192
"""Texts that are packed together."""


class Texts(dict[str | None, int]):
    """Texts by number; a new one gets the next."""

    def __init__(self) -> None:
        super().__init__()
        self.by_number = PackedTexts()

    def __missing__(self, text: str | None) -> int:
        """Assign `text` the next number."""
        number = len(self)
        self[text] = number
        self.by_number.append(text)
        return number


class TextColumn(Sequence[Any]):
    """Texts as numbers of a list that columns share: a name stands in many rows."""

    def __init__(self, numbers: array[int], by_number: PackedTexts) -> None:
        self.numbers = numbers
        self.by_number = by_number

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> TextColumn: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return TextColumn(self.numbers[at], self.by_number)
        return self.by_number[self.numbers[at]]

    def __iter__(self) -> Iterator[Any]:
        return self.by_number.taken(self.numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | TextColumn):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def taken(self, places: Iterable[int]) -> TextColumn:
        """Return the texts at these places."""
        found = map(self.numbers.__getitem__, places)
        return TextColumn(array("i", found), self.by_number)


def texts_end_to_end(parts: Iterable[Sequence[Any]]) -> Sequence[Any]:
    """Return the texts of all parts; those of one list stay numbers of it."""
    filled = [part for part in parts if part]
    if len(filled) == 1:
        return filled[0]
    columns = [part for part in filled if isinstance(part, TextColumn)]
    lists = {id(column.by_number) for column in columns}
    if len(lists) == 1 and len(columns) == len(filled):
        whole = array("i")
        for column in columns:
            whole.extend(column.numbers)
        return TextColumn(whole, columns[0].by_number)
    return [text for part in filled for text in part]


class Packed(Sequence[_Row]):
    """Rows of one kind of named tuple as columns; each row is made when asked for.

    A large file has millions of them: integers in an array take a tenth of the memory.
    """

    def __init__(self, kind: type[_Row], columns: Sequence[Any]) -> None:
        self.kind = kind
        self.columns = list(columns)

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, at: int) -> _Row: ...
    @overload
    def __getitem__(self, at: slice) -> Packed[_Row]: ...
    def __getitem__(self, at: int | slice) -> _Row | Packed[_Row]:
        found = [column[at] for column in self.columns]
        if isinstance(at, slice):
            return Packed(self.kind, found)
        return tuple.__new__(self.kind, found)

    def __iter__(self) -> Iterator[_Row]:
        made = map(tuple.__new__, repeat(self.kind), zip(*self.columns, strict=True))
        return cast("Iterator[_Row]", made)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | tuple | Packed):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def column(self, name: str) -> Any:
        """Return an array of integers, texts, or a list."""
        return self.columns[self.kind._fields.index(name)]  # type: ignore[attr-defined]

    def taken(self, places: Iterable[int]) -> Packed[_Row]:
        """Return the rows at these places."""
        wanted = array("q", places)
        return Packed(self.kind, [_taken(column, wanted) for column in self.columns])


def _taken(column: Any, places: Sequence[int]) -> Any:
    if isinstance(column, TextColumn):
        return column.taken(places)
    found = map(column.__getitem__, places)
    return array(column.typecode, found) if isinstance(column, array) else list(found)


def column_of(rows: Sequence[Any], name: str) -> Any:
    """Return one field of all rows: an array of integers, or a list."""
    if isinstance(rows, Packed):
        return rows.column(name)
    return [getattr(row, name) for row in rows]


def end_to_end(rows: Iterable[Sequence[_Row]]) -> Sequence[_Row]:
    """Return the rows of all parts, packed if all of them are."""
    filled = [part for part in rows if part]
    if len(filled) == 1:
        return filled[0]
    packed = [part for part in filled if isinstance(part, Packed)]
    if not packed or len(packed) < len(filled):
        return [row for part in filled for row in part]
    parts = zip(*(part.columns for part in packed), strict=True)
    return Packed(packed[0].kind, list(map(joined, parts)))


def joined(columns: Sequence[Any]) -> Any:
    """Return columns of one kind end to end: arrays, texts or lists."""
    if not isinstance(columns[0], array):
        return texts_end_to_end(columns)
    whole = columns[0][:]
    for column in columns[1:]:
        whole.extend(column)
    return whole


# --- HLO text and proto ------------------------------------------------------


class Location(NamedTuple):
    """Where an instruction comes from in the user's source."""

    source_file: str | None
    source_line: int | None
    source_end_line: int | None
    source_column: int | None
    source_end_column: int | None
    stack_frame_id: int | None


class Call(NamedTuple):
    """Computations an instruction calls in one role (to_apply, calls, body, …)."""

    role: str
    computations: tuple[str, ...]


class Attributes(NamedTuple):
    """What follows the operands, apart from called computations and source location.

    `other` keeps every attribute without a field of its own, as printed, in order.
    """

    op_name: str | None = None
    op_type: str | None = None
    sharding: str | None = None
    fusion_kind: str | None = None
    custom_call_target: str | None = None
    channel_id: int | None = None
    replica_groups: str | None = None
    backend_config: str | None = None
    other: str | None = None


NO_ATTRIBUTES = Attributes()


class Instruction(NamedTuple):
    """What one instruction says, wherever in its module it stands."""

    name: str
    opcode: str
    shape: str | None
    operands: tuple[str, ...] = ()
    is_root: bool = False
    parameter_number: int | None = None
    literal: str | None = None
    calls: tuple[Call, ...] = ()
    attributes: Attributes = NO_ATTRIBUTES
    location: Location | None = None

    def renamed(self, names: Mapping[str, str]) -> Instruction:
        """Return the instruction with other names for itself and its operands."""
        operands = tuple(names.get(name, name) for name in self.operands)
        return self._replace(name=names.get(self.name, self.name), operands=operands)


class Frame(NamedTuple):
    """One stack frame; `parent_id` None means outermost."""

    stack_frame_id: int
    parent_id: int | None
    function_name: str
    file_name: str
    line: int
    column: int


class Alias(NamedTuple):
    """An output that may or must share a parameter's buffer; a donor has no output."""

    output_index: str | None
    parameter_number: int
    parameter_index: str
    kind: str


class Computation(NamedTuple):
    """A computation of a module; its instructions are `start` up to `stop`."""

    name: str
    is_entry: bool
    start: int
    stop: int
    execution_thread: str | None = None
    backend_config: str | None = None


@dataclass(frozen=True, slots=True)
class HloModule:
    """One module: header, stack frames, computations and instructions in print order.

    `lines[i]` is the line of `instructions[i]`, `body_line` that of the first
    computation.
    """

    name: str
    header: dict[str, str]
    computations: Sequence[Computation]
    instructions: Sequence[Instruction]
    lines: Sequence[int] = field(compare=False)
    frames: tuple[Frame, ...] = ()
    body_line: int = field(default=1, compare=False)


# --- Buffer assignment and live ranges -----------------------------------------


class Allocation(NamedTuple):
    """One allocation line; the flags decide its kind, `shape` stood between bars."""

    allocation_id: int
    size_bytes: int
    color: int
    page: int | None
    parameter_number: int | None
    parameter_shape_index: str | None
    shape: str | None
    is_output_tuple: bool
    is_constant: bool
    is_thread_local: bool
    is_live_out: bool
    is_preallocated_temp: bool


class Placement(NamedTuple):
    """A value inside an allocation."""

    allocation_id: int
    value_id: int
    offset_bytes: int
    size_bytes: int


class Value(NamedTuple):
    """An HloValue: `<12 name{0} (phi) @1>`; `shape_index` None when none is printed."""

    value_id: int
    instruction: str
    shape_index: str | None
    color: int
    is_phi: bool
    shape: str | None


class Position(NamedTuple):
    """A place where a value appears; the first is its definition."""

    value_id: int
    instruction: str
    shape_index: str | None


class Use(NamedTuple):
    """An operand that reads a value."""

    value_id: int
    instruction: str
    operand_index: int
    shape_index: str | None


class LiveRange(NamedTuple):
    """Steps at which a value is live, inclusive at both ends."""

    instruction: str
    shape_index: str
    start_step: int
    end_step: int


class PrintedPeak(NamedTuple):
    """A row of XLA's own peak listing: evidence, not the peak."""

    instruction: str
    shape_index: str
    printed_bytes: int


@dataclass(frozen=True, slots=True)
class BufferAssignment:
    """Everything the buffer-assignment family of one module says.

    The three files of newer releases and the one file of older ones give the same.
    `sources` maps an instruction name to the text of its `from instruction:` line.
    """

    allocations: Sequence[Allocation] = field(default_factory=list)
    placements: Sequence[Placement] = field(default_factory=list)
    values: Sequence[Value] = field(default_factory=list)
    positions: Sequence[Position] = field(default_factory=list)
    uses: Sequence[Use] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    printed_total_bytes: int | None = None
    schedule: Sequence[str] = field(default_factory=list)
    schedule_end: int | None = None
    live_ranges: Sequence[LiveRange] = field(default_factory=list)
    peak_step: int | None = None
    printed_peaks: Sequence[PrintedPeak] = field(default_factory=list)


class Evidence(NamedTuple):
    """A row of an evidence table, `path` included, the run to be added."""

    table: str
    row: dict[str, Any]
