"""Grade an answer by program: a number, a name, a source line, or a refusal.

An assistant ends with a line `ANSWER: …`. Only this line is read. A number may be given
in bytes or with a unit (26839405, 25.6 MiB) and must be within half a percent, as
people round; one of several numbers is no answer.
"""

from __future__ import annotations

import re

from bench.agents.questions import Kind, Truth

TOLERANCE = 0.005

_ANSWER = re.compile(r"^\W*ANSWER\W*?:[*\s]*(.*?)\s*$", re.M | re.I)
_NUMBER = re.compile(
    r"([-+\u2212]?\d[\d,_]*(?:\.\d+)?)\s*([KMGT]i?B|bytes|B)?(?![\w.])", re.I
)
_REFUSED = re.compile(r"\b(?:unknown|cannot be answered|not comparable)\b", re.I)
_SCALES = {
    "": 1,
    "b": 1,
    "bytes": 1,
    **{f"{unit}ib": 1024**n for n, unit in enumerate("kmgt", 1)},
    **{f"{unit}b": 1000**n for n, unit in enumerate("kmgt", 1)},
}


def answer_in(output: str) -> str | None:
    """Return the answer in the output of an assistant, the last one it gives."""
    found: list[str] = _ANSWER.findall(output)
    return found[-1] if found else None


def is_right(kind: Kind, truth: Truth, answer: str | None) -> bool:
    """Return whether an answer is right; none is wrong."""
    if answer is None:
        return False
    if kind == "unknown":
        return bool(_REFUSED.search(answer))
    if _REFUSED.search(answer):
        return False
    wanted = truth if isinstance(truth, tuple) else (str(truth),)
    match kind:
        case "number":
            return _is_number(int(str(truth)), answer)
        case "line":
            return _line(answer) in {_line(each) for each in wanted}
    return _plain(answer) in {_plain(each) for each in wanted}


def _is_number(truth: int, answer: str) -> bool:
    found = {
        float(re.sub("[,_]", "", number).replace("\u2212", "-")) * _SCALES[unit.lower()]
        for number, unit in _NUMBER.findall(answer)
    }
    if len(found) != 1:
        return False
    distance: float = abs(found.pop() - truth)
    return distance <= TOLERANCE * abs(truth)


def _line(text: str) -> str:
    """Return FILE:LINE without its folder, of `at /a/train.py, line 43` or the like."""
    found = re.search(r"([\w.\-]+\.py)(?::|,? line |#L)(\d+)", text)
    return f"{found[1]}:{found[2]}" if found else ""


def _plain(text: str) -> str:
    return text.strip(" \t`'\".*").lower()
