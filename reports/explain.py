"""Explains pairs of modules: waterfall, cause, divergence and the buffers behind them.

Everything is read set by set; Python sees only the buffers at the peaks of what
changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from hlodb.reports.causes import main_part, name_cause
from hlodb.reports.compilations import Compilation, op_mix, read_compilations
from hlodb.reports.contents import Held, buffer_name, shown_contents
from hlodb.reports.divergence import divergence
from hlodb.reports.facts import Module, Profiles
from hlodb.reports.model_findings import (
    BufferChange,
    Cause,
    Contents,
    Count,
    Divergence,
    Part,
)
from hlodb.reports.pruned import has_details, profile_cause, profile_waterfalls
from hlodb.reports.read import read_buffers, read_outputs
from hlodb.reports.sources import UNKNOWN, Place, Sources, read_sources
from hlodb.reports.waterfall import Change, Side, Waterfall, waterfalls
from hlodb.schema.connection import Connection

BATCH = 200
"""How many pairs are explained at once: bounds memory, not results."""

Modules = tuple[Module, Module]


class Explanation(NamedTuple):
    """Why the memory of one program in one space moved: fields of its finding."""

    cause: Cause | None
    divergence: Divergence | None
    parts: list[Part]
    residual_bytes: int
    buffers: list[BufferChange]
    other_buffer_count: int
    other_buffer_bytes: int
    contents: Contents | None
    op_mix: list[Count]


UNEXPLAINED = Explanation(None, None, [], 0, [], 0, 0, None, [])
"""What is said of a program that only one run holds."""


class _Falls(NamedTuple):
    """The waterfalls of a pair by colour; by profiles alone if not `is_detailed`."""

    falls: list[Waterfall]
    is_detailed: bool


Explanations = Mapping[tuple[Modules, int], Explanation]


def explain(
    connection: Connection,
    pairs: Iterable[Modules],
    profiles: Profiles,
    *,
    top: int,
    flags_differ: bool,
) -> Explanations:
    """Return the explanation of every (base, candidate) by colour.

    `top` is how many buffers and opcodes are listed; what is left is summed up.
    """
    remaining = iter(dict.fromkeys(pairs))
    found: dict[tuple[Modules, int], Explanation] = {}
    while batch := list(islice(remaining, BATCH)):
        falls = _waterfalls(connection, batch, profiles)
        modules = list(dict.fromkeys(m for pair in batch for m in pair))
        compilations = read_compilations(connection, modules)
        sources = _sources(connection, batch, falls, top)
        for pair, of_colors in zip(batch, falls, strict=True):
            b, c = compilations[pair[0]], compilations[pair[1]]
            for fall in of_colors.falls:
                found[pair, fall.color] = (
                    _explanation(fall, b, c, sources, top, flags_differ)
                    if of_colors.is_detailed
                    else _explained_by_profiles(fall)
                )
    return found


def held_of(
    connection: Connection, pairs: Sequence[Modules], profiles: Profiles
) -> list[dict[int, tuple[Held, ...]]]:
    """Return by memory space the contents of each pair; nothing for pruned ones."""
    return [
        {fall.color: fall.held for fall in of_colors.falls if fall.held}
        for of_colors in _waterfalls(connection, pairs, profiles)
    ]


def _waterfalls(
    connection: Connection, pairs: Sequence[Modules], profiles: Profiles
) -> list[_Falls]:
    ids = [(b.module_id, c.module_id) for b, c in pairs]
    buffers = read_buffers(connection, ids)
    outputs = read_outputs(connection, (i for both in ids for i in both))

    def side(number: int, module_id: int, is_candidate: bool) -> Side:
        return Side(
            dict(profiles.get(module_id, {})),
            buffers.get((number, is_candidate), []),
            outputs.get(module_id, []),
        )

    return [
        _falls(side(number, b, False), side(number, c, True))
        for number, (b, c) in enumerate(ids)
    ]


def _falls(base: Side, candidate: Side) -> _Falls:
    if has_details(base) and has_details(candidate):
        return _Falls(waterfalls(base, candidate), is_detailed=True)
    return _Falls(profile_waterfalls(base, candidate), is_detailed=False)


def _explanation(
    fall: Waterfall,
    base: Compilation,
    candidate: Compilation,
    sources: Sources,
    top: int,
    flags_differ: bool,
) -> Explanation:
    parting = divergence(base, candidate, main_part(fall), flags_differ)
    cause = name_cause(fall, base, candidate, parting.blame) if fall.changes else None
    shown, rest = fall.changes[:top], fall.changes[top:]
    return Explanation(
        cause,
        parting,
        _parts(fall.changes),
        fall.residual_bytes,
        [_buffer_change(c, base.module, candidate.module, sources) for c in shown],
        len(rest),
        sum(change.delta_bytes for change in rest),
        shown_contents(fall.held, top),
        op_mix(base.opcodes, candidate.opcodes, top),
    )


def _explained_by_profiles(fall: Waterfall) -> Explanation:
    return UNEXPLAINED._replace(
        cause=profile_cause(fall) if fall.changes else None,
        parts=[replace(part, buffer_count=0) for part in _parts(fall.changes)],
        residual_bytes=fall.residual_bytes,
    )


def _parts(changes: Iterable[Change]) -> list[Part]:
    sums: dict[tuple[str, str], list[int]] = defaultdict(list)
    for change in changes:
        sums[change.part, change.kind].append(change.delta_bytes)
    parts = [Part(part, kind, sum(d), len(d)) for (part, kind), d in sums.items()]
    return sorted(parts, key=lambda p: (-abs(p.delta_bytes), p.part, p.kind))


def _sources(
    connection: Connection,
    pairs: Sequence[Modules],
    falls: Sequence[_Falls],
    top: int,
) -> Sources:
    wanted = {
        place
        for pair, of_colors in zip(pairs, falls, strict=True)
        for fall in of_colors.falls
        for change in fall.changes[:top]
        if (place := _place(change, *pair)) is not None
    }
    return read_sources(connection, wanted)


def _place(change: Change, base: Module, candidate: Module) -> Place | None:
    """Return the value with the change's source line: the candidate's if there."""
    for buffer, module in ((change.candidate, candidate), (change.base, base)):
        if buffer is not None and buffer.value_id is not None:
            if module.locations_id is None:
                return None
            return Place(module.module_id, module.locations_id, buffer.value_id)
    return None


def _buffer_change(
    change: Change, base: Module, candidate: Module, sources: Sources
) -> BufferChange:
    b, c = change.base, change.candidate
    place = _place(change, base, candidate)
    source = sources.get(place, UNKNOWN) if place else UNKNOWN
    return BufferChange(
        part=change.part,
        kind=change.kind,
        delta_bytes=change.delta_bytes,
        base_instruction=buffer_name(b),
        candidate_instruction=buffer_name(c),
        op_path=(c.op_path if c else None) or (b.op_path if b else None),
        base_shape=b.array_type if b else None,
        candidate_shape=c.array_type if c else None,
        base_bytes=b.size_bytes if b else None,
        candidate_bytes=c.size_bytes if c else None,
        source_file=source.file,
        source_line=source.line,
        attribution=source.attribution,
        match_method=change.method,
        match_confidence=change.confidence,
        note=change.note,
    )
