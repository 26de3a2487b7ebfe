"""Where values come from: source lines, framework paths and phases."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tests.oracle.dump import Frame, Instruction, Module, Value
from tests.oracle.recompute.flow import WHOLE, Array, makers, operand_of

_FRAMEWORKS = (
    "jax", "jaxlib", "flax", "optax", "haiku", "equinox", "tensorflow", "keras",
    "torch", "torch_xla",
)  # fmt: skip
_FRAGMENTS = [
    *(f"/site-packages/{name}/" for name in _FRAMEWORKS),
    *(f"/dist-packages/{name}/" for name in _FRAMEWORKS),
    "/lib/python",
    "<frozen ",
]
_FURTHEST = 4
_COMBINED = {
    "all-gather", "all-reduce", "all-reduce-start", "all-to-all",
    "collective-permute", "reduce-scatter",
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A line of the user's code; no file where only a framework's line is known."""

    file: str | None
    line: int | None
    function: str | None


@dataclass(frozen=True)
class Attributed:
    """The line that a value counts for, and the path that goes with it."""

    attribution: str
    source: Source
    op_name: str | None


def is_framework(file: str) -> bool:
    """Return whether a file is one of a framework."""
    return any(fragment in file for fragment in _FRAGMENTS)


def stack(module: Module, instruction: Instruction) -> list[Frame]:
    """Return the frames of an instruction, the innermost first, each once."""
    text = instruction.metadata.get("stack_frame_id")
    found: list[Frame] = []
    frame = module.frames.get(int(text)) if text else None
    while frame is not None and frame not in found:
        found.append(frame)
        frame = module.frames.get(frame.parent) if frame.parent else None
    return found


def source_of(module: Module, instruction: Instruction | None) -> Source | None:
    """Return the source of an instruction; None where nothing is known."""
    if instruction is None:
        return None
    frames = stack(module, instruction)
    file: str | None
    function: str | None
    if frames:
        users = [f for f in frames if not is_framework(f.file_name)]
        frame = (users or frames)[0]
        file, line, function = frame.file_name, frame.line, frame.function_name
    else:
        file = instruction.metadata.get("source_file")
        line = int(instruction.metadata.get("source_line", "0"))
        function = None
    if not file or file == "dummy_file_name":
        return None
    if is_framework(file):
        return Source(None, None, None)
    return Source(file, line, function)


def attributed(module: Module, value: Value, kind: str) -> Attributed | None:
    """Return the line of a value: of what computed it, or else of its first reader.

    A temporary value or an output without a line, or with that of a loop, has the line
    of what computed the array, where that is known; so has an element of a collective
    that was made of several. Only temporary values without a
    line look further: to their readers, to the readers of the results of readers
    without a line, and so on, four steps at most.
    """
    own = source_of(module, value.instruction)
    if kind in ("temp", "live_out") and (
        own is None or _is_of_loop(module, own) or _combined(value) is not None
    ):
        stored = _stored(module, value)
        if stored is not None:
            return stored
    if own is not None and value.instruction is not None:
        return Attributed("defined", own, value.instruction.op_name)
    return _read(module, value) if kind == "temp" else None


def _stored(module: Module, value: Value) -> Attributed | None:
    """Return the line of what computed a value: first of what an update wrote."""
    if value.instruction is None:
        return None
    outermost = re.match(r"\{(\d+)", value.index or "")
    own = Array(value.instruction, int(outermost[1]) if outermost else WHOLE)
    start = _combined(value) or own
    found = []
    for maker, is_stored in makers(start).items():
        source = source_of(module, maker)
        if source and source.file is not None and not _is_of_loop(module, source):
            found.append((not is_stored, maker.number, source, maker.op_name))
    if not found:
        return None
    _, _, source, path = min(found, key=lambda one: one[:2])
    return Attributed("stored", source, path)


def _combined(value: Value) -> Array | None:
    """Return the operand that an element of a combined collective is made of."""
    made = value.instruction
    outermost = re.match(r"\{(\d+)", value.index or "")
    if made is None or made.opcode not in _COMBINED or outermost is None:
        return None
    place = int(outermost[1])
    return operand_of(made, place) if place < len(made.operands) else None


def _is_of_loop(module: Module, source: Source) -> bool:
    return source.file is not None and (source.file, source.line) in _loop_lines(module)


@lru_cache(maxsize=4)
def _loop_lines(module: Module) -> set[tuple[str | None, int | None]]:
    sources = [source_of(module, i) for i in module.instructions if i.opcode == "while"]
    return {(source.file, source.line) for source in sources if source}


def _read(module: Module, value: Value) -> Attributed | None:
    """Return the line of the first reader that has one."""
    defined: dict[str, list[Value]] = {}
    for other in module.values.values():
        defined.setdefault(other.name, []).append(other)
    reached = [value]
    for _ in range(_FURTHEST):
        names = {name for v in reached for name, _ in v.uses}
        found = [module.by_name[name] for name in names if name in module.by_name]
        sourced = [i for i in found if source_of(module, i) is not None]
        if sourced:
            first = min(sourced, key=lambda i: (_step(i), i.number))
            source = source_of(module, first)
            assert source is not None
            return Attributed("read", source, first.op_name)
        reached = [v for i in found for v in defined.get(i.name, [])]
    return None


def _step(instruction: Instruction) -> float:
    return float("inf") if instruction.step is None else instruction.step


def op_path(instruction: Instruction | None) -> str | None:
    """Return the framework path, with numbers that end a part replaced by a star."""
    if instruction is None or instruction.op_name is None:
        return None
    return re.sub(r"(?<=[_.\[])\d+(?:_\d+)*(?=[/)\]]|$)", "*", instruction.op_name)
