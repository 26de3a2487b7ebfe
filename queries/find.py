"""Find canned queries by the words of a question: counted words, no model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from hlodb.queries.catalogue import BUILDING_BLOCKS, Catalogue
from hlodb.queries.describe import QUESTIONS
from hlodb.queries.query import Query

MOST_FOUND = 8
"""Number of queries that a question finds at most."""

_FREQUENT = 10
"""Factor of a query that answers a frequent question in the same words."""

_WORD = re.compile(r"[a-z0-9]+")
_WEIGHTS = {"name": 4.0, "title": 4.0, "question": 4.0, "columns": 0.5, "rest": 0.5}
"""What a word of the question counts, by the place where a query has it."""

_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a all an and any are as at be been by can do does each for from had has have"
        " how i in is it its me my of on one or our s show tell that the there this to"
        " was we were what when where which who whose why will with would you hlodb",
    )
)
"""Words that say nothing about the subject of a question."""

_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "es", "ed", "s", "e", "y")
_SHORTEST_STEM = 3


def find_queries(
    catalogue: Catalogue, question: str, most: int = MOST_FOUND
) -> list[Query]:
    """Return the queries whose words fit a question, the best first.

    A word counts by the place where a query has it, and the more the fewer queries
    have it there. Queries without any word of the question are left out, and so are
    building blocks and checks.
    """
    asked = _words(question)
    places = {
        query.name: _places(query)
        for query in catalogue.values()
        if query.group not in ("checks", *BUILDING_BLOCKS)
    }
    holders = Counter(
        (place, word)
        for found in places.values()
        for place, words in found.items()
        for word in words
    )
    scores = {
        name: sum(
            weight * math.log((len(places) + 1) / holders[place, word])
            for place, weight in _WEIGHTS.items()
            for word in asked & found[place]
        )
        * (_FREQUENT if asked in map(_words, _frequent(name)) else 1)
        for name, found in places.items()
    }
    ranked = sorted((-score, name) for name, score in scores.items() if score)
    return [catalogue[name] for _, name in ranked[:most]]


def _words(text: str) -> set[str]:
    return set(stems(text))


def stems(text: str) -> Iterator[str]:
    """Yield the words of a text without endings; words without a subject are none."""
    for word in _WORD.findall(text.lower()):
        if word not in _EMPTY:
            yield _stem(word)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def _places(query: Query) -> dict[str, set[str]]:
    columns = (f"{column.name} {column.doc}" for column in query.columns)
    return {
        "name": _words(query.name.replace("_", " ")),
        "title": _words(query.title),
        "question": _of((query.question, *_frequent(query.name))),
        "columns": _of(columns),
        "rest": _of((query.definition, query.grain, query.empty or "")),
    }


def _frequent(name: str) -> list[str]:
    """Return the frequent questions that a query answers."""
    return [
        question
        for question, command in QUESTIONS.items()
        if command.split()[1:3] == ["query", name]
    ]


def _of(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in stems(text.replace("_", " "))}
