"""Read details of differences: parts, cause, divergence and the largest buffers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

from hlodb.reports.read.beside import beside
from hlodb.reports.read.causes import Cause, name_cause, profile_cause
from hlodb.reports.read.claims import Claim, read_claims
from hlodb.reports.read.differences import (
    Change,
    Count,
    Difference,
    DivergenceRow,
    InputChange,
    Modules,
    Part,
    read_differences,
    read_divergences,
    read_input_changes,
    read_op_mixes,
)
from hlodb.reports.read.facts import (
    UNKNOWN,
    Module,
    Place,
    Sources,
    read_sources,
    rows,
)
from hlodb.reports.read.history import Step
from hlodb.reports.read.pairs import Verdict
from hlodb.schema.connection import Connection

SOURCE = "before_optimizations"
"""The stage that is handed to XLA."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two compilations part: the first stage or pass whose result differs."""

    last_equal: str | None
    first_different: str | None
    blame: str
    reason: str


@dataclass(frozen=True, slots=True)
class BufferChange:
    """One buffer's share of a difference; base or candidate facts are null where new
    or gone.

    The source line is where the buffer is defined, or, for what the compiler adds,
    where it is first read: `attribution` is defined or read, null without a line.
    """

    part: str
    kind: str
    delta_bytes: int
    base_instruction: str | None
    candidate_instruction: str | None
    op_path: str | None
    base_shape: str | None
    candidate_shape: str | None
    base_bytes: int | None
    candidate_bytes: int | None
    source_file: str | None
    source_line: int | None
    attribution: str | None
    match_method: str
    match_confidence: float
    note: str


@dataclass(frozen=True, slots=True)
class HeldBuffer:
    """A buffer that fills memory of base or candidate, and the bytes that it owns.

    `status` is as in `buffer_changes`.
    """

    status: str
    kind: str
    base_instruction: str | None
    candidate_instruction: str | None
    op_path: str | None
    base_shape: str | None
    candidate_shape: str | None
    base_bytes: int | None
    candidate_bytes: int | None


@dataclass(frozen=True, slots=True)
class Contents:
    """What fills the memory of both sides, the largest first, and the rest summed up.

    On each side the bytes add up to what is reserved without the room lost to packing.
    """

    held: list[HeldBuffer]
    other_count: int
    other_base_bytes: int
    other_candidate_bytes: int


BATCH = 400
"""How many pairs are read at once: bounds memory, not results."""


class Details(NamedTuple):
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
    inputs: list[InputChange]
    claims: list[Claim]


NO_DETAILS = Details(None, None, [], 0, [], 0, 0, None, [], [], [])
"""Details of a program that only one run holds."""


DetailsOfPairs = Mapping[tuple[Modules, int], Details]


def details_of(
    connection: Connection,
    verdicts: Iterable[Verdict],
    steps: Iterable[Step],
    top: int,
    known: DetailsOfPairs | None = None,
) -> DetailsOfPairs:
    """Return the details of what moved between base and candidate, and of steps.

    Those `known` are not read again.
    """
    known = known or {}
    held = {pair for pair, _ in known}
    moved = [m for v in verdicts if (m := moved_modules(v)) is not None]
    stepped = [m for s in steps if (m := moved_modules(s.verdict)) is not None]
    wanted = [pair for pair in [*moved, *stepped] if pair not in held]
    # Earlier steps are listed by their cause, which needs no split.
    return {**known, **read_details(connection, wanted, top=top, split=set(moved))}


def moved_modules(verdict: Verdict) -> Modules | None:
    """Return both modules of a difference that has details."""
    if verdict.change in ("new", "failed"):
        return None
    if verdict.change == "recovered" and not verdict.delta_bytes:
        return None
    return verdict.pair.both


def read_details(
    connection: Connection,
    pairs: Iterable[Modules],
    *,
    top: int,
    split: Set[Modules],
) -> DetailsOfPairs:
    """Return the explanation of every (base, candidate) by colour.

    `top` is how many buffers and opcodes are listed; what is left is summed up. The
    differences of pairs in `split` are split by what they follow from.
    """
    remaining = iter(dict.fromkeys(pairs))
    found: dict[tuple[Modules, int], Details] = {}
    while batch := list(islice(remaining, BATCH)):
        of_pairs = read_differences(connection, batch)
        detailed = [
            (pair, difference)
            for pair, of_colors in zip(batch, of_pairs, strict=True)
            for difference in of_colors
            if difference.is_detailed
        ]
        edited = list(dict.fromkeys(pair for pair, _ in detailed))
        devices = _devices(connection, edited)
        known = partial(read_claims, pairs=edited, split=split & set(edited))
        asked = [(pair, difference.main_part) for pair, difference in detailed]
        with beside(connection, threads=1) as start:
            claims_of = start(known)
            sources = _sources(connection, detailed, top)
            partings = read_divergences(connection, asked)
            inputs = read_input_changes(connection, batch)
            mixes = dict(zip(batch, read_op_mixes(connection, batch, top), strict=True))
            claims = claims_of.result()
        for pair, of_colors in zip(batch, of_pairs, strict=True):
            for each in of_colors:
                if not each.is_detailed:
                    found[pair, each.color] = _of_profiles(each)
        for (pair, each), parting in zip(detailed, partings, strict=True):
            claimed = claims.get((pair, each.color), [])
            found[pair, each.color] = _details(
                pair,
                each,
                parting,
                sources,
                claimed,
                inputs.get(pair, []),
                top,
                devices.get(pair, 1),
            )._replace(op_mix=mixes[pair])
    return found


def _devices(connection: Connection, pairs: Sequence[Modules]) -> dict[Modules, int]:
    """Return of how many devices the shapes of edits are, where that is known."""
    split = [pair for pair in pairs if (pair[1].num_partitions or 1) > 1]
    if not split:
        return {}
    ids = [module.earliest_id for pair in split for module in pair]
    manual = {module for (module,) in rows(connection, "manual_modules", modules=ids)}
    return {
        pair: pair[1].num_partitions or 1
        for pair in split
        if manual.isdisjoint(module.earliest_id for module in pair)
    }


def _details(
    pair: Modules,
    difference: Difference,
    parting: DivergenceRow,
    sources: Sources,
    claims: list[Claim],
    inputs: list[InputChange],
    top: int,
    devices: int,
) -> Details:
    shown, rest = difference.changes[:top], difference.changes[top:]
    return Details(
        name_cause(difference, parting, claims, inputs, devices)
        if difference.changes
        else None,
        Divergence(
            parting.last_equal_stage,
            parting.first_different_stage,
            parting.blame,
            parting.reason,
        ),
        list(difference.parts),
        difference.residual_bytes,
        [_buffer_change(change, *pair, sources) for change in shown],
        len(rest),
        sum(change.delta_bytes for change in rest),
        _contents(difference.held, top),
        [],
        inputs,
        claims,
    )


def _of_profiles(difference: Difference) -> Details:
    return NO_DETAILS._replace(
        cause=profile_cause(difference) if difference.changes else None,
        parts=list(difference.parts),
        residual_bytes=difference.residual_bytes,
    )


def _contents(held: Sequence[Change], top: int) -> Contents:
    """Return the `top` largest of what fills the memory, and the sums of the rest."""
    rest = held[top:]
    return Contents(
        [_held(each) for each in held[:top]],
        len(rest),
        sum(each.base_held_bytes or 0 for each in rest),
        sum(each.candidate_held_bytes or 0 for each in rest),
    )


def _held(change: Change) -> HeldBuffer:
    b, c = change.base, change.candidate
    return HeldBuffer(
        status=change.status or "",
        kind=change.kind,
        base_instruction=b.name if b else None,
        candidate_instruction=c.name if c else None,
        op_path=(c.op_path if c else None) or (b.op_path if b else None),
        base_shape=b.shape if b else None,
        candidate_shape=c.shape if c else None,
        base_bytes=change.base_held_bytes,
        candidate_bytes=change.candidate_held_bytes,
    )


def _sources(
    connection: Connection, found: Iterable[tuple[Modules, Difference]], top: int
) -> Sources:
    wanted = {
        place
        for pair, difference in found
        for change in difference.changes[:top]
        if (place := _place(change, *pair)) is not None
    }
    return read_sources(connection, wanted)


def _place(change: Change, base: Module, candidate: Module) -> Place | None:
    """Return the value with the source line of a change, the candidate's if there."""
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
        base_instruction=b.name if b else None,
        candidate_instruction=c.name if c else None,
        op_path=(c.op_path if c else None) or (b.op_path if b else None),
        base_shape=b.shape if b else None,
        candidate_shape=c.shape if c else None,
        base_bytes=b.bytes if b else None,
        candidate_bytes=c.bytes if c else None,
        source_file=source.file,
        source_line=source.line,
        attribution=source.attribution,
        match_method=change.method,
        match_confidence=change.confidence,
        note=change.note,
    )
