"""What `hlodb explain` advises: few remedies where memory is short, none where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hlodb.reports.document.blocks import Block, Paragraph, table
from hlodb.reports.read.overview import Row, most_rows
from hlodb.text import bytes_range, plain_bytes

SHORT_RATIO = 0.8
"""Memory is short where a program reserves at least this share of the limit."""

FREE_RATIO = 0.25
"""Memory is plentiful where a program reserves less than this share of it."""

SMALL_BYTES = 16 * 2**20
"""Nothing pays in a program that needs less, where no limit is known."""

_WORTH_RATIO, _WORTH_RATIO_OF_FITTING = 0.05, 0.1
"""What saves a smaller share of what is reserved does not pay, unless memory is short;
where the program fits for sure, more is asked."""

_LITTLE_RATIO = 0.25
"""What saves less than this share of another remedy of its rule comes last."""

_CHECKPOINTS = ("recompute", "checkpoint_loop", "nest_loop", "scan_layers")
_SAVED_RATIO = 0.2
"""From this share of the peak on, activations that are saved are spoken of."""

_MOST_ROLES, _ROLE_RATIO = 3, 0.1
"""So many roles of at least that share say what the peak is."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Remedies to show, and those that are left to `hlodb query remedies`."""

    shown: Sequence[Row]
    folded: Sequence[Row]


def is_free(space: Row) -> bool:
    """Return whether a program surely leaves most of the limit of a memory space."""
    limit = space["usable_bytes"]
    is_known = limit and space["status"] == "ok"
    return bool(is_known and space["reserved_bytes"] < FREE_RATIO * limit)


def lacks(space: Row) -> bool:
    """Return whether a program reserves more than the limit of a memory space."""
    limit = space["usable_bytes"]
    return bool(limit and space["reserved_bytes"] > limit)


_SURE_OF_LIMIT, _SURE_OF_SAVED = 0.05, 0.2
"""An estimate that leaves less of the limit, or of what it saves, may be wrong."""

MEASURE = "`hlodb explain PATH --measure` compiles those that are an edit"
MEASURED = frozenset(
    (
        *("donate", "drop_output", "halve_element", "halve_moment"),
        *("narrow_argument", "shard"),
    )
)
"""Rules whose remedies replay makes as edits of a program."""

LIMIT = (
    "With `--limit SIZE`, such as 80GiB, each row says whether the program fits then"
)


class Afterwards(NamedTuple):
    """What a program reserves after a remedy; `verdict` says whether it fits then.

    Whether a program fits that the compiler refused in less is not known, and of an
    estimate that leaves little it is not sure.
    """

    size: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.size}, {self.verdict}" if self.verdict else self.size


def afterwards(space: Row, remedy: Row) -> Afterwards | None:
    """Return what a program reserves after a remedy, None without a limit.

    Of a program that is not short of memory nothing is said to fit then: it does now.
    """
    saved = remedy["saved_reserved_bytes"]
    if not space["usable_bytes"] or saved is None:
        return None
    left = space["reserved_bytes"] - saved
    if left > space["usable_bytes"]:
        least_left = space["reserved_bytes"] - (
            remedy["most_saved_reserved_bytes"] or saved
        )
        if least_left <= space["usable_bytes"]:
            return Afterwards(bytes_range(least_left, left), "may fit (estimated)")
        return Afterwards(plain_bytes(left), "too much")
    if not lacks(space) and (space["is_refused"] or not is_short(space)):
        return Afterwards(plain_bytes(left), "")
    least = max(_SURE_OF_LIMIT * space["usable_bytes"], _SURE_OF_SAVED * saved)
    if _is_measured(remedy) or space["usable_bytes"] - left >= least:
        return Afterwards(plain_bytes(left), "fits")
    return Afterwards(plain_bytes(left), "may just fit (estimated)")


def what_to_do(remedy: Row) -> str:
    """Return the advice of a remedy, and of a range what its greater end is."""
    if remedy["most_saved_reserved_bytes"] or remedy["most_saved_bytes"]:
        more = "The greater saving is if the compiler shards its gradients, too."
        return f"{remedy['advice']} {more}"
    return str(remedy["advice"])


def _is_measured(remedy: Row) -> bool:
    return remedy.get("standing") == "measured"


def estimated(remedies: Sequence[Row]) -> str:
    """Return that savings are estimates, nothing where all are measured."""
    if all(map(_is_measured, remedies)):
        return ""
    is_measurable = any(row["rule_id"] in MEASURED for row in remedies)
    if "standing" in remedies[0] or not is_measurable:
        return "Savings are estimated"
    return f"Savings are estimated; {MEASURE}"


def recomputed_by_compiler(roles: Sequence[Row]) -> list[str]:
    """Return that estimates are uncertain, where XLA recomputes what the peak holds."""
    names = [row.get("largest_instruction") or "" for row in roles]
    found = next((name for name in names if ".remat" in name), None)
    if found is None:
        return []
    return [
        f"XLA recomputes values itself here, such as {found}, to need less memory: what"
        " a change frees may only spare that, and a checkpoint may save far more than"
        " is estimated."
    ]


def is_small(space: Row) -> bool:
    """Return whether a program needs next to nothing, and nothing says it is much."""
    is_judged = space["usable_bytes"] or space["is_refused"] or space.get("has_failed")
    return not is_judged and space["reserved_bytes"] < SMALL_BYTES


def is_short(space: Row) -> bool:
    """Return whether a memory space is nearly full, or too small.

    It was too small where a log tells of a failure, whatever the limit is.
    """
    limit = space["usable_bytes"]
    if space["is_refused"] or space.get("has_failed"):
        return True
    return bool(limit and space["reserved_bytes"] >= SHORT_RATIO * limit)


def advice_on(space: Row, remedies: Sequence[Row]) -> Advice:
    """Return which remedies of a memory space to show.

    Last resorts change the whole computation: they are for where memory is short, and
    so is what saves little.
    Who lets remedies be measured wants to see them, and where memory is short those
    first after which the program fits, then those that a compiler has confirmed.
    """
    if any("standing" in row for row in remedies):
        shown = _surest_first(space, remedies) if is_short(space) else remedies
        return Advice(shown, [])
    if is_free(space) or is_small(space):
        return Advice([], remedies)
    if is_short(space):
        return Advice(_varied(remedies), [])
    shown = [r for r in remedies if not r["is_last_resort"] and _pays(space, r)]
    return Advice(shown, [row for row in remedies if row not in shown])


def _pays(space: Row, remedy: Row) -> bool:
    ratio = _WORTH_RATIO_OF_FITTING if is_fitting(space) else _WORTH_RATIO
    return bool(_saved(remedy) >= ratio * space["reserved_bytes"])


def _saved(remedy: Row) -> int:
    return int(remedy["saved_reserved_bytes"] or remedy["saved_bytes"] or 0)


def _varied(remedies: Sequence[Row]) -> list[Row]:
    """Return remedies with those behind that add little to another of their rule."""
    most: dict[str, int] = {}
    first: list[Row] = []
    behind: list[Row] = []
    for row in remedies:
        saved = _saved(row)
        is_more = _LITTLE_RATIO * most.setdefault(row["rule_id"], saved) > saved
        (behind if is_more else first).append(row)
    return [*first, *behind]


def _surest_first(space: Row, remedies: Sequence[Row]) -> list[Row]:
    """Return remedies by whether the program fits then, and by what was measured.

    An estimate of a last resort stays where it was.
    """

    def order(row: Row) -> tuple[bool, int]:
        is_told = _is_measured(row) or not row["is_last_resort"]
        then = afterwards(space, row) if is_told else None
        saved = (row["saved_reserved_bytes"] or 0) if _is_measured(row) else 0
        return then is None or then.verdict != "fits", min(-saved, 0)

    return sorted(remedies, key=order)


def is_fitting(space: Row) -> bool:
    """Return whether a program surely leaves enough of the limit of a memory space."""
    return space["status"] == "ok" and not is_short(space)


def advice_blocks(
    space: Row, remedies: Sequence[Row], roles: Sequence[Row], top: int
) -> list[Block]:
    """Return what to change in a program, or why nothing is advised."""
    advice = advice_on(space, remedies)
    # What was not read may hold a checkpoint, too.
    is_all = len(remedies) < most_rows(top)
    is_told = is_all and _may_pay(space, remedies, roles)
    unpriced = [Paragraph(_unpriced(roles))] if is_told else []
    if not advice.shown:
        return [Paragraph(why_nothing(space, advice, roles)), *unpriced]
    is_measured = "standing" in remedies[0]
    is_judged = any(afterwards(space, row) for row in advice.shown)
    rows = [
        (
            bytes_range(row["saved_reserved_bytes"], row["most_saved_reserved_bytes"]),
            bytes_range(row["saved_bytes"], row["most_saved_bytes"]),
            *((str(afterwards(space, row) or "-"),) if is_judged else ()),
            *((row["standing"],) if is_measured else ()),
            row["subject"],
            _line(row),
            what_to_do(row),
            row["cost"],
        )
        for row in advice.shown
    ]
    how = ("how",) if is_measured else ()
    then = ("then",) if is_judged else ()
    header = (
        *("reserved", "live", *then, *how),
        *("what", "source line", "what to do", "cost"),
    )
    what = (
        "The program fits; what would lower reserved memory and the live peak, by how"
        " much"
        if is_fitting(space)
        else "What to do, and what reserved memory and the live peak fall by"
    )
    limit = _limit(space) if is_judged else ""
    blocks: list[Block] = [
        Paragraph(f"{what}; savings do not add up{limit}:"),
        table(header, rows, top, numeric=(0, 1), is_all=is_all),
    ]
    if (text := estimated(advice.shown)) and not is_measured:
        more = "" if space["usable_bytes"] else f" {LIMIT}."
        blocks.append(Paragraph(f"{text}.{more}"))
        blocks += map(Paragraph, recomputed_by_compiler(roles))
    if advice.folded:
        blocks.append(Paragraph(_folded(advice)))
    return [*blocks, *unpriced]


def _may_pay(space: Row, remedies: Sequence[Row], roles: Sequence[Row]) -> bool:
    """Return whether a checkpoint may pay that is not listed, as XLA may undo it.

    It may not where another remedy frees half of what is saved, as of all pairs.
    """
    saved = _saved_bytes(roles)
    is_listed = any(
        r["rule_id"] in _CHECKPOINTS or 2 * _saved(r) >= saved for r in remedies
    )
    is_done = any(r["role"].startswith("recomputed") for r in roles)
    is_on_cpu = (space["space_name"], space["color"]) == ("host", 0)
    if not is_on_cpu or is_listed or is_done or is_free(space) or is_small(space):
        return False
    whole = sum(r["owned_bytes"] for r in roles)
    return bool(saved >= _SAVED_RATIO * whole > 0)


def _saved_bytes(roles: Sequence[Row]) -> int:
    return sum(r["owned_bytes"] for r in roles if r["role"] == "saved_activations")


def _unpriced(roles: Sequence[Row]) -> str:
    """Return that a checkpoint may pay, where XLA decides how much of it stays.

    Compiled by jaxlib 0.10.2 for a CPU: of a network of convolutions with a checkpoint
    around each block 16 % went, of a stack of dense layers nothing.
    """
    return (
        "Not priced: jax.checkpoint (nn.remat) around the blocks that save"
        f" {plain_bytes(_saved_bytes(roles))} of activations. XLA for CPUs merges some"
        " or all of what it repeats with the first computation, until jaxlib 0.11.0."
    )


def _limit(space: Row) -> str:
    return f"; the limit is {plain_bytes(space['usable_bytes'])}"


def _line(row: Row) -> str:
    if row["source_file"] is None:
        return ""
    return f"{row['source_file']}:{row['source_line']}"


def why_nothing(space: Row, advice: Advice, roles: Sequence[Row]) -> str:
    """Return why nothing is advised, what fills memory, and what is left to do."""
    if is_free(space):
        free = plain_bytes(space["usable_bytes"] - space["reserved_bytes"])
        limit = plain_bytes(space["usable_bytes"])
        text = f"The program leaves {free} of {limit}, so nothing is advised."
        return f"{text} {_folded(advice)}" if advice.folded else text
    if is_small(space) and advice.folded:
        size = plain_bytes(SMALL_BYTES)
        return f"Below {size} nothing is advised. {_folded(advice)}"
    holders = _holders(roles)
    fits = "The program fits, and no" if is_fitting(space) else "No"
    text = f"{fits} remedy is known"
    if not advice.folded:
        return f"{text}{holders}."
    if not all(row["is_last_resort"] for row in advice.folded):
        share = "tenth" if is_fitting(space) else "twentieth"
        nothing = "The program fits, and nothing" if is_fitting(space) else "Nothing"
        if any(_pays(space, row) for row in advice.folded):
            nothing += " that leaves results and speed as they are"
        text = f"{nothing} saves a {share} of what it reserves{holders}."
        return f"{text} {_folded(advice)}"
    number = len(advice.folded)
    first = advice.folded[0]
    which = "one that changes" if number == 1 else f"{number} that change"
    text = (
        f"{text} that leaves results and speed as they are{holders}."
        f" `hlodb query remedies` lists {which} what is computed or how long it takes"
    )
    if not _pays(space, first):
        return f"{text}."
    return (
        f"{text}; the {'first' if number > 1 else 'remedy'} saves"
        f" {plain_bytes(_saved(first))}: {first['advice']}"
    )


def _holders(roles: Sequence[Row]) -> str:
    """Return what most bytes of the peak are, the most first; copies are apart."""
    parts = []
    for row in roles:
        role, copied = row["role"].replace("_", " "), row["copied_bytes"]
        parts += [(row["owned_bytes"] - copied, role), (copied, f"copies of {role}")]
    whole = sum(size for size, _ in parts)
    parts.sort(key=lambda part: -part[0])
    most = [part for part in parts[:_MOST_ROLES] if part[0] >= _ROLE_RATIO * whole > 0]
    if not most:
        return ""
    (size, role), *others = most
    words = [role, *(f"{plain_bytes(size)} {role}" for size, role in others)]
    return f": {plain_bytes(size)} are {', '.join(words)}"


def _folded(advice: Advice) -> str:
    number = len(advice.folded)
    more = "more " if advice.shown else ""
    count = f"{number} {more}remed{'y' if number == 1 else 'ies'}"
    if all(row["is_last_resort"] for row in advice.folded):
        return f"Where memory is short, `hlodb query remedies` lists {count}."
    return f"`hlodb query remedies` lists {count}."
