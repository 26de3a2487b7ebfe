"""What the parsers yield: plain records, free of files, tables and databases.

A parser is a function from text (or bytes) to these records.
Line numbers count from 1 within the text that was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

_Item = TypeVar("_Item")

MOST_KEPT = 1_000
"""Rejects, unclaimed lines and refused files that are kept one by one."""


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


class Unclaimed(NamedTuple):
    """A line that no rule of the format took (it is counted, not an error)."""

    line: int
    text: str


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
    computations: tuple[Computation, ...]
    instructions: Sequence[Instruction]
    lines: list[int] = field(compare=False)
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

    allocations: list[Allocation] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    positions: list[Position] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    printed_total_bytes: int | None = None
    schedule: list[str] = field(default_factory=list)
    schedule_end: int | None = None
    live_ranges: list[LiveRange] = field(default_factory=list)
    peak_step: int | None = None
    printed_peaks: list[PrintedPeak] = field(default_factory=list)


class Evidence(NamedTuple):
    """A row of an evidence table, `path` included, the run to be added."""

    table: str
    row: dict[str, Any]
