"""What is wrong with a whole text of the buffer-assignment family: cuts and clashes.

Lines that break the grammar of their section are rejected where it is read.
"""

from __future__ import annotations

import re

from hlodb.ingest.formats.scan import is_balanced
from hlodb.ingest.formats.sections import Section, numbered, snippet
from hlodb.ingest.records import BufferAssignment, Reject, Value

_ALWAYS_FOLLOWED = frozenset({"live_range", "schedule", "ranges"})
# How a last line that no line break follows ends if it is whole, by its beginning.
_WHOLE_ENDS = {
    "allocation ": (":",),
    " value: ": ("]", "}", ")"),
    " [": ("]", "}", ")"),
    " from instruction:": ("",),
    "    ": (" bytes", " bytes)"),
    "HloLiveRange not": (")",),
    "  Peak memory": (".",),
}
_HALF_SOURCE = re.compile(r"<(?:[0-9]+(?: [^<>]*)?)?$|(?:[=,] ?|, [a-z_]+)$")


def without_cut_line(text: str, last: int) -> tuple[str, list[Reject]]:
    """Take off a last line that breaks off, and say so; `last` is its number."""
    start = text.rfind("\n") + 1
    line = text[start:]
    if not line or _is_whole(line):
        return text, []
    message = "the text breaks off in this line; everything before it was read"
    return text[:start], [
        Reject(last, len(line) + 1, "end", "truncated", message, snippet(line))
    ]


def _is_whole(line: str) -> bool:
    ends = next((e for b, e in _WHOLE_ENDS.items() if line.startswith(b)), None)
    if ends is None or not line.endswith(ends) or not is_balanced(line):
        return False
    if line.startswith(" from instruction:"):
        return " = " in line and ")" in line and not _HALF_SOURCE.search(line)
    return True


def missing_start(found: list[Section]) -> list[Reject]:
    """Reject a text that has no section of the family."""
    if found[-1].kind != "preamble":
        return []
    message = "expected `BufferAssignment:`, `Used values:` or `HloLiveRange`"
    return [Reject(1, 1, "start", "no_assignment", message, snippet(found[0].text))]


def missing_end(last: Section, is_open: bool, line: int) -> list[Reject]:
    """Reject a text that ends between two lines where more must follow.

    `is_open` tells that the last value has no instruction, or place, though others
    have.
    """
    if last.kind not in _ALWAYS_FOLLOWED and not (last.kind == "values" and is_open):
        return []
    message = "the text ends within this section; everything before was read"
    return [Reject(line, 1, last.kind, "truncated", message, "")]


def missing_steps(header: Section, assignment: BufferAssignment) -> list[Reject]:
    """Reject a sequence that is shorter or longer than its header says."""
    steps, expected = len(assignment.schedule), assignment.schedule_end
    if expected is None or steps == expected:
        return []
    message = f"{expected} steps announced, {steps} listed"
    return [Reject(header.line - 1, 1, header.kind, "incomplete", message, "")]


def repeated(section: Section) -> Reject:
    """Reject a section that another of its kind went before."""
    message = "a second section of this kind; only the first one is read"
    return Reject(section.line - 1, 1, section.kind, "duplicate", message, "")


def disputes(section: Section, disputed: list[Value]) -> list[Reject]:
    """Reject the used values that `disputed` holds: their placement says otherwise."""
    heads = {f"<{value.value_id} " for value in disputed}
    if not heads:
        return []
    message = "this value has another name, index or colour where it is placed"
    return [
        Reject(number, 1, section.kind, "contradiction", message, snippet(line))
        for number, line in numbered(section)
        if line.startswith("<") and line[: line.find(" ") + 1] in heads
    ]
