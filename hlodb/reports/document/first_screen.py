"""What a page of `hlodb explain` says first: what fills the memory, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hlodb.reports.document.advice import (
    advice_on,
    afterwards,
    estimated,
    what_to_do,
    why_nothing,
)
from hlodb.reports.document.explanation import left_out, line_of, role_of
from hlodb.reports.read.overview import Overview, Row, described_spaces, rows_of
from hlodb.text import plain_bytes, plain_percent, signed_bytes

_MOST_REMEDIES = 3

_LEAST_LINE_RATIO = 0.01
"""A source line that holds less of the peak is not worth a sentence."""


class Remedy(NamedTuple):
    """A remedy in the words of a card; `figures` are by what memory changes.

    `standing` is measured or estimated, where remedies were compiled; `then` is what
    the program reserves afterwards, where a limit is known.
    """

    subject: str
    figures: tuple[tuple[str, str], ...]
    where: str
    advice: str
    cost: str
    standing: str
    then: str


class FirstScreen(NamedTuple):
    """Sentences about the first memory space, and what to do about it.

    `note` says what figures include, `estimate` how sure savings are; `nothing` stands
    where there is no remedy.
    """

    title: str
    space: Row
    sentences: tuple[str, ...]
    note: str
    remedies: tuple[Remedy, ...]
    nothing: str
    estimate: str


def first_screen(overview: Overview) -> FirstScreen | None:
    """Return what is said first of a run, None without a program that has a peak."""
    first = next(iter(described_spaces(overview, 1).items()), None)
    if first is None or first[1].get("live_peak_bytes") is None:
        return None
    title, space = first
    roles = rows_of(overview, "peak_by_role", space)
    if not roles:
        return None
    remedies = rows_of(overview, "remedies", space)
    advice = advice_on(space, remedies)
    return FirstScreen(
        title,
        space,
        (_holds(overview, space, roles), *_without_limit(space)),
        left_out(space),
        tuple(_remedy(space, row) for row in advice.shown[:_MOST_REMEDIES]),
        "" if advice.shown else why_nothing(space, advice, roles),
        estimated(advice.shown),
    )


def _holds(overview: Overview, space: Row, roles: Sequence[Row]) -> str:
    """Return the largest role of the peak, and the source line that holds most."""
    role = roles[0]
    size = plain_bytes(role["owned_bytes"])
    name, comma, padding = role_of(role).partition(",")
    text = f"{name.capitalize()}: {_share(role)} of the live peak"
    text += f" ({size}{comma}{padding})."
    lines = rows_of(overview, "peak_by_source_line", space)
    known = [row for row in lines if line_of(row)]
    if known and (known[0]["peak_ratio"] or 0) >= _LEAST_LINE_RATIO:
        text += f" Largest line: {line_of(known[0])} ({_share(known[0])})."
    return text


def _share(row: Row) -> str:
    return plain_percent(row["peak_ratio"])


def _without_limit(space: Row) -> tuple[str, ...]:
    """Return how to have a program judged whose device is not known."""
    if space["usable_bytes"] or space["space_name"] == "host":
        return ()
    return (
        "No limit of the device is known: --limit 16GiB or [[device]] of hlodb.toml"
        " names it.",
    )


def _remedy(space: Row, row: Row) -> Remedy:
    figures = tuple(
        (_fall(row[f"saved_{of}"], row[f"most_saved_{of}"]), what)
        for of, what in (("reserved_bytes", "reserved"), ("bytes", "live"))
        if row[f"saved_{of}"] is not None
    )
    return Remedy(
        row["subject"],
        figures,
        line_of(row),
        what_to_do(row),
        row["cost"],
        row.get("standing", ""),
        _then(space, row),
    )


def _fall(least: int, most: int | None) -> str:
    return signed_bytes(-least) + (f" to {signed_bytes(-most)}" if most else "")


def _then(space: Row, row: Row) -> str:
    """Return what the program reserves afterwards, and whether it fits then."""
    after = afterwards(space, row)
    if after is None:
        return ""
    text = f"then {after.size} of {plain_bytes(space['usable_bytes'])}"
    return f"{text}: {after.verdict}" if after.verdict else text
