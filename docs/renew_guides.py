"""Write the pictures, and the outputs of commands in README and guides.

python -m docs.renew_guides [PAGE…]    such as nightly
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from docs.report_pictures import write_pictures
from docs.transcripts import make_demo, pages, prepare, renewed


def main(names: list[str]) -> None:
    """Write every page, or those of these names."""
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Path(folder) / "demo.duckdb"
        make_demo(warehouse)
        write_pictures(warehouse)
        for page in pages():
            if names and page.stem not in names:
                continue
            home = Path(folder) / page.stem
            home.mkdir()
            prepare(home, warehouse)
            text = renewed(page.read_text(encoding="utf-8"), home)
            page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
