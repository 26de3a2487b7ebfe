"""Which function recomputes which query, and what rows are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from tests.oracle.dump import Computation, Instruction, Module, Value, read_dump
from tests.oracle.memory import Space

Row: TypeAlias = dict[str, object]
"""A row of a query by column, without `run`."""

Parameters: TypeAlias = Mapping[str, str | int | float | bool | None]

Function: TypeAlias = Callable[..., Iterable[Row]]

SPACES = {
    "cpu": {0: "host"},
    "gpu": {0: "default", 1: "collective", 2: "temp", 5: "host"},
    "tpu": {0: "HBM", 1: "VMEM", 2: "SMEM", 4: "host", 5: "host"},
}
"""What each platform calls its memory spaces."""


@dataclass(eq=False)
class Dump:
    """The modules of a run."""

    modules: list[Module]

    @classmethod
    def of(cls, folder: Path) -> Dump:
        """Return the dump in a folder."""
        return cls(read_dump(folder))

    @cached_property
    def spaces(self) -> list[Space]:
        """Return every memory space of every module with an assignment."""
        return [Space(m, color) for m in self.modules for color in m.colors]


@dataclass(frozen=True)
class Recomputed:
    """A query with parameters, and the function that recomputes its rows."""

    query: str
    function: Function
    parameters: Parameters = field(default_factory=dict)
    leaves_out: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return a name for the test."""
        return "-".join([self.query, *map(str, self.parameters.values())])

    def rows(self, dump: Dump) -> list[Row]:
        """Return the rows of a dump."""
        return [*self.function(dump, **self.parameters)]


RECOMPUTED: list[Recomputed] = []


def recomputes(
    query: str,
    *variants: Parameters,
    leaves_out: Iterable[str] = (),
) -> Callable[[Function], Function]:
    """Register a function for a query, once for each set of parameters.

    `leaves_out` are columns that the documented definition does not fix.
    """

    def register(function: Function) -> Function:
        for parameters in variants or ({},):
            entry = Recomputed(query, function, parameters, frozenset(leaves_out))
            RECOMPUTED.append(entry)
        return function

    return register


def space_name(platform: str, color: int) -> str:
    """Return the name of a memory space."""
    return SPACES[platform].get(color, f"color_{color}")


def of_module(module: Module) -> Row:
    """Return the columns that say which module a row is of."""
    return {"program": module.program, "module_number": module.number, "rank": None}


def of_space(space: Space) -> Row:
    """Return the columns that say which memory space a row is of."""
    name = space_name(space.module.platform, space.color)
    return {**of_module(space.module), "color": space.color, "space_name": name}


def of_value(value: Value) -> Row:
    """Return the columns that say which value a row is of."""
    return {
        "instruction": value.name,
        "shape_index": value.index,
        "shape": value.shape,
    }


def name_at(module: Module, step: int | None) -> str | None:
    """Return the instruction that is scheduled at a step."""
    if step is None or step >= len(module.schedule):
        return None
    instruction = module.schedule[step]
    return instruction.name if instruction else None


def opcode(instruction: Instruction | None) -> str | None:
    """Return the opcode of an instruction that may be unknown."""
    return instruction.opcode if instruction else None


def op_name(instruction: Instruction | None) -> str | None:
    """Return the framework path of an instruction that may be unknown."""
    return instruction.op_name if instruction else None


def ratio(part: int, whole: int | None) -> float | None:
    """Return a share; None of nothing."""
    return part / whole if whole else None


def placed(space: Space, *kinds: str) -> Iterator[tuple[Value, int, int]]:
    """Yield value, offset and size of the values of some kinds of allocations."""
    for allocation in space.allocations:
        if allocation.kind in kinds:
            for place in allocation.places:
                yield place.value, place.offset, place.size


def readers(module: Module, value: Value) -> list[Instruction]:
    """Return the instructions that read a value, each once."""
    names = dict.fromkeys(name for name, _ in value.uses)
    return [module.by_name[name] for name in names if name in module.by_name]


def kind_of(computation: Computation) -> str:
    """Return the kind of a computation, entry where nothing calls it."""
    return computation.kind or "entry"
