"""What releases of XLA spell in different ways, spelt alike, to be compared."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from math import prod

import numpy as np

from hlodb.ingest.formats.scan import without_comments
from hlodb.ingest.records import Attributes

_IOTA = re.compile(r"device_ids=\(\[([0-9,]*)\](?:T\(([0-9,]*)\))?\)")
_PREDECESSORS = re.compile(r"control-predecessors=\{[^{}]*\}")
# Begins where digits begin: tried at each of many digits it would take quadratic time.
_FRACTION = re.compile(r"(?:-|(?<![0-9]))[0-9]++\.[0-9]++(?:e[-+]?[0-9]++)?")
_ALL_OF_PREDECESSORS = re.compile(rf"(?:, )?{_PREDECESSORS.pattern}")
_MOST_AXES = 32
_MOST_DEVICES = 1 << 20


def plain_shape(text: str | None) -> str | None:
    """Give a shape without the `/*index=5*/` that text has since 2021."""
    return None if text is None else without_comments(text)


def in_six_digits(literal: str) -> str:
    """Give a literal as text until 2020 has it: as C's `%g` prints its numbers."""
    return _FRACTION.sub(lambda number: f"{float(number.group()):g}", literal)


def without_predecessors(other: str | None) -> str | None:
    """Give what is said beside the usual attributes, but for control predecessors."""
    return _ALL_OF_PREDECESSORS.sub("", other or "").removeprefix(", ") or None


@lru_cache(maxsize=4096)
def spelt_alike(attributes: Attributes) -> Attributes:
    """Give attributes with names, device numbers and configurations spelt alike."""
    return attributes._replace(
        backend_config=_sorted(attributes.backend_config),
        replica_groups=_IOTA.sub(_numbers, attributes.replica_groups or ""),
        other=_PREDECESSORS.sub(_without_percent, attributes.other or ""),
    )


def _sorted(config: str | None) -> str | None:
    """Sort the keys of a configuration, which protos have in another order."""
    try:
        read = json.loads(config or "null")
    except (ValueError, RecursionError):
        return config
    return json.dumps(read, sort_keys=True) if isinstance(read, dict) else config


def _numbers(iota: re.Match[str]) -> str:
    """Write `[2,4]T(1,0)`, numbers in order transposed, as the list that it means."""
    sizes, order = ([int(n) for n in (t or "").split(",") if n] for t in iota.groups())
    if len(sizes) > _MOST_AXES or prod(sizes) > _MOST_DEVICES:
        return iota.group()
    if sorted(order) != list(range(len(sizes))):
        return iota.group()
    numbers = np.arange(prod(sizes)).reshape(sizes).transpose(order)
    return f"device_ids=({','.join(map(str, numbers.ravel().tolist()))})"


def _without_percent(names: re.Match[str]) -> str:
    return names.group().replace("%", "")
