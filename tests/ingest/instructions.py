"""Lines of real dumps, changed ones, and how a record of one is stored."""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

from hypothesis import strategies as st

from hlodb.ingest.modules.stored_text import stored_attributes, stored_literal
from hlodb.ingest.records import Instruction
from tests.fuzz.seeds import seeds

_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?[^\s=]+ = .*\(.*\).*$", re.MULTILINE)
_MOST_LINES = 400
_ODD = (
    ", ", ",", " ", "%", "#0#1", "/*index=5*/", "(", ")", "{", "}", '"', "\\", "=",
    "ROOT ", "f32[2]{0} ", "parameter(0)", "constant({1, 2})", ", calls=f", "\r",
    "\t", "\v", "\x1c", "\u00a0", "\u2028", "metadata={", "x",
)  # fmt: skip
"""What a line is changed with: where rules for many lines and for one could differ."""


def as_stored(instruction: Instruction) -> Instruction:
    """Return the record as a `Distinct` keeps it: what is long is cut."""
    return instruction._replace(
        literal=stored_literal(instruction.literal),
        attributes=stored_attributes(instruction.attributes),
    )


_RARE = [
    "%f.1 = f32[8]{0} fusion(f32[8]{0:T(8,128)S(1)} %a, (f32[], s32[]) %p.4), calls=g",
    "  t = (f32[2]{0}, s32[], /*index=2*/f32[4]{0}) tuple(%a, %w.3#0#1, /*index=2*/%c)",
    "c = f32[2,2]{1,0} constant({ { 1, 2 }, { 3, nan } })",
    f"  c.1 = s32[300]{{0}} constant({{{', '.join(map(str, range(300)))}}})",
    "ROOT %c = s32[] conditional(%i, %a, %b), branch_computations={%x.1, %y}",
    "p = parameter(0)",
    f'k = f32[8]{{0}} custom-call(%p), backend_config={{"body":"{"TUzv" * 400}"}}',
]
"""Forms that the dumps, or the rule for common lines, do not have."""


@lru_cache(maxsize=1)
def real_lines() -> list[str]:
    """Return distinct lines of instructions from dumps in tests/data and examples."""
    texts = [data.decode() for data in seeds()["hlo_text"]]
    lines = dict.fromkeys(line for text in texts for line in _INSTRUCTION.findall(text))
    return Random(1).sample(list(lines), min(_MOST_LINES, len(lines))) + _RARE


@st.composite
def changed_lines(draw: st.DrawFn) -> str:
    """Return a real line in which some places are cut, doubled or written over."""
    line = draw(st.sampled_from(real_lines()))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(line)))
        gone = draw(st.sampled_from((0, 0, 1, 2, 9)))
        line = line[:at] + draw(st.sampled_from(_ODD)) + line[at + gone :]
    return line
