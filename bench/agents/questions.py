"""Forty questions about dumps of this repository, with what answers them.

`truth` gives the answer without hlodb: by arithmetic over the texts of the dump
(`arithmetic.py`), or from what was written down by whoever made the dump. `path` are
calls of tools whose answers hold it, and `pick` finds it there: the shortest way that
an assistant could take.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from bench.agents.arithmetic import (
    ROOT,
    assignment,
    bytes_of,
    donated,
    programs_of,
    source_of,
)

Kind = Literal["number", "name", "line", "unknown"]
Truth = int | str | tuple[str, ...]
Fields = Mapping[str, Any]
Call = tuple[str, Mapping[str, Any]]


class Question(NamedTuple):
    """A question; `kind` is how its answer is graded."""

    id: str
    group: str
    text: str
    kind: Kind
    truth: Callable[[], Truth]
    path: tuple[Call, ...]
    pick: Callable[[Sequence[Fields]], Truth]


CPU = "examples/dumps/cpu/jaxlib-{}.tar.xz"
V5E = "examples/dumps/tpu/v5e-jax-0.10.2.tar.xz"
RIDGE = "tests/data/edits/jaxopt_ridge.tar.xz"
FACTORS = "tests/data/edits/optax_factors.tar.xz"
SIZES = {"cpu": "tests/data/sizes/cpu.tar.xz", "v5e": "tests/data/sizes/v5e.tar.xz"}
LARGEST = "tests/data/sizes/largest.json"
DONATION = "tests/data/changes/zoo-donation/{}.tar.xz"
LOGS = "tests/data/oom_messages"
EDITS = {"ridge": RIDGE, "factors": FACTORS}

GIB = 1 << 30
_SPACES = {0: "HBM", 1: "VMEM"}


def archive_of(run: str) -> str:
    """Return the archive of a run of the demo."""
    return V5E if run.startswith("v5e") else CPU.format(run.removeprefix("jaxlib-"))


def rows(answer: Fields) -> list[dict[str, Any]]:
    """Return the rows of a table in the compact form by column."""
    names = list(answer["columns"])
    return [dict(zip(names, row, strict=True)) for row in answer["rows"]]


def cell(column: str, **where: Any) -> Callable[[Sequence[Fields]], Truth]:
    """Return what picks a cell of the last answer, of the first row that fits."""

    def pick(answers: Sequence[Fields]) -> Truth:
        fitting = (
            row
            for row in rows(answers[-1])
            if all(row[name] == value for name, value in where.items())
        )
        found: Truth = next(fitting)[column]
        return found

    return pick


def ask(query: str, columns: Sequence[str], **parameters: Any) -> Call:
    """Return a call that asks a query for some columns."""
    given = {"query": query, "parameters": parameters, "columns": list(columns)}
    return "ask", {**given, "limit": 40}


def _space(
    group: str, run: str, program: str, color: int, column: str, words: str
) -> Question:
    """Return a question about one figure of one memory space."""
    space = _SPACES[color] if run.startswith("v5e") else "host"
    found = assignment(archive_of(run), program)
    truths: dict[str, Callable[[], Truth]] = {
        "reserved_bytes": lambda: found.reserved(color),
        "live_peak_bytes": lambda: found.live_peak(color),
        "parameter_bytes": lambda: found.of_kind("parameter", color),
        "fragmentation_bytes": lambda: found.fragmentation(color),
    }
    return Question(
        f"{group}-{run}-{program}-{space}-{column}",
        group,
        f"In run {run}, {words} by program {program} in memory space {space}, in"
        " bytes?",
        "number",
        truths[column],
        (ask("peak_by_space", ["space_name", column], run=run, program=program),),
        cell(column, space_name=space),
    )


def _peak() -> list[Question]:
    reserved = "how much memory is reserved by the buffer assignment"
    live = "what is the most memory in use at one step"
    arguments = "how large are the parameters"
    cnn, mlp, last = "jit_cnn", "jit_mlp_step", "jaxlib-0.10.2"
    return [
        _space("peak", "jaxlib-0.5.3", cnn, 0, "reserved_bytes", reserved),
        _space("peak", "jaxlib-0.5.3", cnn, 0, "live_peak_bytes", live),
        _space("peak", last, "jit_gpt_unrolled", 0, "live_peak_bytes", live),
        _space("peak", last, mlp, 0, "live_peak_bytes", live),
        _space("peak", last, mlp, 0, "parameter_bytes", arguments),
        _space("peak", "v5e-jax-0.10.2", cnn, 1, "live_peak_bytes", live),
        _space("peak", "v5e-jax-0.10.2", mlp, 0, "live_peak_bytes", live),
        _space("peak", "v5e-jax-0.10.2", "jit_gpt_fsdp", 0, "reserved_bytes", reserved),
        Question(
            "peak-largest-program",
            "peak",
            "Which program of run v5e-jax-0.10.2 reserves the most HBM?",
            "name",
            lambda: max(
                sorted(programs_of(V5E)), key=lambda p: assignment(V5E, p).reserved()
            ),
            (("explain", {"run": "v5e-jax-0.10.2"}),),
            lambda answers: str(rows(answers[-1]["programs"])[0]["program"]),
        ),
        Question(
            "peak-source-line",
            "peak",
            "Which source line (FILE:LINE) made the instruction convolution.30 of"
            " program jit_cnn in run jaxlib-0.5.3?",
            "line",
            lambda: source_of(CPU.format("0.5.3"), cnn, "convolution.30"),
            (
                ask(
                    "peak_contents",
                    ["instruction", "source_file", "source_line"],
                    run="jaxlib-0.5.3",
                    program=cnn,
                ),
            ),
            _line_of("convolution.30"),
        ),
    ]


def _line_of(instruction: str) -> Callable[[Sequence[Fields]], Truth]:
    def pick(answers: Sequence[Fields]) -> Truth:
        table = rows(answers[-1])
        row = next(row for row in table if row["instruction"] == instruction)
        return f"{row['source_file'].rpartition('/')[2]}:{row['source_line']}"

    return pick


def _fragmentation() -> list[Question]:
    words = "how many temporary bytes are reserved beyond the most live at once"
    wanted = [
        ("jaxlib-0.5.3", "jit_cnn", 0),
        ("jaxlib-0.5.3", "jit_misc", 0),
        ("jaxlib-0.10.2", "jit_gpt_unrolled", 0),
        ("v5e-jax-0.10.2", "jit_gpt_unrolled", 0),
        ("v5e-jax-0.10.2", "jit_gpt_unrolled", 1),
        ("v5e-jax-0.10.2", "jit_cnn", 1),
    ]
    return [
        _space("fragmentation", run, program, color, "fragmentation_bytes", words)
        for run, program, color in wanted
    ]


def _edit(edits: str, name: str) -> Mapping[str, Any]:
    path = (ROOT / EDITS[edits]).with_suffix("").with_suffix(".json")
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))[name]
    return found


def _causes() -> list[Question]:
    numbers = [
        _moved("ridge", "fit_history"),
        _moved("ridge", "fit_gradient"),
        _moved("ridge", "fit_gram"),
        _moved("factors", "factors_unrolled"),
    ]
    lines = [
        _edited("ridge", "fit_gram"),
        _edited("ridge", "fit_bf16"),
        _edited("factors", "factors_unrolled"),
        _edited("factors", "factors_constant"),
    ]
    return [*numbers, *lines]


def _diff(edits: str, name: str) -> tuple[Call, ...]:
    return (("diff", {"base": f"{edits}/base", "candidate": f"{edits}/{name}"}),)


def _moved(edits: str, name: str) -> Question:
    """Return a question about the bytes of an edit, as the edit's author counted."""
    program = _edit(edits, name)["program"]

    def pick(answers: Sequence[Fields]) -> Truth:
        table = rows(answers[-1]["programs"])
        found: int = next(
            row["delta_bytes"] for row in table if row["program"] == program
        )
        return found

    return Question(
        f"causes-bytes-{name}",
        "causes",
        f"By how many bytes does the reserved main memory of program {program} differ"
        f" in run {edits}/{name} from run {edits}/base (negative: less)?",
        "number",
        lambda: int(_edit(edits, name)["bytes"]),
        _diff(edits, name),
        pick,
    )


def _edited(edits: str, name: str) -> Question:
    """Return a question about the line of an edit, as the edit's author noted it."""
    program = _edit(edits, name)["program"]

    def pick(answers: Sequence[Fields]) -> Truth:
        found = re.search(r"[\w.]+\.py:\d+", answers[-1]["findings"][0]["cause"])
        return found[0] if found else ""

    return Question(
        f"causes-line-{name}",
        "causes",
        f"Which source line (FILE:LINE) of program {program} was edited between run"
        f" {edits}/base and run {edits}/{name}, so that its memory differs?",
        "line",
        lambda: tuple(_edit(edits, name)["lines"]),
        _diff(edits, name),
        pick,
    )


def _expected(log: str) -> Mapping[str, Any]:
    """Return what was written down about the first report of a log."""
    text = (ROOT / LOGS / "expected.toml").read_text("utf-8")
    messages = tomllib.loads(text)["message"]
    [message] = [each for each in messages if each["file"] == log]
    report: Mapping[str, Any] = message["report"][0]
    return report


def _size(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_size, value))
    return value if isinstance(value, int) else bytes_of(value)


def _sized(log: str, name: str) -> int:
    return _size(_expected(log)["sizes"][name])


def _out_of_memory() -> list[Question]:
    found = []
    for log, name, words in (
        ("autotune.log", "requested_bytes", "was requested"),
        ("bfc_annotated.log", "requested_bytes", "was requested"),
        ("bfc_annotated.log", "in_use_bytes", "was in use"),
        ("argument_limit.log", "capacity_bytes", "may arguments take"),
        ("argument_limit.log", "parameter_bytes", "do the arguments take"),
    ):
        run = log.removesuffix(".log")
        found.append(
            Question(
                f"oom-{run}-{name}",
                "out of memory",
                f"The first message of run {run} says that memory ran out. How many"
                f" bytes {words}?",
                "number",
                partial(_sized, log, name),
                (ask("oom_summary", ["line", name], run=run),),
                cell(name),
            )
        )
    found.append(
        Question(
            "oom-bfc-allocator",
            "out of memory",
            "What is the name of the allocator that the message of run bfc_annotated"
            " is about?",
            "name",
            lambda: str(_expected("bfc_annotated.log")["texts"]["allocator_name"]),
            (ask("oom_summary", ["allocator"], run="bfc_annotated"),),
            cell("allocator"),
        )
    )
    return found


def _donation() -> list[Question]:
    found = [
        Question(
            f"donation-{name}",
            "donation",
            f"How many parameters of program jit_zoo_mlp does run donation/{name} alias"
            " with an output?",
            "number",
            partial(donated, DONATION.format(name), "jit_zoo_mlp"),
            (_donated(f"donation/{name}", "jit_zoo_mlp"),),
            cell("count"),
        )
        for name in ("base", "dropped")
    ]
    found += [
        Question(
            f"donation-{program}",
            "donation",
            f"How many parameters of program {program} does run v5e-jax-0.10.2 alias"
            " with an output?",
            "number",
            partial(donated, V5E, program),
            (_donated("v5e-jax-0.10.2", program),),
            cell("count"),
        )
        for program in ("jit_mlp_step", "jit_gpt_fsdp")
    ]
    return found


def _donated(run: str, program: str) -> Call:
    return "sql", {
        "statement": "SELECT count(DISTINCT parameter_number) AS count FROM"
        f" donation_ledger(run := '{run}', program := '{program}')"
        " WHERE status <> 'missed' AND alias_kind <> 'donor'"
    }


def _fit() -> list[Question]:
    known = json.loads((ROOT / LARGEST).read_text("utf-8"))
    asked = [(256, 1), (256, 2), (128, 2), (64, 1)]
    return [
        _largest(length, limit, found["batch"])
        for length, limit in asked
        for found in known
        if (found["length"], found["limit_bytes"]) == (length, limit * GIB)
    ]


def _largest(length: int, limit: int, batch: int) -> Question:
    """Return a question about the largest batch, which was found by compiling."""

    def pick(answers: Sequence[Fields]) -> Truth:
        """Return the batch in the row that has the length."""
        found: int = next(
            row["largest_size"]
            for row in rows(answers[-1])
            if "[0]" in row["axis"] and row["other_axes"].endswith(f" = {length}")
        )
        return found

    given = {"series": "sizes-cpu", "limit": f"{limit}GiB"}
    return Question(
        f"fit-length-{length}-{limit}",
        "fit",
        "In series sizes-cpu, which is the largest batch of program jit_train_step at"
        f" length {length} that fits {limit} GiB?",
        "number",
        lambda: batch,
        (("fit", {**given, "program": "jit_train_step"}),),
        pick,
    )


def _refusals() -> list[Question]:
    return [
        Question(
            "refusal-cut-dump",
            "refusals",
            "How many bytes does program jit_zoo_mlp of run cut reserve? Answer unknown"
            " if the data does not allow an answer.",
            "unknown",
            lambda: "unknown",
            (("explain", {"run": "cut"}),),
            lambda answers: str(answers[-1]["status"]),
        ),
        Question(
            "refusal-platforms",
            "refusals",
            "By how many bytes did the memory of program jit_cnn fall from run"
            " jaxlib-0.10.2 to run v5e-jax-0.10.2, because of the compiler alone?"
            " Answer unknown if the data does not allow an answer.",
            "unknown",
            lambda: "unknown",
            (
                (
                    "diff",
                    {
                        "base": "jaxlib-0.10.2:jit_cnn",
                        "candidate": "v5e-jax-0.10.2:jit_cnn",
                    },
                ),
            ),
            lambda answers: (
                "unknown"
                if answers[-1]["verdict"] in ("nothing", "unknown")
                else "an answer"
            ),
        ),
    ]


def questions() -> list[Question]:
    """Return all questions, by group."""
    return [
        *_peak(),
        *_causes(),
        *_out_of_memory(),
        *_fragmentation(),
        *_donation(),
        *_fit(),
        *_refusals(),
    ]
