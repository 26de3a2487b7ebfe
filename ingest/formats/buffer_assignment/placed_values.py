"""Values that stand whole where they are placed, as XLA printed them in autumn 2019.

    allocation 0: 0x7f481015d4d0, size 24, maybe-live-out:
      31 PHI tuple.2{} @0, positions:
      tuple.2 {}
     uses:
      while.1, operand 0 {}
     [0,24]: (s32[], f32[32,32])      offset and size

TensorFlow 1.15 and 2.0 hold that XLA. It prints neither `Total bytes used:` nor `Used
values:`. XLA `buffer_assignment.cc`, `hlo_value.cc`.
"""

from __future__ import annotations

import re

from hlodb.ingest.formats.sections import INDEX, NAME, NUMBER, Section

_HEAD = re.compile(
    rf"(  {NUMBER} (?:PHI )?{NAME}(?:{INDEX})?(?: @-?{NUMBER})?), positions:"
)
# Broken or not; positions and uses look otherwise even of an instruction called 7.
_LIKE_A_HEAD = re.compile(r"  [0-9]+ [^{]")


def with_values_apart(found: list[Section]) -> tuple[list[Section], bool]:
    """Make sections as printed before and since of those that hold values as above.

    The allocations then have one line per value, and the used values follow. Each line
    keeps its number. Also tells whether the last value lacks its place.
    """
    for at, section in enumerate(found):
        # Today's texts hold ` value: ` near their beginning: no more of them is read.
        is_older = section.kind == "allocations" and " value: " not in section.text
        if is_older and ", positions:\n" in section.text:
            placed, used, is_open = _parted(section.text)
            found[at : at + 1] = (
                section._replace(text=placed),
                section._replace(text=used, kind="values"),
            )
            return found, is_open
    return found, False


def _parted(text: str) -> tuple[str, str, bool]:
    """Return the lines of allocations and of values, each blank in the other."""
    placed, used, head = [], [], ""
    for line in text.split("\n"):
        of_allocation, of_value = "", line
        if line.startswith("allocation "):
            of_allocation, of_value, head = line, "", ""
        elif head and line.startswith(" ["):
            of_allocation, of_value, head = head + line, "", ""
        elif _LIKE_A_HEAD.match(line):
            sound = _HEAD.fullmatch(line)
            of_value, head = line[2:], sound[1] if sound else ""
        placed.append(of_allocation)
        used.append(of_value)
    return "\n".join(placed), "\n".join(used), bool(head)
