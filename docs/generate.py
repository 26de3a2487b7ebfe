"""Writes the pages that follow from the code: schema.md and queries.md.

python -m docs.generate
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hlodb.commands.schema import described_tables, schema_page
from hlodb.queries.catalogue import GROUPS, load_catalogue
from hlodb.queries.describe import query_help

FOLDER = Path(__file__).parent
GOLD = FOLDER.parent / "tests" / "gold"
ABOUT = "<!-- Made from the code by `make docs`. -->\n"
SHOWN_LINES = 8


def schema() -> str:
    """Return every table and column, with units."""
    return f"{ABOUT}\n# Tables\n\n{schema_page(described_tables())}"


def queries() -> str:
    """Return every canned query as its help has it, with the beginning of an answer."""
    parts = [f"{ABOUT}\n# Canned queries\n"]
    group = ""
    catalogue = load_catalogue()
    for query in catalogue.values():
        if query.group != group:
            group = query.group
            parts.append(f"## {group}: {GROUPS.get(group, '')}\n")
        parts.append(
            f"### {query.name}\n\n```text\n{query_help(query, catalogue)}\n```\n"
        )
        parts.append(
            f"Beginning of an answer:\n\n```text\n{example(query.name)}\n```\n"
        )
    return "\n".join(parts)


def example(name: str) -> str:
    """Return the first lines of a query's gold result."""
    lines = (GOLD / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return "\n".join(line[:160] for line in lines[:SHOWN_LINES])


PAGES: dict[str, Callable[[], str]] = {
    "schema.md": schema,
    "queries.md": queries,
}


def main() -> None:
    """Write every page."""
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
