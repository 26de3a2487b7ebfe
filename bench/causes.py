"""Scores what reports say of single edits: verdict, bytes, edited line, cause in words.

Pairs of compiled programs lie in tests/data/pairs and tests/data/edits, one archive for
each program and platform: a base, and candidates of one edit each, with their sources
and the truth that was written down before any report was read. The truth of
tests/data/edits also says what undoes an edit and what would be false, so that false
sentences are counted, and how often each rule of cause_rules is right. `python -m
bench.causes [-v] [--keep-rules] [NAME…]`; --keep-rules writes the counts of rules to
queries/rules/cause_rules.csv.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from shutil import copyfile
from typing import Any

from bench.sentences import (
    FIRST_LINES,
    Sentence,
    Truth,
    fault,
    is_effect,
    place,
    sentences,
)
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.causes import explaining
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect

DATA = Path(__file__).parent.parent / "tests" / "data"
PAIRS = DATA / "pairs"
EDITS = DATA / "edits"
RULES = DATA.parent.parent / "queries" / "rules" / "cause_rules.csv"
FLOORS = 2**20, 0.005

_ALLOCATION = re.compile(r"^allocation \d+: size (\d+)(.*?):?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pair:
    """A base, a candidate, and what is true of them.

    `delta_bytes` are of memory space 0, as XLA's own text adds up; `lines` are the
    edited lines of base and candidate. `operation` is a pattern of what the edit is of,
    where no compiler sees that line: arguments of another size, or not donated.
    """

    name: str
    base: Path
    candidate: Path
    verdict: str
    delta_bytes: int
    causes: tuple[str, ...]
    lines: frozenset[str]
    operation: str | None
    truth: Truth | None = None
    program: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """Which answers about a pair are right; None where nothing is to be said.

    `sentence_count` and `faults` are None for pairs of which nobody wrote down what
    would be false; `is_silent` is None for edits that change something. `rules` has
    each rule that claims a cause, and whether it is right; `undone` each claim with an
    undo and bytes, and whether a program without the edit was compiled to as much less.
    """

    verdict: bool
    bytes: bool
    line: bool | None
    cause: float | None
    is_alone: bool
    sentence_count: int | None = None
    faults: tuple[tuple[str, str], ...] | None = None
    is_silent: bool | None = None
    rules: tuple[tuple[str, bool], ...] = ()
    undone: tuple[tuple[str, int, bool], ...] = ()


def unpacked(archive: Path, folder: Path) -> Iterator[Pair]:
    """Yield the pairs of an archive, unpacked into a folder."""
    with tarfile.open(archive) as packed:
        # Python 3.11 has the filter since 3.11.4 only, later ones warn without it.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)
    root = folder / archive.name.removesuffix(".tar.xz")
    base = root / "base"
    if archive.parent == EDITS:
        yield from _of_truths(root)
        return
    truths = json.loads((root / "truth.json").read_text())
    operations = json.loads((PAIRS / "operations.json").read_text())
    of_program = operations[root.name.rpartition("-")[0]]
    for name, truth in truths.items():
        candidate = root / name
        before, after = _reserved(base), _reserved(candidate)
        verdict = truth["verdict"]
        if verdict != "changed":
            verdict = _expected(before, after)
        causes = tuple(truth["causes"])
        lines = frozenset(_edited(base, candidate))
        yield Pair(
            name,
            base,
            candidate,
            verdict,
            after - before,
            causes,
            lines,
            of_program.get(name),
        )


def _of_truths(root: Path) -> Iterator[Pair]:
    truths = json.loads((EDITS / f"{root.name}.json").read_text())
    for name, truth in truths.items():
        causes, lines = tuple(truth.get("causes", ())), _places(truth)
        found = Truth(
            delta_bytes=truth["bytes"],
            causes=causes,
            undo=tuple(truth.get("undo", ())),
            false=tuple(truth.get("false", ())),
            lines=lines,
            operation=truth.get("operation"),
            is_silent=truth.get("silent", False),
            parts={
                line: truths[part]["bytes"]
                for part in truth.get("parts", ())
                for line in _places(truths[part])
            },
        )
        base = root / truth.get("base", "base")
        candidate, delta = root / truth.get("candidate", name), truth["bytes"]
        verdict, operation = truth["verdict"], found.operation
        yield Pair(
            name,
            base,
            candidate,
            verdict,
            delta,
            causes,
            lines,
            operation,
            found,
            truth["program"],
        )


def _places(truth: dict[str, Any]) -> frozenset[str]:
    return frozenset(map(place, truth["lines"]))


def _reserved(folder: Path) -> int:
    (file,) = folder.glob("*buffer-assignment.txt")
    found = _ALLOCATION.findall(file.read_text())
    return sum(int(size) for size, more in found if not _is_elsewhere(more))


def _is_elsewhere(more: str) -> bool:
    color = re.search(r"color (\d+)", more)
    return color is not None and color[1] != "0"


def _expected(before: int, after: int) -> str:
    delta = abs(after - before)
    if delta < FLOORS[0] or delta < FLOORS[1] * min(before, after):
        return "same"
    return "worse" if after > before else "improved"


def _edited(base: Path, candidate: Path) -> Iterator[str]:
    """Yield `lm.py:57` for every line that was edited, in either version."""
    (file,) = candidate.glob("*.py")
    before, after = ((d / file.name).read_text().split("\n") for d in (base, candidate))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, *spans in matcher.get_opcodes():
        if tag != "equal":
            for low, high in (spans[:2], spans[2:]):
                yield from (f"{file.name}:{n + 1}" for n in range(low, high))


def score(pair: Pair, report: Report) -> Score:
    """Compare what a report says of a pair with what is true."""
    # Programs that JAX compiles for single operations are not the edited one.
    found = [
        p for p in report.programs if p.color == 0 and pair.program in (None, p.program)
    ]
    changes = {p.change for p in found}
    # Reserved and live bytes may move in opposite directions.
    right = {"worse": {"worse", "mixed"}, "improved": {"improved", "mixed"}}
    is_right = changes <= right.get(pair.verdict, {pair.verdict})
    is_green = report.headline.startswith("✅")
    is_below_floor = abs(pair.delta_bytes) < FLOORS[0] or (
        bool(found)
        and all(
            abs(p.delta_bytes or 0) < FLOORS[1] * (p.base_bytes or 0) for p in found
        )
    )
    may_be_green = pair.verdict in ("same", "improved") or is_below_floor
    delta = sum(p.delta_bytes or 0 for p in found)
    text = renderer("text")(report)
    top = "\n".join(text.split("\n")[:FIRST_LINES])
    is_moved = pair.verdict != "same"
    causes = [bool(re.search(c, top, re.IGNORECASE)) for c in pair.causes]
    lines = {line for line in pair.lines if re.search(rf"\b{re.escape(line)}\b", top)}
    is_named = pair.operation is not None and bool(re.search(pair.operation, top))
    alerts = [
        f
        for f in report.findings
        # A step of the history is no alarm where XLA's own sizes moved.
        if f.change in ("worse", "mixed")
        and (f.scope == "candidate" or not pair.delta_bytes)
    ]
    judged = []
    if pair.truth is not None:
        judged = [(s, fault(s, pair.truth)) for s in sentences(text)]
    return Score(
        verdict=is_right and (may_be_green or not is_green),
        bytes=delta == pair.delta_bytes,
        line=bool(lines) or is_named if is_moved and pair.lines else None,
        cause=sum(causes) / len(causes) if is_moved and causes else None,
        is_alone=all(f.color == 0 for f in alerts) and (is_moved or not alerts),
        sentence_count=None if pair.truth is None else len(judged),
        faults=None
        if pair.truth is None
        else tuple((wrong, s.text) for s, wrong in judged if wrong),
        is_silent=not judged if pair.truth and pair.truth.is_silent else None,
        rules=() if pair.truth is None else tuple(_rules(pair, pair.truth, report)),
        undone=() if pair.truth is None else tuple(_undone(pair, pair.truth, report)),
    )


def _rules(pair: Pair, truth: Truth, report: Report) -> Iterator[tuple[str, bool]]:
    """Yield the rules that claim a cause of a pair, each with whether it is right."""
    for finding in report.findings:
        if finding.color == 0 and finding.program == pair.program:
            for claim in explaining(finding.claims):
                line = f"{claim.source_path}:{claim.source_line}"
                at = line if claim.source_path and claim.source_line else None
                sentence = Sentence("cause", claim.claim, at)
                yield claim.rule_id or "", fault(sentence, truth) is None


def _undone(
    pair: Pair, truth: Truth, report: Report
) -> Iterator[tuple[str, int, bool]]:
    """Yield the claims of a pair that promise bytes, and whether an undo gives them."""
    for finding in report.findings:
        if finding.color == 0 and finding.program == pair.program:
            for claim in explaining(finding.claims):
                if claim.advice is not None and claim.delta_bytes:
                    line = f"{claim.source_path}:{claim.source_line}"
                    is_right = is_effect(claim.delta_bytes, line, truth)
                    yield claim.claim, claim.delta_bytes, is_right


def scored(archive: Path, verbose: bool = False) -> dict[str, Score]:
    """Return the scores of the pairs of an archive, by name."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for pair in unpacked(archive, Path(folder)):
            alone = Path(folder) / f"{pair.base.name} alone.duckdb"
            if not alone.exists():
                _ingest(alone, pair.base, "base")
            # Of its own, so that no other candidate is in its history.
            path = Path(folder) / f"{pair.name}.duckdb"
            copyfile(alone, path)
            # The name of the edit would name its cause.
            _ingest(path, pair.candidate, "candidate")
            with connect(path) as connection:
                request = Request("candidate", "base", shown=frozenset())
                report = build_report(connection, request, Settings())
            found[pair.name] = score(pair, report)
            if verbose:
                print(f"## {pair.name} {found[pair.name]}")
                text = renderer("text")(report).split("\n")[:FIRST_LINES]
                print("\n".join(text), "\n", flush=True)
    return found


def _ingest(path: Path, folder: Path, name: str) -> None:
    ingest([str(folder)], path, request=RunRequest(name=name), jobs=1)


def table(scores: dict[str, dict[str, Score]]) -> str:
    """Return the scores of every archive, and of all, as Markdown."""
    heads = ["verdict", "bytes", "edited line", "cause", "two edits", "no noise"]
    heads += ["without a false sentence", "sentences", "silent", "undone"]
    rows = [f"| pairs | {' | '.join(heads)} |"]
    rows.append("|---" + "|--:" * len(heads) + "|")
    every = {f"{a}/{n}": s for a, found in scores.items() for n, s in found.items()}
    for name, found in {**scores, "all": every}.items():
        is_two = {n: n.rpartition("/")[2].startswith("two_") for n in found}
        one = {n: s for n, s in found.items() if not is_two[n]}
        two = [s.cause == 1 for n, s in found.items() if is_two[n]]
        cells = [
            _ratio([s.verdict for s in found.values()]),
            _ratio([s.bytes for s in found.values()]),
            _ratio([s.line for s in one.values() if s.line is not None]),
            _ratio([s.cause == 1 for s in one.values() if s.cause is not None]),
            _ratio(two),
            _ratio([s.is_alone for s in found.values()]),
            _ratio([not s.faults for s in found.values() if s.faults is not None]),
            _true_sentences(found.values()),
            _ratio([s.is_silent for s in found.values() if s.is_silent is not None]),
            _ratio([right for s in found.values() for _, _, right in s.undone]),
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def rule_counts(scores: Iterable[Score]) -> dict[str, tuple[int, int]]:
    """Return how often each rule named a cause, and how often it was right."""
    told: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for rule, is_right in (pair for score in scores for pair in score.rules):
        told[rule] += 1
        right[rule] += is_right
    return {rule: (told[rule], right[rule]) for rule in sorted(told)}


def _keep_rules(counts: dict[str, tuple[int, int]]) -> None:
    with RULES.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["told_count"], row["right_count"] = map(
            str, counts.get(row["rule_id"], (0, 0))
        )
    with RULES.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _true_sentences(scores: Iterable[Score]) -> str:
    counted = [s for s in scores if s.faults is not None]
    every = sum(s.sentence_count or 0 for s in counted)
    false = sum(len(s.faults or ()) for s in counted)
    return f"{every - false}/{every}" if counted else "-"


def _ratio(answers: list[bool]) -> str:
    if not answers:
        return "-"
    return f"{sum(answers)}/{len(answers)}"


def main() -> None:
    """Print the table of scores, and the pairs that miss something."""
    # A sentence is read as a line.
    os.environ["COLUMNS"] = "1000000"
    verbose, keeps_rules = ("-v" in sys.argv), ("--keep-rules" in sys.argv)
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    archives = sorted([*PAIRS.glob("*.tar.xz"), *EDITS.glob("*.tar.xz")])
    chosen = [a for a in archives if not names or any(n in a.name for n in names)]
    scores = {a.name.removesuffix(".tar.xz"): scored(a, verbose) for a in chosen}
    print(table(scores))
    counts = rule_counts(each for found in scores.values() for each in found.values())
    print("\n| rule | named | right |\n|---|--:|--:|")
    for rule, (told, right) in counts.items():
        print(f"| {rule} | {told} | {right} |")
    if keeps_rules:
        _keep_rules(counts)
    missed: dict[str, list[str]] = defaultdict(list)
    for archive, found in scores.items():
        for name, each in found.items():
            for what in ("verdict", "bytes", "line", "cause", "is_alone"):
                if getattr(each, what) not in (None, True, 1):
                    missed[what].append(f"{archive}/{name}")
    for what, where in missed.items():
        print(f"\n{what}: {', '.join(where)}")
    kinds: dict[str, list[str]] = defaultdict(list)
    for archive, found in scores.items():
        for name, each in found.items():
            for kind, text in each.faults or ():
                kinds[kind].append(f"{archive}/{name}: {text}")
            for text, size, is_right in each.undone:
                if not is_right:
                    words = f"{archive}/{name}: {size:+,} B of {text}"
                    kinds["undo: other bytes"].append(words)
    for kind, where in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(where)} times {kind}\n  " + "\n  ".join(where))


if __name__ == "__main__":
    main()
