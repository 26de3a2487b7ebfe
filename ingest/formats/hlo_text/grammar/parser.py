"""HLO text → syntax, by recursive descent, as XLA's own parser takes it.

What XLA refuses raises Refused where it stands: broken grammar, names that are
missing or double, operands that do not fit their opcode. Opcodes' own attributes are
not looked into: later releases have others.
"""

from __future__ import annotations

import re

from hlodb.ingest.formats.hlo_text.attributes import (
    CALL_ROLES,
    LIST_ROLES,
    is_broken_list,
)
from hlodb.ingest.formats.hlo_text.grammar.inference import inferred_shape
from hlodb.ingest.formats.hlo_text.grammar.literals import fault_of_literal
from hlodb.ingest.formats.hlo_text.grammar.opcodes import (
    INFERABLE,
    OPCODES,
    fault_of_attributes,
    fault_of_operands,
    wrapped_opcode,
)
from hlodb.ingest.formats.hlo_text.grammar.shapes import (
    are_incompatible,
    elements_of,
    is_shape,
    read_shape,
)
from hlodb.ingest.formats.hlo_text.grammar.syntax import (
    ParsedComputation,
    ParsedInstruction,
    ParsedModule,
    UniqueNames,
)
from hlodb.ingest.formats.hlo_text.grammar.tokens import (
    END,
    RESERVED,
    Refused,
    Tokens,
)
from hlodb.ingest.formats.scan import closing, unquote, whole_number
from hlodb.ingest.formats.shapes import ELEMENT_BITS

_TITLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_OPEN, _CLOSE = "([{", ")]}"
# A line that can hardly be anything but the first of a computation.
_HEAD_LINE = re.compile(
    r"ENTRY\b|%|[A-Za-z_][\w.\-]*+[ \t]*+[({][^\n]*\{[ \t]*+$", re.MULTILINE
)
_SPACED = re.compile(
    r'("(?>(?:[^"\\]++|\\.)*)(?:"|\\?+\Z)|/\*index=[0-9]+\*/)'
    r"|/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|\Z)|//[^\r\n]*+|[ \t\r\n]++",
    re.DOTALL,
)
# Braces around words and strings in one line, which need no closer look.
_SIMPLE_BRACES = re.compile(
    r"""\{(?>(?:[^{}()\[\]"'/;\r\n]++|"(?>(?:[^"\\\r\n]++|\\.)*)")*)\}"""
)
_ADJACENT = re.compile(r"[A-Za-z0-9_.:+\-<>=@*~?#%]++")
_ON_ITS_OWN = ("attribute", "debug_attributes")
"""The one part of a header that no comma stands before."""

_OF_COMPUTATIONS = ("execution_thread", "backend_config")

_MOST_NESTED = 60
_MOST_ELEMENTS = 16
_NESTED_NAME = "_"
_WRAPPING, _WRAPPED_PARAMETER = "async_wrapped", "async_param"


def parse_module(text: str, start: int = 0, stop: int | None = None) -> ParsedModule:
    """Return the module that stands in `text` from `start` to `stop`.

    It ends where nothing that could be a computation follows. Raises Refused.
    """
    return _Parser(text, start, len(text) if stop is None else stop).module()


def begins_computation(text: str, start: int) -> bool:
    """Return whether a computation stands at a place, up to its first `name =`."""
    parser = _Parser(text, start, len(text))
    try:
        parser.head()
        if parser.tokens.is_word("ROOT"):
            parser.tokens.take()
        parser.name("expected the name of an instruction")
        parser.tokens.expect("=", "expected `=` after the name of an instruction")
    except (Refused, RecursionError):
        return False
    return True


def plain_text(text: str) -> str:
    """Return text in one line: without comments, a blank for each run of white space.

    Strings are kept as they are, and the numbers that XLA itself puts into lists.
    """
    return _SPACED.sub(lambda found: found[1] or " ", text).strip()


class _Parser:
    """A place in the tokens of a module, and the names known there."""

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.text = text
        self.tokens = Tokens(text, start, stop)
        self.computations: list[ParsedComputation] = []
        self.by_name: dict[str, ParsedComputation] = {}
        self.names = UniqueNames()
        self.depth = 0

    # --- module ---

    def module(self) -> ParsedModule:
        name, header = "", {}
        if self.tokens.is_word("HloModule"):
            self.tokens.take()
            name = self.name("expected the name of the module")
            header = self.header()
        frames = self.frames()
        body_place = self.tokens.now.start
        entry_at = None
        while self.tokens.now.kind != END:
            if self.computations and not self.may_begin_computation():
                break
            place = self.tokens.now.start
            computation = self.computation()
            if computation.is_entry and entry_at is not None:
                raise self.tokens.error("a second computation is marked ENTRY", place)
            entry_at = place if computation.is_entry else entry_at
        if not self.computations:
            raise self.tokens.error("expected a computation")
        if entry_at is None:
            self.computations[-1].is_entry = True
        entry = next(c for c in self.computations if c.is_entry)
        name = name or f"module_{entry.name}"
        following = None if self.tokens.now.kind == END else self.tokens.now.start
        return ParsedModule(
            name, header, frames, self.computations, body_place, following
        )

    def may_begin_computation(self) -> bool:
        """Return whether what follows is to be read as a computation.

        Log lines may stand between modules and behind the last one.
        """
        start = self.tokens.now.start
        begins_line = "\n" in self.text[self.tokens.last_end : start]
        if not begins_line or _HEAD_LINE.match(self.text, start):
            return True
        return begins_computation(self.text, self.tokens.now.start)

    def header(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.tokens.eat(",") or self.tokens.now[:2] == _ON_ITS_OWN:
            key, place = self.attribute_name()
            if key in found:
                raise self.tokens.error(f"duplicated attribute {key}", place)
            found[key] = self.value()
        return found

    def frames(self) -> str:
        """Return the text of the stack-frame tables."""
        start = self.tokens.now.start
        end = start
        while self.tokens.is_word(*_TITLES):
            self.tokens.take()
            while self.tokens.now.kind == "integer":
                self.tokens.take()
                if self.tokens.now.kind == "string":
                    self.tokens.take()
                else:
                    self.balanced()
            end = self.tokens.last_end
        return self.text[start:end]

    # --- computations ---

    def head(self) -> tuple[str, bool, str | None]:
        """Read up to the opening brace: name, whether it is the entry, result shape."""
        tokens = self.tokens
        is_entry = tokens.is_word("ENTRY")
        if is_entry:
            tokens.take()
        name = self.name("expected the name of a computation")
        result = None
        if tokens.eat("("):
            while not tokens.eat(")"):
                self.name("expected the name of a parameter")
                read_shape(tokens)
                if not tokens.is_at(")"):
                    tokens.expect(",", "expected `,` or `)` after a parameter")
            tokens.expect("->", "expected `->` after the parameters")
            result = read_shape(tokens)
        tokens.expect("{", "expected `{` before the instructions")
        return name, is_entry, result

    def computation(self) -> ParsedComputation:
        place = self.tokens.now.start
        name, is_entry, result = self.head()
        if name in self.by_name:
            raise self.tokens.error(f"computation {name} is there already", place)
        computation = self.body(name, place)
        computation.is_entry = is_entry
        root = computation.root.shape
        if are_incompatible(result, root):
            message = f"the result is {result}, that of the root {root}"
            raise self.tokens.error(message, place)
        self.by_name[name] = computation
        self.closing(computation)
        return computation

    def closing(self, computation: ParsedComputation) -> None:
        """Read the attributes behind the closing brace."""
        tokens, seen = self.tokens, set[str]()
        while tokens.is_at(",") and tokens.after.text in _OF_COMPUTATIONS:
            tokens.take()
            key, place = self.attribute_name()
            if key in seen:
                raise tokens.error(f"duplicated attribute {key}", place)
            seen.add(key)
            if key == "backend_config" and tokens.is_at("{"):
                computation.backend_config = self.braces()
            elif tokens.now.kind != "string":
                raise tokens.error("expected a string")
            elif key == "backend_config":
                computation.backend_config = unquote(tokens.take().text)
            else:
                computation.execution_thread = tokens.take().text[1:-1]

    def body(self, name: str, place: int) -> ParsedComputation:
        """Read instructions and the closing brace."""
        computation = ParsedComputation(name, place)
        reader = _Body(self, computation)
        while True:
            reader.instruction()
            if self.tokens.eat("}"):
                break
        self.computations.append(computation)
        return computation

    def called(self, role: str) -> list[ParsedComputation]:
        """Read the computations that an attribute names, or holds themselves."""
        tokens = self.tokens
        if role not in LIST_ROLES:
            return [self.called_one()]
        tokens.expect("{", "expected `{` before names of computations")
        found: list[ParsedComputation] = []
        while not tokens.eat("}"):
            found.append(self.called_one())
            if not tokens.is_at("}"):
                tokens.expect(",", "expected `,` or `}` after a computation")
        return found

    def called_one(self) -> ParsedComputation:
        place = self.tokens.now.start
        if self.tokens.eat("{"):
            self.deeper()
            found = self.body(_NESTED_NAME, place)
            self.depth -= 1
            return found
        name = self.name("expected the name of a computation")
        if name not in self.by_name:
            raise self.tokens.error(f"there is no computation {name} above", place)
        return self.by_name[name]

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise self.tokens.error("instructions nest too deep")

    # --- words ---

    def name(self, message: str) -> str:
        token = self.tokens.now
        is_name = token.kind == "name"
        is_word = token.kind == "word" and token.text not in RESERVED
        if not is_name and not is_word:
            raise self.tokens.error(message)
        return self.tokens.take().text

    def attribute_name(self) -> tuple[str, int]:
        token = self.tokens.now
        if token.kind != "attribute":
            raise self.tokens.error("expected the name of an attribute")
        self.tokens.take()
        return token.text, token.start

    def value(self, key: str = "") -> str:
        """Return the value of an attribute in one line."""
        tokens, start = self.tokens, self.tokens.now.start
        found = _SIMPLE_BRACES.match(self.text, start)
        if found and key != "metadata" and not is_broken_list(found.group()):
            tokens.go_on_at(found.end())
            return found.group()
        if tokens.is_at("{") and key == "metadata":
            return self.named_values()
        if tokens.is_at("{"):
            self.balanced(is_free=key == "frontend_attributes")
            if is_broken_list(plain_text(self.text[start : tokens.last_end])):
                raise tokens.error("expected numbers and commas", start)
        elif tokens.now.kind == "string":
            tokens.take()
        elif is_shape(tokens) and tokens.after.text in ("[", "(", ")", *ELEMENT_BITS):
            read_shape(tokens)
            if key == "literal":
                self.literal()
        elif tokens.is_at("["):
            self.iota()
        else:
            self.run_of_characters()
        return plain_text(self.text[start : tokens.last_end])

    def iota(self) -> None:
        """Read `[2,4]<=[8]T(1,0)`, and braces behind it."""
        tokens = self.tokens
        while tokens.is_at("[", "<=", "{") or (
            tokens.is_word("T") and tokens.after.text == "("
        ):
            if tokens.is_at("[", "{"):
                self.balanced()
            else:
                is_mark = tokens.is_at("<=")
                tokens.take()
                if not is_mark:
                    self.balanced()

    def literal(self) -> None:
        """Read a number or what stands in brackets."""
        tokens = self.tokens
        if tokens.is_at("(", "{"):
            self.balanced()
        elif tokens.now.kind in (END, "unknown", "attribute"):
            raise tokens.error("expected a literal")
        else:
            tokens.take()

    def run_of_characters(self) -> None:
        """Read a number, a word or a pattern, with brackets that touch it."""
        start = self.tokens.now.start
        found = _ADJACENT.match(self.text, start)
        if found is None or self.tokens.now.kind in (END, "unknown", "attribute"):
            raise self.tokens.error("expected a value")
        self.tokens.go_on_at(found.end())
        while self.tokens.is_at("[", "{", "("):
            # A mesh has a blank before the axes: `mesh['a'=2] {'a'}`.
            is_mesh = (
                self.tokens.is_at("{") and self.text[self.tokens.last_end - 1] == "]"
            )
            if self.tokens.now.start > self.tokens.last_end and not is_mesh:
                break
            self.balanced()

    def braces(self) -> str:
        """Read a configuration, which is JSON, up to its closing brace."""
        start = self.tokens.now.start
        end = closing(self.text, start)
        if end < 0:
            raise self.tokens.error("this bracket is not closed", start)
        self.tokens.go_on_at(end + 1)
        return self.text[start : end + 1]

    def named_values(self) -> str:
        """Read `{name=value name=value}`, with commas or without."""
        tokens = self.tokens
        tokens.take()
        said = []
        while not tokens.eat("}"):
            key, _ = self.attribute_name()
            said.append(f"{key}={self.value()}")
            tokens.eat(",")
        return f"{{{' '.join(said)}}}"

    def balanced(self, is_free: bool = False) -> None:
        """Read brackets and what is between them: words and marks, or any text."""
        tokens = self.tokens
        if not tokens.is_at(*_OPEN):
            raise tokens.error("expected an opening bracket")
        place, waiting = tokens.now.start, list[str]()
        while True:
            token = tokens.now
            if token.kind == END:
                raise tokens.error("this bracket is not closed", place)
            if token.kind == "unknown" and not is_free:
                raise tokens.error("expected a value")
            is_mark = token.kind == "mark"
            if is_mark and token.text in _OPEN:
                waiting.append(_CLOSE[_OPEN.index(token.text)])
            elif is_mark and token.text in _CLOSE and waiting.pop() != token.text:
                raise tokens.error("this bracket closes another kind")
            tokens.take()
            if not waiting:
                return


class _Body:
    """The instructions of one computation, while they are read."""

    def __init__(self, parser: _Parser, computation: ParsedComputation) -> None:
        self.parser = parser
        self.tokens = parser.tokens
        self.computation = computation
        self.by_name: dict[str, ParsedInstruction] = {}
        self.elements: dict[tuple[int, int], ParsedInstruction] = {}
        self.tuples: dict[int, list[str] | None] = {}
        self.has_root = False
        self.place = computation.place

    def instruction(self) -> None:
        """Read `ROOT name = …`."""
        tokens = self.tokens
        place = self.place = tokens.now.start
        is_root = tokens.is_word("ROOT")
        if is_root:
            tokens.take()
            if self.has_root:
                raise tokens.error("a second instruction is marked ROOT", place)
            self.has_root = True
        name_place = tokens.now.start
        name = self.parser.name("expected the name of an instruction")
        tokens.expect("=", "expected `=` after the name of an instruction")
        found = self.right_side(place, has_attributes=True)
        if name in self.by_name:
            raise tokens.error(f"instruction {name} is there already", name_place)
        self.parser.names.take(name)
        found.name, found.is_root = name, is_root
        self.by_name[name] = found

    def right_side(self, place: int, has_attributes: bool) -> ParsedInstruction:
        """Read shape, opcode, operands and attributes."""
        tokens = self.tokens
        shape = read_shape(tokens) if is_shape(tokens) else None
        opcode_place = tokens.now.start
        if tokens.now.kind != "word":
            raise tokens.error("expected an opcode")
        opcode = tokens.take().text
        wrapped = wrapped_opcode(opcode)
        if wrapped is None and opcode not in OPCODES:
            raise tokens.error(f"no opcode {opcode} is known", opcode_place)
        if wrapped is not None:
            opcode = f"async-{opcode.removeprefix(wrapped)[1:]}"
        if shape is None and opcode not in INFERABLE:
            message = f"expected a shape: that of {opcode} does not follow"
            raise tokens.error(message, opcode_place)
        found = ParsedInstruction("", opcode, shape, place, wrapped=wrapped)
        tokens.expect("(", "expected `(` before the operands")
        self.inside(found)
        tokens.expect(")", "expected `)` after the operands")
        if has_attributes:
            self.attributes(found)
        self.finish(found, opcode_place)
        return found

    def inside(self, found: ParsedInstruction) -> None:
        """Read what stands between the parentheses."""
        tokens = self.tokens
        if found.opcode == "parameter":
            number = whole_number(tokens.now.text)
            if tokens.now.kind != "integer" or number is None:
                raise tokens.error("expected the number of the parameter")
            tokens.take()
            found.parameter_number = number
        elif found.opcode == "constant":
            self.literal(found)
        else:
            self.operands(found)

    def literal(self, found: ParsedInstruction) -> None:
        """Read a literal up to the parenthesis that closes the constant."""
        tokens, start = self.tokens, self.tokens.now.start
        while not tokens.is_at(")"):
            self.parser.literal()
        said = plain_text(self.parser.text[start : tokens.now.start])
        if fault := fault_of_literal(said, found.shape or ""):
            raise tokens.error(fault, start)
        found.literal = said

    def operands(self, found: ParsedInstruction) -> None:
        """Read operands; XLA takes commas too many."""
        tokens = self.tokens
        while True:
            while tokens.eat(","):
                pass
            if tokens.is_at(")"):
                return
            found.operands.append(self.operand())
            if not tokens.is_at(",", ")"):
                raise tokens.error("expected `,` or `)` after an operand")

    def operand(self) -> ParsedInstruction:
        """Read a name, with a shape or not, or an instruction in its place."""
        tokens, place = self.tokens, self.tokens.now.start
        start = tokens.now
        shape = read_shape(tokens) if is_shape(tokens) else None
        if tokens.now.kind == "word" and tokens.after.text == "(":
            tokens.go_on_at(start.start)
            return self.nested(place)
        name_place = tokens.now.start
        name = self.parser.name("expected an operand")
        operand = self.by_name.get(name)
        if operand is None:
            message = f"there is no instruction {name} above in this computation"
            raise tokens.error(message, name_place)
        while tokens.eat("#"):
            operand = self.element(operand)
        if are_incompatible(shape, operand.shape):
            raise tokens.error(f"{name} is {operand.shape}", place)
        return operand

    def nested(self, place: int) -> ParsedInstruction:
        """Read an instruction that stands for an operand; it has no attributes."""
        self.parser.deeper()
        found = self.right_side(place, has_attributes=False)
        self.parser.depth -= 1
        found.name = self.parser.names.take(f"{found.opcode}.anon")
        self.by_name[found.name] = found
        return found

    def element(self, of: ParsedInstruction) -> ParsedInstruction:
        """Read the number in `%p#0`; return the instruction that it implies."""
        tokens = self.tokens
        number = whole_number(tokens.now.text)
        if id(of) not in self.tuples:
            self.tuples[id(of)] = elements_of(of.shape or "")
        elements = self.tuples[id(of)]
        if tokens.now.kind != "integer" or number is None:
            raise tokens.error("expected the number of an element")
        if elements is None or number >= len(elements):
            raise tokens.error(f"{of.name} has no element {number}")
        tokens.take()
        key = id(of), number
        if key not in self.elements:
            found = ParsedInstruction(
                f"{of.name}_{number}", "get-tuple-element", elements[number],
                self.place, [of], {"index": str(number)},
            )  # fmt: skip
            self.elements[key] = found
            self.computation.instructions.append(found)
        return self.elements[key]

    def attributes(self, found: ParsedInstruction) -> None:
        seen: set[str] = set()
        while self.tokens.eat(","):
            key, place = self.parser.attribute_name()
            if key in seen:
                raise self.tokens.error(f"duplicated attribute {key}", place)
            seen.add(key)
            if key in CALL_ROLES and self.tokens.now.kind != "string":
                found.calls.append((key, self.parser.called(key)))
            elif key == "control-predecessors":
                self.predecessors(found)
            elif key == "backend_config" and self.tokens.is_at("{"):
                found.attributes[key] = self.parser.braces()
            else:
                found.attributes[key] = self.parser.value(key)
                self.device_ids(found, key)

    def device_ids(self, found: ParsedInstruction, key: str) -> None:
        """Read `, device_ids=(…) {…}`, which belongs to the mesh before it."""
        tokens = self.tokens
        if tokens.is_at(",") and tokens.after[:2] == ("attribute", "device_ids"):
            start = tokens.take().start
            tokens.take()
            self.parser.balanced()
            if tokens.is_at("{"):
                self.parser.balanced()
            more = plain_text(self.parser.text[start : tokens.last_end])
            found.attributes[key] += more

    def predecessors(self, found: ParsedInstruction) -> None:
        tokens = self.tokens
        tokens.expect("{", "expected `{` before names of instructions")
        while not tokens.eat("}"):
            place = tokens.now.start
            name = self.parser.name("expected the name of an instruction")
            if name not in self.by_name:
                message = f"there is no instruction {name} above in this computation"
                raise tokens.error(message, place)
            found.predecessors.append(self.by_name[name])
            if not tokens.is_at("}"):
                tokens.expect(",", "expected `,` or `}` after a name")

    # --- what follows from the parts ---

    def finish(self, found: ParsedInstruction, place: int) -> None:
        """Infer what the text leaves out, and put the instruction in its place."""
        is_sugar = found.wrapped is not None and found.opcode == "async-start"
        opcode = found.wrapped or "" if is_sugar else found.opcode
        given = {*found.attributes, *(role for role, _ in found.calls)}
        fault = fault_of_operands(opcode, len(found.operands))
        if fault := fault or fault_of_attributes(opcode, given):
            raise self.tokens.error(fault, place)
        if found.opcode == "async-start":
            if found.wrapped is None:
                found.wrapped = found.calls[0][1][0].root.opcode
            else:
                self.wrap(found, place)
        elif found.opcode in ("async-update", "async-done"):
            of = found.operands[0] if found.operands else found
            if of.opcode not in ("async-start", "async-update"):
                message = f"expected an async operation as operand of {found.opcode}"
                raise self.tokens.error(message, place)
            if found.wrapped not in (None, of.wrapped):
                message = f"{of.name} is of {of.wrapped}, not of {found.wrapped}"
                raise self.tokens.error(message, place)
            found.wrapped = of.wrapped
        if found.shape is None:
            found.shape = inferred_shape(found)
        self.computation.instructions.append(found)

    def wrap(self, found: ParsedInstruction, place: int) -> None:
        """Make the computation that `fusion-start` stands for."""
        parts = elements_of(found.shape or "") or []
        if len(parts) < 2 or elements_of(parts[0]) is None:
            message = "expected a shape ((operands), result, state)"
            raise self.tokens.error(message, place)
        thread = found.attributes.get("async_execution_thread")
        wrapping = ParsedComputation(_WRAPPING, found.place)
        wrapping.execution_thread = thread[1:-1] if thread else None
        parameters = [
            ParsedInstruction(
                _WRAPPED_PARAMETER, "parameter", operand.shape, found.place,
                parameter_number=at,
            )
            for at, operand in enumerate(found.operands)
        ]  # fmt: skip
        own = {
            key: value
            for key, value in found.attributes.items()
            if key != "async_execution_thread"
        }
        wrapped = ParsedInstruction(
            found.wrapped or "", found.wrapped or "", parts[1], found.place,
            parameters, own, found.calls, is_root=True,
        )  # fmt: skip
        wrapping.instructions = [*parameters, wrapped]
        self.parser.computations.append(wrapping)
        found.calls = [("calls", [wrapping])]
        found.attributes = {
            key: value for key, value in found.attributes.items() if key in _SHARED
        }


_SHARED = frozenset(
    (
        "async_execution_thread",
        "sharding",
        "metadata",
        "frontend_attributes",
        "statistics",
        "origin",
    )
)
"""Attributes that the start of an async operation also keeps."""
