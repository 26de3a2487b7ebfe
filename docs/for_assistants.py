"""Pages for assistants that follow from the code, and entries for registries."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from hlodb.mcp.prompts import PROMPTS
from hlodb.mcp.tools import TOOLS
from hlodb.queries.catalogue import BUILDING_BLOCKS, GROUPS, load_catalogue
from hlodb.queries.describe import described_tables
from hlodb.reports.judge.definitions import METRICS
from hlodb.version import __version__

ROOT = Path(__file__).parents[1]
ABOUT = "<!-- Made from the code by `make docs`. -->\n"
DESCRIPTION = "Exact memory of programs that XLA compiled, from compiler dumps."
_FOLDERS = ("guides", "reference")


def queries() -> str:
    """Return every public query with its question."""
    parts = [f"{ABOUT}\n# Queries\n\n`hlodb query NAME --help` explains each.\n"]
    hidden = ("checks", *BUILDING_BLOCKS)
    for group in (group for group in GROUPS if group not in hidden):
        lines = [
            f"* `{query.name}`: {query.question}\n"
            for query in load_catalogue().values()
            if query.group == group
        ]
        parts.append(f"## {GROUPS[group]}\n\n{''.join(lines)}")
    return "\n".join(parts)


def tables() -> str:
    """Return every table with its comment and the names of its columns."""
    parts = [f"{ABOUT}\n# Tables\n\n`hlodb schema NAME` explains the columns.\n"]
    for table in described_tables():
        columns = ", ".join(column["name"] for column in table["columns"])
        parts.append(f"## {table['name']}\n\n{table['comment']}\n\n{columns}\n")
    return "\n".join(parts)


def words() -> str:
    """Return the definitions of the figures that reports compare."""
    lines = [f"* `{m.name}` ({m.unit}): {m.definition}\n" for m in METRICS]
    return f"{ABOUT}\n# Figures\n\n{''.join(lines)}"


def index() -> str:
    """Return the pages of the documentation, each with its first sentence."""
    parts = [f"# hlodb\n\n> {DESCRIPTION}\n"]
    start = [ROOT / "README.md", ROOT / "hlodb" / "skill" / "SKILL.md"]
    parts.append(_listed("Start", start))
    parts.append(_listed("Background", sorted((ROOT / "docs").glob("*.md"))))
    for folder in _FOLDERS:
        pages = sorted((ROOT / "docs" / folder).glob("*.md"))
        parts.append(_listed(folder.capitalize(), pages))
    return "\n".join(parts)


def _listed(title: str, pages: list[Path]) -> str:
    lines = [
        f"* [{_title(page)}]({page.relative_to(ROOT).as_posix()})\n" for page in pages
    ]
    return f"## {title}\n\n{''.join(lines)}"


def _title(page: Path) -> str:
    found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.M)
    return found[1] if found else page.stem


def registry() -> str:
    """Return the entry of the server for the registry of MCP servers."""
    return _json(
        {
            "$schema": "https://static.modelcontextprotocol.io/schemas/"
            "2025-12-11/server.schema.json",
            "name": "io.github.hlodb/hlodb",
            "description": DESCRIPTION,
            "version": __version__,
            "packages": [
                {
                    "registryType": "pypi",
                    "identifier": "hlodb",
                    "version": __version__,
                    "transport": {"type": "stdio"},
                    "packageArguments": [
                        {"type": "positional", "value": "mcp"},
                        {
                            "type": "named",
                            "name": "--db",
                            "description": "The warehouse: a file or a lake",
                            "format": "filepath",
                            "isRequired": True,
                        },
                    ],
                }
            ],
        }
    )


def bundle() -> str:
    """Return the manifest of a bundle (.mcpb) that starts an installed hlodb."""
    return _json(
        {
            "manifest_version": "0.3",
            "name": "hlodb",
            "display_name": "hlodb",
            "version": __version__,
            "description": DESCRIPTION,
            "author": {"name": "the authors of hlodb"},
            "license": "Apache-2.0",
            "server": {
                "type": "binary",
                "entry_point": "hlodb",
                "mcp_config": {
                    "command": "${user_config.command}",
                    "args": ["mcp", "--db", "${user_config.db}"],
                },
            },
            "user_config": {
                "command": {
                    "type": "file",
                    "title": "hlodb",
                    "description": "The installed command hlodb",
                    "required": True,
                },
                "db": {
                    "type": "file",
                    "title": "Warehouse",
                    "description": "The DuckDB file that hlodb ingest wrote",
                    "required": True,
                },
            },
            "tools": [{"name": t.name, "description": t.title} for t in TOOLS],
            "prompts": [
                {
                    "name": p.name,
                    "description": p.title,
                    "arguments": list(p.arguments),
                    "text": textwrap.shorten(p.steps, 200),
                }
                for p in PROMPTS.values()
            ],
        }
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


PAGES = {
    "../hlodb/skill/references/queries.md": queries,
    "../hlodb/skill/references/tables.md": tables,
    "../hlodb/skill/references/words.md": words,
    "../llms.txt": index,
    "../server.json": registry,
    "../skills/mcpb/manifest.json": bundle,
}
"""Pages by their path from docs/."""
