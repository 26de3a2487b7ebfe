"""Execute the example notebooks and keep their outputs: words of pages, and tables.

python -m docs.notebook WAREHOUSE    a demo warehouse; needs nbclient and ipykernel
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOK = EXAMPLES / "explain.ipynb"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def executed(warehouse: Path, notebook: Path = NOTEBOOK) -> dict[str, Any]:
    """Return a notebook with all outputs, run cell by cell in a kernel."""
    # Neither is a dependency, and one has no types.
    nbclient: Any = import_module("nbclient")
    nbformat: Any = import_module("nbformat")
    os.environ.update(HLODB_DB=str(warehouse), COLUMNS="100")
    book = nbformat.read(notebook, as_version=4)
    resources = {"metadata": {"path": str(notebook.parent)}}
    nbclient.NotebookClient(
        book, timeout=600, kernel_name="python3", resources=resources
    ).execute()
    found: dict[str, Any] = json.loads(nbformat.writes(book))
    return found


def outputs(book: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the data of all outputs; a cell that failed has none."""
    return [
        output["data"]
        for cell in book["cells"]
        if cell["cell_type"] == "code"
        for output in cell["outputs"]
        if output["output_type"] == "execute_result"
    ]


def kept(data: dict[str, Any]) -> dict[str, Any]:
    """Return a page as its words, for it is large, and a table as such alone."""
    html = "".join(data.get("text/html", ""))
    left_out = "text/html" if html.startswith("<iframe") else "text/plain"
    return {kind: each for kind, each in data.items() if not html or kind != left_out}


def write(warehouse: Path, notebook: Path) -> None:
    """Write a notebook as executed."""
    book = executed(warehouse, notebook)
    for cell in book["cells"]:
        cell["metadata"] = {}
    for data in outputs(book):
        for kind in data.keys() - kept(data).keys():
            del data[kind]
    text = json.dumps(book, indent=1, ensure_ascii=False)
    notebook.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for each in NOTEBOOKS:
        write(Path(sys.argv[1]).absolute(), each)
