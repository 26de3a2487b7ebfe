"""Reads the texts of a dump for the oracle: program, assignment and live ranges.

It shares no code with hlodb. It reads what XLA prints since 2021, one instruction per
line; anything else is an error, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.oracle import shapes

_STAGES = re.compile(
    r"(?:(.*/)?)module_(\d+)\.(.+?)\.(?:cl_\d+\.)?"
    r"((?:cpu_|sm_[\d.]+a?_gpu_)?after_optimizations|before_optimizations)\.txt"
)
_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"({_STRING})|/\*.*?\*/")
_MARK = re.compile(rf"{_STRING}|[()\[\]{{}},]")
_ROLES = (
    "calls", "to_apply", "condition", "body", "branch_computations",
    "true_computation", "false_computation", "called_computations", "select", "scatter",
)  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\"}


@dataclass(eq=False)
class Instruction:
    """An instruction; `number` counts all of the module in order of appearance.

    `operand_elements` are those that compact texts take of a tuple by its name alone.
    """

    number: int
    name: str
    opcode: str
    shape: str
    operand_names: tuple[str, ...]
    operand_elements: tuple[int | None, ...]
    inner: str
    attributes: dict[str, str]
    computation: Computation
    is_root: bool
    operands: tuple[Instruction, ...] = ()
    users: list[Instruction] = field(default_factory=list)
    calls: list[tuple[str, int, Computation]] = field(default_factory=list)
    step: int | None = None

    @property
    def logical_bytes(self) -> int:
        """Return the logical size of the result, of a tuple its table of pointers."""
        return shapes.logical_bytes(self.shape) or 0

    @property
    def result_bytes(self) -> int:
        """Return the logical size of the arrays of the result."""
        return shapes.array_bytes(self.shape)

    @cached_property
    def metadata(self) -> dict[str, str]:
        """Return the metadata, by key."""
        text = self.attributes.get("metadata", "")
        found = re.findall(rf"(\w+)=({_STRING}|[^\s,{{}}]+)", text)
        return {key: unquoted(value) for key, value in found}

    @property
    def op_name(self) -> str | None:
        """Return the framework path."""
        return self.metadata.get("op_name") or None

    @property
    def parameter_number(self) -> int | None:
        """Return the number of a parameter."""
        return int(self.inner) if self.opcode == "parameter" else None

    @property
    def backend_config(self) -> str:
        """Return the backend config as JSON or text."""
        return unquoted(self.attributes.get("backend_config", ""))

    @property
    def target(self) -> str | None:
        """Return the target of a custom call."""
        text = self.attributes.get("custom_call_target")
        return None if text is None else unquoted(text)

    def called(self, role: str) -> Computation | None:
        """Return the computation that is called in a role."""
        return next((c for r, _, c in self.calls if r == role), None)


@dataclass(eq=False)
class Computation:
    """A computation; its callers are in order of appearance."""

    number: int
    name: str
    is_entry: bool
    instructions: list[Instruction] = field(default_factory=list)
    callers: list[tuple[Instruction, str, int]] = field(default_factory=list)

    @property
    def root(self) -> Instruction:
        """Return the root: the marked instruction, or else the last."""
        marked = [i for i in self.instructions if i.is_root]
        return (marked or self.instructions)[-1]

    @property
    def kind(self) -> str | None:
        """Return how its first caller uses it; None where nothing calls it."""
        if self.is_entry:
            return "entry"
        if not self.callers:
            return None
        caller, role, _ = self.callers[0]
        if role == "calls":
            return "fusion" if caller.opcode == "fusion" else "async"
        if role == "to_apply":
            return "call" if caller.opcode == "call" else "reducer"
        return {
            "body": "while_body",
            "condition": "while_condition",
            "branch_computations": "branch",
            "true_computation": "branch",
            "false_computation": "branch",
            "select": "reducer",
            "scatter": "reducer",
        }.get(role, "call")

    @property
    def is_inlined(self) -> bool:
        """Return whether its instructions are not scheduled by themselves."""
        return self.kind in ("fusion", "reducer")


@dataclass(frozen=True)
class Frame:
    """A stack frame; `parent` is the calling frame."""

    number: int
    parent: int | None
    file_name: str
    function_name: str
    line: int


@dataclass(frozen=True)
class Alias:
    """An output that shares its memory with a parameter, or a donated parameter."""

    output_index: str | None
    parameter: int
    parameter_index: str
    kind: str


@dataclass(eq=False)
class Value:
    """A value; `index` is its place in a tuple-shaped result, None for an array."""

    number: int
    name: str
    index: str | None
    is_phi: bool
    color: int
    shape: str = ""
    instruction: Instruction | None = None
    positions: list[tuple[str, str | None]] = field(default_factory=list)
    uses: list[tuple[str, int]] = field(default_factory=list)
    start: int | None = None
    end: int | None = None

    def is_live(self, step: int) -> bool:
        """Return whether it is live at a step, both ends included."""
        return self.start is not None and self.start <= step <= (self.end or 0)

    @property
    def logical_bytes(self) -> int:
        """Return the logical size."""
        return shapes.logical_bytes(self.shape) or 0


@dataclass(eq=False)
class Place:
    """A value in an allocation."""

    value: Value
    offset: int
    size: int

    @property
    def end(self) -> int:
        """Return the first byte behind it."""
        return self.offset + self.size


@dataclass(eq=False)
class Allocation:
    """An allocation with its values."""

    number: int
    size: int
    color: int
    parameter: int | None
    parameter_index: str | None
    printed_shape: str | None
    flags: frozenset[str]
    places: list[Place] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Return the first kind that applies."""
        if self.parameter is not None:
            return "parameter"
        if "constant" in self.flags:
            return "constant"
        if "thread-local" in self.flags:
            return "thread_local"
        return "live_out" if self.is_live_out else "temp"

    @property
    def is_live_out(self) -> bool:
        """Return whether it may outlive the program."""
        return "maybe-live-out" in self.flags


@dataclass(eq=False)
class Module:
    """A compiled module with everything that its dump says."""

    path: str
    number: int
    program: str
    platform: str
    header: str
    computations: list[Computation]
    frames: dict[int, Frame]
    allocations: list[Allocation] = field(default_factory=list)
    values: dict[int, Value] = field(default_factory=dict)
    schedule: list[Instruction | None] = field(default_factory=list)
    last_step: int | None = None
    printed_total: int | None = None
    printed_peak: tuple[int, int] | None = None

    @cached_property
    def by_name(self) -> dict[str, Instruction]:
        """Return all instructions by name."""
        return {i.name: i for i in self.instructions}

    @property
    def instructions(self) -> list[Instruction]:
        """Return all instructions in order of appearance."""
        return [i for c in self.computations for i in c.instructions]

    @property
    def entry(self) -> Computation:
        """Return the entry computation."""
        return next(c for c in self.computations if c.is_entry)

    @property
    def colors(self) -> list[int]:
        """Return the memory spaces in use."""
        return sorted({a.color for a in self.allocations})

    @property
    def aliases(self) -> list[Alias]:
        """Return what the header says of shared memory and donated parameters."""
        found = []
        text = _header_value(self.header, "input_output_alias")
        for output, number, index, kind in re.findall(
            r"(\{[\d, ]*\}): \((\d+), (\{[\d, ]*\})(?:, (\w+-alias))?\)", text
        ):
            found.append(Alias(_index(output), int(number), _index(index), kind))
        text = _header_value(self.header, "buffer_donor")
        for number, index in re.findall(r"\((\d+), (\{[\d, ]*\})\)", text):
            found.append(Alias(None, int(number), _index(index), "donor"))
        return found

    def header_number(self, key: str) -> int:
        """Return a number of the header, 1 where it is not printed."""
        found = re.search(rf"\b{key}=(\d+)", self.header)
        return int(found[1]) if found else 1


# --- Files --------------------------------------------------------------------------


def read_dump(folder: Path) -> list[Module]:
    """Return the compiled modules of a folder, with their assignments if dumped."""
    modules = []
    for path in sorted(folder.rglob("*after_optimizations.txt")):
        inside = path.relative_to(folder).as_posix()
        named = _STAGES.fullmatch(inside)
        if named is None:
            continue
        module = read_module(path.read_text("utf-8", "replace"), inside)
        module.number, module.program = int(named[2]), _program(named[3])
        module.platform = (
            "cpu" if named[4].startswith("cpu") else
            "gpu" if "gpu" in named[4] else "tpu"
        )  # fmt: skip
        stem = path.as_posix().removesuffix(".txt")
        parts = [
            Path(f"{stem}-{part}.txt")
            for part in ("buffer-assignment", "buffer-assignment-values", "live-range")
        ]
        if parts[0].exists():
            texts = [p.read_text("utf-8", "replace") for p in parts if p.exists()]
            read_assignment(module, "\n".join(texts))
        modules.append(module)
    return modules


def _program(name: str) -> str:
    """Return the name of a module without what changes with every compilation."""
    return re.sub(r"_*(\.\d+)?$", "", name)


def _header_value(header: str, key: str) -> str:
    start = header.find(f"{key}={{")
    if start < 0:
        return ""
    start += len(key) + 1
    return header[start : _closing(header, start) + 1]


def _index(text: str) -> str:
    return text.replace(" ", "")


def unquoted(text: str) -> str:
    """Return a string without quotes and escapes; other text as it is."""
    if not (len(text) > 1 and text[0] == text[-1] == '"'):
        return text
    return re.sub(
        r"\\([0-7]{3}|.)",
        lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else _ESCAPES.get(m[1], m[1]),
        text[1:-1],
    )


# --- HLO text -----------------------------------------------------------------------


def read_module(text: str, path: str) -> Module:
    """Return the module of an HLO text."""
    lines = text.split("\n")
    module = Module(path, 0, "", "", lines[0], [], _frames(lines))
    assert lines[0].startswith("HloModule "), path
    current: Computation | None = None
    for line in lines[1:]:
        if current is None:
            if line.rstrip().endswith("{") and not line.startswith(" "):
                head = line.removeprefix("ENTRY ").lstrip("%")
                name = re.split(r"[ (]", head, maxsplit=1)[0]
                is_entry = line.startswith("ENTRY ")
                current = Computation(len(module.computations), name, is_entry)
                module.computations.append(current)
        elif line.startswith("}"):
            current = None
        elif line.strip():
            current.instructions.append(_instruction(line, current))
    _number(module)
    return module


def _number(module: Module) -> None:
    by_name = {c.name: c for c in module.computations}
    for number, instruction in enumerate(module.instructions):
        instruction.number = number
    for instruction in module.instructions:
        instruction.operands = tuple(
            module.by_name[name] for name in instruction.operand_names
        )
        for operand in instruction.operands:
            operand.users.append(instruction)
        for role in _ROLES:
            text = instruction.attributes.get(role, "")
            for ordinal, name in enumerate(re.findall(r"[^\s,%{}]+", text)):
                if name in by_name:
                    called = by_name[name]
                    instruction.calls.append((role, ordinal, called))
                    called.callers.append((instruction, role, ordinal))


def _instruction(line: str, computation: Computation) -> Instruction:
    text = line.strip()
    is_root = text.startswith("ROOT ")
    name, _, rest = text.removeprefix("ROOT ").partition(" = ")
    end = _closing(rest, 0) + 1 if rest.startswith("(") else rest.index(" ")
    shape, rest = rest[:end], _without_comments(rest[end:]).lstrip()
    opcode, _, _ = rest.partition("(")
    start = len(opcode)
    end = _closing(rest, start)
    inner = rest[start + 1 : end]
    operands: list[str] = []
    elements: list[int | None] = []
    if opcode not in ("parameter", "constant"):
        for piece in _split(inner):
            operand, _, element = piece.split(" ")[-1].lstrip("%").partition("#")
            operands.append(operand)
            elements.append(int(element.partition("#")[0]) if element else None)
    attributes: dict[str, str] = {}
    for piece in _split(rest[end + 1 :].lstrip(", ")):
        key, _, value = piece.partition("=")
        if key == "device_ids":  # Of replica groups that are named by a mesh.
            attributes["replica_groups"] += f", {piece}"
        else:
            attributes[key] = value
    return Instruction(
        -1, name.lstrip("%"), opcode, shape, tuple(operands), tuple(elements), inner,
        attributes, computation, is_root,
    )  # fmt: skip


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda m: m[1] or "", text)


def _closing(text: str, start: int) -> int:
    depth = 0
    for mark in _MARK.finditer(text, start):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth -= 1
            if depth == 0:
                return mark.start()
    raise AssertionError(f"unbalanced: {text[start : start + 80]}")


def _split(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for mark in _MARK.finditer(text):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth -= 1
        elif mark[0] == "," and depth == 0:
            yield text[start : mark.start()].strip()
            start = mark.end()
    if text[start:].strip():
        yield text[start:].strip()


def _frames(lines: list[str]) -> dict[int, Frame]:
    tables: dict[str, dict[int, str]] = {}
    current: dict[int, str] | None = None
    for line in lines:
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            current = tables[line] = {}
        elif current is not None and line[:1].isdigit():
            number, _, rest = line.partition(" ")
            current[int(number)] = rest
        elif line.endswith("{"):
            break
    frames = {}
    for frame_id, text in tables.get("StackFrames", {}).items():
        frame = _numbers(text)
        place = _numbers(tables["FileLocations"][frame["file_location_id"]])
        parent = frame.get("parent_frame_id", 1) - 1
        frames[frame_id] = Frame(
            frame_id,
            parent or None,
            unquoted(tables["FileNames"][place["file_name_id"]]),
            unquoted(tables["FunctionNames"][place["function_name_id"]]),
            place["line"],
        )
    return frames


def _numbers(text: str) -> dict[str, int]:
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", text)}


# --- Buffer assignment --------------------------------------------------------------

_ALLOCATION = re.compile(r"allocation (\d+): (?:0x[0-9a-f]+, )?size (\d+)(.*):")
_PARAMETER = re.compile(
    r", parameter (\d+)(?:, shape \|(.*?)\|)? at ShapeIndex (\{.*?\})"
)
_OUTPUT = re.compile(r", output shape is \|(.*?)\|")
_VALUE = r"<(\d+) ([^\s{}]+?)(\{[\d,]*\})?( \(phi\))?(?: @(\d+))?>"
_PLACE = re.compile(rf" value: {_VALUE} \(size=(\d+),offset=(\d+)\): (.*)")
_USED = re.compile(
    rf"{_VALUE}\n positions:\n((?:  [^\n]*\n)+) uses:\n((?:  [^\n]*\n)*)"
)
_RANGE = re.compile(r"    (\S+?)(\{[\d,]*\}):(\d+)-(\d+)")
_PEAK = re.compile(r"    (\S+?)(?:\{[\d,]*\})?: (\d+) bytes")


def read_assignment(module: Module, text: str) -> None:
    """Add allocations, values, schedule and live ranges to a module."""
    assigned, _, ranges = text.partition("HloLiveRange (max ")
    start, _, values = assigned.partition("Total bytes used: ")
    if values:
        module.printed_total = int(values.split()[0])
    _read_allocations(module, start)
    for found in _USED.finditer(values):
        value = _value(module, found)
        for line in found[6].splitlines():
            name, _, index = line.strip().partition(" ")
            value.positions.append((name, _index(index) or None))
        for name, number in re.findall(r"  (\S+), operand (\d+)", found[7]):
            value.uses.append((name, int(number)))
    if ranges:
        _read_ranges(module, ranges)


def _value(module: Module, found: re.Match[str]) -> Value:
    number = int(found[1])
    value = module.values.get(number)
    if value is None:
        value = module.values[number] = Value(
            number,
            found[2],
            found[3],
            bool(found[4]),
            int(found[5] or 0),
            instruction=module.by_name.get(found[2]),
        )
    return value


def _read_allocations(module: Module, text: str) -> None:
    for line in text.split("\n"):
        if head := _ALLOCATION.fullmatch(line):
            flags = head[3]
            parameter, output = _PARAMETER.search(flags), _OUTPUT.search(flags)
            color = re.match(r", color (\d+)", flags)
            shape = parameter[2] if parameter else output[1] if output else None
            plain = _OUTPUT.sub("", _PARAMETER.sub("", flags))
            module.allocations.append(
                Allocation(
                    int(head[1]),
                    int(head[2]),
                    int(color[1]) if color else 0,
                    int(parameter[1]) if parameter else None,
                    _index(parameter[3]) if parameter else None,
                    shape,
                    frozenset(plain.lstrip(", ").split(", ")),
                )
            )
        elif place := _PLACE.fullmatch(line):
            value = _value(module, place)
            value.shape = place[8]
            module.allocations[-1].places.append(
                Place(value, int(place[7]), int(place[6]))
            )


def _read_ranges(module: Module, text: str) -> None:
    last, _, rest = text.partition(")")
    module.last_step = int(last)
    sequence, _, rest = rest.partition("  BufferLiveRange:\n")
    ranges, _, peak = rest.partition("  Live ranges at ")
    for step, name in re.findall(r"\n    (\d+):(\S+)", sequence):
        assert int(step) == len(module.schedule)
        instruction = module.by_name.get(name)
        module.schedule.append(instruction)
        if instruction is not None and instruction.step is None:
            instruction.step = int(step)
    places = {(v.name, v.index or "{}"): v for v in module.values.values()}
    for name, index, start, end in _RANGE.findall(ranges):
        module.last_step = max(module.last_step, int(end))
        value = places.get((name, index))
        if value is not None:
            value.start, value.end = int(start), int(end)
    if peak:
        listed = peak.partition("  Stack trace breakdown")[0]
        module.printed_peak = (
            int(peak.split()[0]),
            sum(int(size) for _, size in _PEAK.findall(listed)),
        )
