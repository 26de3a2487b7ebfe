"""Reads and hashes every file below directories: what no ingest can do without.

python -m bench.read_and_hash DIRECTORY…
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path


def main(roots: list[str]) -> None:
    """Read all files."""
    for root in roots:
        for path in filter(Path.is_file, Path(root).rglob("*.*")):
            sha256(path.read_bytes()).digest()


if __name__ == "__main__":
    main(sys.argv[1:])
