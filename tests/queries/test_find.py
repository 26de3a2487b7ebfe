"""Questions find the queries that answer them, by words alone."""

from __future__ import annotations

import pytest

from hlodb.queries.catalogue import BUILDING_BLOCKS, load_catalogue
from hlodb.queries.describe import QUESTIONS
from hlodb.queries.find import MOST_FOUND, find_queries, stems


def found(question: str) -> list[str]:
    return [query.name for query in find_queries(load_catalogue(), question)]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which source line owns the peak?", "peak_by_source_line"),
        ("which LINES own the peak", "peak_by_source_line"),
        ("why did my job run out of memory", "oom_summary"),
        ("how large a batch fits", "largest_fit"),
        ("which inputs could be donated", "donation_ledger"),
        ("which weights are replicated on every device", "replicated_tensors"),
        ("which buffer is live longest", "longest_live_ranges"),
        ("how much headroom is left on the device", "headroom"),
        ("collectives that differ between ranks", "collective_parity"),
        ("peak_contents", "peak_contents"),
    ],
)
def test_the_best_query_comes_first(question: str, name: str) -> None:
    assert found(question)[0] == name


@pytest.mark.parametrize(
    ("question", "command"),
    [(q, c) for q, c in QUESTIONS.items() if c.startswith("hlodb query")],
)
def test_frequent_questions_find_their_query(question: str, command: str) -> None:
    assert found(question)[0] == command.split()[2]


@pytest.mark.parametrize("question", ["", "zzz", "what is it?", "\x1b[31m\u202e", "%"])
def test_a_question_without_a_subject_finds_nothing(question: str) -> None:
    assert found(question) == []


def test_never_too_many_and_never_blocks() -> None:
    every = " ".join(query.question for query in load_catalogue().values())
    names = found(every)
    assert len(names) == len(set(names)) == MOST_FOUND
    groups = {load_catalogue()[name].group for name in names}
    assert groups.isdisjoint(("checks", *BUILDING_BLOCKS))


def test_each_public_query_is_found_by_its_own_question() -> None:
    """One of two that ask in the same words may come second."""
    missed = [
        query.name
        for query in load_catalogue().values()
        if query.group not in ("checks", *BUILDING_BLOCKS)
        and query.name not in found(query.question)[:3]
    ]
    assert missed == []


def test_words_lose_their_endings() -> None:
    assert list(stems("Which buffers were padded, and the padding of HBM?")) == [
        "buffer",
        "padd",
        "padd",
        "hbm",
    ]
