"""Whether an instruction is one that XLA itself would print.

Anything else is read by XLA's grammar: `fusion-start`, a missing shape, wrong operands.
One match of a rule takes what XLA mostly prints; the grammar judges the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache

from hlodb.ingest.formats.hlo_text.grammar.literals import fault_of_literal
from hlodb.ingest.formats.hlo_text.grammar.opcodes import NEEDED, OPCODES
from hlodb.ingest.formats.hlo_text.grammar.shapes import is_whole_shape
from hlodb.ingest.formats.scan import without_comments
from hlodb.ingest.formats.shapes import ELEMENT_BITS

_NEEDED = {opcode: frozenset(NEEDED.get(opcode, ())) for opcode in OPCODES}
_MOST_DIMENSIONS = 8
_ODD_NUMBER = re.compile(r"\.(?:0[0-9]+|[+\-][0-9]+)$", re.MULTILINE)
_INDEX = re.compile(r"/\*index=[0-9]++\*/")
# A shape without dimensions and its literal.
_SCALAR = re.compile(
    r"[su][0-9]++\[\].*\0-?[0-9]++|pred\[\].*\0(?:true|false)"
    r"|b?f[0-9][a-z0-9]*+\[\].*\0(?:-?[0-9]++(?>(?:\.[0-9]*+)?)"
    r"(?>(?:e[+\-]?[0-9]++)?)|-?inf|-?nan)"
)


def _array_rule() -> re.Pattern[str]:
    """Return the rule of an array with as many numbers in its layout as dimensions."""
    rest = r":(?>(?:[A-Z]?\([0-9,]++\))+)"
    rule = ""
    for rank in range(_MOST_DIMENSIONS, -1, -1):
        order = r"[0-9]++" + r",[0-9]++" * (rank - 1) + rf"(?>(?:{rest})?)"
        end = rf"\](?>(?:\{{{order if rank else rest}\}})?)"
        dimension = "," * (rank > 0) + r"(?>(?:<=)?)[0-9]{1,18}+"
        rule = f"(?>{end}|{dimension}{rule})" if rule else end
    types = sorted(ELEMENT_BITS, key=len, reverse=True)
    return re.compile(rf"(?>{'|'.join(types)})\[{rule}")


_ARRAY = _array_rule()


def unusual_names(names: Sequence[str]) -> list[int]:
    """Return which names end in a number that XLA spells otherwise: `a.01`."""
    if not _ODD_NUMBER.search("\n".join(names)):
        return []
    return [at for at, name in enumerate(names) if _ODD_NUMBER.search(name)]


def is_usual(
    opcode: str,
    shape: str | None,
    parameter_number: int | None,
    literal: str | None,
    keys: Set[str],
) -> bool:
    """Return whether XLA prints such instructions, whatever their operands.

    `keys` are the names of their attributes.
    """
    needed = _NEEDED.get(opcode)
    if needed is None or not needed <= keys or shape is None or not _is_shape(shape):
        return False
    if opcode == "parameter":
        return parameter_number is not None
    return opcode != "constant" or _is_literal(literal or "", shape)


def _is_literal(literal: str, shape: str) -> bool:
    if literal == "{...}" or _SCALAR.fullmatch(f"{shape}\0{literal}"):
        return True
    return not fault_of_literal(without_comments(literal), shape)


@lru_cache(maxsize=1 << 14)
def _is_shape(text: str) -> bool:
    return _is_printed_shape(text) or is_whole_shape(text)


def _is_printed_shape(text: str) -> bool:
    """Return whether a text is an array or a tuple of arrays as XLA prints them."""
    gaps = _ARRAY.split(_INDEX.sub("", text) if "/*" in text else text)
    is_tuple = gaps[0] == "(" and gaps[-1] == ")"
    return gaps == ["", ""] or (is_tuple and gaps.count(", ") == len(gaps) - 2)
