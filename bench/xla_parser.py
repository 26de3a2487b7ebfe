"""XLA's own parser alone: reads every HLO text below directories, tells its seconds.

    python -m bench.xla_parser DIRECTORY…

Only the parsing is timed, text by text; reading the files and loading jaxlib are not.
Prints JSON: files, refused, bytes, seconds.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_HOMES = ("jaxlib._hlo", "jaxlib._jax", "jaxlib.xla_extension")


def find_parser() -> Any:
    """Return jaxlib's function from text to module; ImportError without jaxlib."""
    for name in _HOMES:
        try:
            return importlib.import_module(name).hlo_module_from_text
        except (ImportError, AttributeError):
            continue
    raise ImportError("jaxlib is not installed")


def hlo_texts(roots: list[str]) -> Iterator[str]:
    """Yield every text that begins as an HLO module does."""
    for root in roots:
        for path in sorted(Path(root).rglob("*.txt")):
            data = path.read_bytes()
            if data.startswith(b"HloModule "):
                yield data.decode("utf-8", "replace")


def main(roots: list[str]) -> None:
    """Parse the texts one by one and print what it took."""
    parse = find_parser()
    files = refused = size = 0
    seconds = 0.0
    for text in hlo_texts(roots):
        began = time.perf_counter()
        try:
            parse(text)
        except Exception:  # of its own kind in every release
            refused += 1
            continue
        seconds += time.perf_counter() - began
        files += 1
        size += len(text)
    found = {"files": files, "refused": refused, "bytes": size, "seconds": seconds}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
