"""Shapes as tokens: what XLA takes for one, and how it prints it.

A layout is kept as it stands; `f32[2]` does not become `f32[2]{0}`.
"""

from __future__ import annotations

import re

from hlodb.ingest.formats.hlo_text.grammar.tokens import END, Refused, Tokens
from hlodb.ingest.formats.scan import split_commas, whole_number
from hlodb.ingest.formats.shapes import ELEMENT_BITS

_LAYOUTS = re.compile(r"\{[^{}]*\}")
_BOUNDS = re.compile(r"<=")
_MOST_NESTED = 100
_MOST_DIGITS = 18


def is_shape(tokens: Tokens) -> bool:
    """Return whether a shape is next: a type, a tuple, or a buffer `b(…)`."""
    token = tokens.now
    if token.kind == "word" and token.text == "b":
        after = tokens.after
        return after.kind == "mark" and after.text == "(" and after.start == token.end
    return tokens.is_at("(") or (token.kind == "word" and token.text in ELEMENT_BITS)


def read_shape(tokens: Tokens, depth: int = 0) -> str:
    """Read a shape and return it as XLA prints it; raises Refused."""
    if depth > _MOST_NESTED:
        raise tokens.error("tuples nest too deep")
    if tokens.is_word("b") and is_shape(tokens):
        tokens.take()
        tokens.take()
        inside = read_shape(tokens, depth + 1)
        tokens.expect(")", "expected `)` after a buffer's shape")
        return f"b({inside})"
    if tokens.eat("("):
        return f"({', '.join(_elements(tokens, depth))})"
    if not is_shape(tokens):
        raise tokens.error("expected a shape")
    element_type = tokens.take().text
    tokens.expect("[", "expected `[` after an element type")
    dimensions = _dimensions(tokens)
    layout = _layout(tokens, len(dimensions)) if _is_layout(tokens) else ""
    return f"{element_type}[{','.join(dimensions)}]{layout}"


def is_whole_shape(text: str) -> bool:
    """Return whether a text is one shape and nothing else."""
    tokens = Tokens(text, 0, len(text))
    try:
        read_shape(tokens)
    except Refused:
        return False
    return tokens.now.kind == END


def _elements(tokens: Tokens, depth: int) -> list[str]:
    elements: list[str] = []
    if tokens.eat(")"):
        return elements
    elements.append(read_shape(tokens, depth + 1))
    while tokens.eat(","):
        elements.append(read_shape(tokens, depth + 1))
    tokens.expect(")", "expected `,` or `)` in a tuple's shape")
    return elements


def _dimensions(tokens: Tokens) -> list[str]:
    dimensions: list[str] = []
    if tokens.eat("]"):
        return dimensions
    while True:
        if tokens.eat("?"):
            dimensions.append("?")
        else:
            bound = "<=" if tokens.eat("<=") else ""
            number = whole_number(tokens.now.text, _MOST_DIGITS)
            if tokens.now.kind != "integer" or number is None:
                raise tokens.error("expected a dimension")
            tokens.take()
            dimensions.append(f"{bound}{number}")
        if not tokens.eat(","):
            break
    tokens.expect("]", "expected `,` or `]` after a dimension")
    return dimensions


def _is_layout(tokens: Tokens) -> bool:
    """Return whether a brace begins a layout, and not the body of a computation."""
    if not tokens.is_at("{"):
        return False
    after = tokens.after
    return after.kind == "integer" or (after.kind == "mark" and after.text == ":")


def _layout(tokens: Tokens, rank: int) -> str:
    tokens.take()
    order = []
    while tokens.now.kind == "integer":
        order.append(tokens.take().text)
        if not tokens.eat(","):
            break
    if len(order) != rank and (order or not tokens.is_at(":")):
        raise tokens.error(f"a layout of {len(order)} for {rank} dimensions")
    rest = _rest_of_layout(tokens) if tokens.is_at(":") else ""
    tokens.expect("}", "expected `}` after a layout")
    return f"{{{','.join(order)}{rest}}}"


def _rest_of_layout(tokens: Tokens) -> str:
    """Read tiles, memory space and the like: words with something in brackets."""
    said = [tokens.take().text]
    depth = 0
    while depth > 0 or not tokens.is_at("}"):
        if tokens.now.kind in (END, "unknown", "string", "attribute"):
            raise tokens.error("expected `}` after a layout")
        depth += tokens.is_at("(", "[", "{") - tokens.is_at(")", "]", "}")
        token = tokens.take()
        said.append(tokens.text[token.start : token.end])
    return "".join(said)


def are_incompatible(one: str | None, other: str | None) -> bool:
    """Return whether two shapes differ in more than layouts and bounds."""
    if one is None or other is None:
        return False
    return _compatible(one) != _compatible(other)


def _compatible(shape: str) -> str:
    return _BOUNDS.sub("", _LAYOUTS.sub("", shape)).replace(" ", "")


def elements_of(shape: str) -> list[str] | None:
    """Return the shapes of a tuple's elements, None for an array."""
    return split_commas(shape[1:-1]) if shape.startswith("(") else None


def array_parts(shape: str) -> tuple[str, list[str], str] | None:
    """Return an array's element type, dimensions and layout, None for others."""
    element_type, bracket, rest = shape.partition("[")
    if not bracket or shape.startswith(("(", "b(")):
        return None
    dimensions, _, layout = rest.partition("]")
    return element_type, dimensions.split(",") if dimensions else [], layout
