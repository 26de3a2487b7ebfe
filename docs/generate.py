"""Write the reference pages that follow from the code: tables and queries.

python -m docs.generate
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from docs import for_assistants
from hlodb.commands.schema import schema_page
from hlodb.queries.catalogue import BUILDING_BLOCKS, GROUPS, load_catalogue
from hlodb.queries.describe import described_tables, query_help
from hlodb.queries.query import Query
from hlodb.rules import rule_rows

FOLDER = Path(__file__).parent
GOLD = FOLDER.parent / "tests" / "gold"
ABOUT = "<!-- Made from the code by `make docs`. -->\n"
SHOWN_LINES = 8
SHOWN_CHARACTERS = 160
HIDDEN = ("checks", *BUILDING_BLOCKS)
"""Groups without a page: `hlodb query NAME --help` explains them."""

ASKED = [group for group in GROUPS if group not in HIDDEN]


def schema() -> str:
    """Return the page of every table and column, with units."""
    return f"{ABOUT}\n# Tables\n\n{schema_page(described_tables())}"


def query_index() -> str:
    """Return the page of queries with a line for each, by group."""
    lists = "\n".join(_index_of(group) for group in ASKED)
    return _with_part("queries.md", _LISTS, f"\n{lists}\n")


def _index_of(group: str) -> str:
    lines = [
        f"| [{query.name}](queries/{group}.md#{query.name}) | {query.question} |\n"
        for query in _queries(group)
    ]
    return (
        f"### {GROUPS[group]}\n\n| query | question |\n| --- | --- |\n{''.join(lines)}"
    )


def query_group(group: str) -> str:
    """Return the help of every query of a group, with the beginning of an answer."""
    catalogue = load_catalogue()
    parts = [f"{ABOUT}\n# {GROUPS[group]}\n\n[All queries](../queries.md)\n"]
    parts += [
        f"## {query.name}\n\n```text\n{query_help(query, catalogue)}\n```\n"
        f"{example(query.name)}"
        for query in _queries(group)
    ]
    return "\n".join(parts)


def _queries(group: str) -> Iterable[Query]:
    return (query for query in load_catalogue().values() if query.group == group)


def example(name: str) -> str:
    """Return the first lines of a query's expected result, where it has one."""
    path = GOLD / f"{name}.csv"
    if not path.exists():
        return ""
    lines = path.read_text(encoding="utf-8").splitlines()
    shown = "\n".join(line[:SHOWN_CHARACTERS] for line in lines[:SHOWN_LINES])
    return f"\nBeginning of an answer, as CSV:\n\n```text\n{shown}\n```\n"


_PARTS = "<!-- parts: made by `make docs` -->\n", "<!-- end of parts -->"
_LISTS = "<!-- lists: made by `make docs` -->\n", "<!-- end of lists -->"


def report() -> str:
    """Return the page of reports with the table of the parts of a difference."""
    parts = rule_rows("difference_parts")
    rows = "".join(f"| `{part}` | {meaning} |\n" for part, meaning in parts)
    table = f"| part | bytes of it are |\n|---|---|\n{rows}"
    return _with_part("report.md", _PARTS, table)


def _with_part(name: str, marks: tuple[str, str], part: str) -> str:
    """Return a page written by hand, with `part` between two marks."""
    first, last = marks
    page = (FOLDER / "reference" / name).read_text(encoding="utf-8")
    head, rest = page.split(first, 1)
    _, tail = rest.split(last, 1)
    return f"{head}{first}{part}{last}{tail}"


PAGES: dict[str, Callable[[], str]] = {
    "reference/schema.md": schema,
    "reference/queries.md": query_index,
    "reference/report.md": report,
    **{f"reference/queries/{group}.md": partial(query_group, group) for group in ASKED},
    **for_assistants.PAGES,
}
"""Pages by their path below docs/."""


def main() -> None:
    """Write every page."""
    for name, make in PAGES.items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
