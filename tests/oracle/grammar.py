"""Makes HLO text as people write it, by a grammar of our own: sound, and broken.

A text is made as pieces (words and marks) and then laid out: with any white space and
comments between them that XLA's lexer allows. The same number gives the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

_NAMES = (
    "a", "b", "x", "y", "p0", "p0_0", "p.1", "p.2", "x.1", "add", "add.1", "negate",
    "negate.anon", "multiply.anon.1", "async_wrapped", "_", "v-1", "ROOT_", "b.01",
    "x.y.7", "fusion", "call", "z.0", "parameter",
)  # fmt: skip
_SHAPES = ("f32[2]", "f32[2]{0}", "f32[2,3]", "f32[2,3]{0,1}", "s32[]", "f32[]")
_UNARY = ("negate", "abs", "copy", "exponential")
_BINARY = ("add", "multiply", "subtract", "maximum", "power")
_NESTED = ("negate", "abs", "add", "multiply")
_TUPLE = "tuple"


@dataclass
class _Value:
    """An instruction that is written: its name and shape, whether it is async."""

    name: str
    shape: str
    wrapped: str | None = None


@dataclass
class _Computation:
    """A computation from one parameter of a shape to the same."""

    name: str
    shape: str


@dataclass
class _Scope:
    """The instructions of the computation that is being written."""

    values: list[_Value] = field(default_factory=list)
    parameters: int = 0
    names: set[str] = field(default_factory=set)

    def arrays(self, shape: str | None = None) -> list[_Value]:
        """Return values that are arrays, of a shape or any."""
        return [
            value
            for value in self.values
            if not value.shape.startswith("(")
            and (shape is None or _dimensions(value.shape) == _dimensions(shape))
        ]


_Right: TypeAlias = tuple[list[str], str, str | None]
"""The pieces behind `=`, the shape, and what opcode an async instruction wraps."""


def _dimensions(shape: str) -> str:
    return shape.partition("{")[0]


class Writer:
    """Writes modules; `random` decides."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.computations: list[_Computation] = []
        self.names: set[str] = set()
        self.is_signed = True

    def chance(self, share: float) -> bool:
        """Decide with a probability."""
        return self.random.random() < share

    def module(self) -> list[str]:
        """Return the pieces of a module."""
        random = self.random
        pieces = ["HloModule ", random.choice(("m", "jit_f", "m.1", "a-b"))]
        if self.chance(0.4):
            pieces += [",", "is_scheduled=", random.choice(("true", "false"))]
        if self.chance(0.2):
            pieces += [",", "replica_count=", "2"]
        has_header = self.chance(0.9)
        # XLA takes text without header only where a brace follows the first name.
        self.is_signed = has_header
        body: list[str] = []
        for _ in range(random.randint(0, 2)):
            body += self.computation(is_entry=False)
        is_marked = self.chance(0.7) or not has_header
        body += self.computation(is_entry=is_marked)
        if is_marked and self.chance(0.15):
            body += self.computation(is_entry=False)
        return (pieces if has_header else []) + body

    def computation(self, is_entry: bool) -> list[str]:
        """Return the pieces of a named computation."""
        random = self.random
        name = self.new_name(self.names)
        shape = random.choice(_SHAPES)
        percent = "%" if self.chance(0.5) else ""
        pieces = ["ENTRY "] if is_entry else []
        pieces.append(percent + name)
        body, result = self.body(shape)
        if self.is_signed and self.chance(0.4):
            parameter = _dimensions(shape)
            pieces += ["(", "p:", parameter, ")", "->", _bare(result)]
        pieces += ["{", *body, "}"]
        if self.chance(0.1):
            pieces += [",", "execution_thread=", '"host"']
        if _dimensions(result) == _dimensions(shape):
            self.computations.append(_Computation(name, shape))
        return pieces

    def body(self, shape: str) -> tuple[list[str], str]:
        """Return the pieces of instructions, and the shape of the root."""
        scope = _Scope()
        pieces: list[str] = []
        pieces += self.instruction(scope, self.parameter(scope, shape))
        count = self.random.randint(0, 5)
        for _ in range(count):
            pieces += self.instruction(scope, self.any(scope))
        last = scope.arrays(shape)[0] if self.chance(0.7) else scope.values[-1]
        if last.shape.startswith("("):
            last = scope.arrays()[0]
        end = [_dimensions(last.shape), " negate", "(", *self.name(last), ")"]
        pieces += self.instruction(scope, (end, last.shape, None), is_root=True)
        return pieces, last.shape

    def instruction(
        self,
        scope: _Scope,
        right: _Right,
        is_root: bool = False,
    ) -> list[str]:
        """Return the pieces of `name = …`; the name is known from there on."""
        pieces, shape, wrapped = right
        name = self.new_name(scope.names)
        scope.values.append(_Value(name, shape, wrapped))
        percent = "%" if self.chance(0.4) else ""
        root = ["ROOT "] if is_root and self.chance(0.8) else []
        end = self.attributes(scope) if self.chance(0.3) else []
        return [*root, percent + name, " = ", *pieces, *end, "\n"]

    def new_name(self, taken: set[str]) -> str:
        """Return a name that is not taken; it is then."""
        while True:
            name = self.random.choice(_NAMES)
            if name in taken or self.chance(0.3):
                name += f".{self.random.randint(1, 9)}"
            if name not in taken:
                taken.add(name)
                return name

    def name(self, value: _Value) -> list[str]:
        """Return an operand by its name, with its shape or not."""
        percent = "%" if self.chance(0.4) else ""
        shape = [_dimensions(value.shape) + " "] if self.chance(0.15) else []
        if value.shape.startswith("("):
            shape = []
        return [*shape, percent + value.name]

    def attributes(self, scope: _Scope) -> list[str]:
        """Return attributes that any instruction may have."""
        choice = self.random.randint(0, 3)
        if choice == 0:
            return [",", "metadata=", "{", 'op_name="f // g /* } */"', " ",
                    "source_line=", "3", "}"]  # fmt: skip
        if choice == 1:
            return [",", "sharding=", "{", "replicated", "}"]
        if choice == 2:
            return [",", "frontend_attributes=", "{", 'k="v, {("', "}"]
        earlier = [v for v in scope.values[:-1] if self.chance(0.5)][:2]
        if not earlier:
            return [",", "backend_config=", '"x{"']
        pieces = [",", "control-predecessors=", "{"]
        for at, value in enumerate(earlier):
            pieces += [","] * bool(at) + ["%" + value.name]
        return [*pieces, "}"]

    # --- instructions ---

    def parameter(self, scope: _Scope, shape: str) -> _Right:
        """Return the next parameter."""
        number = scope.parameters
        scope.parameters += 1
        return [shape, " parameter", "(", str(number), ")"], shape, None

    def any(self, scope: _Scope) -> _Right:
        """Return any instruction that the values so far allow."""
        kinds: list[Callable[[_Scope], _Right | None]] = [
            self.elementwise, self.elementwise, self.elementwise, self.compare,
            self.pair, self.element, self.constant, self.called, self.inline,
            self.start, self.done, self.reduced, self.moved, self.fused,
        ]  # fmt: skip
        while True:
            found = self.random.choice(kinds)(scope)
            if found is not None:
                return found

    def operand(self, scope: _Scope, shape: str, depth: int = 0) -> list[str]:
        """Return an operand of a shape: a name, or an instruction in its place."""
        values = scope.arrays(shape)
        is_number = not shape.startswith("pred")
        if depth < 3 and is_number and self.chance(0.25):
            opcode = self.random.choice(_NESTED)
            count = 1 if opcode in _UNARY else 2
            own = [_dimensions(shape) + " "] if self.chance(0.5) else []
            pieces = [*own, opcode, "("]
            for at in range(count):
                pieces += [","] * bool(at) + self.operand(scope, shape, depth + 1)
            return [*pieces, ")"]
        return self.name(self.random.choice(values))

    def elementwise(self, scope: _Scope) -> _Right:
        """Return a unary or binary instruction, its shape written or not."""
        shape = self.random.choice(scope.arrays()).shape
        opcode = self.random.choice(_UNARY + _BINARY)
        if not shape.startswith("f32"):
            opcode = self.random.choice(("negate", "add", "multiply"))
        count = 1 if opcode in _UNARY else 2
        own = self.shape_or_none(shape)
        if shape.startswith("pred"):
            own = [_dimensions(shape) + " "]
        pieces = [*own, opcode, "("]
        for at in range(count):
            pieces += [","] * bool(at) + self.operand(scope, shape)
        if self.chance(0.05):
            pieces.append(",")
        result = _dimensions(shape)
        return [*pieces, ")"], result, None

    def shape_or_none(self, shape: str) -> list[str]:
        """Return a shape, or nothing: it follows from the operands."""
        return [_dimensions(shape) + " "] if self.chance(0.7) else []

    def compare(self, scope: _Scope) -> _Right:
        """Return a comparison."""
        shape = self.random.choice(scope.arrays()).shape
        result = "pred" + _dimensions(shape)[_dimensions(shape).index("[") :]
        if shape.startswith("pred"):
            shape = scope.arrays()[0].shape
            result = "pred" + _dimensions(shape)[_dimensions(shape).index("[") :]
        own = [result + " "] if self.chance(0.6) else []
        operands = [*self.operand(scope, shape), ",", *self.operand(scope, shape)]
        return (
            [*own, "compare", "(", *operands, ")", ",", "direction=", "LT"],
            result,
            None,
        )

    def pair(self, scope: _Scope) -> _Right:
        """Return a tuple of some values."""
        values = [self.random.choice(scope.values) for _ in range(2)]
        shape = f"({', '.join(_bare(value.shape) for value in values)})"
        own = [shape + " "] if self.chance(0.7) else []
        pieces = [*own, _TUPLE, "("]
        for at, value in enumerate(values):
            pieces += [","] * bool(at) + self.name(value)
        return [*pieces, ")"], shape, None

    def element(self, scope: _Scope) -> _Right | None:
        """Return an element of a tuple."""
        tuples = [
            value
            for value in scope.values
            if value.shape.startswith("(") and value.wrapped is None
        ]
        if not tuples:
            return None
        of = self.random.choice(tuples)
        parts = _parts(of.shape)
        at = self.random.randrange(len(parts))
        own = [_bare(parts[at]) + " "] if self.chance(0.7) else []
        pieces = [*own, "get-tuple-element", "(", "%" + of.name, ")"]
        return [*pieces, ",", "index=", str(at)], _bare(parts[at]), None

    def constant(self, scope: _Scope) -> _Right:
        """Return a constant with its literal."""
        shape, literal = self.random.choice(
            (
                ("f32[]", ["-1.5e3"]),
                ("s32[]", ["-7"]),
                ("pred[]", ["true"]),
                ("f32[2]", ["{", "1", ",", "nan", "}"]),
                ("f32[2,3]", ["{", "...", "}"]),
                (
                    "f32[2,3]",
                    [
                        "{",
                        "{",
                        "1",
                        ",",
                        "2",
                        ",",
                        "3",
                        "}",
                        ",",
                        "{",
                        "4",
                        ",",
                        "5",
                        ",",
                        "-inf",
                        "}",
                        "}",
                    ],
                ),
                ("(s32[], f32[2])", ["(", "1", ",", "{", "1", ",", "2", "}", ")"]),
            )
        )
        return [shape, " constant", "(", *literal, ")"], shape, None

    def callable(self, scope: _Scope) -> tuple[_Computation, _Value] | None:
        """Return a computation and what it can be called with."""
        pairs = [
            (computation, value)
            for computation in self.computations
            for value in scope.arrays(computation.shape)
        ]
        return self.random.choice(pairs) if pairs else None

    def called(self, scope: _Scope) -> _Right | None:
        """Return a call of a computation that is there."""
        found = self.callable(scope)
        if found is None:
            return None
        computation, value = found
        percent = "%" if self.chance(0.5) else ""
        shape = _dimensions(computation.shape)
        own = [shape + " "] if self.chance(0.7) else []
        pieces = [*own, "call", "(", *self.name(value), ")"]
        return [*pieces, ",", "to_apply=", percent + computation.name], shape, None

    def inline(self, scope: _Scope) -> _Right:
        """Return a call of a computation that stands in the attribute."""
        value = self.random.choice(scope.arrays())
        if len(scope.values) > 3:
            body = self.leaf(value.shape)
        else:
            outer, self.computations = self.computations, list(self.computations)
            body, result = self.body(value.shape)
            self.computations = outer
            if _dimensions(result) != _dimensions(value.shape):
                body = self.leaf(value.shape)
        shape = _dimensions(value.shape)
        pieces = [shape, " call", "(", *self.name(value), ")"]
        return [*pieces, ",", "to_apply=", "{", *body, "}"], shape, None

    def leaf(self, shape: str) -> list[str]:
        """Return the body of a computation that negates its parameter."""
        scope = _Scope()
        pieces = self.instruction(scope, self.parameter(scope, shape))
        end = [_dimensions(shape), " negate", "(", *self.name(scope.values[0]), ")"]
        return pieces + self.instruction(scope, (end, shape, None), is_root=True)

    def fused(self, scope: _Scope) -> _Right | None:
        """Return a fusion."""
        found = self.callable(scope)
        if found is None:
            return None
        computation, value = found
        shape = _dimensions(computation.shape)
        pieces = [shape, " fusion", "(", *self.name(value), ")", ",", "kind=", "kLoop"]
        return [*pieces, ",", "calls=", "%" + computation.name], shape, None

    def start(self, scope: _Scope) -> _Right:
        """Return the start of an async operation, in the short form."""
        value = self.random.choice(scope.arrays())
        bare = _dimensions(value.shape)
        found = self.callable(scope)
        if found is not None and self.chance(0.5):
            computation, value = found
            bare = _dimensions(value.shape)
            opcode = self.random.choice(("fusion", "call"))
            role = ["kind=", "kLoop", ",", "calls="] * (opcode == "fusion")
            ends = [",", *(role or ["to_apply="]), computation.name]
            operands = self.name(value)
            inside = bare
        else:
            opcode = self.random.choice(("negate", "add"))
            if not bare.startswith(("f32", "s32")):
                value = scope.arrays()[0]
                bare = _dimensions(value.shape)
            operands = self.name(value)
            inside = bare
            if opcode == "add":
                operands = [*operands, ",", *self.operand(scope, bare)]
                inside = f"{bare}, {bare}"
            ends = []
        if self.chance(0.3):
            ends += [",", "async_execution_thread=", '"side"']
        shape = f"(({inside}), {bare}, s32[])"
        return [shape, f" {opcode}-start", "(", *operands, ")", *ends], shape, opcode

    def done(self, scope: _Scope) -> _Right | None:
        """Return the update or end of an async operation."""
        started = [value for value in scope.values if value.wrapped is not None]
        if not started:
            return None
        of = self.random.choice(started)
        if self.chance(0.3):
            pieces = [of.shape, f" {of.wrapped}-update", "(", "%" + of.name, ")"]
            return pieces, of.shape, of.wrapped
        shape = _parts(of.shape)[1]
        return [shape, f" {of.wrapped}-done", "(", "%" + of.name, ")"], shape, None

    def reduced(self, scope: _Scope) -> _Right | None:
        """Return a reduction whose computation stands in the attribute."""
        values = scope.arrays("f32[2,3]")
        if not values:
            return None
        value = self.random.choice(values)
        own = ["f32[2] "] if self.chance(0.6) else []
        pieces = [*own, "reduce", "(", *self.name(value), ",",
                  "f32[]", " constant", "(", "0", ")", ")", ",",
                  "dimensions=", "{", "1", "}", ",", "to_apply=", "{"]  # fmt: skip
        for number, name in enumerate(("x", "y")):
            pieces += [name, " = ", "f32[]", " parameter", "(", str(number), ")", "\n"]
        pieces += ["ROOT ", "s", " = ", "f32[]", " add", "(", "x", ",", "y", ")", "\n"]
        return [*pieces, "}"], "f32[2]", None

    def moved(self, scope: _Scope) -> _Right | None:
        """Return a transposition or a concatenation, whose shape may be inferred."""
        values = scope.arrays("f32[2,3]")
        if not values:
            return None
        value = self.random.choice(values)
        if self.chance(0.5):
            own = ["f32[3,2] "] if self.chance(0.5) else []
            pieces = [*own, "transpose", "(", *self.name(value), ")"]
            return (
                [*pieces, ",", "dimensions=", "{", "1", ",", "0", "}"],
                "f32[3,2]",
                None,
            )
        own = ["f32[2,6] "] if self.chance(0.5) else []
        operands = [*self.name(value), ",", *self.operand(scope, "f32[2,3]")]
        pieces = [*own, "concatenate", "(", *operands, ")"]
        return [*pieces, ",", "dimensions=", "{", "1", "}"], "f32[2,6]", None


def _bare(shape: str) -> str:
    """Return a shape without layouts."""
    while "{" in shape:
        before, _, rest = shape.partition("{")
        shape = before + rest.partition("}")[2]
    return shape


def _parts(shape: str) -> list[str]:
    """Return the shapes of a tuple's elements."""
    parts, depth, start = [], 0, 1
    for at, character in enumerate(shape):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 1:
            parts.append(shape[start:at].strip())
            start = at + 1
    return [*parts, shape[start:-1].strip()]


# --- laying out ---

_SPACES = ("", "", "", " ", "  ", "\n", "\n  ", "\t", " /* c */ ", "/*\n } c { */",
           " // x = f32[] {\n", "\r\n")  # fmt: skip
_GLUED = ("=", "->")


def lay_out(pieces: list[str], random: Random, wildness: float) -> str:
    """Return the text of pieces, with anything between them that changes nothing.

    A piece with blanks of its own keeps at least one; a name and its `=` touch.
    """
    text = []
    if random.random() < wildness:
        text.append(random.choice(("// c\n", "/* HloModule n\n */ ", "\n\n ", "")))
    for at, piece in enumerate(pieces):
        text.append(piece)
        following = pieces[at + 1] if at + 1 < len(pieces) else ""
        if piece == "{" and following not in ("...", "}") and wildness == 0:
            text.append("\n" if _begins_line(pieces, at) else "")
        if random.random() < wildness:
            space = random.choice(_SPACES)
            text.append(space)
        elif piece == ",":
            text.append(" ")
        if _needs_blank(piece, following):
            text.append(" ")
    return "".join(text)


def _begins_line(pieces: list[str], at: int) -> bool:
    following = pieces[at + 1 : at + 4]
    return "ROOT " in following or " = " in following


def _needs_blank(piece: str, following: str) -> bool:
    """Return whether two pieces would be one word, or `=` would touch a name."""
    if piece.endswith(("=", " ", "\n")) or not following:
        return False
    if piece == "}" or following == "{":
        return True
    joined = piece[-1].isalnum() or piece[-1] in '_"]})'
    return joined and (following[0].isalnum() or following[0] in '_%"({')


# --- breaking ---

Breaker = Callable[[list[str], Random], list[str] | None]


def _places(pieces: list[str], wanted: Callable[[str], bool]) -> list[int]:
    return [at for at, piece in enumerate(pieces) if wanted(piece)]


def _without(mark: str) -> Breaker:
    def breaker(pieces: list[str], random: Random) -> list[str] | None:
        found = _places(pieces, lambda piece: piece == mark)
        if not found:
            return None
        at = random.choice(found)
        return [*pieces[:at], *pieces[at + 1 :]]

    return breaker


def _replaced(wanted: Callable[[str], bool], by: Callable[[str], str]) -> Breaker:
    def breaker(pieces: list[str], random: Random) -> list[str] | None:
        found = _places(pieces, wanted)
        if not found:
            return None
        at = random.choice(found)
        return [*pieces[:at], by(pieces[at]), *pieces[at + 1 :]]

    return breaker


def _cut(pieces: list[str], random: Random) -> list[str] | None:
    return pieces[: random.randrange(len(pieces) // 2, len(pieces))]


def _doubled_instruction(pieces: list[str], random: Random) -> list[str] | None:
    ends = _places(pieces, lambda piece: piece == "\n")
    starts = _places(pieces, lambda piece: piece == " = ")
    at = random.choice(starts)
    end = next(end for end in ends if end > at)
    if "{" in pieces[at:end]:
        return None
    return [*pieces[: end + 1], *pieces[at - 1 : end + 1], *pieces[end + 1 :]]


def _swapped(pieces: list[str], random: Random) -> list[str] | None:
    at = random.randrange(len(pieces) - 1)
    first, second = pieces[at : at + 2]
    return [*pieces[:at], second, first, *pieces[at + 2 :]]


def _inserted(piece: str) -> Breaker:
    def breaker(pieces: list[str], random: Random) -> list[str] | None:
        at = random.randrange(1, len(pieces))
        return [*pieces[:at], piece, *pieces[at:]]

    return breaker


def _is_name(piece: str) -> bool:
    return piece.startswith("%")


def _is_opcode(piece: str) -> bool:
    return piece.strip() in {*_UNARY, *_BINARY, "negate", "add"}


BREAKERS: dict[str, Breaker] = {
    **{f"without {mark}": _without(mark) for mark in "(){},="},
    "without ' = '": _without(" = "),
    "without ->": _without("->"),
    "without index": _without("index="),
    "a missing name": _replaced(_is_name, lambda piece: "%nowhere"),
    "a number as name": _replaced(_is_name, lambda piece: "7up"),
    "a strange opcode": _replaced(_is_opcode, lambda piece: " frobnicate"),
    "a strange sugar": _replaced(_is_opcode, lambda piece: " frobnicate-start"),
    "a strange type": _replaced(lambda p: p.startswith("f32["), lambda p: "f33[2]"),
    "a bad dimension": _replaced(lambda p: p.startswith("f32[2]"), lambda p: "f32[2,]"),
    "a bad layout": _replaced(
        lambda p: p.strip() == "f32[2]", lambda p: p.replace("]", "]{1,0}")
    ),
    "a blank before =": _replaced(lambda p: p.endswith("=") and len(p) > 2,
                                  lambda p: p[:-1] + " ="),
    "a second ROOT": _replaced(_is_name, lambda piece: "ROOT " + piece),
    "a semicolon": _inserted(";"),
    "an open comment": _inserted(" /* "),
    "an open string": _inserted('"'),
    "a stray brace": _inserted("}"),
    "a stray name": _inserted(" zz "),
    "an attribute without value": _inserted(", foo="),
    "cut": _cut,
    "an instruction twice": _doubled_instruction,
    "two pieces swapped": _swapped,
}  # fmt: skip
"""Ways to break the pieces of a text; what comes out may be sound all the same."""


def texts(count: int) -> Iterator[tuple[str, str]]:
    """Yield texts and what was done to each, about half of them broken."""
    breakers = list(BREAKERS)
    for number in range(count):
        random = Random(number)
        pieces = Writer(random).module()
        what = "as written"
        if number % 2:
            what = breakers[number // 2 % len(breakers)]
            broken = BREAKERS[what](pieces, random)
            if broken is None:
                what = "as written"
            else:
                pieces = broken
        wildness = random.choice((0.0, 0.0, 0.03, 0.2))
        yield what, lay_out(pieces, random, wildness)
