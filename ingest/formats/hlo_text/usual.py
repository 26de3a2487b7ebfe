"""Whether an instruction is one that XLA itself would print.

What is not is read by XLA's grammar: `fusion-start`, a missing shape, wrong operands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hlodb.ingest.formats.hlo_text.grammar.literals import fault_of_literal
from hlodb.ingest.formats.hlo_text.grammar.opcodes import NEEDED, OPCODES, OPERANDS
from hlodb.ingest.formats.hlo_text.grammar.shapes import is_whole_shape
from hlodb.ingest.formats.scan import without_comments
from hlodb.ingest.records import Attributes, Call

ANY_NUMBER = -1
"""Stands for operands whose number the opcode does not tell."""

_NUMBER = re.compile(r"-?[0-9]++")
_ODD_NUMBER = re.compile(r"\.(?:0[0-9]+|[+\-][0-9]+)$", re.MULTILINE)


def unusual_names(names: Sequence[str]) -> list[int]:
    """Return which names end in a number that XLA spells otherwise: `a.01`."""
    if not _ODD_NUMBER.search("\n".join(names)):
        return []
    return [at for at, name in enumerate(names) if _ODD_NUMBER.search(name)]


def usual_operands(opcode: str) -> int:
    """Return how many operands an instruction has, ANY_NUMBER where that varies."""
    return OPERANDS.get(opcode, ANY_NUMBER)


def is_usual(
    opcode: str,
    shape: str | None,
    parameter_number: int | None,
    literal: str | None,
    calls: tuple[Call, ...],
    attributes: Attributes,
) -> bool:
    """Return whether XLA prints such instructions, whatever their operands."""
    if shape is None or opcode not in OPCODES or not _is_shape(shape):
        return False
    if opcode == "parameter":
        return parameter_number is not None
    if opcode == "constant":
        return _is_literal(literal or "", shape)
    return opcode not in NEEDED or _has_needed(opcode, calls, attributes)


def _is_literal(literal: str, shape: str) -> bool:
    if literal == "{...}" or ("[]" in shape and _NUMBER.fullmatch(literal)):
        return True
    return not fault_of_literal(without_comments(literal), shape)


def _has_needed(opcode: str, calls: tuple[Call, ...], attributes: Attributes) -> bool:
    other = attributes.other or ""
    for name in NEEDED[opcode]:
        is_called = any(call.role == name for call in calls)
        if name == "kind":
            is_there = attributes.fusion_kind is not None
        elif name == "custom_call_target":
            is_there = attributes.custom_call_target is not None
        else:
            is_there = is_called or f"{name}=" in other
        if not is_there:
            return False
    return True


@lru_cache(maxsize=1 << 14)
def _is_shape(text: str) -> bool:
    return is_whole_shape(text)
