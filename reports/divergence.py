"""Where two compilations part, and who is to look: the first stage that differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hlodb.reports.compilations import Compilation, Snapshot
from hlodb.reports.match import similarity
from hlodb.reports.model_findings import Divergence
from hlodb.reports.read import Opcodes

COLLECTIVES = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-",
    "reduce-scatter",
)
NEARLY_EQUAL = 0.95
_PASS_BLAME = {
    "spmd": "partitioner",
    "partition": "partitioner",
    "shard": "partitioner",
    "fusion": "fusion",
    "schedul": "scheduler",
    "remat": "scheduler",
    "layout": "layout",
}
"""What a pass's name tells of who owns it; the first word that it contains."""


class Parting(NamedTuple):
    """The last snapshot that is equal, the first that is not, and who has it."""

    last_equal: Snapshot | None
    first: Snapshot | None
    note: str

    @property
    def name(self) -> str | None:
        """What the first difference is called in a report."""
        return None if self.first is None else self.first.name + self.note


def divergence(
    base: Compilation, candidate: Compilation, main_part: str, flags_differ: bool
) -> Divergence:
    """Return where two compilations part, and whose change that is.

    `main_part` is the part of the waterfall that most of the difference falls in.
    """
    parting = first_difference(base.snapshots, candidate.snapshots)
    blame, reason = _blame(base, candidate, main_part, flags_differ, parting.first)
    return Divergence(
        parting.last_equal.name if parting.last_equal else None,
        parting.name,
        blame,
        reason,
    )


def first_difference(
    base: Sequence[Snapshot], candidate: Sequence[Snapshot]
) -> Parting:
    """Return the last snapshot that both hold, and what follows it.

    Snapshots are compared by their graphs, where the last ones are equal also by
    layouts and order; never by their names: a pass may run many times under one name,
    and releases number and name passes otherwise.
    """
    b = [s for s in base if s.graph_fingerprint is not None]
    c = [s for s in candidate if s.graph_fingerprint is not None]
    if not b or not c:
        return Parting(None, None, "")
    if b[-1].graph_fingerprint != c[-1].graph_fingerprint:
        return _parting(b, c, lambda s: s.graph_fingerprint)
    if b[-1].exact_fingerprint != c[-1].exact_fingerprint:
        return _parting(b, c, lambda s: s.exact_fingerprint)
    return Parting(c[-1], None, "")


def _parting(
    base: Sequence[Snapshot],
    candidate: Sequence[Snapshot],
    content: Callable[[Snapshot], int | None],
) -> Parting:
    """Find where compilations part whose last snapshots differ in `content`."""
    places = {content(s): i for i, s in enumerate(base)}
    shared = [i for i, s in enumerate(candidate) if content(s) in places]
    if not shared:
        return Parting(None, candidate[0], "")
    last = candidate[shared[-1]]
    after = candidate[shared[-1] + 1 :]
    base_after = base[places[content(last)] + 1 :]
    only_base = base_after and _pass_of(base_after[0]) not in map(_pass_of, after)
    only_candidate = after and _pass_of(after[0]) not in map(_pass_of, base_after)
    if only_base and not only_candidate:
        return Parting(last, base_after[0], " (in the base only)")
    note = " (in the candidate only)" if only_candidate and not only_base else ""
    return Parting(last, after[0], note)


def _pass_of(s: Snapshot) -> tuple[str | None, ...]:
    return (s.stage, s.pipeline, s.pass_after)


def _blame(
    base: Compilation,
    candidate: Compilation,
    main_part: str,
    flags_differ: bool,
    first: Snapshot | None,
) -> tuple[str, str]:
    b, c = base.module, candidate.module
    declared = base.traits.alias_count, candidate.traits.alias_count
    if main_part == "alias" and declared[0] != declared[1]:
        shared = "outputs may share the memory of a parameter"
        return "framework", f"{declared[1]} {shared}, {declared[0]} before"
    known = b.source_graph is not None and c.source_graph is not None
    same_source = known and b.source_graph == c.source_graph
    by_flags = flags_differ and same_source
    if b.exact_fingerprint is not None and b.exact_fingerprint == c.exact_fingerprint:
        reason = "the programs are the same, buffers are assigned otherwise"
        return _unless_flags("packing", reason, by_flags)
    if first is not None and first.stage == "pass":
        return _blame_of_pass(first), "what goes into that pass is the same"
    if b.graph_fingerprint is not None and b.graph_fingerprint == c.graph_fingerprint:
        if base.traits.scoped_bytes != candidate.traits.scoped_bytes:
            return "framework", "the graphs are the same, kernels ask for other memory"
        reason = "the graphs are the same, order or layouts differ"
        return _unless_flags("scheduler", reason, by_flags)
    if same_source:
        blame = _compiler_blame(base, candidate, main_part)
        return _unless_flags(blame, "the source is the same", by_flags)
    if not known:
        return _compiler_blame(base, candidate, main_part), "no source was dumped"
    return _source_blame(base, candidate, main_part)


def _unless_flags(blame: str, reason: str, by_flags: bool) -> tuple[str, str]:
    """Return whether flags differ, which explain other results of one source."""
    if by_flags:
        return "environment", f"{reason}, compiler flags differ"
    return blame, reason


def _blame_of_pass(snapshot: Snapshot) -> str:
    name = (snapshot.pass_after or "").lower()
    found = (blame for word, blame in _PASS_BLAME.items() if word in name)
    return next(found, "optimisation")


def _source_blame(
    base: Compilation, candidate: Compilation, main_part: str
) -> tuple[str, str]:
    """Return who changed more where the sources differ.

    Other shapes, element types or shardings of the source are never of XLA's making.
    Where it takes more arguments than before, or computes something else, only other
    kinds of sharding tell: what is computed twice is sharded twice.
    """
    source = similarity(base.source_opcodes, candidate.source_opcodes)
    typed = similarity(base.source_typed, candidate.source_typed)
    final = similarity(base.opcodes, candidate.opcodes)
    alike = f"the sources are {100 * source:.0f} % alike"
    if typed < source:
        alike += f" ({100 * typed:.0f} % with their shapes)"
    reason = f"{alike}, the results {100 * final:.0f} %"
    shapes = base.module.source_shapes, candidate.module.source_shapes
    is_other = None not in shapes and shapes[0] != shapes[1]
    b, c = base.traits, candidate.traits
    is_sharded = b.shardings != c.shardings
    is_changed = is_other or source < NEARLY_EQUAL
    if is_sharded and (not is_changed or b.sharding_kinds != c.sharding_kinds):
        return "framework", f"{reason}; the sources are sharded otherwise"
    if is_other or typed < NEARLY_EQUAL or main_part in ("resized", "retyped"):
        return "framework", reason
    moved = main_part in ("life", "kind", "fragmentation")
    if source >= NEARLY_EQUAL and (moved or 1 - final > 2 * (1 - source)):
        return _compiler_blame(base, candidate, main_part), reason
    return "framework", reason


def _compiler_blame(base: Compilation, candidate: Compilation, main_part: str) -> str:
    if main_part == "fragmentation":
        return "packing"
    if _collectives(base.opcodes) != _collectives(candidate.opcodes):
        return "partitioner"
    alike = similarity(base.opcodes, candidate.opcodes)
    if main_part in ("life", "kind") and alike >= NEARLY_EQUAL:
        return "scheduler"
    return "fusion"


def _collectives(opcodes: Opcodes) -> dict[str, int]:
    return {o: n for o, n in opcodes.items() if o.startswith(COLLECTIVES)}
