"""Messages as people paste them, made from the wordings: deterministic, by number."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from hlodb.ingest.formats.logs.wordings import WORDINGS


class Made(NamedTuple):
    """A log with one message; its lines, the message as one line, and its rank."""

    text: str
    plain: str
    first: int
    last: int
    rank: int | None


_OPENINGS = (
    "",
    "RESOURCE_EXHAUSTED: ",
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: ",
    "RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: XLA:TPU compile permanent"
    " error. ",
    "E0605 10:00:00.000001 9 pjrt_stream_executor_client.cc:3000] Execution of replica"
    " 0 failed: ",
)
_PREFIXES = (
    ("", None),
    ("(EngineCore pid=4242) ERROR 08-01 03:12:44 [core.py:1190] ", None),
    ("2026-07-01T10:00:00.123456789Z stderr F ", None),
    ("Jul  1 10:00:00 host-1 trainer[123]: ", None),
    ("<34>1 2026-07-01T10:00:00.123Z host-1 trainer 123 - - ", None),
    ("2026-07-01 10:00:00,123 ERROR ", None),
    ("2026-07-01 10:00:00.123 | ERROR    | train:main:88 - ", None),
    ("ERROR:absl:", None),
    ("[rank3]: ", 3),
    ("[1,5]<stderr>:", 5),
    ("12: ", 12),
    ("trainer-1  | ", None),
    ("[pod/trainer-0/main] ", None),
    ("\x1b[36m(Worker pid=489)\x1b[0m ", None),
    ("I0701 10:00:00.000002 77 runner.cc:10] ", None),
    ("E   ", None),
)
_QUOTES = ("", "> ", "- ", "> > ", "* ", "    ")
_NOISE = (
    "step 1 loss 9.1",
    "Compiling module jit_step for mesh (2, 4)",
    '  File "train.py", line 7, in main',
    "epoch 3: 12.5 examples/s",
    "",
)


def made(number: int) -> Made:
    """Return the message of that number."""
    random = Random(number)
    wording = WORDINGS[number % len(WORDINGS)]
    sample = wording.sample
    if random.random() < 0.5:
        sample = sample.rstrip(".")
    plain = random.choice(_OPENINGS) + sample
    if wording.form == "allocation" and random.random() < 0.3:
        plain += " [executable_name='jit_step'] [tf-allocator-allocation-error='']"
    form = random.choice((_one_line, _prefixed, _wrapped, _terminal, _fenced, _json))
    lines, rank = form(random, plain)
    before = random.choices(_NOISE, k=random.randrange(4))
    after = ["", *random.choices(_NOISE, k=random.randrange(4))]
    text = "\n".join([*before, *lines, *after])
    return Made(text, plain, len(before) + 1, len(before) + len(lines), rank)


_Form = Callable[[Random, str], tuple[list[str], int | None]]


def _one_line(random: Random, plain: str) -> tuple[list[str], int | None]:
    quote = random.choice(_QUOTES)
    tick = random.choice(("", "`"))
    return [f"{quote}{tick}{plain}{tick}"], None


def _prefixed(random: Random, plain: str) -> tuple[list[str], int | None]:
    prefix, rank = random.choice(_PREFIXES)
    return [f"{prefix}{plain}"], rank


def _wrapped(random: Random, plain: str) -> tuple[list[str], int | None]:
    """Break at blanks, as mail and editors do, below quoting."""
    quote = random.choice(_QUOTES)
    width = random.choice((60, 72, 80, 100))
    lines = textwrap.wrap(plain, width, break_long_words=False, break_on_hyphens=False)
    return [f"{quote}{line}" for line in lines], None


def _terminal(random: Random, plain: str) -> tuple[list[str], int | None]:
    """Break at a column, within words."""
    width = random.choice((80, 100, 120))
    return [plain[at : at + width] for at in range(0, len(plain), width)], None


def _fenced(random: Random, plain: str) -> tuple[list[str], int | None]:
    fence = random.choice(("```", "```text", "~~~"))
    return [fence, plain, fence[:3]], None


def _json(random: Random, plain: str) -> tuple[list[str], int | None]:
    key = random.choice(("message", "log", "msg", "textPayload"))
    fields: dict[str, object] = {"severity": "ERROR", key: f"{plain}\n"}
    rank = random.choice((None, 7))
    if rank is not None:
        fields["rank"] = rank
    return [json.dumps(fields)], rank


def interleaved(number: int) -> tuple[str, list[tuple[int, str]]]:
    """Return a log of two ranks that write in turns, and their messages."""
    random = Random(number)
    places = random.sample(range(len(WORDINGS)), 2)
    ranks = random.sample(range(16), 2)
    pairs = [
        (rank, f"RESOURCE_EXHAUSTED: {WORDINGS[place].sample}")
        for rank, place in zip(ranks, places, strict=True)
    ]
    parts = [
        [f"[rank{rank}]: {line}" for line in textwrap.wrap(said, 70)]
        for rank, said in pairs
    ]
    longest = max(map(len, parts))
    lines = [part[at] for at in range(longest) for part in parts if at < len(part)]
    return "\n".join([*lines, ""]), pairs
