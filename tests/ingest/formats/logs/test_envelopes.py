"""Messages in every envelope inside every other, with every kind of line end."""

from __future__ import annotations

import html
import json
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.formats.logs.oom_report import OomReport
from hlodb.ingest.formats.scan import decoded
from hlodb.ingest.recognise.recognition import recognise
from tests.ingest.formats.logs.test_oom_log import (
    ALONE,
    GPU,
    GPU_REPORT,
    TPU,
    TPU_REPORT,
)

RANK = 3
"""The rank in envelopes that name one."""

_Wrap = Callable[[str], str]


def after(prefix: str) -> _Wrap:
    return lambda line: f"{prefix}{line}"


def in_json(**fields: object) -> _Wrap:
    return lambda line: json.dumps({"severity": "ERROR", **fields, "log": f"{line}\n"})


ENVELOPES: dict[str, tuple[_Wrap, int | None]] = {
    "none": (str, None),
    "klog": (after("E1126 00:27:49.642380    4211 client.cc:3084] "), None),
    "absl": (after("ERROR:absl:"), None),
    "tensorflow": (after("2022-04-04 00:27:49.642380: E xla/xla_util.cc:88] "), None),
    "python": (after("2026-07-01 10:00:00,123 ERROR "), None),
    "cri": (after("2026-07-01T10:00:00.123456789Z stderr F "), None),
    "syslog": (after("Jul  1 10:00:00 host-1 trainer[123]: "), None),
    "kubernetes": (after("[pod/trainer-0/main] "), None),
    "compose": (after("trainer-1  | "), None),
    "ray": (after("(Trainer pid=4242, ip=10.0.0.1) "), None),
    "coloured ray": (after("\x1b[36m(Trainer pid=4242)\x1b[0m "), None),
    "vllm": (after(f"(VllmWorker rank={RANK} pid=4242) ERROR 06-17 19:23:59 "), RANK),
    "torchrun": (after(f"[rank{RANK}]: "), RANK),
    "slurm": (after(f"{RANK}: "), RANK),
    "mpirun": (after(f"[1,{RANK}]<stderr>:"), RANK),
    "progress bar": (after("  0%|          | 0/12 [00:00<?, ?it/s]\r"), None),
    "erased line": (after("\x1b[2K\x1b[1G"), None),
    "quote": (after("> "), None),
    "comment": (after("# "), None),
    "json": (in_json(), None),
    "json with a rank": (in_json(rank=RANK), RANK),
    "escaped": (html.escape, None),
}

LOGGERS = ("klog", "absl", "tensorflow", "python", "vllm", "torchrun", "mpirun", "ray")
"""What writes within a process; `srun -l` is around all of it."""


def can_hold(outer: str, inner: str) -> bool:
    return inner != "slurm" or outer.removeprefix("coloured ") not in LOGGERS


ENDS: dict[str, Callable[[str], bytes]] = {
    "lines": str.encode,
    "lines of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "a mark before it": lambda text: BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
}

LINE = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 678216716288 bytes."
[LINE_REPORT] = (r for line, r in ALONE.items() if line.startswith(LINE))
MESSAGES: list[tuple[str, OomReport]] = [
    (f"{LINE}\n", LINE_REPORT),
    (GPU, GPU_REPORT),
    (TPU, TPU_REPORT),
]


def wrapped(text: str, outer: str, inner: str) -> tuple[str, int | None]:
    """Return a text of which each line is in two envelopes, and its rank."""
    (around, first), (within, second) = ENVELOPES[outer], ENVELOPES[inner]
    lines = [around(within(line)) for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines), first if second is None else second


@pytest.mark.parametrize("outer", ENVELOPES)
def test_an_envelope_in_another(outer: str) -> None:
    for inner in filter(partial(can_hold, outer), ENVELOPES):
        for text, report in MESSAGES:
            said, rank = wrapped(text, outer, inner)
            for name, end in ENDS.items():
                log = parse_oom_log(decoded(end(said)))
                where = (outer, inner, name)
                expected = [replace(report, rank=rank)]
                assert (log.reports, log.rejects) == (expected, []), where


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", ENVELOPES)
def test_a_file_in_an_envelope_is_a_log(name: str, end: str) -> None:
    said, _ = wrapped(f"starting\n{LINE}\n", name, "none")
    assert recognise("job.err", ENDS[end](said)).kind == "log"


@pytest.mark.parametrize("outer", ENVELOPES)
def test_words_that_no_rule_takes_are_quoted_in_every_envelope(outer: str) -> None:
    line = 'OUT_OF_MEMORY: no room for <kernel> "f" & its 7 operands'
    for inner in filter(partial(can_hold, outer), ENVELOPES):
        said, rank = wrapped(f"step 1\n{line}\n", outer, inner)
        [report] = parse_oom_log(said).reports
        expected = OomReport(2, "unknown", rank=rank, texts={"message": line})
        assert report == expected, (outer, inner)
