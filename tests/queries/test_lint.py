"""The linter: every kind of fault in a user's queries.

`make check` has it judge our own.
"""

from __future__ import annotations

from pathlib import Path

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.lint import lint

ROOM = Path(__file__).parents[2] / "queries"
HEADER = """\
-- title: Ours
-- question: How many?
-- definition: Counted.
-- grain: run
-- column n BIGINT count neutral: How many.
"""
SQL = "SELECT count(*) AS n FROM runs\n"
SPLIT = (
    HEADER.replace(
        "-- column n",
        "-- split: programs\n-- param run\n-- column run\n-- column rank\n-- column n",
    )
    + "SELECT s.run, m.rank, count(*) AS n "
)


def test_our_own_queries_are_narrower_than_80_columns() -> None:
    wide = [
        f"{path.relative_to(ROOM)}:{number}"
        for path in sorted(ROOM.glob("sql/**/*.sql"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) >= 80
    ]
    assert wide == []


def test_no_query_is_left_out() -> None:
    """Of folders only those that `GROUPS` names are read; steps are read by queries."""
    files = {*ROOM.glob("sql/*/**/*.sql")}
    homes = {file.with_suffix("") for file in files}
    queries = {file.stem for file in files if homes.isdisjoint(file.parents)}
    assert queries == load_catalogue().keys()


FAULTY = {
    "another_type": (
        HEADER.replace("n BIGINT", "n INTEGER") + SQL,
        "columns differ: the SQL gives n BIGINT; declared and not given: n INTEGER",
    ),
    "another_column": (
        HEADER + "-- column m BIGINT count neutral: More.\n" + SQL,
        "columns differ: declared and not given: m BIGINT",
    ),
    "another_order": (
        HEADER
        + "-- column m BIGINT count neutral: More.\n"
        + "SELECT 1::BIGINT AS m, count(*) AS n FROM runs\n",
        "columns differ: the SQL gives another order",
    ),
    "more_columns": (
        HEADER + "SELECT count(*) AS n, 1::BIGINT AS m FROM runs\n",
        "columns differ: the SQL gives m BIGINT",
    ),
    "not_used": (
        HEADER + "-- param program\n-- param run\n"
        "SELECT count(*) AS n FROM selected_run()\n",
        "parameter 'program' is declared but not used",
    ),
    "reads_itself": (
        HEADER + "SELECT n FROM reads_itself()\n",
        "queries read one another: reads_itself → reads_itself",
    ),
    "split_of_all_runs": (
        SPLIT + "FROM selected_run() AS s\n"
        "JOIN compiled_sources() AS m USING (run_id) GROUP BY ALL\n",
        "split by programs, and compiled_sources reads all runs",
    ),
    "split_of_files": (
        SPLIT + "FROM selected_run() AS s JOIN modules AS m USING (run_id)\n"
        "JOIN rejects AS j USING (run_id) GROUP BY ALL\n",
        "split by programs, and split_of_files reads rejects, a table of runs",
    ),
    "split_with_limit": (
        SPLIT + "FROM selected_run() AS s JOIN modules AS m USING (run_id)\n"
        "GROUP BY ALL LIMIT 3\n",
        "split by programs, and LIMIT counts the rows of all programs",
    ),
    "split_without_rank": (
        SPLIT.replace("-- column rank\n", "").replace(" m.rank,", "")
        + "FROM selected_run() AS s JOIN modules AS m USING (run_id) GROUP BY ALL\n",
        "split by programs, without the column 'rank'",
    ),
}
"""Queries of a user by name, and the faults of each."""


def test_faults_of_a_users_queries(tmp_path: Path) -> None:
    """Names, types and units of every column are those of the SQL, bound by DuckDB."""
    for name, (text, _) in FAULTY.items():
        (tmp_path / f"{name}.sql").write_text(text)
    (tmp_path / "unbound.sql").write_text(HEADER + "SELECT nothing AS n FROM runs\n")
    count, [*faults, of_duckdb] = lint([tmp_path])
    assert count == len(FAULTY) + 1
    assert faults == [
        f"{(tmp_path / name).as_posix()}.sql:1: {fault}"
        for name, (_, fault) in sorted(FAULTY.items())
    ]
    begin = f"{tmp_path.as_posix()}/unbound.sql:1: Binder Error: "
    assert of_duckdb.startswith(begin)
    assert '"nothing" not found' in of_duckdb
