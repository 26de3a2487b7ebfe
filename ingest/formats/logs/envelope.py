r"""A line of a log → what the program wrote: its envelope is taken off.

    (EngineCore pid=4242) ERROR 08-01 03:12:44 [core.py:1190] RESOURCE_EXHAUSTED: …
    2026-07-01T10:00:00.123456789Z stderr F [rank3]: RESOURCE_EXHAUSTED: …
    Jul  1 10:00:00 host-1 trainer[123]: RESOURCE_EXHAUSTED: …
    {"severity": "ERROR", "message": "RESOURCE_EXHAUSTED: …"}
    > - `RESOURCE_EXHAUSTED: …`

Envelopes are the prefixes of loggers (absl, glog, Python's logging, loguru, vLLM), of
container runtimes and collectors (Docker, CRI, syslog, journald, Kubernetes, JSON
lines), ranks, colours, and the quoting, lists and code of Markdown. One line may hold
several, one in the other; a line of JSON may hold several lines of text.

Sources: Kubernetes' CRI logging format, RFC 3164 and RFC 5424, absl's and glog's
line formats, torchrun, `srun -l`, `mpirun --tag-output`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple


class LogLine(NamedTuple):
    """A line without its envelope; `number` is that of the line that holds it.

    `rank` is None where the line names none. `is_headed` tells that a logger's time or
    level stood before it, so that it begins a message. `is_open` tells that a container
    runtime cut it: the next line goes on in the same word. `raw` is the whole line, of
    which a terminal that wraps at a column needs every blank; empty inside JSON.
    """

    number: int
    rank: int | None
    said: str
    is_headed: bool = False
    is_open: bool = False
    raw: str = ""


_LEVEL = "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2}\b)?"
_MONTH = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_PREFIX = re.compile(
    r"(?>(?:<std(?:err|out)>:|\([^()\n]{0,80}pid=[0-9]*[^()\n]{0,80}\)"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2} [^][\n]{0,200}\]|[EFIW][0-9]{4} [^][\n]{0,200}\]"
    rf"|(?:{_MONTH}) [ 0-9][0-9] {_TIME} [\w.\-]{{1,80}} [\w./\-]{{1,80}}"
    r"(?:\[[0-9]{1,9}\])?:"
    rf"|<[0-9]{{1,3}}>1 [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME} \S{{1,80}} \S{{1,80}}"
    r" \S{1,40} \S{1,40} (?:-|\[[^\]\n]{0,200}\])"
    r"|std(?:out|err) (?P<cri>[FP])\b"
    rf"|(?:[0-9]{{4}}-)?[0-9]{{2}}[-/][0-9]{{2}}[ T]?(?:{_TIME})?|{_TIME}"
    rf"|\b(?:{_LEVEL})\b(?::(?:[\w.]{{1,60}}:)?)?|\[(?![\w\-]+ ?=)[^\]\n]{{0,200}}\]:?"
    r"|(?:[Rr]ank|[Ww]orker|[Hh]ost|[Nn]ode|[Pp]rocess)[ _=-]?[0-9]{1,6}[:|]"
    r"|[\w.]{1,80}:[\w.<>]{1,80}:[0-9]{1,6} -(?= )"
    r"|[0-9]{1,6}:(?= )|[\w.\-]{1,60}[0-9] +\|(?= )|E(?= {3,})"
    r"|[|│>]|(?:[-*+]|#{1,6})(?= )|`{1,2}(?!`)|\*\*|\s)*)"
)
_RANK = re.compile(
    r"\[[0-9]{1,6},([0-9]{1,6})\]<std|\[?[Rr]ank[ _=-]?([0-9]{1,6})[]:|]"
    # `srun -l` writes it first; a collector may have been before it, no logger.
    r"|(?:^|std(?:out|err) [FP] |[>#|] |\[[0-9]{1,9}\]: |\[pod/[^\]\n]{1,200}\] )"
    r"\s*([0-9]{1,6}):\s"
    r"|\([^()]{0,80}\brank=([0-9]{1,6})\b[^()]{0,80}\bpid="
)
_STAMP = re.compile(rf"{_TIME}|\b(?:{_LEVEL})\b|[EFIW][0-9]{{4}} ")
_CONTROL = re.compile(r"\x1b\[[0-9;?]{0,12}[A-Za-z]")
_COLOUR = re.compile(r"\[[0-9;]{1,9}m")
# Ray says once what its workers say alike.
_REPEATED = " [repeated "
_ESCAPED_BREAK = re.compile(r"\\r\\n|\\n|\\r")
_MARKDOWN = re.compile(r"\\([_*#<>\[\]`|~])")
_CLOSING = re.compile(r"(?:`{1,3}|\*\*|\\)$")
_FENCE = re.compile(r"\s*(?:`{3}|~{3})[\w+-]{0,20}\s*$")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#[0-9]{1,5}|#x[0-9a-fA-F]{1,5});")

_MESSAGE_KEYS = (
    *("log", "message", "msg", "textPayload", "MESSAGE", "@message", "text", "event"),
    *("body", "error", "exception", "exc_info", "stack_trace", "traceback"),
)
_NESTED_KEYS = ("jsonPayload", "fields", "record", "err", "error", "exception", "body")
_RANK_KEYS = ("rank", "process_index", "process_id", "worker_id", "worker")
_MOST_JSON = 1 << 20
_MOST_ENVELOPES = 3
"""So many objects of JSON are opened, one in the other."""


def without_envelope(
    number: int, raw: str, rank: int | None = None, depth: int = 0
) -> Iterator[LogLine]:
    """Yield the lines that a line of a log holds, mostly one.

    `rank` is that of the envelope around it, of which `depth` are taken off.
    """
    text = raw.rstrip()
    if "\r" in text:
        # Progress bars begin their line anew, and other lines follow them.
        for piece in text.split("\r"):
            yield from without_envelope(number, piece, rank, depth)
        return
    if "\x1b" in text:
        text = _CONTROL.sub("", text)
    # What is inside JSON comes later: it may be escaped, and quotation marks end it.
    if '{"' not in text:
        if "[0m" in text:
            text = _COLOUR.sub("", text)
        if "&" in text and _ENTITY.search(text):
            text = unescape(text)
    if "\xa0" in text:
        text = text.replace("\xa0", " ")
    prefix = _PREFIX.match(text)
    at = prefix.end() if prefix else 0
    head, said = text[:at], text[at:]
    own = _rank(head)
    rank = rank if own is None else own
    if said.startswith(('{"', "{'")) and depth < _MOST_ENVELOPES:
        found = _json_text(said)
        if found is not None:
            rank = rank if found[1] is None else found[1]
            for part in found[0].splitlines() or [""]:
                yield from without_envelope(number, part, rank, depth + 1)
            return
    is_headed = bool(head) and _STAMP.search(head) is not None
    is_open = prefix is not None and prefix["cri"] == "P"
    if _FENCE.match(text):
        said = ""
    if "\\n" in said:
        for part in _ESCAPED_BREAK.split(said):
            yield LogLine(number, rank, _plain(part), is_headed)
            is_headed = False
        return
    yield LogLine(number, rank, _plain(said), is_headed, is_open, "" if depth else raw)


def _plain(said: str) -> str:
    """Return a line's text without what Markdown and Ray add behind or inside it."""
    said = said.strip()
    if "&" in said and _ENTITY.search(said):
        said = unescape(said).replace("\xa0", " ").strip()
    if said.endswith("across cluster]"):
        said = said.rpartition(_REPEATED)[0].rstrip()
    if "\\" in said:
        said = _MARKDOWN.sub(r"\1", said)
    if said[-1:] in ("`", "*", "\\"):
        said = _CLOSING.sub("", said).rstrip()
    if "\\t" in said:
        said = said.replace("\\t", " ").strip()
    return said


def _rank(prefix: str) -> int | None:
    found = _RANK.search(prefix) if prefix and not prefix.isspace() else None
    return int(next(filter(None, found.groups()))) if found else None


def _json_text(said: str) -> tuple[str, int | None] | None:
    """Return the message of a JSON line and its rank; None where there is none."""
    if len(said) > _MOST_JSON or not said.endswith("}"):
        return None
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    texts = list(dict.fromkeys(_messages(found)))
    if not texts:
        return None
    ranks = [found[key] for key in _RANK_KEYS if type(found.get(key)) is int]
    return "\n".join(texts), ranks[0] if ranks and 0 <= ranks[0] < 10**6 else None


def _messages(found: dict[str, Any], depth: int = 0) -> Iterator[str]:
    for key in _MESSAGE_KEYS:
        if isinstance(found.get(key), str):
            yield found[key]
    for key in _NESTED_KEYS:
        if isinstance(found.get(key), dict) and depth < 3:
            yield from _messages(found[key], depth + 1)
