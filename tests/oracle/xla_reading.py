"""What XLA's own parser makes of texts, read in a process of its own.

The parser ends the process where a text breaks its assumptions; the others go on.
Reads a JSON list of texts, and prints a line of JSON for each.
"""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.records import Instruction
from tests.conftest import DATA

KEPT = DATA / "by_hand" / "readings.json.xz"
"""What XLA 0.10.2 makes of some of the texts."""

_HOMES = ("jaxlib._hlo", "jaxlib._jax", "jaxlib.xla_extension")
# Within the braces of these, and which attributes an opcode has, we do not look: later
# releases have more.
_NOT_LOOKED_INTO = (
    "unexpected attribute",
    "error parsing attribute sharding",
    "error parsing attribute frontend_attributes",
)
_ARRAY = re.compile(r"\b([a-z]\w*)\[([^\]]+)\](?!\{)")
Outline: TypeAlias = list[Any]


class Reading(NamedTuple):
    """What XLA makes of a text: an outline of its module, or a message.

    Neither where the text ends the process.
    """

    outline: Outline | None
    message: str

    @property
    def is_comparable(self) -> bool:
        """Whether XLA takes or refuses the text for what we look at, too."""
        if self.outline is not None:
            return True
        return self.message != "" and not any(
            said in self.message for said in _NOT_LOOKED_INTO
        )


def our_reading(text: str) -> Outline | None:
    """Return the outline of the only module of a text, None where it is rejected."""
    parsed = parse_hlo(text)
    if parsed.rejects or parsed.unclaimed or len(parsed.modules) != 1:
        return None
    return outline(parsed.modules[0])


def _laid_out(shape: str | None) -> str:
    """Return a shape with the layout that XLA gives to an array without one."""
    return _ARRAY.sub(_with_layout, shape or "")


def _with_layout(array: re.Match[str]) -> str:
    order = range(array[2].count(","), -1, -1)
    return f"{array[0]}{{{','.join(map(str, order))}}}"


def outline(module: Any) -> Outline:
    """Return computations, their instructions by name, as lists that JSON keeps."""
    return sorted(
        [
            computation.name,
            computation.is_entry,
            _root(module.instructions[computation.start : computation.stop]),
            sorted(
                [
                    i.name, i.opcode, _laid_out(i.shape), list(i.operands),
                    i.parameter_number,
                    sorted([call.role, list(call.computations)] for call in i.calls),
                ]
                for i in module.instructions[computation.start : computation.stop]
            ),
        ]
        for computation in module.computations
    )  # fmt: skip


def _root(instructions: Sequence[Instruction]) -> str:
    """Return the name of the marked root, else of the last instruction."""
    marked = [i.name for i in instructions if i.is_root]
    return marked[0] if marked else instructions[-1].name


def read_all(texts: list[str]) -> list[Reading]:
    """Return what XLA makes of each text."""
    found: list[Reading] = []
    while len(found) < len(texts):
        rest = texts[len(found) :]
        done = subprocess.run(
            [sys.executable, "-m", "tests.oracle.xla_reading"],
            input=json.dumps(rest), capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = [Reading(*json.loads(line)) for line in done.stdout.splitlines()]
        found += lines
        if len(lines) < len(rest):
            found.append(Reading(None, ""))
    return found


def main() -> None:
    """Print a line for each text, as soon as it is read."""
    modules = map(_home, _HOMES)
    hlo = next(module for module in modules if module is not None)
    for text in json.load(sys.stdin):
        try:
            message = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        except Exception as error:  # of its own kind in every release
            print(json.dumps([None, str(error)]), flush=True)
            continue
        parsed = parse_hlo_proto(message)
        print(json.dumps([outline(parsed.module), ""]), flush=True)


def _home(name: str) -> Any:
    try:
        module = importlib.import_module(name)
    except ImportError:
        return None
    return module if hasattr(module, "hlo_module_from_text") else None


if __name__ == "__main__":
    main()
