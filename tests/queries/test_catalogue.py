"""Built-in queries, folders of users, names that nearly fit, what help says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import duckdb
import pytest

from hlodb.errors import HlodbError, UsageError
from hlodb.queries.catalogue import (
    BUILDING_BLOCKS,
    GROUPS,
    find_query,
    load_catalogue,
    read_queries,
)
from hlodb.queries.describe import catalogue_listing, catalogue_objects, query_help
from hlodb.queries.macros import needs
from hlodb.queries.run import run_query
from hlodb.rules import rule_rows
from hlodb.text import nearest
from tests.oracle.test_queries import recomputed_queries
from tests.queries.conftest import OWNERS

NOT_ASKED = ("checks", *BUILDING_BLOCKS)

STEPS = """\
-- title: Steps
-- question: How many steps has each program?
-- definition: The last step of its schedule, counted from 1.
-- grain: module occurrence
-- param run
-- param least BIGINT = 0: Only with at least so many.
-- column program
-- column steps BIGINT count lower_is_better: How many steps.
SELECT m.program, CAST(count(*) AS BIGINT) AS steps
FROM module_list(run := $run) AS m
GROUP BY m.program
HAVING count(*) >= any_value($least)
ORDER BY m.program
"""


def folder(tmp_path: Path, **texts: str) -> Path:
    """Return a folder of a user's own queries."""
    group = tmp_path / "ours"
    group.mkdir()
    for name, text in texts.items():
        (group / f"{name}.sql").write_text(text)
    return tmp_path


def test_sixty_questions_and_more() -> None:
    """What people ask, beside checks and the building blocks of other queries."""
    catalogue = load_catalogue()
    asked = [q for q in catalogue.values() if q.group not in NOT_ASKED]
    assert len(asked) >= 70
    assert list(dict.fromkeys(q.group for q in catalogue.values())) == list(GROUPS)


def test_every_question_has_a_test_of_its_own() -> None:
    """Beside its gold result: the oracle, or a test of its group that names it."""
    tests = "\n".join(
        path.read_text(encoding="utf-8")
        for path in Path(__file__).parent.glob("*/**/test_*.py")
    )
    named = {*re.findall(r"\w+", tests)} | recomputed_queries()
    asked = [q.name for q in load_catalogue().values() if q.group not in NOT_ASKED]
    assert [name for name in asked if name not in named] == []


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        find_query(load_catalogue(), "peak_by_spaec")
    assert str(caught.value) == (
        "there is no query 'peak_by_spaec'; did you mean peak_by_space?"
    )


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    assert nearest("xyzzy", ["peak_by_space"]) == ""
    assert nearest("runs", ["run"]) == "; did you mean run?"


def test_a_former_query_names_the_command_that_answers_its_question() -> None:
    with pytest.raises(UsageError) as caught:
        find_query(load_catalogue(), "buffer_residency")
    assert str(caught.value) == (
        "there is no query 'buffer_residency' any more;"
        " use hlodb query longest_live_ranges"
    )


@pytest.mark.parametrize(("name", "command"), rule_rows("former_queries"))
def test_the_command_instead_of_a_former_query_works(
    empty_warehouse: duckdb.DuckDBPyConnection, name: str, command: str
) -> None:
    assert name not in load_catalogue()
    kind, *rest = shlex.split(command)
    if kind == "query":
        asked, *options = rest
        assert {*options[::2]} <= {"-p"}
        values = dict(option.split("=") for option in options[1::2])
        run_query(empty_warehouse, asked, values)
    elif kind == "sql":
        (sql,) = rest
        empty_warehouse.execute(sql)
    else:
        assert command == "check"


def test_queries_of_users_come_after_our_own(tmp_path: Path) -> None:
    catalogue = load_catalogue([folder(tmp_path, steps=STEPS)])
    *_, last = catalogue.values()
    assert (last.name, last.group) == ("steps", "ours")
    assert last.path == (tmp_path / "ours" / "steps.sql").as_posix()
    assert re.search(
        r"\n\nours: queries of your own\n  steps +Steps\n"
        r"\nhlodb query NAME --help explains a query\.\n"
        r"[0-9]+ building blocks and checks: hlodb query --all$",
        catalogue_listing(catalogue),
    )


def test_rules_may_be_replaced_by_ones_with_the_same_columns(tmp_path: Path) -> None:
    catalogue = load_catalogue([folder(tmp_path, owner_rules=OWNERS)])
    assert catalogue["owner_rules"].title == "Our owners"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run_list", STEPS, "1: 'run_list' is already the query of queries/sql/"),
        ("owner_rules", STEPS, "1: owner_rules has the columns path_prefix VARCHAR,"),
        ("Steps", STEPS, "1: a query is named like a_b_2, not 'Steps'"),
        ("steps", "SELECT 1", "1: `-- title: …` is missing"),
    ],
)
def test_a_faulty_file_is_named(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = folder(tmp_path, **{name: text}) / "ours" / f"{name}.sql"
    with pytest.raises(UsageError) as caught:
        load_catalogue([tmp_path])
    assert str(caught.value).startswith(f"{path.as_posix()}:{message}")
    faults = [q for q in read_queries([tmp_path]) if isinstance(q, HlodbError)]
    assert [str(fault) for fault in faults] == [str(caught.value)]


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "steps.sql").write_bytes(b"-- title: \xff")
    with pytest.raises(UsageError, match=r"steps\.sql:1: not UTF-8 text"):
        load_catalogue([tmp_path])


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder of queries at"):
        load_catalogue([tmp_path / "none"])


def test_help_says_all_that_the_front_matter_says(tmp_path: Path) -> None:
    catalogue = load_catalogue([folder(tmp_path, steps=STEPS)])
    assert query_help(catalogue["steps"], catalogue) == (
        "steps: Steps\n"
        "\n"
        "How many steps has each program?\n"
        "\n"
        "Parameters (-p name=value)\n"
        "  run VARCHAR = NULL  Name of the run; NULL for the latest one.\n"
        "  least BIGINT = 0    Only with at least so many.\n"
        "\n"
        "Columns, one row per module occurrence\n"
        "  program VARCHAR  [name] Name of the program, the same across runs.\n"
        "  steps BIGINT     [count, lower is better] How many steps.\n"
        "\n"
        "Definition\n"
        "  The last step of its schedule, counted from 1.\n"
        "\n"
        "Reads: module_list\n"
        "\n"
        "In the DuckDB CLI: FROM steps(run := …);"
    )


def test_the_catalogue_as_objects(tmp_path: Path) -> None:
    found = catalogue_objects(load_catalogue([folder(tmp_path, steps=STEPS)]))[-1]
    assert found == {
        "name": "steps",
        "group": "ours",
        "title": "Steps",
        "question": "How many steps has each program?",
        "definition": "The last step of its schedule, counted from 1.",
        "grain": "module occurrence",
        "needs": ["module_list"],
        "empty": None,
        "leading": ["program", "steps"],
        "parameters": [
            {
                "name": "run",
                "type": "VARCHAR",
                "default": "NULL",
                "choices": [],
                "least": None,
                "most": None,
                "doc": "Name of the run; NULL for the latest one.",
            },
            {
                "name": "least",
                "type": "BIGINT",
                "default": "0",
                "choices": [],
                "least": None,
                "most": None,
                "doc": "Only with at least so many.",
            },
        ],
        "columns": [
            {
                "name": "program",
                "type": "VARCHAR",
                "unit": "name",
                "polarity": "neutral",
                "doc": "Name of the program, the same across runs.",
            },
            {
                "name": "steps",
                "type": "BIGINT",
                "unit": "count",
                "polarity": "lower_is_better",
                "doc": "How many steps.",
            },
        ],
    }


def test_needs_are_the_tables_views_and_queries_of_the_sql() -> None:
    catalogue = load_catalogue()
    assert needs(catalogue["value_places"], catalogue) == [
        "allocation_values",
        "allocations",
        "live_ranges",
        "selected_contents",
        "values",
    ]


def test_no_query_leaves_rows_out_unless_asked() -> None:
    limits = {
        p.default
        for q in load_catalogue().values()
        for p in q.parameters
        if p.name == "top"
    }
    assert limits == {"NULL"}
    unasked = [
        q.name
        for q in load_catalogue().values()
        if q.group not in BUILDING_BLOCKS and re.search(r"\nLIMIT (?!\$top\b)", q.sql)
    ]
    assert unasked == []
