"""Dumps of programs of the sizes that fill a pod, printed as XLA prints them.

    python -m tests.large_programs FOLDER [--scale 2] [--changed] [--tokens 16384]

The programs are made up, not compiled: each is built as instructions, its values are
placed in allocations, and both are printed as text of HLO, buffer assignment and live
ranges, as jaxlib 0.10.2 does for a TPU. Arrays are of the shapes of models with 70
billion parameters, in tiled layouts, on 256 devices; some have 2^40 bytes.

Every array has a dimension that is multiplied by `scale`, and no dimension that tiles
round up depends on it. So each size but those of scalars and tables of tuples is
multiplied by `scale`, and so is each figure in bytes that hlodb derives.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path

BITS = {"pred": 8, "s4": 4, "s8": 8, "bf16": 16, "f32": 32, "s32": 32, "u32": 32}
SUBTILES = {"s4": "(8,1)", "s8": "(4,1)", "bf16": "(2,1)"}

HBM, VMEM, SYNC, HOST = 0, 1, 2, 5
TABLE_BYTES = 512
"""Size of a scalar on a TPU, and of the table that holds a tuple's addresses."""

ADD = [("add", "")]
DOT = (
    "lhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_batch_dims={0}, rhs_contracting_dims={1}"
)

LAYERS, MODEL, HIDDEN, VOCABULARY = 80, 8192, 14336, 64128
DEVICES = 256
TOKENS = 16384
NO_USE = ("  (none)\n",)

Path_ = tuple[int, ...]
"""Index into a tuple; () is the tuple itself, or the only array."""


@dataclass(frozen=True)
class Array:
    """A shape with its layout: `order` is minor to major; None stands for the usual."""

    element: str
    dims: tuple[int, ...] = ()
    color: int = HBM
    order: tuple[int, ...] | None = None

    def text(self, layout: bool = True) -> str:
        """Print the shape, as in signatures where it has no layout."""
        dims = ",".join(map(str, self.dims))
        return f"{self.element}[{dims}]{self._layout() if layout else ''}"

    def _layout(self) -> str:
        space = f"S({self.color})" if self.color else ""
        if self.color == SYNC:
            return f"{{:{space}}}"
        if not self.dims:
            return f"{{:T({512 if self.element == 'pred' else 128}){space}}}"
        bits = "E(4)" if self.element == "s4" else ""
        order = ",".join(map(str, self._order))
        return f"{{{order}:T(8,128){SUBTILES.get(self.element, '')}{bits}{space}}}"

    @property
    def _order(self) -> tuple[int, ...]:
        return self.order or tuple(reversed(range(len(self.dims))))

    @property
    def logical_bytes(self) -> int:
        """Return the bytes of the elements alone."""
        return -(-prod(self.dims) * BITS[self.element] // 8)

    @property
    def padded_bytes(self) -> int:
        """Return the bytes in memory: the two minor dimensions fill whole tiles."""
        if self.color == SYNC:
            return 4
        if not self.dims:
            return TABLE_BYTES
        minor, second = self._order[:2]
        dims = list(self.dims)
        dims[minor] = -(-dims[minor] // 128) * 128
        dims[second] = -(-dims[second] // 8) * 8
        return prod(dims) * BITS[self.element] // 8


Shape = Array | tuple[Array, ...]

INDEX = Array("s32")


@cache
def shape_text(shape: Shape, layout: bool = True) -> str:
    """Print an array or a tuple, which counts every fifth element."""
    if isinstance(shape, Array):
        return shape.text(layout)
    return f"({_counted([array.text(layout) for array in shape])})"


def _counted(texts: Sequence[str]) -> str:
    return ", ".join(
        f"/*index={i}*/{text}" if i and i % 5 == 0 else text
        for i, text in enumerate(texts)
    )


@dataclass
class Instruction:
    """One instruction; `in_place` is the operand whose memory its result takes."""

    name: str
    shape: Shape
    opcode: str
    operands: tuple[str, ...] = ()
    attributes: str = ""
    op_name: str = ""
    line: int = 0
    in_place: int | None = None
    loop: tuple[Computation, Computation] | None = None

    def text(self, frames: dict[int, int], layout: bool = True) -> str:
        """Print the instruction without ROOT."""
        inside = self._inside()
        named = [f'op_name="{self.op_name}"'] if self.op_name else []
        placed = [f"stack_frame_id={frames[self.line]}"] if self.line else []
        metadata = f"metadata={{{' '.join([*named, *placed])}}}"
        rest = [self.attributes, metadata if named else ""]
        attributes = "".join(f", {text}" for text in rest if text)
        shape = shape_text(self.shape, layout)
        return f"%{self.name} = {shape} {self.opcode}({inside}){attributes}"

    def _inside(self) -> str:
        if self.opcode in ("parameter", "constant"):
            return self.operands[0]
        return _counted([f"%{operand}" for operand in self.operands])

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the names of the operands that are instructions."""
        return () if self.opcode in ("parameter", "constant") else self.operands


@dataclass
class Computation:
    """Instructions in the order of the schedule; the last one is the root."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def root(self) -> Instruction:
        return self.instructions[-1]

    @property
    def parameters(self) -> list[Instruction]:
        """Return the parameters by number."""
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return sorted(found, key=lambda i: int(i.operands[0]))

    def text(self, frames: dict[int, int], is_entry: bool, layout: bool) -> str:
        """Print the computation with its signature."""
        arguments = [f"{p.name}: {shape_text(p.shape, False)}" for p in self.parameters]
        result = shape_text(self.root.shape, False)
        head = f"%{self.name} ({', '.join(arguments)}) -> {result} {{\n"
        lines = [
            f"  {'ROOT ' if i is self.root else ''}{i.text(frames, layout)}\n"
            for i in self.instructions
        ]
        return f"{'ENTRY ' if is_entry else ''}{head}{''.join(lines)}}}\n\n"


class Block:
    """Builds one computation of a program."""

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.computation = Computation(name)

    def parameter(
        self, shape: Shape, op_name: str = "", sharding: str = "", name: str = "param"
    ) -> str:
        """Add the next parameter; return its name."""
        number = str(len(self.computation.parameters))
        attributes = f"sharding={sharding}" if sharding else ""
        return self.op(
            "parameter",
            shape,
            number,
            at=(op_name, 0),
            name=name,
            attributes=attributes,
        )

    def op(
        self,
        opcode: str,
        shape: Shape,
        *operands: str,
        at: tuple[str, int] = ("", 0),
        name: str | None = None,
        in_place: int | None = None,
        attributes: str = "",
        loop: tuple[Computation, Computation] | None = None,
    ) -> str:
        """Add an instruction `at` a framework path and source line; return its name."""
        made = Instruction(
            self.program.new_name(name or opcode),
            shape,
            opcode,
            operands,
            attributes,
            at[0],
            at[1],
            in_place,
            loop,
        )
        self.computation.instructions.append(made)
        self.program.shapes[made.name] = shape
        return made.name

    def element(self, whole: str, index: int, shapes: Sequence[Array]) -> str:
        """Add get-tuple-element."""
        return self.op(
            "get-tuple-element", shapes[index], whole, attributes=f"index={index}"
        )

    def fusion(
        self,
        shape: Array,
        operands: Sequence[str],
        steps: Sequence[tuple[str, str]],
        at: tuple[str, int],
        kind: str = "kLoop",
        in_place: int | None = None,
    ) -> str:
        """Add a fusion whose root is the last of `steps`: opcodes with attributes.

        The first step reads the first two parameters; each other one reads the step
        before it, and a further parameter while there are any.
        """
        inner = Block(self.program, self.program.new_name("fused_computation"))
        shapes = [self.program.shapes[operand] for operand in operands]
        last, *others = (inner.parameter(one, name="param_0") for one in shapes)
        for opcode, attributes in steps:
            inputs = [last, *others[:1]]
            last = inner.op(opcode, shape, *inputs, at=at, attributes=attributes)
            others = others[1:]
        self.program.computations.append(inner.computation)
        calls = f"kind={kind}, calls=%{inner.computation.name}"
        name = f"{steps[-1][0].replace('-', '_')}_fusion"
        return self.op(
            "fusion",
            shape,
            *operands,
            at=at,
            name=name,
            in_place=in_place,
            attributes=calls,
        )

    def dot(
        self,
        shape: Array,
        left: str,
        right: str,
        contracted: tuple[int, int],
        at: tuple[str, int],
    ) -> str:
        """Add a fusion of a dot, one matrix for each of the leading dimension."""
        text = (
            f"lhs_batch_dims={{0}}, lhs_contracting_dims={{{contracted[0]}}}, "
            f"rhs_batch_dims={{0}}, rhs_contracting_dims={{{contracted[1]}}}"
        )
        return self.fusion(shape, [left, right], [("dot", text)], at, "kOutput")

    def slice_of(self, stack: str, index: str, shape: Array, line: int) -> str:
        """Add the fusion that takes one of a stack of arrays."""
        sizes = ",".join(map(str, (1, *shape.dims)))
        part = Array(shape.element, (1, *shape.dims))
        at = ("jit(step)/while/body/dynamic_slice", line)
        inner = Block(self.program, self.program.new_name("fused_computation"))
        whole = inner.parameter(self.program.shapes[stack], name="param_0")
        place = inner.parameter(INDEX, name="param_1")
        zero = inner.op("constant", INDEX, "0")
        starts = (place, *[zero] * len(shape.dims))
        taken = inner.op(
            "dynamic-slice",
            part,
            whole,
            *starts,
            at=at,
            attributes=f"dynamic_slice_sizes={{{sizes}}}",
        )
        inner.op("bitcast", shape, taken, at=at)
        self.program.computations.append(inner.computation)
        calls = f"kind=kLoop, calls=%{inner.computation.name}"
        name = "dynamic_slice_fusion"
        return self.op(
            "fusion", shape, stack, index, at=at, name=name, attributes=calls
        )

    def store(self, stack: str, value: str, index: str, line: int) -> str:
        """Add the fusion that replaces one of a stack of arrays, in place."""
        shape, given = self.program.shape(stack), self.program.shape(value)
        at = ("jit(step)/while/body/dynamic_update_slice", line)
        inner = Block(self.program, self.program.new_name("fused_computation"))
        whole = inner.parameter(shape, name="param_0")
        part = inner.parameter(given, name="param_1")
        place = inner.parameter(INDEX, name="param_2")
        zero = inner.op("constant", INDEX, "0")
        one = Array(given.element, (1, *given.dims))
        widened = inner.op("bitcast", one, part, at=at)
        starts = (place, *[zero] * len(given.dims))
        inner.op("dynamic-update-slice", shape, whole, widened, *starts, at=at)
        self.program.computations.append(inner.computation)
        calls = f"kind=kLoop, calls=%{inner.computation.name}"
        name = "dynamic-update-slice_fusion"
        return self.op(
            "fusion",
            shape,
            stack,
            value,
            index,
            at=at,
            name=name,
            in_place=0,
            attributes=calls,
        )

    def reduce(self, value: str, at: tuple[str, int]) -> str:
        """Add the sum of all elements, with a reducer of its own."""
        inner = Block(self.program, self.program.new_name("region"))
        scalar = Array("f32")
        left, right = inner.parameter(scalar), inner.parameter(scalar)
        inner.op("add", scalar, left, right, at=at)
        self.program.computations.append(inner.computation)
        self.program.reducers.append(inner.computation)
        zero = self.op("constant", scalar, "0")
        shape = self.program.shape(value)
        dims = ",".join(map(str, range(len(shape.dims))))
        return self.op(
            "reduce",
            scalar,
            value,
            zero,
            at=at,
            attributes=f"dimensions={{{dims}}}, to_apply=%{inner.computation.name}",
        )

    def moved(self, value: str, color: int) -> str:
        """Add the asynchronous copy of an array to another memory space."""
        shape = self.program.shape(value)
        there = Array(shape.element, shape.dims, color, shape.order)
        start = self.op("copy-start", (there, shape, Array("u32", (), SYNC)), value)
        return self.op("copy-done", there, start)

    def loop(
        self,
        initial: Sequence[str],
        body: Sequence[Array],
        steps: Computation,
        count: int,
        at: tuple[str, int],
    ) -> str:
        """Add a while whose body is `steps`; its first element counts to `count`."""
        condition = Block(self.program, self.program.new_name("wide.condition"))
        given = condition.parameter(tuple(body), name="wide.param")
        limit = condition.op("constant", INDEX, str(count))
        done = condition.element(given, 0, body)
        condition.op(
            "compare", Array("pred"), done, limit, at=at, attributes="direction=LT"
        )
        self.program.computations += [steps, condition.computation]
        whole = self.op("tuple", tuple(body), *initial)
        calls = f"condition=%{condition.computation.name}, body=%{steps.name}"
        loop = (condition.computation, steps)
        return self.op("while", tuple(body), whole, at=at, loop=loop, attributes=calls)


class Program:
    """A module: computations in the order of printing, and what XLA knows of it."""

    def __init__(self, name: str, partitions: int = 1) -> None:
        self.name = name
        self.partitions = partitions
        self.computations: list[Computation] = []
        self.reducers: list[Computation] = []
        self.shapes: dict[str, Shape] = {}
        self.donated: dict[int, int] = {}
        """Number of the parameter whose memory an output takes, by output."""
        self._counts: dict[str, int] = {}
        self.entry = Block(self, "main_spmd" if partitions > 1 else "main")

    def new_name(self, stem: str) -> str:
        """Return a name that no instruction or computation has yet."""
        count = self._counts[stem] = self._counts.get(stem, -1) + 1
        return f"{stem}.{count}"

    def shape(self, name: str) -> Array:
        """Return the shape of an instruction whose result is one array."""
        shape = self.shapes[name]
        assert isinstance(shape, Array)
        return shape

    @property
    def outputs(self) -> list[str]:
        """Return the names of the instructions whose results are returned."""
        root = self.entry.computation.root
        return list(root.operands) if root.opcode == "tuple" else [root.name]

    def frames(self) -> dict[int, int]:
        """Return the stack frame of each source line."""
        every = [*self.computations, self.entry.computation]
        lines = {i.line for c in every for i in c.instructions if i.line}
        return {line: number for number, line in enumerate(sorted(lines), 2)}

    def text(self, is_scheduled: bool = True) -> str:
        """Print the module, before optimisations without schedule and layouts."""
        frames = self.frames()
        parts = [self._header(is_scheduled), _frame_tables(frames)]
        parts += [c.text(frames, False, is_scheduled) for c in self.computations]
        parts.append(self.entry.computation.text(frames, True, is_scheduled))
        return "".join(parts)

    def _header(self, is_scheduled: bool) -> str:
        entry = self.entry.computation
        shapes = _counted([shape_text(p.shape) for p in entry.parameters])
        many = len(self.outputs) > 1
        aliases = [
            f"{{{output if many else ''}}}: ({parameter}, {{}}, may-alias)"
            for output, parameter in self.donated.items()
        ]
        parts = [
            f"HloModule {self.name}",
            "is_scheduled=true" if is_scheduled else "",
            f"input_output_alias={{ {', '.join(aliases)} }}" if aliases else "",
            f"entry_computation_layout={{({shapes})->{shape_text(entry.root.shape)}}}",
            f"num_partitions={self.partitions}" if self.partitions > 1 else "",
        ]
        return ", ".join(part for part in parts if part) + "\n\n"


def _frame_tables(frames: dict[int, int]) -> str:
    """Print the tables of source lines, all of one function that line 9 calls."""
    lines = [(1, 1, 9), *[(number, 2, line) for line, number in frames.items()]]
    return "\n".join(
        [
            'FileNames\n1 "train.py"\n',
            'FunctionNames\n1 "<module>"\n2 "step"\n',
            "FileLocations",
            *[
                f"{n} {{file_name_id=1 function_name_id={function} line={line} "
                f"end_line={line} column=4 end_column=40}}"
                for n, function, line in lines
            ],
            "\nStackFrames",
            *[
                f"{n} {{file_location_id={n} parent_frame_id={min(n, 2)}}}"
                for n, _, _ in lines
            ],
            "\n\n",
        ]
    )


@dataclass(eq=False)
class Value:
    """A value of the buffer assignment: one array or table, and where it is found."""

    instruction: Instruction
    index: Path_ | None
    shape: Shape
    is_phi: bool = False
    positions: list[tuple[str, Path_ | None]] = field(default_factory=list)
    uses: list[tuple[str, int, Path_ | None]] = field(default_factory=list)
    start: int = 0
    end: int = 0
    value_id: int = -1

    @property
    def color(self) -> int:
        return self.shape.color if isinstance(self.shape, Array) else HBM

    @property
    def size_bytes(self) -> int:
        shape = self.shape
        return shape.padded_bytes if isinstance(shape, Array) else TABLE_BYTES

    @property
    def printed_bytes(self) -> int:
        """Return what live ranges print: without padding, 8 for each of a tuple."""
        shape = self.shape
        return shape.logical_bytes if isinstance(shape, Array) else 8 * len(shape)

    @property
    def head(self) -> str:
        phi = " (phi)" if self.is_phi else ""
        name = f"{self.instruction.name}{_braced(self.index)}"
        return f"<{self.value_id} {name}{phi} @{self.color}>"


def _braced(index: Path_ | None) -> str:
    return "" if index is None else f"{{{','.join(map(str, index))}}}"


@dataclass
class Allocation:
    """An allocation with its values and their offsets."""

    flags: str
    color: int
    size_bytes: int
    values: list[tuple[Value, int]]


class Assignment:
    """The values of a scheduled program, their live ranges and their places."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.schedule: list[Instruction] = []
        self.values: list[Value] = []
        self.local: list[Value] = []
        """Values of reducers, which have no live range."""
        self._at: dict[tuple[str, Path_], Value] = {}
        self._group: dict[int, list[Value]] = {}
        self._constants: set[int] = set()
        for reducer in program.reducers:
            for one in reducer.instructions:
                value = Value(one, None, one.shape, positions=[(one.name, None)])
                self.local.append(value)
            *inputs, total = self.local[-3:]
            for number, given in enumerate(inputs):
                given.uses.append((total.instruction.name, number, None))
        self._walk(program.entry.computation)
        self.last_step = len(self.schedule)
        self._finish_outputs()
        for number, value in enumerate([*self.local, *self.values]):
            value.value_id = number
        self.allocations = list(self._allocate())

    def _walk(self, computation: Computation, returns: bool = True) -> None:
        for one in computation.instructions:
            if one.loop is not None:
                self._enter(one)
            step = len(self.schedule)
            self.schedule.append(one)
            is_root = one is computation.root
            self._read(one, step, is_root)
            self._define(one, step)

    def _define(self, one: Instruction, step: int) -> None:
        if one.opcode == "get-tuple-element":
            index = int(one.attributes.removeprefix("index="))
            self._place(self._at[one.operands[0], (index,)], one, ())
        elif one.opcode == "copy-done":
            self._place(self._at[one.operands[0], (0,)], one, ())
        elif one.opcode == "bitcast":
            self._place(self._at[one.operands[0], ()], one, ())
        elif one.opcode == "tuple":
            self._new(one, (), step)
            for number, operand in enumerate(one.operands):
                self._place(self._at[operand, ()], one, (number,))
        elif one.opcode == "copy-start":
            self._new(one, (), step)
            self._new(one, (0,), step)
            self._place(self._at[one.operands[0], ()], one, (1,))
            self._new(one, (2,), step)
        elif one.loop is None and (one.name, ()) not in self._at:
            value = self._new(one, (), step)
            if one.opcode == "constant":
                self._constants.add(id(value))
            if one.in_place is not None:
                self._share(value, self._at[one.operands[one.in_place], ()])

    def _new(
        self, one: Instruction, path: Path_, step: int, is_phi: bool = False
    ) -> Value:
        shape = one.shape
        if isinstance(shape, tuple) and path:
            shape = shape[path[0]]
        index = path if isinstance(one.shape, tuple) else None
        value = Value(one, index, shape, is_phi, start=step, end=step)
        self._group[id(value)] = [value]
        self.values.append(value)
        self._place(value, one, path)
        return value

    def _place(self, value: Value, one: Instruction, path: Path_) -> None:
        self._at[one.name, path] = value
        index = path if isinstance(one.shape, tuple) else None
        value.positions.append((one.name, index))

    def _share(self, one: Value, other: Value) -> None:
        """Put two values, and all that share memory with them, in one place."""
        mine, theirs = self._group[id(one)], self._group[id(other)]
        if mine is not theirs:
            mine += theirs
            for value in theirs:
                self._group[id(value)] = mine

    def _read(self, one: Instruction, step: int, is_root: bool) -> None:
        forwards = one.opcode in ("tuple", "bitcast", "get-tuple-element")
        for number, operand in enumerate(one.reads):
            for path in self._paths(operand):
                value = self._at[operand, path]
                is_tuple = isinstance(self.program.shapes[operand], tuple)
                if one.opcode == "get-tuple-element" and path:
                    continue
                if one.loop is None:
                    value.end = max(value.end, step)
                if not forwards or is_root or (is_tuple and not path):
                    index = path if is_tuple else None
                    value.uses.append((one.name, number, index))

    def _paths(self, operand: str) -> list[Path_]:
        shape = self.program.shapes[operand]
        inner = range(len(shape)) if isinstance(shape, tuple) else ()
        return [(), *((number,) for number in inner)]

    def _enter(self, loop: Instruction) -> None:
        """Walk through a while's condition and body, and define what it changes."""
        assert loop.loop is not None and isinstance(loop.shape, tuple)
        condition, body = loop.loop
        given = loop.operands[0]
        kept = {
            number
            for number, operand in enumerate(body.root.operands)
            if self._is_element(body, operand, number)
        }
        before = {path: self._at[given, path] for path in self._paths(given)}
        changed = [path for path in before if not path or path[0] not in kept]
        entered: list[Instruction] = []
        for inner in (condition, body):
            step = len(self.schedule)
            entered.append(inner.parameters[0])
            for path, value in before.items():
                if path in changed:
                    phi = self._new(inner.parameters[0], path, step, is_phi=True)
                    self._share(phi, value)
                    if inner is condition:
                        value.end = max(value.end, step)
                        phi.end = step + len(condition.instructions)
                else:
                    self._place(value, inner.parameters[0], path)
            self._walk(inner)
        end = len(self.schedule)
        root = body.root.name
        for value in self.values:
            if any(value is self._at[root, path] for path in before):
                value.end = max(value.end, end)
        for path, value in before.items():
            if path in changed:
                after = self._new(loop, path, end, is_phi=True)
                self._share(after, value)
                self._share(after, self._at[root, path])
            else:
                value.end = max(value.end, end)
                self._place(value, loop, path)
        result = self._at[condition.root.name, ()]
        result.end = max(result.end, result.start + 1)

    def _is_element(self, body: Computation, operand: str, number: int) -> bool:
        one = next(i for i in body.instructions if i.name == operand)
        return (
            one.opcode == "get-tuple-element"
            and one.operands[0] == body.parameters[0].name
            and one.attributes == f"index={number}"
        )

    def _finish_outputs(self) -> None:
        """Let parameters and outputs live to the end of the program."""
        donated = set(self.program.donated.values())
        for number, one in enumerate(self.program.entry.computation.parameters):
            value = self._at[one.name, ()]
            value.start = 0
            if number not in donated:
                value.end = self.last_step
        for value in self._output_values():
            value.end = self.last_step

    def _output_values(self) -> list[Value]:
        """Return the values of the outputs, and the tuple's table before them."""
        root = self.program.entry.computation.root
        return [self._at[root.name, path] for path in self._paths(root.name)]

    def _allocate(self) -> Iterator[Allocation]:
        for value in self.local:
            yield Allocation(", thread-local", HBM, TABLE_BYTES, [(value, 0)])
        placed: set[int] = set()
        outputs = self._output_values()
        elements = outputs[1:] or outputs
        parameter_of = {
            id(elements[output]): number
            for output, number in self.program.donated.items()
        }
        for number, one in enumerate(self.program.entry.computation.parameters):
            value = self._at[one.name, ()]
            out = [v for v in outputs if parameter_of.get(id(v)) == number]
            flags = (
                f", parameter {number}, shape |{shape_text(one.shape, False)}|"
                f" at ShapeIndex {{}}{', maybe-live-out' if out else ''}"
            )
            group = [*self._group[id(value)]]
            for each in out:
                group += [v for v in self._group[id(each)] if v not in group]
            placed.update(map(id, group))
            yield self._whole(flags, group)
        for number, value in enumerate(outputs):
            if id(value) in placed:
                continue
            shape = shape_text(value.shape, False)
            top = f", output shape is |{shape}|" if not number else ""
            placed.update(map(id, self._group[id(value)]))
            yield self._whole(f"{top}, maybe-live-out", self._group[id(value)])
        for value in self.values:
            if id(value) in self._constants:
                placed.add(id(value))
                yield self._whole(", constant", [value])
        rest = [value for value in self.values if id(value) not in placed]
        for color in sorted({value.color for value in rest}):
            yield self._arena(color, [v for v in rest if v.color == color])

    def _whole(self, flags: str, values: list[Value]) -> Allocation:
        size = max(value.size_bytes for value in values)
        placed = [(value, 0) for value in sorted(values, key=lambda v: v.value_id)]
        return Allocation(flags, values[0].color, size, placed)

    def _arena(self, color: int, values: list[Value]) -> Allocation:
        """Place groups by their first step, each at the lowest address that is free."""
        groups = list(
            {id(self._group[id(v)]): self._group[id(v)] for v in values}.values()
        )
        spans = sorted(
            (
                (min(v.start for v in g), max(v.end for v in g), number)
                for number, g in enumerate(groups)
            ),
        )
        active: list[tuple[int, int, int]] = []
        offsets: dict[int, int] = {}
        size = 0
        for start, end, number in spans:
            need = max(value.size_bytes for value in groups[number])
            active = [each for each in active if each[2] >= start]
            offset = 0
            for low, high, _ in sorted(active):
                if offset + need <= low:
                    break
                offset = max(offset, high)
            active.append((offset, offset + need, end))
            size = max(size, offset + need)
            offsets.update((id(value), offset) for value in groups[number])
        placed = [(value, offsets[id(value)]) for value in values]
        return Allocation(", preallocated-temp", color, size, placed)

    def allocation_text(self) -> str:
        """Print the allocations."""
        lines = ["BufferAssignment:"]
        for number, one in enumerate(self.allocations):
            color = f", color {one.color}" if one.color else ""
            lines.append(
                f"allocation {number}: size {one.size_bytes}{color}{one.flags}:"
            )
            lines += [
                f" value: {value.head} (size={value.size_bytes},offset={offset}): "
                f"{shape_text(value.shape)}"
                for value, offset in one.values
            ]
        return "\n".join(lines) + "\n"

    def value_text(self) -> str:
        """Print the values with their positions and uses."""
        total = sum(one.size_bytes for one in self.allocations)
        parts = [f"\nTotal bytes used: {total} ({_human(total)})\n\nUsed values:\n"]
        frames = self.program.frames()
        for value in [*self.local, *self.values]:
            positions = [f"  {name}{_spaced(i)}\n" for name, i in value.positions]
            uses = [
                f"  {name}, operand {number}{_spaced(i)}\n"
                for name, number, i in value.uses
            ]
            parts.append(
                f"{value.head}\n positions:\n{''.join(positions)} uses:\n"
                f"{''.join(uses or NO_USE)}"
                f" from instruction: {value.instruction.text(frames)}\n"
            )
        return "".join(parts)

    def range_text(self) -> str:
        """Print the schedule, the live ranges, and what is live at XLA's peak."""
        lines = [f"HloLiveRange (max {self.last_step}):", "  InstructionSequence:"]
        lines += [f"    {step}:{one.name}" for step, one in enumerate(self.schedule)]
        lines.append("  BufferLiveRange:")
        lines += [
            f"    {v.instruction.name}{_braced(v.index or ())}:{v.start}-{v.end}"
            for v in self.values
        ]
        peak = self._peak_step()
        lines.append(f"  Live ranges at {peak} (peak):")
        live = [v for v in self.values if v.start <= peak <= v.end]
        sums = 0
        for value in sorted(live, key=lambda v: -v.printed_bytes):
            sums += value.printed_bytes
            lines.append(
                f"    {value.instruction.name}{_braced(value.index or ())}: "
                f"{value.printed_bytes} bytes (cumulative: {sums} bytes)"
            )
        return "\n".join(lines) + "\n"

    def _peak_step(self) -> int:
        moves = [0] * (self.last_step + 2)
        for value in self.values:
            moves[value.start] += value.printed_bytes
            moves[value.end + 1] -= value.printed_bytes
        best, live, peak = -1, 0, 0
        for step, change in enumerate(moves):
            live += change
            if live > best:
                best, peak = live, step
        return peak


def _spaced(index: Path_ | None) -> str:
    return "" if index is None else f" {_braced(index)}"


def _human(size: int) -> str:
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if size >= 1 << power:
            return f"{size / (1 << power):.2f}{unit}"
    return f"{size / 1024:.1f}KiB" if size >= 1024 else f"{size}B"


def train_step(
    scale: int = 1, changed: bool = False, suffix: str = "", tokens: int = TOKENS
) -> Program:
    """Return a step of training: two loops over layers, one donated state and more.

    The weights of all layers are stacks, the activations of each layer are kept for
    the backward loop. The changed program has logits of f32 instead of bf16, and the
    optimiser's state isn't donated.
    """
    p = Program(f"jit_train_step{suffix}", DEVICES)
    experts = 2 * scale
    sharded = f"{{devices=[1,{DEVICES},1,1]<=[{DEVICES}]}}"
    b = p.entry
    stack = Array("bf16", (LAYERS, experts, MODEL, HIDDEN))
    flow = Array("bf16", (experts, tokens, MODEL))
    up = b.parameter(stack, "params['up']", sharded)
    down_shape = Array("bf16", (LAYERS, experts, HIDDEN, MODEL))
    down = b.parameter(down_shape, "params['down']", sharded)
    table = Array("f32", (experts, VOCABULARY, MODEL))
    embedding = b.parameter(table, "params['embedding']", "{replicated}")
    moment = b.parameter(stack, "opt_state[0].mu['up']", sharded)
    batch = b.parameter(flow, "batch['x']", f"{{devices=[{DEVICES},1,1]<=[{DEVICES}]}}")

    zero = b.op("constant", INDEX, "0")
    at = ("jit(step)/jvp()/while", 20)
    first = b.op("copy", flow, batch)
    count = b.op("copy", INDEX, zero)
    keep = Array("bf16", (LAYERS, experts, tokens, MODEL))
    allocate = 'custom_call_target="AllocateBuffer"'
    kept = b.op("custom-call", keep, at=("broadcast.1", 0), attributes=allocate)
    forward = [INDEX, flow, keep, stack, down_shape]
    body = _forward_body(p, forward, experts, tokens)
    start = [count, first, kept, up, down]
    loop = b.loop(start, forward, body, LAYERS, at)
    last = b.element(loop, 1, forward)
    saved = b.element(loop, 2, forward)

    parked = b.moved(last, HOST)
    element = "f32" if changed else "bf16"
    scores = Array(element, (experts, tokens, VOCABULARY))
    at = ("jit(step)/jvp()/logits/dot_general", 30)
    logits = b.dot(scores, last, embedding, (2, 2), at)
    router = Array("f32", (experts, tokens, 60))
    at = ("jit(step)/jvp()/router/dot_general", 31)
    routed = b.dot(router, last, last, (2, 2), at)
    at = ("jit(step)/jvp()/softmax", 32)
    share = b.fusion(scores, [logits], [("exponential", "")], at)
    loss = b.reduce(share, ("jit(step)/jvp()/reduce_sum", 33))
    at = ("jit(step)/jvp()/router/reduce_sum", 34)
    balance = b.reduce(routed, at)
    loss = b.op("add", Array("f32"), loss, balance, at=("jit(step)/jvp()/add", 34))
    turned = Array("bf16", (experts, tokens, MODEL), order=(1, 2, 0))
    back = b.op("copy", turned, parked)
    at = ("jit(step)/transpose(jvp())/logits/dot_general", 30)
    slope = b.fusion(
        flow, [share, embedding, back], [("dot", DOT), ("add", "")], at, "kOutput"
    )

    at = ("jit(step)/transpose(jvp())/while", 20)
    empty = b.op("constant", Array("bf16"), "0")
    at_sum = ("jit(step)/transpose(jvp())/broadcast_in_dim", 20)
    sums = b.op("broadcast", stack, empty, at=at_sum, attributes="dimensions={}")
    again = b.op("copy", INDEX, zero)
    backward = [INDEX, flow, stack, keep, stack, down_shape]
    body = _backward_body(p, backward, experts, tokens)
    start = [again, slope, sums, saved, up, down]
    loop = b.loop(start, backward, body, LAYERS, at)
    gradient = b.element(loop, 2, backward)

    at = ("jit(step)/adam/mul", 40)
    new_moment = b.fusion(stack, [moment, gradient], [("multiply", "")], at)
    at = ("jit(step)/adam/sub", 41)
    new_up = b.fusion(stack, [up, new_moment], [("subtract", "")], at)
    b.op("tuple", (stack, stack, Array("f32")), new_up, new_moment, loss)
    p.donated = {0: 0} if changed else {0: 0, 1: 3}
    return p


def _forward_body(
    p: Program, shapes: Sequence[Array], experts: int, tokens: int
) -> Computation:
    b = Block(p, p.new_name("wide.region"))
    given = b.parameter(tuple(shapes), name="wide.param")
    one = b.op("constant", INDEX, "1")
    step, flow, kept, up, down = (b.element(given, i, shapes) for i in range(5))
    kept = b.store(kept, flow, step, 21)
    weight = b.slice_of(up, step, Array("bf16", (experts, MODEL, HIDDEN)), 22)
    wide = Array("f32", (experts, tokens, HIDDEN))
    at = ("jit(step)/jvp()/while/body/mlp/dot_general", 23)
    hidden = b.dot(wide, flow, weight, (2, 1), at)
    narrow = Array("bf16", (experts, tokens, HIDDEN))
    at = ("jit(step)/jvp()/while/body/mlp/gelu", 24)
    active = b.fusion(narrow, [hidden], [("tanh", ""), ("convert", "")], at)
    weight = b.slice_of(down, step, Array("bf16", (experts, HIDDEN, MODEL)), 25)
    groups = f"[16,{DEVICES // 16}]<=[{DEVICES}]"
    at = ("jit(step)/jvp()/while/body/mlp/dot_general", 26)
    partial = b.dot(shapes[1], active, weight, (2, 1), at)
    adder = _adder(p, "bf16")
    result = b.op(
        "all-reduce",
        shapes[1],
        partial,
        at=at,
        attributes=f"channel_id=1, replica_groups={groups}, "
        f"use_global_device_ids=true, to_apply=%{adder}",
    )
    following = b.op("add", INDEX, step, one, at=("jit(step)/jvp()/while/body/add", 20))
    b.op("tuple", tuple(shapes), following, result, kept, up, down)
    return b.computation


def _backward_body(
    p: Program, shapes: Sequence[Array], experts: int, tokens: int
) -> Computation:
    b = Block(p, p.new_name("wide.region"))
    given = b.parameter(tuple(shapes), name="wide.param")
    one = b.op("constant", INDEX, "1")
    last = b.op("constant", INDEX, str(LAYERS - 1))
    step, slope, sums, kept, up, down = (b.element(given, i, shapes) for i in range(6))
    name = "jit(step)/transpose(jvp())/while/body"
    place = b.op("subtract", INDEX, last, step, at=(f"{name}/sub", 20))
    flow = b.slice_of(kept, place, shapes[1], 22)
    weight = b.slice_of(up, place, Array("bf16", (experts, MODEL, HIDDEN)), 22)
    wide = Array("f32", (experts, tokens, HIDDEN))
    hidden = b.dot(wide, flow, weight, (2, 1), (f"{name}/mlp/dot_general", 23))
    out = b.slice_of(down, place, Array("bf16", (experts, HIDDEN, MODEL)), 25)
    turned = b.dot(wide, slope, out, (2, 2), (f"{name}/mlp/dot_general", 26))
    narrow = Array("bf16", (experts, tokens, HIDDEN))
    at = (f"{name}/mlp/gelu", 24)
    inner = b.fusion(narrow, [hidden, turned], [("multiply", ""), ("convert", "")], at)
    at = (f"{name}/mlp/dot_general", 23)
    part = Array("bf16", (experts, MODEL, HIDDEN))
    local = b.dot(part, flow, inner, (1, 1), at)
    adder = _adder(p, "bf16")
    summed = b.op(
        "all-reduce",
        part,
        local,
        at=at,
        attributes=f"channel_id=2, replica_groups=[1,{DEVICES}]<=[{DEVICES}], "
        f"use_global_device_ids=true, to_apply=%{adder}",
    )
    sums = b.store(sums, summed, place, 22)
    slope = b.dot(shapes[1], inner, weight, (2, 2), at)
    following = b.op("add", INDEX, step, one, at=(f"{name}/add", 20))
    b.op("tuple", tuple(shapes), following, slope, sums, kept, up, down)
    return b.computation


def _adder(p: Program, element: str) -> str:
    inner = Block(p, p.new_name("add_region"))
    scalar = Array(element)
    left, right = inner.parameter(scalar), inner.parameter(scalar)
    inner.op("add", scalar, left, right)
    p.computations.append(inner.computation)
    p.reducers.append(inner.computation)
    return inner.computation.name


def evaluate(scale: int = 1, changed: bool = False, suffix: str = "") -> Program:
    """Return sums of eight replicated arguments of 25 GiB each, 200 GiB in all."""
    p = Program(f"jit_evaluate{suffix}", DEVICES)
    b = p.entry
    shape = Array("f32", (2 * scale * 25600, 1024, 128))
    given = [b.parameter(shape, f"ws[{i}]", "{replicated}") for i in range(8)]
    total = b.reduce(given[0], ("jit(evaluate)/reduce_sum", 50))
    for one in given[1:]:
        part = b.reduce(one, ("jit(evaluate)/reduce_sum", 50))
        total = b.op("add", Array("f32"), total, part, at=("jit(evaluate)/add", 51))
    return p


def decode(scale: int = 1, changed: bool = False, suffix: str = "") -> Program:
    """Return a step of decoding: a cache of 200 GiB over all devices, donated."""
    p = Program(f"jit_decode{suffix}", DEVICES)
    b = p.entry
    heads = 2 * scale
    sharded = f"{{devices=[{DEVICES},1,1]<=[{DEVICES}]}}"
    cache = b.parameter(Array("bf16", (1, heads, 8192, 25600)), "cache['k']", sharded)
    word = b.parameter(Array("bf16", (heads, 8192, 25600)), "new", sharded)
    place = b.parameter(INDEX, "position", "{replicated}")
    weight = Array("s8", (heads, 25600, 25600))
    matrix = b.parameter(weight, "params['up']", "{replicated}")
    groups = f"channel_id=1, replica_groups=[16,16]<=[{DEVICES}], dimensions={{1}}, "
    groups += "use_global_device_ids=true"
    every = b.op(
        "all-gather",
        Array("bf16", (heads, 16 * 8192, 25600)),
        word,
        at=("jit(decode)/all_gather", 60),
        attributes=groups,
    )
    at = ("jit(decode)/convert_element_type", 61)
    cast = b.op("convert", Array("bf16", weight.dims), matrix, at=at)
    mixed = Array("bf16", (heads, 16 * 8192, 25600))
    at = ("jit(decode)/mlp/dot_general", 62)
    score = b.fusion(mixed, [every, cast], [("dot", DOT)], at, "kOutput")
    part = b.op(
        "reduce-scatter",
        Array("bf16", (heads, 8192, 25600)),
        score,
        at=("jit(decode)/psum_scatter", 63),
        attributes=f"{groups}, to_apply=%{_adder(p, 'bf16')}",
    )
    b.store(cache, part, place, 64)
    p.donated = {0: 0}
    return p


def huge(scale: int = 1, changed: bool = False, suffix: str = "") -> Program:
    """Return a program on arrays of 2^40 bytes, with tiles that round much up."""
    p = Program(f"jit_huge{suffix}")
    b = p.entry
    rows = 2 * scale
    bytes_ = b.parameter(Array("s8", (rows, 1 << 20, 1 << 19)), "bytes")
    floats = b.parameter(Array("f32", (rows, 1 << 19, 1 << 18)), "floats")
    halves = b.parameter(Array("bf16", (rows, 1 << 19, 1 << 19)), "halves")
    nibbles = b.parameter(Array("s4", (rows, 1 << 20, 1 << 20)), "nibbles")
    odd = b.parameter(Array("f32", (rows, (1 << 30) - 1, 129)), "odd")
    wide = Array("bf16", (rows, 1 << 20, 1 << 19))
    at = ("jit(huge)/convert_element_type", 70)
    cast = b.op("convert", wide, bytes_, at=at)
    turned = Array("bf16", wide.dims, order=(1, 2, 0))
    other = b.op("copy", turned, cast, at=("jit(huge)/transpose", 71))
    total = b.reduce(other, ("jit(huge)/reduce_sum", 72))
    product = Array("f32", (rows, 1 << 19, 1 << 19))
    squared = b.dot(product, halves, halves, (2, 1), ("jit(huge)/dot_general", 73))
    at = ("jit(huge)/add", 74)
    doubled = b.fusion(
        Array("f32", (rows, 1 << 19, 1 << 18)), [floats, floats], ADD, at
    )
    at = ("jit(huge)/mul", 75)
    scaled = b.fusion(p.shape(odd), [odd, odd], [("multiply", "")], at)
    if changed:
        at = ("jit(huge)/sub", 76)
        scaled = b.fusion(p.shape(odd), [scaled, odd], [("subtract", "")], at)
    cast = b.op("convert", Array("s8", p.shape(nibbles).dims), nibbles)
    for one in (squared, doubled, scaled, cast):
        part = b.reduce(one, ("jit(huge)/reduce_sum", 77))
        total = b.op("add", Array("f32"), total, part, at=("jit(huge)/add", 78))
    return p


def long_chain(count: int, scale: int = 1, changed: bool = False) -> Program:
    """Return a program of `count` instructions on arrays of 256 MiB.

    Each hundredth result is read once more, a thousand steps later.
    """
    p = Program("jit_long_chain")
    b = p.entry
    shape = Array("f32", (2 * scale, 4096, 8192))
    last = b.parameter(shape, "x")
    waiting: list[str] = []
    opcodes = ("add", "multiply", "subtract", "maximum")
    for number in range(count - 2):
        opcode = opcodes[number % 4]
        other = last
        if number % 100 == 0:
            waiting.append(last)
            other = waiting.pop(0) if len(waiting) > (20 if changed else 10) else last
        at = (f"jit(long_chain)/layer_{number // 1000}/{opcode}", 100 + number % 1000)
        last = b.op(opcode, shape, last, other, at=at)
    b.op("negate", shape, last, at=("jit(long_chain)/neg", 99))
    return p


def programs(
    scale: int = 1, changed: bool = False, suffix: str = "", tokens: int = TOKENS
) -> list[Program]:
    """Return the set of programs that one run compiles; `suffix` ends their names."""
    return [
        train_step(scale, changed, suffix, tokens),
        evaluate(scale, changed, suffix),
        decode(scale, changed, suffix),
        huge(scale, changed, suffix),
    ]


TARGET = """\
replica_count: 1
tpu_topology_args {
  version: TPU_VERSION_VIPERFISH
  platform_type: TPU_PLATFORM_TYPE_HARDWARE
}
"""


def write_dump(folder: Path, made: Iterable[Program], has_input: bool = True) -> Path:
    """Write the dump of some programs as a TPU's compiler does.

    `has_input` says whether the program that was handed to XLA is there, too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, program in enumerate(made):
        stem = f"module_{number:04d}.{program.name}.cl_933746096"
        found = Assignment(program)
        after = f"{stem}.after_optimizations"
        files = {
            f"{after}.txt": program.text(),
            f"{after}-buffer-assignment.txt": found.allocation_text(),
            f"{after}-buffer-assignment-values.txt": found.value_text(),
            f"{after}-live-range.txt": found.range_text(),
            f"{stem}.target_arguments.txt": TARGET,
        }
        if has_input:
            text = program.text(is_scheduled=False)
            files[f"{stem}.before_optimizations.txt"] = text
        for name, text in files.items():
            (folder / name).write_text(text)
    return folder


def write_run(
    folder: Path, scale: int = 1, changed: bool = False, tokens: int = TOKENS
) -> Path:
    """Write the dump of all programs but the longest."""
    return write_dump(folder, programs(scale, changed, tokens=tokens))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    given = parser.parse_args()
    write_run(given.folder, given.scale, given.changed, given.tokens)
