"""Which modules are the same across runs: program names and keys, fingerprints.

Equal programs get equal fingerprints, whatever their names. `graph_fingerprint` sees
opcodes, shapes without layouts, attributes and operands; `exact_fingerprint` adds
layouts, order, backend config. Neither sees names, metadata, stack frames or install
paths. Companions are compared by a hash of their content.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.arrow import Ints, Longs
from hlodb.ingest.formats.scan import split_commas
from hlodb.ingest.formats.shapes import without_layout
from hlodb.ingest.hashing import hash64, hash64_of
from hlodb.ingest.records import Attributes
from hlodb.rules import rule_rows

# Of a name spelled backwards: `.12.3` at its end is found at once.
_UNIQUE = re.compile(r"(?>(?:\d++\.)+)")
_PREFIX = re.compile(r"^(?:\d{10,}\.)?module_\d{4,}\.")
_BUILD = re.compile(r"\.cl_\d+")

# Source locations and pointers: what may differ between dumps of one program. Each
# pattern begins with a literal, which the regex engine searches for at memory speed.
_FRAME_ID = re.compile(rb" stack_frame_id=\d+")
_FIRST_FRAME_ID = re.compile(rb"\{stack_frame_id=\d+ ?")
_SOURCE = re.compile(rb' source_\w+=(?:"(?>(?:[^"\\]++|\\.)*)"|\d+)')
_FIRST_SOURCE = re.compile(rb'\{source_\w+=(?:"(?>(?:[^"\\]++|\\.)*)"|\d+) ?')
_POINTER = re.compile(rb": 0x[0-9a-f]+, size")
_EMPTY = re.compile(rb", metadata=\{\}")
_PIECE = 1_000_000
"""Bytes that are changed at once, up to the end of a line."""


def program_name(module_name: str) -> str:
    """Return a module's name without number, build and unique suffixes.

    Nor with what the rules program_names say that frameworks add.
    """
    name = _BUILD.sub("", _PREFIX.sub("", module_name))
    unique = _UNIQUE.match(name[::-1])
    name = (name[: len(name) - unique.end()] if unique else name).rstrip("_")
    for pattern, kept in _additions():
        if found := pattern.fullmatch(name):
            name = found.expand(kept)
    return name or module_name


@cache
def _additions() -> list[tuple[re.Pattern[str], str]]:
    rows = rule_rows("program_names")
    return [(re.compile(pattern), kept) for _, _, pattern, kept in rows]


def program_key(program: str, entry_layout: str, num_partitions: int) -> int:
    """Return a hash of program, entry shapes without layout, and partitions."""
    return hash64(f"{program}|{without_layout(entry_layout)}|{num_partitions}")


def companion_digest(data: bytes) -> bytes:
    """Return a digest of a text without source locations and pointers."""
    whole = blake2b(digest_size=16)
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        whole.update(_without_places(data[start:end]))
        start = end
    return whole.digest()


def _without_places(data: bytes) -> bytes:
    if b" source_" in data:
        data = _SOURCE.sub(b"", data)
    if b"{source_" in data:
        data = _FIRST_SOURCE.sub(b"{", data)
    if b"stack_frame_id" in data:
        data = _FIRST_FRAME_ID.sub(b"{", _FRAME_ID.sub(b"", data))
    if b", metadata={}" in data:
        data = _EMPTY.sub(b"", data)
    if b"0x" in data:
        data = _POINTER.sub(b": size", data)
    return data


_ROUNDS = 8
_EDGES = 1 << 18
_NAMED = ("control-predecessors=", "metadata=", "origin=", "statistics=")
_LAYOUT_BOUND = ("operand_layout_constraints=", "frontend_attributes=")
_FOLDER = re.compile(r"(?:/[\w.+@-]+)+/")
_MIX = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xBF58476D1CE4E5B9)

Keys = NDArray[np.uint64]


def graph_text(
    opcode: str,
    shape: str | None,
    parameter_number: int | None,
    literal: str | None,
    a: Attributes,
) -> str:
    """Return the part of one instruction that the graph fingerprint covers."""
    kept = (
        opcode,
        without_layout(shape or ""),
        parameter_number,
        literal,
        a.fusion_kind,
        a.custom_call_target,
        a.replica_groups,
        a.sharding,
        _without(a.other, _NAMED + _LAYOUT_BOUND),
    )
    return repr(kept)


def exact_text(shape: str | None, a: Attributes, graph: str) -> str:
    """Return the part that the exact fingerprint covers beyond the text `graph`."""
    config = a.backend_config or None
    if config and "/" in config:
        config = _FOLDER.sub("/", config)
    kept = (shape, a.channel_id, config, _without(a.other, _NAMED))
    return graph + repr(kept)


def _without(other: str | None, dropped: tuple[str, ...]) -> str | None:
    if other is None or not any(key in other for key in dropped):
        return other
    parts = [part for part in split_commas(other) if not part.startswith(dropped)]
    return ", ".join(parts) or None


def _mix(keys: Keys) -> Keys:
    mixed = keys >> np.uint64(31)
    mixed ^= keys
    mixed *= _ODD
    mixed ^= mixed >> np.uint64(29)
    return mixed


class Edges(NamedTuple):
    """A module for its graph fingerprint: a hash per instruction, and who reads whom.

    Edge i says that `readers[i]` reads `operands[i]` as operand number `places[i]`.
    """

    keys: Longs
    readers: Ints
    operands: Ints
    places: Ints


def graph_fingerprints(modules: Sequence[Edges]) -> list[int]:
    """Return a hash of each structure, whatever the order of instructions.

    Weisfeiler-Leman refinement: eight rounds in which every instruction takes in its
    operands and readers, then a hash of the sorted keys. All modules at once: an array
    operation costs as much as a thousand of its elements.
    """
    if not modules:
        return []
    sizes = [len(module.keys) for module in modules]
    first = np.cumsum([0, *sizes])
    edge_counts = [len(module.readers) for module in modules]
    keys, readers, operands, places = map(_joined, zip(*modules, strict=True))
    if len(modules) > 1:
        shifts = np.repeat(first[:-1], edge_counts)
        readers, operands = readers + shifts, operands + shifts
    states = _refined(keys.view(np.uint64), readers, operands, places)
    parts = np.split(states, first[1:-1])
    return [hash64_of([np.sort(part)]) for part in parts]


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _refined(
    own: Keys, readers: NDArray[Any], operands: NDArray[Any], places: Ints
) -> Keys:
    state = _mix(own)
    for _ in range(_ROUNDS if len(readers) else 0):
        below = np.zeros_like(state)
        above = np.zeros_like(state)
        # A part of the edges at a time: the sums are the same, and take less memory.
        for start in range(0, len(readers), _EDGES):
            part = slice(start, start + _EDGES)
            place = (places[part].astype(np.uint64) + np.uint64(1)) * _MIX
            reader, operand = readers[part], operands[part]
            np.add.at(below, reader, _mix(state[operand] + place))
            np.add.at(above, operand, _mix(state[reader] ^ place))
        state = _mix(own + below * _MIX + above * _ODD)
    return state


def exact_fingerprint(keys: Longs, operands: Ints, counts: Ints, starts: Ints) -> int:
    """Return a hash of the instructions in their order, with operands by number.

    `counts` is the number of operands of each instruction, `starts` the first
    instruction of each computation.
    """
    return hash64_of((keys, b"|", operands, b"|", counts, b"|", starts))
