"""The shapes of instructions that are written without one, as XLA infers them.

An element-wise instruction takes over the layout of its operand; the others have none,
which is XLA's default layout. What is not inferred here is left without a shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hlodb.ingest.formats.hlo_text.grammar.shapes import array_parts, elements_of
from hlodb.ingest.formats.hlo_text.grammar.syntax import ParsedInstruction

_NUMBER = re.compile(r"-?[0-9]+")
_COMPLEX = {"f32": "c64", "f64": "c128"}
_PARTS = {"c64": "f32", "c128": "f64"}

Rule = Callable[[ParsedInstruction, Sequence[str]], str | None]
"""From an instruction and the shapes of its operands to its own."""


def inferred_shape(instruction: ParsedInstruction) -> str | None:
    """Return the shape of an instruction that has none, None where it is not known."""
    rule = _RULES.get(instruction.opcode)
    shapes = [operand.shape for operand in instruction.operands]
    known = [shape for shape in shapes if shape is not None]
    if rule is None or len(known) < len(shapes):
        return None
    try:
        return rule(instruction, known)
    except (IndexError, ValueError):
        return None


def _numbers(instruction: ParsedInstruction, attribute: str) -> list[int]:
    return [int(n) for n in _NUMBER.findall(instruction.attributes.get(attribute, ""))]


def _called(instruction: ParsedInstruction) -> str | None:
    """Return the shape of the root of what an instruction calls first."""
    return instruction.calls[0][1][0].root.shape if instruction.calls else None


def _operand(at: int) -> Rule:
    return lambda _, shapes: shapes[at]


def _fixed(shape: str) -> Rule:
    return lambda _, __: shape


def _as(element_type: str | dict[str, str]) -> Rule:
    """Return the rule for another element type, one for all or each its own."""

    def rule(_: ParsedInstruction, shapes: Sequence[str]) -> str | None:
        own, bracket, rest = shapes[0].partition("[")
        if isinstance(element_type, str):
            return f"{element_type}{bracket}{rest}"
        return f"{element_type.get(own, own)}{bracket}{rest}"

    return rule


def _largest(_: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    """Return the shape of a binary operation, whose other operand may be a scalar."""
    first, second = (array_parts(shape) for shape in shapes[:2])
    if first is None or second is None or len(first[1]) >= len(second[1]):
        return shapes[0]
    return shapes[1]


def _array(element_type: str, dimensions: Sequence[int | str]) -> str:
    return f"{element_type}[{','.join(map(str, dimensions))}]"


def _tuple(_: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    return f"({', '.join(shapes)})"


def _element(instruction: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    elements = elements_of(shapes[0])
    [index] = _numbers(instruction, "index")
    return elements[index] if elements is not None else None


def _reordered(instruction: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    """Return the shape of a transposition, whose elements stay where they are."""
    parts = array_parts(shapes[0])
    if parts is None:
        return None
    order = _numbers(instruction, "dimensions")
    layout = [int(n) for n in _NUMBER.findall(parts[2].partition(":")[0])]
    minor_to_major = layout or range(len(order) - 1, -1, -1)
    printed = ",".join(str(order.index(at)) for at in minor_to_major)
    shape = _array(parts[0], [parts[1][at] for at in order])
    return f"{shape}{{{printed}}}" if printed else shape


def _joined(instruction: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    arrays = [parts for shape in shapes if (parts := array_parts(shape))]
    element_type, dimensions, _ = arrays[0]
    [at] = _numbers(instruction, "dimensions")
    whole = sum(int(parts[1][at]) for parts in arrays)
    return _array(element_type, [*dimensions[:at], whole, *dimensions[at + 1 :]])


def _padded(instruction: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    parts = array_parts(shapes[0])
    if parts is None:
        return None
    sizes = []
    padding = instruction.attributes["padding"].split("x")
    for size, said in zip(map(int, parts[1]), padding, strict=True):
        low, high, inside = (*map(int, said.split("_")), 0)[:3]
        sizes.append(low + high + size + inside * max(size - 1, 0))
    return _array(parts[0], sizes)


def _reduced(instruction: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    """Return the shape of a reduction of one array or of several."""
    gone = _numbers(instruction, "dimensions")
    found = []
    for shape in shapes[: len(shapes) // 2]:
        parts = array_parts(shape)
        if parts is None:
            return None
        left = [size for at, size in enumerate(parts[1]) if at not in gone]
        found.append(_array(parts[0], left))
    return found[0] if len(found) == 1 else f"({', '.join(found)})"


def _mapped(instruction: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    called, parts = _called(instruction), array_parts(shapes[0])
    own = array_parts(called) if called else None
    return _array(own[0], parts[1]) if own and parts else None


def _multiplied(instruction: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    """Return the shape of a dot: batch, then what is left of each side."""
    left, right = (array_parts(shape) for shape in shapes[:2])
    if left is None or right is None:
        return None
    batch = _numbers(instruction, "lhs_batch_dims")
    sizes = [left[1][at] for at in batch]
    for side, parts in (("lhs", left), ("rhs", right)):
        gone = _numbers(instruction, f"{side}_contracting_dims")
        gone += _numbers(instruction, f"{side}_batch_dims")
        sizes += [size for at, size in enumerate(parts[1]) if at not in gone]
    return _array(left[0], sizes)


def _sorted(_: ParsedInstruction, shapes: Sequence[str]) -> str | None:
    return shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"


_UNARY = """
    acos acosh asin asinh atanh cbrt ceil cosh cosine count-leading-zeros erf exp2
    exponential exponential-minus-one floor log log2 log-plus-one logistic negate not
    popcnt round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh
"""
_BINARY = """
    add and atan2 divide maximum minimum mulhi multiply or power remainder shift-left
    shift-right-arithmetic shift-right-logical subtract xor
"""
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNARY.split(), _operand(0)),
    "abs": _as(_PARTS),
    **dict.fromkeys(_BINARY.split(), _largest),
    **dict.fromkeys(
        (
            "add-dependency",
            "cholesky",
            "copy",
            "domain",
            "reverse",
            "scatter",
            "shuffle",
            "while",
        ),
        _operand(0),
    ),
    **dict.fromkeys(("clamp", "select", "triangular-solve"), _operand(1)),
    **dict.fromkeys(("partition-id", "replica-id"), _fixed("u32[]")),
    **dict.fromkeys(("call", "conditional"), lambda i, _: _called(i)),
    "select-and-scatter": _operand(0),
    "after-all": _fixed("token[]"),
    "get-dimension-size": _fixed("s32[]"),
    "compare": _as("pred"),
    "is-finite": _as("pred"),
    "complex": _as(_COMPLEX),
    "real": _as(_PARTS),
    "imag": _as(_PARTS),
    "tuple": _tuple,
    "get-tuple-element": _element,
    "transpose": _reordered,
    "concatenate": _joined,
    "pad": _padded,
    "reduce": _reduced,
    "map": _mapped,
    "dot": _multiplied,
    "sort": _sorted,
}
