"""Calls of every tool on the demo, with their answers, tests/mcp/gold/NAME.json.

python -m tests.mcp.transcripts renews them; read the difference before you commit it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hlodb.mcp.tools import MOST_LONG, MOST_SHORT
from tests.conftest import REPOSITORY, make_demo_warehouse
from tests.mcp.speaking import answer_of, spoken_with

FOLDER = Path(__file__).parent / "gold"
_CNN = {"run": "jaxlib-0.5.3", "program": "jit_cnn"}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "explain_latest": ("explain", {}),
    "explain_program": ("explain", {**_CNN, "limit": "26MiB"}),
    "diff_runs": ("diff", {"base": "jaxlib-0.4.35", "candidate": "jaxlib-0.5.3"}),
    "diff_programs": (
        "diff",
        {"base": "jaxlib-0.4.35:jit_cnn", "candidate": "jaxlib-0.5.3:jit_cnn"},
    ),
    "find_queries": ("find_queries", {"question": "Which source line owns the peak?"}),
    "find_nothing": ("find_queries", {"question": "zzz"}),
    "ask_first": (
        "ask",
        {
            "query": "peak_by_space",
            "parameters": {"run": "v5e-jax-0.10.2"},
            "columns": ["program", "space_name", "live_peak_bytes"],
            "limit": 5,
        },
    ),
    "ask_all_columns": ("ask", {"query": "peak_contents", "parameters": _CNN}),
    "ask_no_rows": ("ask", {"query": "oom_summary"}),
    "sql": (
        "sql",
        {"statement": "SELECT name, platform FROM runs ORDER BY run_id", "limit": 3},
    ),
    "describe_query": ("describe", {"name": "peak_by_space"}),
    "describe_table": ("describe", {"name": "runs"}),
    "evidence_of_instruction": (
        "evidence",
        {**_CNN, "instruction": "broadcast.26.clone", "limit": 3},
    ),
    "evidence_around_line": (
        "evidence",
        {
            "run": "jaxlib-0.5.3",
            "path": "module_0007.jit_cnn.cpu_after_optimizations.txt",
            "line": 407,
            "limit": 7,
        },
    ),
    "fit": ("fit", {}),
}
"""Calls by the name of their gold file: a tool and its arguments."""

ROOM = {"explain": MOST_SHORT, "diff": MOST_SHORT}


def room_of(tool: str) -> int:
    """Return how many characters an answer of a tool may have."""
    return ROOM.get(tool, MOST_LONG)


def kept(answer: dict[str, Any], db: Path) -> dict[str, Any]:
    """Return an answer as it is kept: without places, and what changes with files."""
    command = answer["command"].replace(str(db), "demo.duckdb")
    found = {**answer, "command": command.replace(f"{REPOSITORY}/", "")}
    if answer.get("cursor"):
        found["cursor"] = answer["cursor"].partition("-")[0]
    return found


def read(name: str) -> Any:
    """Return the expected answer of a call."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def main() -> None:
    """Renew all gold files, and delete those of calls that are no more."""
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "demo.duckdb"
        make_demo_warehouse(db)
        with spoken_with(db) as client:
            answers = {
                name: kept(answer_of(client.call(tool, **arguments)), db)
                for name, (tool, arguments) in CALLS.items()
            }
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for name, answer in answers.items():
        text = json.dumps(answer, indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
