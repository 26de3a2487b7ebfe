"""Prints HLO texts as XLA reads them, with a line for every get-tuple-element.

    pip install jaxlib==0.12.0 && python print_in_full.py FOLDER

Each `NAME.txt` of a module in FOLDER gets a `NAME.in_full.txt` beside it.
"""

import sys
from pathlib import Path

from jaxlib._hlo import hlo_module_from_text


def main(folder: Path) -> None:
    """Print every HLO text of a folder."""
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text()
        if text.startswith("HloModule ") and ".in_full." not in path.name:
            printed = hlo_module_from_text(text).to_string()
            path.with_suffix(".in_full.txt").write_text(printed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
